//! The license machine of a Xeon Gold 6130, stage by stage, driven with a clock.

use cpu_model::{Class, CpuModel, CpuTable, Demand, FULL_RATE_PERMILLE, License, TurboMode};

const ALL_CORES: u32 = 16;
const US: u64 = 1000;
const HOLD_NS: u64 = 670 * US;

const SCALAR: Demand = demand(Class::Scalar);
const FMA256: Demand = demand(Class::Avx2Heavy);
const OR256: Demand = demand(Class::Avx2Light);
const OR512: Demand = demand(Class::Avx512Light);
const FMA512: Demand = demand(Class::Avx512Heavy);

/// The demand of a class at its full rate, by D 3.2.1 and not by the table.
const fn demand(class: Class) -> Demand {
    match class {
        Class::Scalar => Demand::new(0, 0, false),
        Class::Avx2Light => Demand::new(0, 1, false),
        Class::Avx2Heavy => Demand::new(1, 1, true),
        Class::Avx512Light => Demand::new(1, 2, false),
        Class::Avx512Heavy => Demand::new(2, 2, true),
        Class::Amx => panic!(),
    }
}

/// A license and the clock that its host would keep.
struct Core {
    cpu: CpuModel,
    license: License,
    active_cores: u32,
    now_ns: u64,
    lost_permille_ns: u64,
}

impl Core {
    fn with_active(active_cores: u32) -> Self {
        let cpu = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
        Self { cpu, license: License::new(), active_cores, now_ns: 0, lost_permille_ns: 0 }
    }

    /// Lets time pass, ending every stage and hold at the nanosecond it is due.
    fn run_until(&mut self, end_ns: u64) {
        while let Some(next_ns) = self.license.next_ns().filter(|&next_ns| next_ns <= end_ns) {
            assert!(next_ns > self.now_ns, "time stands still at {next_ns} ns");
            self.pass(next_ns);
            self.license.advance(&self.cpu.license, self.active_cores, self.now_ns);
        }
        self.pass(end_ns);
    }

    fn pass(&mut self, until_ns: u64) {
        let rate = self.license.effect(&self.cpu.license).rate_permille;
        self.lost_permille_ns += (until_ns - self.now_ns) * u64::from(FULL_RATE_PERMILLE - rate);
        self.now_ns = until_ns;
    }

    fn demand(&mut self, demand: Demand) {
        self.license.demand(&self.cpu.license, demand, self.active_cores, self.now_ns);
    }

    /// Time lost from here until a millisecond later.
    fn lost_ns_after(&mut self, demand: Demand) -> u64 {
        let before = self.lost_permille_ns;
        self.demand(demand);
        self.run_until(self.now_ns + 1000 * US);
        (self.lost_permille_ns - before) / u64::from(FULL_RATE_PERMILLE)
    }

    fn effect(&self) -> (u8, u16) {
        let effect = self.license.effect(&self.cpu.license);
        (effect.level, effect.rate_permille)
    }
}

/// Time lost when code of one kind follows code of another.
fn lost_ns(first: Demand, second: Demand, active_cores: u32) -> u64 {
    let mut core = Core::with_active(active_cores);
    core.lost_ns_after(first);
    core.lost_ns_after(second)
}

#[test]
fn the_demands_of_the_table_are_those_of_the_dissertation() {
    let cpu = Core::with_active(ALL_CORES).cpu;
    for class in Class::ALL.into_iter().filter(|&class| class != Class::Amx) {
        assert_eq!(cpu.demand_of(class, 1000), demand(class), "{class}");
    }
    assert_eq!(cpu.level_demanded(Class::Avx512Heavy, 499), 1);
    assert_eq!(cpu.level_demanded(Class::Avx512Heavy, 500), 2);
    assert_eq!(cpu.level_demanded(Class::Avx2Heavy, 499), 0);
    assert_eq!(cpu.level_demanded(Class::Avx2Heavy, 500), 1);
    assert!(!cpu.supports(Class::Amx));
}

#[test]
fn the_costs_of_transitions_are_those_of_the_mechanism() {
    // From, to, predicted by the mechanism (D 3.2.2), measured mean (D 5.2.1, T058-T061).
    let golden = [
        ("128 -> 512 FMA", SCALAR, FMA512, 45_000, 42_700),
        ("128 -> 256 FMA", SCALAR, FMA256, 35_000, 34_400),
        ("256 -> 512 FMA", FMA256, FMA512, 25_000, 28_400),
        ("128 -> 512 OR", SCALAR, OR512, 25_000, 25_900),
    ];
    for (name, from, to, predicted_ns, measured_ns) in golden {
        let lost_ns = lost_ns(from, to, ALL_CORES);
        println!("{name}: {lost_ns} ns, measured {measured_ns} ns");
        assert_eq!(lost_ns, predicted_ns, "{name}");
        // One exception: 256 -> 512 FMA is 3.4 us off; 6.6 us with the second throttle.
        let within = lost_ns.abs_diff(measured_ns) <= 3_000;
        assert_eq!(within, name != "256 -> 512 FMA", "{name}: {lost_ns} ns");
    }
}

#[test]
fn every_fall_costs_one_halt() {
    // About 10 us for any boost (D 5.2.2, T063).
    for from in [FMA256, OR512, FMA512] {
        assert_eq!(lost_ns(from, SCALAR, ALL_CORES), 10_000);
    }
    assert_eq!(lost_ns(FMA512, FMA256, ALL_CORES), 10_000);
}

#[test]
fn table_and_machine_agree_on_every_cost() {
    let table = CpuTable::by_name("xeon-gold-6130").unwrap();
    let pairs = [(SCALAR, FMA512), (SCALAR, FMA256), (FMA256, FMA512), (SCALAR, OR512)];
    for (from, to) in pairs {
        for (active_cores, few) in [(ALL_CORES, false), (2, true)] {
            let heavy = to.heavy == 1;
            let lost_ns = lost_ns(from, to, active_cores);
            assert_eq!(table.transition_cost_ns(from.level, to.level, heavy, few), Some(lost_ns));
            let cpu = Core::with_active(active_cores).cpu;
            assert_eq!(cpu.transition_cost_ns(from.level, to.level, heavy, few), lost_ns);
        }
    }
    assert_eq!(table.transition_cost_ns(2, 0, false, false), Some(10_000));
    assert_eq!(table.transition_cost_ns(1, 1, false, false), Some(0));
    assert_eq!(table.transitions().len(), 4);
}

#[test]
fn two_active_cores_throttle_longer() {
    assert_eq!(lost_ns(SCALAR, FMA512, 2), 52_500);
    assert_eq!(lost_ns(SCALAR, FMA512, 3), 45_000);
}

#[test]
fn a_rise_to_heavy_512_bit_goes_by_way_of_the_middle_level() {
    let mut core = Core::with_active(ALL_CORES);
    core.demand(FMA512);
    let mut seen = Vec::new();
    for end_us in [0, 20, 30, 50, 60] {
        core.run_until(end_us * US);
        seen.push((end_us, core.effect()));
    }
    let expected = [(0, (0, 250)), (20, (0, 0)), (30, (1, 500)), (50, (1, 0)), (60, (2, 1000))];
    assert_eq!(seen, expected);
    assert_eq!(core.license.granted(), 2);
}

#[test]
fn the_hold_ends_at_its_nanosecond() {
    let mut core = Core::with_active(ALL_CORES);
    core.lost_ns_after(FMA512);
    core.demand(SCALAR);
    let falls_ns = core.now_ns + HOLD_NS;
    core.run_until(falls_ns - 1);
    assert_eq!(core.effect(), (2, 1000));
    core.run_until(falls_ns);
    assert_eq!(core.effect(), (2, 0));
    core.run_until(falls_ns + 10 * US - 1);
    assert_eq!(core.effect(), (2, 0));
    core.run_until(falls_ns + 10 * US);
    assert_eq!(core.effect(), (0, 1000));
    assert_eq!(core.license.next_ns(), None);
}

#[test]
fn a_demand_within_the_hold_arms_it_anew_and_costs_nothing() {
    let mut core = Core::with_active(ALL_CORES);
    core.lost_ns_after(FMA512);
    for _ in 0..5 {
        core.demand(SCALAR);
        core.run_until(core.now_ns + HOLD_NS - 1);
        let lost = core.lost_permille_ns;
        core.demand(FMA512);
        core.run_until(core.now_ns + US);
        assert_eq!((core.effect(), core.lost_permille_ns), ((2, 1000), lost));
    }
    core.demand(SCALAR);
    assert_eq!(core.license.next_ns(), Some(core.now_ns + HOLD_NS));
}

#[test]
fn a_level_falls_straight_to_the_highest_one_still_held() {
    let mut core = Core::with_active(ALL_CORES);
    core.lost_ns_after(FMA512);
    core.demand(FMA256);
    core.run_until(core.now_ns + 300 * US);
    core.demand(SCALAR);
    let level_1_falls_ns = core.now_ns + HOLD_NS;
    core.run_until(level_1_falls_ns - 300 * US + 10 * US);
    assert_eq!(core.effect(), (1, 1000));
    core.run_until(level_1_falls_ns);
    assert_eq!(core.effect(), (1, 0));

    let mut direct = Core::with_active(ALL_CORES);
    direct.lost_ns_after(FMA512);
    assert_eq!(direct.lost_ns_after(SCALAR), 10_000);
    assert_eq!(direct.effect(), (0, 1000));
}

#[test]
fn a_demand_during_a_rise_is_served_after_it() {
    let mut core = Core::with_active(ALL_CORES);
    core.demand(OR512);
    core.run_until(25 * US);
    core.demand(FMA512);
    assert_eq!((core.license.heading_for(), core.effect()), (1, (0, 0)));
    core.run_until(30 * US);
    assert_eq!((core.license.heading_for(), core.effect()), (2, (1, 250)));
    core.run_until(60 * US);
    assert_eq!(core.effect(), (2, 1000));
}

#[test]
fn a_rise_is_completed_and_held_though_its_demand_has_gone() {
    let mut core = Core::with_active(ALL_CORES);
    core.demand(FMA512);
    core.run_until(US);
    core.demand(SCALAR);
    core.run_until(60 * US);
    assert_eq!(core.effect(), (2, 1000));
    assert_eq!(core.license.next_ns(), Some(US + HOLD_NS));
}

#[test]
fn a_wider_register_file_throttles_without_a_change_of_level() {
    let mut core = Core::with_active(ALL_CORES);
    assert_eq!(core.lost_ns_after(OR256), 15_000);
    assert_eq!(core.license.granted(), 0);
    // Powered for 670 us after its last use (D 3.2.3).
    core.demand(SCALAR);
    core.run_until(core.now_ns + HOLD_NS - 1);
    assert_eq!(core.lost_ns_after(OR256), 0);
    core.demand(SCALAR);
    core.run_until(core.now_ns + HOLD_NS);
    assert_eq!(core.lost_ns_after(OR256), 15_000);
}

#[test]
fn break_even_times_are_those_of_the_dissertation() {
    let cpu = Core::with_active(ALL_CORES).cpu;
    // Eq. D 5.2: T = f_high * overhead / (f_high - f_low); published: D 5.2.3, T064-T067.
    let break_even_us = |active_cores: u32, level: u8, overhead_ns: u64| {
        let row = cpu.turbo.row(active_cores);
        let (high, low) = (cpu.turbo.khz(row, 0), cpu.turbo.khz(row, level));
        u64::from(high) * overhead_ns / u64::from(high - low) / US
    };
    let modelled_ns = |level| {
        cpu.transition_cost_ns(0, level, true, false)
            + cpu.transition_cost_ns(level, 0, false, false)
    };
    for (active_cores, level, measured_ns, published_us) in
        [(1, 2, 52_700, 876), (1, 1, 44_400, 1464), (16, 2, 52_700, 156), (16, 1, 44_400, 313)]
    {
        let measured = break_even_us(active_cores, level, measured_ns);
        let modelled = break_even_us(active_cores, level, modelled_ns(level));
        println!(
            "{active_cores} cores, level {level}: published {published_us} us, from measured \
             means {measured} us, from the model {modelled} us"
        );
        let off_permille = |us: u64| us.abs_diff(published_us) * 1000 / published_us;
        assert!(off_permille(measured) <= 130);
        if active_cores == 16 {
            assert!(off_permille(modelled) <= 130);
        }
    }
    // One active core is outside: the published figures imply 47.4 and 39.6 us of overhead, less
    // than the means of D 5.2.1 (42.7 and 34.4) and a halt of 10 us, and the mechanism has 55, 45.
    let one_core = [break_even_us(1, 2, modelled_ns(2)), break_even_us(1, 1, modelled_ns(1))];
    assert_eq!(one_core, [1017, 1665]);
}
