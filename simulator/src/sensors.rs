//! What the policy is told of a slice, by sensor set: `observed`, never `actual`.
//!
//! The truth of a slice is known to the world alone. Each set passes on what real
//! sensors could report of it: the counters and traps of D 7.4 (`d7`), register
//! state at switch-out (`xinuse`), wide floating-point instructions (`fp-retired`),
//! names (`rules`), or everything (`truth`).

use cpu_model::{Class, CpuModel, LEVELS_MAX, Turbo};
use policy::NOBODY;

use crate::config::{Config, SensorFaults, SensorSet};
use crate::random::{Purpose, Stream};
use crate::sched::Stop;
use crate::task::Slice;
use crate::topology::Topology;

/// Share of switch-outs of a task with 512-bit code at which XINUSE bit 6 is set:
/// .02 to .03 measured for x265 (Linux 6.18, glibc 2.36, recordings of both builds).
const XINUSE_512_PERMILLE: u32 = 25;
/// The same for bit 2 and 256-bit code: .09 to .20 measured.
const XINUSE_256_PERMILLE: u32 = 120;
/// How long evidence counts; our choice.
const LEARNED_NS: u64 = 2_000_000_000;

/// The width that the trap on XCR0 sees: it covers all EVEX registers together.
const WIDEST: u8 = 2;

/// What the policy may know of the slice that just ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    pub slice: policy::Slice,
    /// Level the task is believed to demand itself.
    pub own_level: u8,
    /// Task to bill, or [`NOBODY`].
    pub last_user: u32,
    /// Time lost where the set knows it without a model.
    pub lost_ns: Option<u64>,
}

/// Where a slice ran, and at which row of the turbo table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub cpu: usize,
    pub turbo_row: usize,
}

/// Per task: what has been learned of it.
#[derive(Clone, Copy, Debug, Default)]
struct Learned {
    level: [u64; LEVELS_MAX],
}

/// Per core: what is believed to be in force.
#[derive(Clone, Debug)]
struct Believed {
    since_ns: u64,
    /// Level each of its CPUs' tasks is believed to demand.
    levels: Vec<u8>,
    held_until_ns: [u64; LEVELS_MAX],
}

/// The sensors of a machine.
pub(crate) struct Sensors {
    set: SensorSet,
    faults: SensorFaults,
    /// Whether the scheduler asks at all.
    asked: bool,
    /// By core: last task that used 256-bit (0) and 512-bit (1) registers.
    last_user: Vec<[u32; 2]>,
    learned: Vec<Learned>,
    ruled: Vec<u8>,
    believed: Vec<Believed>,
    /// By CPU: time of the slice by believed level.
    believed_ns: Vec<[u64; LEVELS_MAX]>,
    level_of_width: [u8; 3],
    topology: Topology,
    chance: Stream,
}

impl Sensors {
    pub(crate) fn new(
        config: &Config,
        model: &CpuModel,
        topology: Topology,
        ruled: Vec<u8>,
    ) -> Self {
        Self {
            set: config.sensors,
            faults: config.sensor_faults,
            asked: config.scheduler.compensates(),
            last_user: vec![[NOBODY; 2]; topology.cores],
            learned: vec![Learned::default(); ruled.len()],
            ruled,
            believed: vec![
                Believed {
                    since_ns: 0,
                    levels: vec![0; topology.threads_per_core],
                    held_until_ns: [0; LEVELS_MAX],
                };
                topology.cores
            ],
            believed_ns: vec![[0; LEVELS_MAX]; topology.cpus],
            level_of_width: level_of_width(model),
            topology,
            chance: Stream::new(config.seed, Purpose::Sensor, 0),
        }
    }

    /// Whether first use of wide registers traps.
    pub(crate) fn traps(&self) -> bool {
        self.asked && self.set == SensorSet::D7
    }

    /// The width of registers whose use shows while a task runs code of a class.
    pub(crate) fn width_shown(&self, class: Class) -> u8 {
        if self.faults.evex_strings && self.traps() { WIDEST } else { class.width() }
    }

    /// A running task used registers of this width for the first time in its slice: what
    /// only a trap can tell at once.
    pub(crate) fn first_use(&mut self, cpu: usize, task: usize, width: u8) {
        if matches!(self.set, SensorSet::D7 | SensorSet::Truth) {
            self.note_use(cpu, task, width);
        }
    }

    fn note_use(&mut self, cpu: usize, task: usize, width: u8) {
        let users = &mut self.last_user[self.topology.core_of(cpu)];
        for user in users.iter_mut().take(usize::from(width)) {
            *user = task as u32;
        }
    }

    /// A task comes to a CPU.
    pub(crate) fn started(&mut self, cpu: usize, task: usize, model: &CpuModel, now_ns: u64) {
        if self.needs_belief() {
            let level = self.believed_level(task, now_ns);
            self.believe(cpu, level, model, now_ns);
            self.believed_ns[cpu] = [0; LEVELS_MAX];
        }
    }

    /// A task is accounted.
    pub(crate) fn stopped(
        &mut self,
        place: Place,
        task: usize,
        slice: &Slice,
        stop: Stop,
        model: &CpuModel,
        now_ns: u64,
    ) -> Observed {
        let Place { cpu, turbo_row } = place;
        let observed = match self.set {
            SensorSet::D7 => self.counted(cpu, slice, &model.turbo),
            SensorSet::Truth => Observed {
                lost_ns: Some(slice.lost_q20 >> 20),
                last_user: slice.lost_to.unwrap_or(NOBODY),
                ..self.counted(cpu, slice, &model.turbo)
            },
            SensorSet::Xinuse => {
                // The register state is saved after the slice was accounted: evidence is late.
                self.believe(cpu, 0, model, now_ns);
                let observed = self.inferred(cpu, task, slice, turbo_row, &model.turbo, now_ns);
                self.learn(task, slice, stop, now_ns);
                observed
            }
            SensorSet::FpRetired | SensorSet::Rules => {
                self.learn(task, slice, stop, now_ns);
                self.believe(cpu, 0, model, now_ns);
                self.inferred(cpu, task, slice, turbo_row, &model.turbo, now_ns)
            }
        };
        self.note_user(cpu, task, slice, now_ns);
        observed
    }

    fn needs_belief(&self) -> bool {
        matches!(self.set, SensorSet::Xinuse | SensorSet::FpRetired | SensorSet::Rules)
    }

    /// Cycles by license level, cycles, stalls, and the width that trapped.
    fn counted(&mut self, cpu: usize, slice: &Slice, turbo: &Turbo) -> Observed {
        let own_level = self.level_of_width[usize::from(slice.width)];
        let slice = policy::Slice {
            time_ns: slice.time_ns,
            cycles: self.count(slice.cycles_e6),
            ref_cycles: slice.counted_ns * u64::from(turbo.ref_khz) / 1_000_000,
            level_cycles: slice.level_cycles_e6.map(|cycles| self.count(cycles)),
            stall_cycles: self.count(slice.stall_cycles_e6),
        };
        let last_user = self.last_user_above(cpu, own_level, &slice);
        Observed { slice, own_level, last_user, lost_ns: None }
    }

    /// What a counter shows of that many millionths of a cycle.
    fn count(&mut self, cycles_e6: u64) -> u64 {
        let noise = u64::from(self.faults.counter_noise_permille.min(1000));
        if noise == 0 || self.set != SensorSet::D7 {
            return cycles_e6 / 1_000_000;
        }
        let permille = 1000 - noise + self.chance.below(2 * noise + 1);
        (u128::from(cycles_e6) * u128::from(permille) / 1_000_000_000) as u64
    }

    /// Who last used registers that demand the levels seen above the task's own.
    fn last_user_above(&self, cpu: usize, own_level: u8, slice: &policy::Slice) -> u32 {
        let users = self.last_user[self.topology.core_of(cpu)];
        let seen_above = |level: u8| {
            slice.level_cycles.iter().skip(usize::from(level) + 1).any(|&cycles| cycles > 0)
        };
        if seen_above(self.level_of_width[1].max(own_level)) {
            users[1]
        } else if seen_above(own_level) {
            users[0]
        } else {
            NOBODY
        }
    }

    /// Frequency from the CPU table at the levels believed to have been in force.
    fn inferred(
        &self,
        cpu: usize,
        task: usize,
        slice: &Slice,
        turbo_row: usize,
        turbo: &Turbo,
        now_ns: u64,
    ) -> Observed {
        let own_level = match self.set {
            SensorSet::FpRetired => slice.fp_level,
            _ => self.believed_level(task, now_ns),
        };
        let mut level_cycles = [0; LEVELS_MAX];
        let believed_ns = &self.believed_ns[cpu];
        let total: u64 = believed_ns.iter().sum::<u64>().max(1);
        for level in 0..turbo.levels as usize {
            let time_ns = u128::from(slice.time_ns) * u128::from(believed_ns[level]);
            let time_ns = (time_ns / u128::from(total)) as u64;
            level_cycles[level] = time_ns * u64::from(turbo.khz[turbo_row][level]) / 1_000_000;
        }
        let slice = policy::Slice {
            time_ns: slice.time_ns,
            cycles: level_cycles.iter().sum(),
            ref_cycles: slice.time_ns * u64::from(turbo.ref_khz) / 1_000_000,
            level_cycles,
            stall_cycles: 0,
        };
        let last_user = self.last_user_above(cpu, own_level, &slice);
        Observed { slice, own_level, last_user, lost_ns: None }
    }

    fn believed_level(&self, task: usize, now_ns: u64) -> u8 {
        match self.set {
            SensorSet::Rules => self.ruled[task],
            _ => {
                let expires = &self.learned[task].level;
                (1..LEVELS_MAX).rev().find(|&l| expires[l] > now_ns).unwrap_or(0) as u8
            }
        }
    }

    fn learn(&mut self, task: usize, slice: &Slice, stop: Stop, now_ns: u64) {
        // Code gives wide registers up before it sleeps: they show only where it is preempted.
        let shows = stop == Stop::Preempted;
        let level = match self.set {
            SensorSet::Xinuse if !shows => 0,
            SensorSet::Xinuse if slice.width >= 2 && self.chance.chance(XINUSE_512_PERMILLE) => {
                self.level_of_width[2]
            }
            SensorSet::Xinuse if slice.width >= 1 && self.chance.chance(XINUSE_256_PERMILLE) => {
                self.level_of_width[1]
            }
            SensorSet::FpRetired => slice.fp_level,
            _ => 0,
        };
        if level > 0 {
            self.learned[task].level[usize::from(level)] = now_ns + LEARNED_NS;
        }
    }

    /// From now on the CPU is believed to demand this level.
    fn believe(&mut self, cpu: usize, level: u8, model: &CpuModel, now_ns: u64) {
        let core = self.topology.core_of(cpu);
        self.book_belief(core, now_ns);
        let thread = cpu - self.topology.cpus_of_core(core).start;
        let believed = &mut self.believed[core];
        for held in 1..=believed.levels[thread] {
            let held = usize::from(held);
            believed.held_until_ns[held] = now_ns + model.license.hold_ns[held];
        }
        believed.levels[thread] = level;
    }

    /// Books the time since the last change to the levels believed in force.
    fn book_belief(&mut self, core: usize, now_ns: u64) {
        let believed = &mut self.believed[core];
        let demanded = believed.levels.iter().copied().max().unwrap_or(0);
        let mut from_ns = believed.since_ns;
        believed.since_ns = now_ns;
        while from_ns < now_ns {
            let held = (1..LEVELS_MAX).rev().find(|&l| believed.held_until_ns[l] > from_ns);
            let (level, until_ns) = match held {
                Some(level) if level > usize::from(demanded) => {
                    (level, believed.held_until_ns[level].min(now_ns))
                }
                _ => (usize::from(demanded), now_ns),
            };
            for cpu in self.topology.cpus_of_core(core) {
                self.believed_ns[cpu][level] += until_ns - from_ns;
            }
            from_ns = until_ns;
        }
    }

    fn note_user(&mut self, cpu: usize, task: usize, slice: &Slice, now_ns: u64) {
        let width = match self.set {
            SensorSet::D7 | SensorSet::Truth => slice.width,
            SensorSet::Xinuse | SensorSet::FpRetired | SensorSet::Rules => {
                let level = self.believed_level(task, now_ns);
                (1..3).rev().find(|&w| level >= self.level_of_width[w].max(1)).unwrap_or(0) as u8
            }
        };
        self.note_use(cpu, task, width);
    }
}

/// The level a task of each register width is taken to demand: the highest of its classes.
fn level_of_width(model: &CpuModel) -> [u8; 3] {
    const FULL_RATE_PERMILLE: u32 = 1000;
    let mut levels = [0; 3];
    for class in cpu_model::Class::ALL {
        let level = &mut levels[usize::from(class.width())];
        *level = model.level_demanded(class, FULL_RATE_PERMILLE).max(*level);
    }
    levels
}
