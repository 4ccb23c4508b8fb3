//! A machine that plays bursts on a CPU table's license machine, with planted noise.
//!
//! Time passes in it as fast as the model says. What the estimators find on it can be compared
//! with what the table says, and with how the noise was planted.

use cpu_model::{Class, CpuModel, Demand, LEVELS_MAX, License, LicenseDomain};
use kernels::Unsupported;

use super::noise::{Noise, Random};
use super::{Facts, Machine, Others, Played, Relation, Segment, WINDOW_NS, Work};

/// Instructions per 1000 cycles of a stream that is as dense as the core can.
const FULL_PERMILLE: u32 = 2000;
/// The same of AMX: a tile product takes 16 cycles.
const FULL_AMX_PERMILLE: u32 = 62;

/// A modelled machine.
pub struct Modelled {
    model: CpuModel,
    noise: Noise,
    random: Random,
    facts: Facts,
    license: License,
    now_ns: f64,
    /// Holds of the table; those in force are drawn anew for each burst.
    holds_ns: [u64; LEVELS_MAX],
    /// Factor on every frequency, by slow drift and by the neighbour.
    wander: f64,
    neighbour: bool,
    next: Next,
}

/// When each disturbance comes next, in ns.
struct Next {
    interrupt: f64,
    gap: f64,
    neighbour: f64,
    wander: f64,
    turn: f64,
}

impl Next {
    fn first(&self) -> f64 {
        self.interrupt.min(self.gap).min(self.neighbour).min(self.wander).min(self.turn)
    }
}

/// How often the slow drift takes a step, in ns.
const WANDER_STEP_NS: f64 = 5e6;

impl Modelled {
    /// A machine with this CPU, disturbed like this.
    #[must_use]
    pub fn new(model: CpuModel, noise: Noise, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let next = Next {
            interrupt: random.wait_ns(noise.interrupts_hz),
            gap: random.wait_ns(noise.gaps_hz),
            neighbour: random.wait_ns(noise.neighbour_hz),
            wander: WANDER_STEP_NS,
            turn: if noise.turn_ns > 0.0 { noise.turn_ns } else { f64::INFINITY },
        };
        let facts = facts(&model);
        let license = License::new();
        let holds_ns = model.license.hold_ns;
        Self {
            holds_ns,
            model,
            noise,
            random,
            facts,
            license,
            now_ns: 0.0,
            wander: 1.0,
            neighbour: false,
            next,
        }
    }

    fn demand(&mut self, demand: Demand, active: u32) {
        self.license.demand(&self.model.license, demand, active, self.now_ns as u64);
    }

    /// Executes this many cycles of undisturbed work; the demand is set already.
    fn execute(&mut self, mut cycles: f64, demand: Demand, active: u32) {
        while cycles > 0.0 {
            let effect = self.license.effect(&self.model.license);
            let row = self.model.turbo.row(active);
            let neighbour = if self.neighbour { 1.0 - self.noise.neighbour_share } else { 1.0 };
            let per_ns = f64::from(self.model.turbo.khz(row, effect.level)) / 1e6
                * f64::from(effect.rate_permille)
                / 1000.0
                * self.wander
                * neighbour;
            let change = self.license.next_ns().map_or(f64::INFINITY, |ns| ns as f64);
            let until = change.min(self.next.first()).max(self.now_ns);
            let done_ns = if per_ns > 0.0 { self.now_ns + cycles / per_ns } else { f64::INFINITY };
            if done_ns <= until {
                self.now_ns = done_ns;
                return;
            }
            cycles -= (until - self.now_ns) * per_ns;
            self.now_ns = until;
            self.license.advance(&self.model.license, active, self.now_ns as u64);
            self.disturb(demand, active);
        }
    }

    /// Lets every disturbance happen that is due.
    fn disturb(&mut self, demand: Demand, active: u32) {
        let now_ns = self.now_ns;
        if now_ns >= self.next.interrupt {
            let length_ns = 1000.0 + 19_000.0 * self.random.share().powi(4);
            self.pass(length_ns, active);
            self.next.interrupt = self.now_ns + self.random.wait_ns(self.noise.interrupts_hz);
        }
        if now_ns >= self.next.gap {
            let length_ns = 100_000.0 + 3_900_000.0 * self.random.share();
            self.run_another(length_ns, demand, active);
            self.next.gap = self.now_ns + self.random.wait_ns(self.noise.gaps_hz);
        }
        if now_ns >= self.next.turn {
            self.run_another(self.noise.turn_ns, demand, active);
            self.next.turn = self.now_ns + self.noise.turn_ns;
        }
        if now_ns >= self.next.neighbour {
            self.neighbour = !self.neighbour;
            self.next.neighbour = now_ns + self.random.wait_ns(self.noise.neighbour_hz);
        }
        if now_ns >= self.next.wander {
            let step = self.random.normal() * self.noise.drift / 10.0;
            self.wander = (self.wander + step).clamp(1.0 - self.noise.drift, 1.0);
            self.next.wander = now_ns + WANDER_STEP_NS;
        }
    }

    /// Another process or another user's machine executes scalar code here.
    fn run_another(&mut self, length_ns: f64, demand: Demand, active: u32) {
        self.demand(Demand::default(), active);
        self.pass(length_ns, active);
        self.demand(demand, active);
    }

    /// Advances the time; the license machine handles the deadlines in between.
    fn pass(&mut self, length_ns: f64, active: u32) {
        let end_ns = self.now_ns + length_ns;
        while let Some(ns) = self.license.next_ns().filter(|&ns| (ns as f64) <= end_ns) {
            self.license.advance(&self.model.license, active, ns);
        }
        self.now_ns = end_ns;
    }

    /// Between the table's hold and that much longer: measured ones are seldom all the same.
    fn draw_holds(&mut self) {
        let factor = 1.0 + self.noise.hold_spread * self.random.share();
        for (hold_ns, &table_ns) in self.model.license.hold_ns.iter_mut().zip(&self.holds_ns) {
            *hold_ns = (table_ns as f64 * factor) as u64;
        }
    }

    fn stamp(&mut self) -> f64 {
        let stamp = self.now_ns + self.random.normal() * self.noise.jitter_ns;
        (stamp / self.noise.tick_ns).round() * self.noise.tick_ns
    }
}

/// The demand of a stretch of a burst on a CPU.
pub(super) fn demand_of(model: &CpuModel, work: Work) -> Demand {
    match work {
        Work::Chain => Demand::default(),
        Work::Stream(class, rate) => {
            let full = if class == Class::Amx { FULL_AMX_PERMILLE } else { FULL_PERMILLE };
            model.demand_of(class, rate.permille().unwrap_or(full).min(full))
        }
    }
}

impl Machine for Modelled {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn now_ns(&mut self) -> f64 {
        self.now_ns
    }

    fn play(&mut self, segments: &[Segment], others: Others) -> Played {
        let mut played = Played::default();
        let others_active = match others {
            Others::Idle => 0,
            Others::Busy(count) => count as u32,
            Others::Observes(_) => 1,
        };
        let active = (1 + others_active).min(self.model.cores_per_package);
        let shares_license = match others {
            Others::Observes(index) => match self.facts.others[index].1 {
                Relation::Sibling => true,
                Relation::Package => self.model.license_domain == LicenseDomain::Package,
                Relation::Elsewhere => false,
            },
            _ => false,
        };
        self.draw_holds();
        let begin_ns = self.now_ns;
        let mut last = self.stamp();
        for segment in segments {
            let demand = demand_of(&self.model, segment.work);
            self.demand(demand, active);
            let mut windows = Vec::with_capacity(segment.windows);
            for _ in 0..segment.windows {
                let start_ns = self.now_ns;
                self.execute(self.facts.window_cycles, demand, active);
                if let Others::Observes(_) = others {
                    let seen_ns = match shares_license {
                        true => self.now_ns - start_ns,
                        false => WINDOW_NS / self.wander,
                    };
                    played.observed.push((start_ns - begin_ns, seen_ns as f32));
                }
                let stamp = self.stamp();
                windows.push((stamp - last) as f32);
                last = stamp;
            }
            played.windows.push(windows);
        }
        self.demand(Demand::default(), active);
        played
    }
}

fn facts(model: &CpuModel) -> Facts {
    let others: Vec<(u32, Relation)> = (1..model.cpus())
        .map(|cpu| {
            let core = cpu / model.threads_per_core;
            let relation = match (core, core / model.cores_per_package) {
                (0, _) => Relation::Sibling,
                (_, 0) => Relation::Package,
                _ => Relation::Elsewhere,
            };
            (cpu, relation)
        })
        .collect();
    let is_first = |&(cpu, relation): &(u32, Relation)| {
        relation == Relation::Package && cpu % model.threads_per_core == 0
    };
    let (first, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(is_first);
    let lacks = |class: &Class| !model.supports(*class);
    Facts {
        cpu_name: format!("{} (modelled)", model.name),
        signature: None,
        is_virtual: false,
        cpu: 0,
        other_cores: first.len(),
        others: [first, rest].concat(),
        counts: (model.packages, model.cores_per_package, model.threads_per_core),
        tsc_hz: u64::from(model.turbo.ref_khz) * 1000,
        window_cycles: f64::from(model.turbo.khz(0, 0)) / 1e6 * WINDOW_NS,
        unsupported: Class::ALL
            .into_iter()
            .filter(lacks)
            .map(|class| (class, Unsupported::Cpu))
            .collect(),
        hidden: Vec::new(),
        checks: Vec::new(),
    }
}
