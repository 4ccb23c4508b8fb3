//! How well do models of the clock predict a lower one (D 4.3.2, Fig. 4.7)? Random programs run on
//! a core that executes out of order, as the simulator's programs follow the stall model itself.

use random::SplitMix64;

use crate::clock_models::{Empirical, leading_loads, stall_cycles};
use crate::out_of_order::{Counts, Instruction, Kind, Machine, Place, run};
use crate::work::Result;

const NOW_KHZ: u32 = 2_800_000;
const NEXT_KHZ: u32 = 1_900_000;
const CASES: [Case; 4] = [
    Case { name: "Skylake", ..SKYLAKE },
    Case { name: "16 instances", instances: 16, ..SKYLAKE },
    Case { name: "reorder buffer of 64", reorder_buffer: 64, ..SKYLAKE },
    Case { name: "L3 20 % faster at 1.9 GHz", next_l3_ns: 16.0, ..SKYLAKE },
];
const SKYLAKE: Case = Case { name: "", instances: 1, reorder_buffer: 224, next_l3_ns: L3_NS };
/// Our choice.
const L3_NS: f64 = 20.0;
const PROGRAMS: u64 = 100;
/// The empirical model is fitted to programs of other seeds.
const FITTED_FROM: u64 = 1_000_000;
const INSTRUCTIONS: usize = 200_000;
/// Six channels of DDR4-2666.
const MEMORY_BYTES_A_NS: f64 = 128.0;
const LINE_BYTES: f64 = 64.0;

/// What D 4.3.2 names as reasons of errors, each varied alone.
struct Case {
    name: &'static str,
    /// They share the bandwidth of memory, and with others no access hits L3.
    instances: u32,
    reorder_buffer: usize,
    /// Latency of L3 at the lower clock.
    next_l3_ns: f64,
}

/// What a random program is like; ranges are our choice.
struct Shape {
    /// Accesses that miss L2 in 1000 instructions, from 0.1 to 50.
    misses_permille: f64,
    /// Share of them that hit L3.
    l3_share: f64,
    /// Share of missing loads whose address is the result of the missing load before.
    chased_share: f64,
    /// Share of misses that are stores.
    store_share: f64,
    /// Largest distance from an instruction to the earlier one whose result it reads.
    distance: u64,
    compute_cycles: u64,
    mispredicted_share: f64,
}

impl Shape {
    fn random(random: &mut SplitMix64) -> Self {
        Self {
            misses_permille: 0.1 * 500.0_f64.powf(random.unit()),
            l3_share: random.unit(),
            chased_share: random.unit(),
            store_share: 0.4 * random.unit(),
            distance: 1 + random.below(24),
            compute_cycles: 1 + random.below(4),
            mispredicted_share: 0.05 * random.unit(),
        }
    }

    fn program(&self, random: &mut SplitMix64) -> Vec<Instruction> {
        let mut last_miss = None;
        (0..INSTRUCTIONS)
            .map(|index| {
                let before = 1 + random.below(self.distance) as usize;
                let near = index.checked_sub(before);
                let kind = self.kind(random);
                let is_miss = matches!(kind, Kind::Load(place) if place.misses_l2());
                let is_chased = is_miss && random.unit() < self.chased_share;
                let source = if is_chased { last_miss } else { near };
                if is_miss {
                    last_miss = Some(index);
                }
                Instruction { kind, source }
            })
            .collect()
    }

    /// Of 100 instructions, some 25 are loads, 10 stores and 15 branches.
    fn kind(&self, random: &mut SplitMix64) -> Kind {
        if random.unit() < self.misses_permille / 1000.0 {
            let hits_l3 = random.unit() < self.l3_share;
            let place = if hits_l3 { Place::L3 } else { Place::Memory };
            let is_store = random.unit() < self.store_share;
            return if is_store { Kind::Store(place) } else { Kind::Load(place) };
        }
        match random.below(100) {
            0..24 => Kind::Load(Place::L1),
            24 => Kind::Load(Place::L2),
            25..35 => Kind::Store(Place::L1),
            35..50 => Kind::Branch { is_mispredicted: random.unit() < self.mispredicted_share },
            _ => Kind::Compute { cycles: self.compute_cycles },
        }
    }
}

/// Counts of a program at both clocks.
fn counts(seed: u64, case: &Case) -> [Counts; 2] {
    let random = &mut SplitMix64::new(seed);
    let mut shape = Shape::random(random);
    if case.instances > 1 {
        shape.l3_share = 0.0;
    }
    let program = shape.program(random);
    let line_ns = LINE_BYTES * f64::from(case.instances) / MEMORY_BYTES_A_NS;
    let reorder_buffer = case.reorder_buffer;
    [(NOW_KHZ, L3_NS), (NEXT_KHZ, case.next_l3_ns)]
        .map(|(khz, l3_ns)| run(&program, Machine { khz, reorder_buffer, l3_ns, line_ns }))
}

/// Writes a row for each case, program and model.
pub fn rows() -> Result<()> {
    println!(
        "case,seed,instructions_a_cycle,misses_permille,constant_pct,stalled_pct,leading_pct,\
         model,predicted,measured,error_pct"
    );
    for case in &CASES {
        let fitted: Vec<(Counts, u64)> = (0..PROGRAMS)
            .map(|seed| counts(FITTED_FROM + seed, case))
            .map(|[now, next]| (now, next.cycles))
            .collect();
        let empirical = Empirical::fit(&fitted);
        for seed in 1..=PROGRAMS {
            program_rows(seed, case, &empirical);
        }
    }
    Ok(())
}

/// `measured` is the speed at the next clock over that now.
fn program_rows(seed: u64, case: &Case, empirical: &Empirical) {
    let [now, next] = counts(seed, case);
    let slower = f64::from(NOW_KHZ) / f64::from(NEXT_KHZ);
    let measured = now.cycles as f64 / (next.cycles as f64 * slower);
    // The share of the time now that does not depend on the clock, from Eq. 4.3.
    let constant = (slower - 1.0 / measured) / (slower - 1.0);
    let pct = |cycles: u64| 100.0 * cycles as f64 / now.cycles as f64;
    let predictions = [
        ("stall cycles", stall_cycles(&now, NOW_KHZ, NEXT_KHZ)),
        ("leading loads", leading_loads(&now, NOW_KHZ, NEXT_KHZ)),
        ("empirical", empirical.speed(&now, NOW_KHZ, NEXT_KHZ)),
    ];
    for (model, predicted) in predictions {
        println!(
            "{},{seed},{:.2},{:.2},{:.1},{:.1},{:.1},{model},{predicted:.4},\
             {measured:.4},{:.2}",
            case.name,
            INSTRUCTIONS as f64 / now.cycles as f64,
            1000.0 * now.misses as f64 / INSTRUCTIONS as f64,
            100.0 * constant,
            pct(now.stall_cycles + now.store_bound_cycles),
            pct(now.leading_load_cycles),
            100.0 * (predicted / measured - 1.0)
        );
    }
}
