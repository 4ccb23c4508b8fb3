//! What truly caused the losses of an application, from the history of a run: the hold of a level,
//! the demand of a sibling, or a transition. The formulas are those of
//! `docs/decisions/0002-machine-model.md`; throttles for wider registers alone are left out.

use cpu_model::{Class, CpuModel};
use scenarios::Workload;
use simulator::Config;
use trace::{Event, History, SwitchState};

/// CPU time lost, by cause, as D 4.2.1 splits it: a sibling causes what its demand alone would
/// cost, a hold what is lost beyond that.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lost {
    pub hold_ns: f64,
    /// The part of `hold_ns` while a sibling demanded a lower level than the one held, and a higher
    /// one than the task.
    pub hold_beside_ns: f64,
    pub sibling_ns: f64,
    pub transition_ns: f64,
}

impl Lost {
    pub fn sum_ns(&self) -> f64 {
        self.hold_ns + self.sibling_ns + self.transition_ns
    }

    pub fn add(&mut self, other: &Self) {
        self.hold_ns += other.hold_ns;
        self.hold_beside_ns += other.hold_beside_ns;
        self.sibling_ns += other.sibling_ns;
        self.transition_ns += other.transition_ns;
    }
}

/// Code that a task executes.
#[derive(Clone, Copy)]
struct Code {
    class: Class,
    rate_permille: u32,
    stall_permille: u32,
}

/// A task that has waited, until its next phase.
const WOKEN: Code = Code { class: Class::Scalar, rate_permille: 0, stall_permille: 0 };

/// The license of a core.
#[derive(Clone, Copy)]
struct License {
    level: u8,
    rate_permille: u16,
    /// The level of the next full rate: a transition leads to it.
    leads_to: u8,
}

/// What the loss of a task depends on.
struct Place<'a> {
    own: Code,
    sibling: Option<Code>,
    license: License,
    row: usize,
    cpu: &'a CpuModel,
    smt_share: f64,
}

impl Place<'_> {
    /// Reference time per time at the frequency of a level (D 4.3.2 with SMT sharing).
    fn rate(&self, level: u8, license_rate: f64) -> f64 {
        let turbo = &self.cpu.turbo;
        let stall = f64::from(self.own.stall_permille) / 1000.0;
        let slower = f64::from(turbo.ref_khz) / f64::from(turbo.khz(self.row, level));
        let shared = self.sibling.map_or(1.0, |sibling| {
            let computes = 1.0 - f64::from(sibling.stall_permille) / 1000.0;
            1.0 / (1.0 + (1.0 / self.smt_share - 1.0) * computes)
        });
        1.0 / (stall + (1.0 - stall) * slower / (shared * license_rate))
    }

    /// The loss in a time.
    fn lost(&self, time_ns: f64) -> Lost {
        let own_level = self.cpu.level_demanded(self.own.class, self.own.rate_permille);
        let License { level, rate_permille, leads_to } = self.license;
        if level.max(leads_to) <= own_level {
            return Lost::default();
        }
        let ideal = self.rate(own_level, 1.0);
        if rate_permille < 1000 {
            let license_rate = f64::from(rate_permille) / 1000.0;
            let rate = if rate_permille == 0 { 0.0 } else { self.rate(level, license_rate) };
            let transition_ns = time_ns * (1.0 - rate / ideal);
            return Lost { transition_ns, ..Lost::default() };
        }
        let by_sibling = self.sibling.map_or(0, |sibling| {
            let running = [self.own, sibling].map(|code| (code.class, code.rate_permille));
            self.cpu.level_beside(sibling.class, running.into_iter())
        });
        let with_sibling = by_sibling.clamp(own_level, level);
        let share = |level: u8| 1.0 - self.rate(level, 1.0) / ideal;
        let sibling_ns = time_ns * share(with_sibling);
        let hold_ns = time_ns * share(level) - sibling_ns;
        let hold_beside_ns = if sibling_ns > 0.0 { hold_ns } else { 0.0 };
        Lost { hold_ns, hold_beside_ns, sibling_ns, transition_ns: 0.0 }
    }
}

/// By record: the level that a transition which begins there leads to.
fn targets(history: &History, cores: usize) -> Vec<u8> {
    let mut next = vec![0; cores];
    let mut targets = vec![0; history.records.len()];
    for (at, record) in history.records.iter().enumerate().rev() {
        if let Event::License { core, level, rate_permille } = record.event {
            if rate_permille == 1000 {
                next[core as usize] = level;
            }
            targets[at] = next[core as usize];
        }
    }
    targets
}

/// What an application lost in a run with two hardware threads a core or one.
pub fn lost(
    cpu: &CpuModel,
    workload: &Workload,
    config: &Config,
    history: &History,
    application: usize,
) -> Lost {
    let machine = &workload.machine;
    let threads = machine.threads_per_core as usize;
    let cores = machine.cores_per_package as usize * machine.packages as usize;
    let targets = targets(history, cores);
    let mut licenses = vec![License { level: 0, rate_permille: 1000, leads_to: 0 }; cores];
    let mut running: Vec<Option<usize>> = vec![None; cores * threads];
    let mut codes = vec![WOKEN; workload.threads.len()];
    let smt_share = f64::from(config.smt_share_permille) / 1000.0;
    let (mut sum, mut then_ns) = (Lost::default(), 0);
    for (at, record) in history.records.iter().enumerate() {
        let passed_ns = record.time_ns - then_ns;
        if passed_ns > 0 {
            then_ns = record.time_ns;
            let on_cores = running.chunks(threads);
            let active = on_cores.clone().filter(|on| on.iter().any(Option::is_some)).count();
            let row = cpu.turbo.row(machine.turbo_cores.unwrap_or(active as u32));
            for (on, &license) in on_cores.zip(&licenses) {
                for (thread, task) in on.iter().enumerate() {
                    let Some(task) = *task else { continue };
                    if workload.threads[task].application as usize != application {
                        continue;
                    }
                    let mut others = on.iter().enumerate().filter(|it| it.0 != thread);
                    let sibling = others.find_map(|(_, other)| *other).map(|other| codes[other]);
                    let place = Place { own: codes[task], sibling, license, row, cpu, smt_share };
                    sum.add(&place.lost(passed_ns as f64));
                }
            }
        }
        match record.event {
            Event::Switch { cpu, prev, state, next } => {
                if prev > 0 && state != SwitchState::Runnable {
                    codes[prev as usize - 1] = WOKEN;
                }
                running[cpu as usize] = next.checked_sub(1).map(|task| task as usize);
            }
            Event::Phase { task, class, rate_permille, stall_permille } => {
                codes[task as usize - 1] = Code { class, rate_permille, stall_permille };
            }
            Event::License { core, level, rate_permille } => {
                let leads_to = targets[at];
                licenses[core as usize] = License { level, rate_permille, leads_to };
            }
            _ => {}
        }
    }
    sum
}
