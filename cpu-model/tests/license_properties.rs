//! Properties of the license machine on every table and every sequence of demands.

use cpu_model::{
    Demand, FULL_RATE_PERMILLE, LEVELS_MAX, License, LicenseTable, Rise, STAGES_MAX, Stage,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Longest stage of the tables here.
const STAGE_NS_MAX: u32 = 50;
/// More than any two rises, a fall and a widening take.
const SETTLE_NS: u64 = 2000;

prop_compose! {
    fn any_stage(levels: u32)(
        duration_ns in 0..=STAGE_NS_MAX,
        duration_few_ns in 0..=STAGE_NS_MAX,
        rate_permille in 0..=FULL_RATE_PERMILLE,
        level in 0..levels,
    ) -> Stage {
        Stage::new(duration_ns, duration_few_ns, rate_permille, level as u8)
    }
}

fn any_table() -> impl Strategy<Value = LicenseTable> {
    (1..=LEVELS_MAX as u32).prop_flat_map(|levels| {
        let rises = LEVELS_MAX * LEVELS_MAX * 2;
        (
            0..4u32,
            0..=STAGE_NS_MAX,
            vec(0..500u64, LEVELS_MAX),
            0..500u64,
            any_stage(levels),
            vec(vec(any_stage(levels), 0..=STAGES_MAX), rises),
        )
            .prop_map(move |(few, fall_halt_ns, holds, width_hold_ns, widen, rises)| {
                let mut table = LicenseTable::free(levels);
                table.few_cores = few;
                table.fall_halt_ns = fall_halt_ns;
                table.width_hold_ns = width_hold_ns;
                table.widen = widen;
                table.hold_ns.copy_from_slice(&holds);
                for (i, stages) in rises.iter().enumerate() {
                    let (from, to) = (i / 2 / LEVELS_MAX, i / 2 % LEVELS_MAX);
                    if from < to {
                        table.rise[from][to][i % 2] = Rise::new(stages);
                    }
                }
                table
            })
    })
}

/// Demands and the time between them.
fn any_script() -> impl Strategy<Value = Vec<(Demand, u64)>> {
    let demand = (0..LEVELS_MAX as u8, 0..3u8, any::<bool>())
        .prop_map(|(level, width, heavy)| Demand::new(level, width, heavy));
    vec((demand, 0..700u64), 1..30)
}

/// A host that keeps time, and checks each step against its own record of demands.
struct Host<'a> {
    table: &'a LicenseTable,
    license: License,
    now_ns: u64,
    active_cores: u32,
    /// When each level was demanded last, as of now.
    demanded_ns: [Option<u64>; LEVELS_MAX],
}

impl<'a> Host<'a> {
    fn new(table: &'a LicenseTable, active_cores: u32) -> Self {
        let license = License::new();
        Self { table, license, now_ns: 0, active_cores, demanded_ns: [None; LEVELS_MAX] }
    }

    fn remember(&mut self) {
        for level in 1..=usize::from(self.license.demanded()) {
            self.demanded_ns[level] = Some(self.now_ns);
        }
    }

    fn demand(&mut self, demand: Demand) {
        self.remember();
        let before = self.license.heading_for();
        self.license.demand(self.table, demand, self.active_cores, self.now_ns);
        self.check(before);
        self.remember();
    }

    fn run_until(&mut self, end_ns: u64) {
        while let Some(next_ns) = self.license.next_ns().filter(|&next_ns| next_ns <= end_ns) {
            self.now_ns = next_ns;
            self.remember();
            let before = self.license.heading_for();
            self.license.advance(self.table, self.active_cores, next_ns);
            self.check(before);
        }
        self.now_ns = end_ns;
    }

    /// `heading_before`: a fall is decided when it begins; during its halt no code runs.
    fn check(&self, heading_before: u8) {
        let effect = self.license.effect(self.table);
        assert!(effect.rate_permille <= FULL_RATE_PERMILLE);
        assert!(u32::from(effect.level) < self.table.levels);
        let next_ns = self.license.next_ns();
        assert!(next_ns.is_none_or(|next_ns| next_ns > self.now_ns), "time stands still");
        for level in usize::from(self.license.heading_for()) + 1..=usize::from(heading_before) {
            let held_until_ns = self.demanded_ns[level].map(|ns| ns + self.table.hold_ns[level]);
            assert!(
                held_until_ns.is_some_and(|until_ns| until_ns <= self.now_ns),
                "level {level} given up at {} ns, held until {held_until_ns:?}",
                self.now_ns
            );
        }
    }
}

proptest! {
    #[test]
    fn a_settled_level_is_never_below_the_demanded_one(
        table in any_table(), script in any_script(), active_cores in 1..6u32,
    ) {
        let mut host = Host::new(&table, active_cores);
        for (demand, pause_ns) in script {
            host.demand(demand);
            host.run_until(host.now_ns + SETTLE_NS);
            prop_assert!(host.license.granted() >= host.license.demanded());
            host.run_until(host.now_ns + pause_ns);
            prop_assert!(host.license.granted() >= host.license.demanded());
        }
    }

    #[test]
    fn a_level_is_never_given_up_before_its_hold_and_time_always_advances(
        table in any_table(), script in any_script(), active_cores in 1..6u32,
    ) {
        let mut host = Host::new(&table, active_cores);
        for (demand, pause_ns) in script {
            host.demand(demand);
            host.run_until(host.now_ns + pause_ns);
        }
    }

    #[test]
    fn a_lasting_demand_is_granted_in_the_end(
        table in any_table(), script in any_script(), active_cores in 1..6u32,
    ) {
        let mut host = Host::new(&table, active_cores);
        for (demand, pause_ns) in script {
            host.demand(demand);
            host.run_until(host.now_ns + pause_ns);
        }
        host.run_until(host.now_ns + 10 * SETTLE_NS);
        prop_assert_eq!(host.license.granted(), host.license.demanded());
        prop_assert_eq!(host.license.next_ns(), None);
        let effect = host.license.effect(&table);
        prop_assert_eq!(effect.rate_permille, FULL_RATE_PERMILLE);
        prop_assert_eq!(effect.level, host.license.demanded());
    }

    #[test]
    fn an_early_advance_changes_nothing(
        table in any_table(), script in any_script(), active_cores in 1..6u32,
    ) {
        let mut host = Host::new(&table, active_cores);
        for (demand, pause_ns) in script {
            host.demand(demand);
            host.run_until(host.now_ns + pause_ns);
            let before = format!("{:?}", host.license);
            let early_ns = host.license.next_ns().map_or(host.now_ns, |next_ns| next_ns - 1);
            host.license.advance(&table, active_cores, early_ns);
            prop_assert_eq!(&before, &format!("{:?}", host.license));
        }
    }
}
