//! Remote AVX overhead sampling (D 4.2.1): pauses a core, and looks whether its level stays low.

use random::SplitMix64;

use crate::machine::{Machine, Reading, main_level};
use crate::plan::Plan;
use crate::sample::{Sample, Tally};

/// Further measurements of a CPU that counts no cycle.
const PROBES_MAX: u32 = 100;

/// Takes samples of one CPU after another. Its caller calls [`Self::act`] at [`Self::acts_ns`], on
/// [`Self::cpu`] if possible: a timer on another CPU would wake a further core, which lowers the
/// clock of all (D 4.2.1).
#[derive(Clone, Debug)]
pub struct Sampler {
    plan: Plan,
    /// CPUs in the order of sampling, with their siblings.
    cpus: Vec<(u32, Vec<u32>)>,
    /// Index of the CPU sampled now or next.
    at: usize,
    acts_ns: u64,
    stage: Stage,
    /// How often a measurement was repeated so far.
    tries: u32,
    random: SplitMix64,
    completed: Option<Sample>,
    tally: Tally,
}

/// The step of D 4.2.1 that comes next.
#[derive(Clone, Debug)]
enum Stage {
    /// The sample begins.
    Begin,
    /// Step 1: frequency and level are measured.
    Before { began_ns: u64, first: Reading },
    /// Step 2: the core is paused; its level is to be looked at.
    Paused(Taken),
    /// The level is looked at.
    Recovering { taken: Taken, first: Reading },
    /// Step 3: the task goes on alone.
    Resumed { taken: Taken, resumed: Reading },
    /// The task runs alone.
    Alone { taken: Taken, resumed: Reading },
    /// Its level is measured.
    AloneLevel { taken: Taken, resumed: Reading, first: Reading },
    /// Step 5: the siblings run too.
    Beside { taken: Taken, beside: Vec<Reading> },
    /// The level is measured again.
    BesideLevel { taken: Taken, beside: Vec<Reading>, first: Reading },
}

/// The measurements so far of a sample.
#[derive(Clone, Debug)]
struct Taken {
    sample: Sample,
    /// At its beginning.
    began: Reading,
    paused_ns: u64,
}

impl Sampler {
    /// A sampler of cores, each a list of CPUs, that begins at a time.
    #[must_use]
    pub fn new(plan: Plan, cores: &[Vec<u32>], begins_ns: u64) -> Self {
        let others =
            |cpu: u32, core: &[u32]| core.iter().copied().filter(|&it| it != cpu).collect();
        let with_siblings =
            |core: &Vec<u32>| core.iter().map(|&cpu| (cpu, others(cpu, core))).collect::<Vec<_>>();
        let random = SplitMix64::new(plan.seed);
        let mut sampler = Self {
            plan,
            cpus: cores.iter().flat_map(with_siblings).collect(),
            at: 0,
            acts_ns: begins_ns,
            stage: Stage::Begin,
            tries: 0,
            random,
            completed: None,
            tally: Tally::default(),
        };
        sampler.cpus.sort();
        sampler.acts_ns += sampler.interval_ns();
        sampler
    }

    /// Time of the next act; `None`: there is no CPU to sample.
    #[must_use]
    pub fn acts_ns(&self) -> Option<u64> {
        (!self.cpus.is_empty()).then_some(self.acts_ns)
    }

    /// The CPU that is sampled now, or next.
    #[must_use]
    pub fn cpu(&self) -> Option<u32> {
        self.cpus.get(self.at).map(|&(cpu, _)| cpu)
    }

    /// The sample that the last act completed.
    pub fn completed(&mut self) -> Option<Sample> {
        self.completed.take()
    }

    /// How they ended.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Goes on with the sample.
    pub fn act(&mut self, now_ns: u64, machine: &mut dyn Machine) {
        let Some(cpu) = self.cpu() else { return };
        let reading = machine.read(cpu);
        if self.measures_again(now_ns, &reading) {
            return;
        }
        let probe_ns = self.plan.probe_ns;
        match std::mem::replace(&mut self.stage, Stage::Begin) {
            Stage::Begin => self.begin(now_ns, reading),
            Stage::Before { began_ns, first } => {
                self.measure(now_ns, machine, began_ns, &first, &reading);
            }
            Stage::Paused(taken) => {
                self.go_on(now_ns, probe_ns, Stage::Recovering { taken, first: reading });
            }
            Stage::Recovering { taken, first } => {
                self.look(now_ns, machine, taken, &first, reading);
            }
            Stage::Resumed { mut taken, resumed } => {
                // Halted, throttled, or at a higher level already.
                let level = main_level(&reading.since(&resumed));
                taken.sample.demands_immediately = level != Some(0) || reading.is_pending(&resumed);
                let passed_ns = self.plan.immediate_ns + probe_ns;
                let after_ns = self.plan.window_ns.saturating_sub(passed_ns);
                self.go_on(now_ns, after_ns, Stage::Alone { taken, resumed });
            }
            Stage::Alone { taken, resumed } => {
                self.go_on(now_ns, probe_ns, Stage::AloneLevel { taken, resumed, first: reading });
            }
            Stage::AloneLevel { taken, resumed, first } => {
                self.measure_alone(now_ns, machine, taken, &resumed, &first, &reading);
            }
            Stage::Beside { taken, beside } => {
                self.go_on(now_ns, probe_ns, Stage::BesideLevel { taken, beside, first: reading });
            }
            Stage::BesideLevel { taken, beside, first } => {
                self.measure_beside(now_ns, machine, taken, &beside, &first, &reading);
            }
        }
    }

    /// Measures again where a transition halted the core, so that no cycle was counted, or where
    /// the task demands a level that is not granted yet: not for ever, and not after a switch.
    fn measures_again(&mut self, now_ns: u64, reading: &Reading) -> bool {
        let (first, is_own_level) = match &mut self.stage {
            Stage::Before { first, .. } | Stage::Recovering { first, .. } => (first, false),
            Stage::AloneLevel { first, .. } | Stage::BesideLevel { first, .. } => (first, true),
            _ => return false,
        };
        let is_in_transition = main_level(&reading.since(first)).is_none()
            || is_own_level && reading.is_pending(first);
        if !is_in_transition || !reading.is_same_run(first) || self.tries == PROBES_MAX {
            self.tries = 0;
            return false;
        }
        *first = *reading;
        self.tries += 1;
        self.acts_ns = now_ns + self.plan.probe_ns;
        true
    }

    /// Ends every pause, because the profiler stops.
    pub fn stop(&mut self, machine: &mut dyn Machine) {
        if !self.cpus.is_empty() {
            self.resume_all(machine);
        }
        self.stage = Stage::Begin;
    }

    fn go_on(&mut self, now_ns: u64, after_ns: u64, stage: Stage) {
        self.acts_ns = now_ns + after_ns;
        self.stage = stage;
    }

    fn interval_ns(&mut self) -> u64 {
        let (least, most) = self.plan.interval_ns;
        least + self.random.below(most.saturating_sub(least) + 1)
    }

    /// The next CPU, after a random time.
    fn next(&mut self, now_ns: u64) {
        self.at = (self.at + 1) % self.cpus.len();
        let after_ns = self.interval_ns();
        self.go_on(now_ns, after_ns, Stage::Begin);
    }

    fn begin(&mut self, now_ns: u64, first: Reading) {
        if first.task.is_none() {
            self.tally.idle += 1;
            return self.next(now_ns);
        }
        let stage = Stage::Before { began_ns: now_ns, first };
        self.go_on(now_ns, self.plan.before_ns, stage);
    }

    fn measure(
        &mut self,
        now_ns: u64,
        machine: &mut dyn Machine,
        began_ns: u64,
        first: &Reading,
        reading: &Reading,
    ) {
        let (Some(task), true) = (reading.task, reading.is_same_run(first)) else {
            self.tally.switched += 1;
            return self.next(now_ns);
        };
        let counts = reading.since(first);
        if main_level(&counts).is_none() {
            self.tally.halted += 1;
            return self.next(now_ns);
        }
        let (cpu, siblings) = self.cpus[self.at].clone();
        machine.pause(cpu);
        for &sibling in &siblings {
            machine.pause(sibling);
        }
        let sample = Sample {
            time_ns: began_ns,
            cpu,
            task,
            cycles: counts.cycles,
            ref_cycles: counts.ref_cycles,
            level_cycles: counts.level_cycles,
            stall_cycles: counts.stall_cycles,
            level_alone: 0,
            demands_immediately: false,
            level_beside: None,
            alone_cycles: 0,
            alone_stall_cycles: 0,
            paused_ns: 0,
        };
        let taken = Taken { sample, began: *reading, paused_ns: now_ns };
        let shortest_ns = if self.plan.ends_early { self.plan.look_ns } else { self.plan.pause_ns };
        let after_ns = shortest_ns.saturating_sub(self.plan.probe_ns);
        self.go_on(now_ns, after_ns, Stage::Paused(taken));
    }

    /// Whether the level is back; else the pause goes on.
    fn look(
        &mut self,
        now_ns: u64,
        machine: &mut dyn Machine,
        mut taken: Taken,
        first: &Reading,
        reading: Reading,
    ) {
        let passed_ns = now_ns - taken.paused_ns;
        if main_level(&reading.since(first)) == Some(0) {
            self.tally.paused_ns += passed_ns;
            self.tally.extended += u64::from(passed_ns > self.plan.pause_ns);
            taken.sample.paused_ns = passed_ns;
            machine.resume(taken.sample.cpu);
            let stage = Stage::Resumed { taken, resumed: reading };
            return self.go_on(now_ns, self.plan.immediate_ns, stage);
        }
        if passed_ns + self.plan.look_ns > self.plan.pause_max_ns {
            self.tally.held += 1;
            self.tally.paused_ns += passed_ns;
            self.resume_all(machine);
            return self.next(now_ns);
        }
        let after_ns = self.plan.look_ns.saturating_sub(self.plan.probe_ns);
        self.go_on(now_ns, after_ns, Stage::Paused(taken));
    }

    fn measure_alone(
        &mut self,
        now_ns: u64,
        machine: &mut dyn Machine,
        mut taken: Taken,
        resumed: &Reading,
        first: &Reading,
        reading: &Reading,
    ) {
        self.resume_all(machine);
        if !reading.is_same_run(&taken.began) {
            self.tally.switched += 1;
            return self.next(now_ns);
        }
        let Some(level) = main_level(&reading.since(first)) else {
            self.tally.halted += 1;
            return self.next(now_ns);
        };
        let alone = reading.since(resumed);
        let sample = &mut taken.sample;
        sample.level_alone = level;
        sample.alone_cycles = alone.cycles;
        sample.alone_stall_cycles = alone.stall_cycles;
        if !self.plan.splits_causes {
            return self.keep(now_ns, taken.sample);
        }
        let siblings = &self.cpus[self.at].1;
        let beside = siblings.iter().map(|&sibling| machine.read(sibling)).collect();
        let after_ns = self.plan.window_ns.saturating_sub(self.plan.probe_ns);
        self.go_on(now_ns, after_ns, Stage::Beside { taken, beside });
    }

    fn measure_beside(
        &mut self,
        now_ns: u64,
        machine: &mut dyn Machine,
        mut taken: Taken,
        beside: &[Reading],
        first: &Reading,
        reading: &Reading,
    ) {
        let siblings = &self.cpus[self.at].1;
        let mut pairs = siblings.iter().zip(beside);
        // D's prototype does not look at the siblings' switches (D 4.5.4).
        let is_same = reading.is_same_run(&taken.began)
            && pairs.all(|(&sibling, then)| machine.read(sibling).is_same_run(then));
        if is_same {
            taken.sample.level_beside = main_level(&reading.since(first));
        }
        self.keep(now_ns, taken.sample);
    }

    fn keep(&mut self, now_ns: u64, sample: Sample) {
        self.tally.taken += 1;
        self.completed = Some(sample);
        self.next(now_ns);
    }

    fn resume_all(&self, machine: &mut dyn Machine) {
        let (cpu, siblings) = &self.cpus[self.at];
        machine.resume(*cpu);
        for &sibling in siblings {
            machine.resume(sibling);
        }
    }
}
