//! What the policy is told of a slice, by sensor set: `observed`, never `actual`.
//!
//! The truth of a slice is known to the world alone. Each set passes on what real
//! sensors could report of it: the counters and traps of D 7.4 (`d7`), register
//! state at switch-out (`xinuse`), wide floating-point instructions (`fp-retired`),
//! names (`rules`), or everything (`truth`).

use cpu_model::{Class, CpuModel, Turbo};
use policy::{Belief, Learned, LevelTimes, NOBODY, Users};

use crate::config::{Config, Scheduler, SensorFaults, SensorSet};
use crate::random::{Purpose, Stream};
use crate::task::{Slice, Stop};
use crate::topology::{Topology, is_in_share};

/// Share of switch-outs of a task with 512-bit code at which XINUSE bit 6 is set:
/// .02 to .03 measured for x265 (Linux 6.18, glibc 2.36, recordings of both builds).
const XINUSE_512_PERMILLE: u32 = 25;
/// The same for bit 2 and 256-bit code: .09 to .20 measured.
const XINUSE_256_PERMILLE: u32 = 120;
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
    /// No sensor looked: this is what is believed of the task since one did.
    pub is_believed: bool,
    /// What a kernel could see besides.
    #[cfg_attr(not(feature = "scx"), expect(dead_code, reason = "only that scheduler asks"))]
    pub seen: Seen,
}

/// What a scheduler that has its own beliefs is told of a slice.
#[cfg_attr(not(feature = "scx"), expect(dead_code, reason = "only that scheduler asks"))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Width of the registers that were in use when the task left, as in [`Slice::width`].
    pub registers: u8,
    /// Wide floating-point instructions of 256 and of 512 bits.
    pub retired: [u64; 2],
}

impl Observed {
    /// What a slice shows of its task: no level above its own, and none that was not in force.
    pub(crate) fn shown_level(&self) -> u8 {
        let in_force = |&level: &u8| self.slice.level_cycles[usize::from(level)] > 0;
        (1..=self.own_level).rev().find(in_force).unwrap_or(0)
    }
}

/// Where a slice ran, at which row of the turbo table, and which was the first it ran at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub cpu: usize,
    pub turbo_row: usize,
    pub first_row: usize,
}

/// The sensors of a machine.
pub(crate) struct Sensors {
    set: SensorSet,
    faults: SensorFaults,
    /// Whether the scheduler asks at all.
    asked: bool,
    /// Whether it has beliefs of its own, and is told what a kernel can see.
    has_own_beliefs: bool,
    /// By core.
    users: Vec<Users>,
    /// By task: what counters showed, and in its last slice.
    learned: Vec<Learned>,
    counted: Vec<u8>,
    /// By task: its application, whose threads are those of one process.
    application: Vec<usize>,
    /// By CPU: the width of registers that show if the task that was accounted last leaves.
    in_use: Vec<u8>,
    /// By application: what was shown by any of its threads. They mostly run the same
    /// code, and evidence is rare.
    of_threads: Vec<Learned>,
    ruled: Vec<u8>,
    /// By core.
    beliefs: Vec<Belief>,
    hold: LevelTimes,
    /// By CPU: the level that its task is believed to demand.
    demanded: Vec<u8>,
    /// By CPU: what was booked on its core when the slice began.
    booked: Vec<LevelTimes>,
    level_of_width: [u8; 3],
    levels: u32,
    /// By task: the level of its last detection, where detections are late.
    detected: Vec<u8>,
    topology: Topology,
    chance: Stream,
}

impl Sensors {
    pub(crate) fn new(
        config: &Config,
        model: &CpuModel,
        topology: Topology,
        application: Vec<usize>,
        ruled: Vec<u8>,
    ) -> Self {
        let detected = vec![0; ruled.len()];
        let applications = application.iter().max().map_or(0, |last| last + 1);
        Self {
            set: config.sensors,
            faults: config.sensor_faults,
            asked: config.scheduler.compensates(),
            has_own_beliefs: matches!(config.scheduler, Scheduler::Scx(_)),
            users: vec![Users::default(); topology.cores],
            learned: vec![Learned::default(); ruled.len()],
            counted: vec![0; ruled.len()],
            application,
            in_use: vec![0; topology.cpus],
            of_threads: vec![Learned::default(); applications],
            ruled,
            beliefs: vec![Belief::default(); topology.cores],
            hold: LevelTimes { ns: model.license.hold_ns },
            demanded: vec![0; topology.cpus],
            booked: vec![LevelTimes::default(); topology.cpus],
            level_of_width: level_of_width(model),
            levels: model.turbo.levels,
            detected,
            topology,
            chance: Stream::new(config.seed, Purpose::Sensor, 0),
        }
    }

    /// Whether first use of wide registers traps on a CPU.
    pub(crate) fn traps(&self, cpu: usize) -> bool {
        self.asked && self.set == SensorSet::D7 && !self.has_own_beliefs && !self.is_deaf(cpu)
    }

    /// The width of registers whose use shows while a task runs code of a class on a CPU.
    pub(crate) fn width_shown(&self, cpu: usize, class: Class) -> u8 {
        if self.faults.evex_strings && self.traps(cpu) { WIDEST } else { class.width() }
    }

    fn is_deaf(&self, cpu: usize) -> bool {
        is_deaf(&self.topology, self.faults, cpu)
    }

    /// A running task used registers of this width for the first time in its slice: what
    /// only a trap can tell at once.
    pub(crate) fn first_use(&mut self, cpu: usize, task: usize, width: u8) {
        let tells = match self.set {
            SensorSet::D7 => self.faults.false_detections_permille == 0,
            SensorSet::Truth => true,
            SensorSet::Xinuse | SensorSet::FpRetired | SensorSet::Rules => false,
        };
        if tells && !self.is_deaf(cpu) {
            self.note_use(cpu, task, self.level_of_width[usize::from(width)]);
        }
    }

    fn note_use(&mut self, cpu: usize, task: usize, level: u8) {
        self.users[self.topology.core_of(cpu)].note(level, task as u32);
    }

    /// A task comes to a CPU.
    pub(crate) fn started(&mut self, cpu: usize, task: usize, now_ns: u64) {
        if self.needs_belief() || self.is_deaf(cpu) {
            let level = self.believed_level(task, now_ns);
            self.believe(cpu, level, now_ns);
            self.booked[cpu] = self.beliefs[self.topology.core_of(cpu)].booked;
        }
    }

    /// A task is accounted; `turbo` is what the policy takes for the CPU's table.
    pub(crate) fn stopped(
        &mut self,
        place: Place,
        task: usize,
        slice: &Slice,
        stop: Stop,
        turbo: &Turbo,
        now_ns: u64,
    ) -> Observed {
        let cpu = place.cpu;
        if self.is_deaf(cpu) {
            return self.believed(place, task, slice, turbo, now_ns);
        }
        let seen = self.seen(slice, stop);
        let observed = match self.set {
            SensorSet::D7 => self.counted(place, task, slice, turbo),
            SensorSet::Truth => Observed {
                lost_ns: Some(slice.lost_q20 >> 20),
                last_user: slice.lost_to.unwrap_or(NOBODY),
                ..self.counted(place, task, slice, turbo)
            },
            SensorSet::Xinuse | SensorSet::FpRetired | SensorSet::Rules => {
                let mut slice = *slice;
                if self.set == SensorSet::FpRetired {
                    slice.fp_level = self.detect(task, slice.fp_level);
                    let before = std::mem::replace(&mut self.counted[task], slice.fp_level);
                    self.learned[task].learn_shown(slice.fp_level, before, now_ns);
                }
                self.believe(cpu, 0, now_ns);
                self.inferred(place, task, &slice, turbo, now_ns)
            }
        };
        if self.set.reads_registers() {
            self.in_use[cpu] = self.width_in_use(slice, stop);
        }
        self.note_user(cpu, task, observed.own_level, now_ns);
        self.remember(task, &observed, now_ns);
        Observed { seen, ..observed }
    }

    /// Where no sensor looks: by what one told of the task elsewhere, as by rules.
    fn believed(
        &mut self,
        place: Place,
        task: usize,
        slice: &Slice,
        turbo: &Turbo,
        now_ns: u64,
    ) -> Observed {
        let slice = Slice { fp_level: 0, ..*slice };
        self.believe(place.cpu, 0, now_ns);
        let observed = self.inferred(place, task, &slice, turbo, now_ns);
        self.note_use(place.cpu, task, observed.own_level);
        Observed { is_believed: true, ..observed }
    }

    /// Counters tell of each slice: what that shows is believed where there are none, of the other
    /// threads, too.
    fn remember(&mut self, task: usize, observed: &Observed, now_ns: u64) {
        if self.needs_belief() || self.faults.deaf_cores_permille == 0 {
            return;
        }
        let level = observed.shown_level();
        let before = std::mem::replace(&mut self.counted[task], level);
        self.learned[task].learn_shown(level, before, now_ns);
        self.of_threads[self.application[task]].learn_shown(level, before, now_ns);
    }

    /// A task that was accounted has left its CPU. Only then are registers saved, so that what they
    /// show is known after the slice was judged.
    pub(crate) fn left(&mut self, cpu: usize, task: usize, now_ns: u64) {
        let width = std::mem::take(&mut self.in_use[cpu]);
        if width > 0 {
            let mut level = self.level_of_width[usize::from(width)];
            if self.set == SensorSet::Xinuse {
                level = self.detect(task, level);
            }
            self.of_threads[self.application[task]].learn(level, now_ns);
            self.note_use(cpu, task, self.believed_level(task, now_ns));
        }
    }

    fn seen(&mut self, slice: &Slice, stop: Stop) -> Seen {
        const E9: u64 = 1_000_000_000;
        if !self.asked || !self.has_own_beliefs {
            return Seen::default();
        }
        let registers = self.width_in_use(slice, stop);
        Seen { registers, retired: slice.retired_e9.map(|retired| retired / E9) }
    }

    /// Code gives wide registers up before it sleeps, and mostly before it is preempted.
    fn width_in_use(&mut self, slice: &Slice, stop: Stop) -> u8 {
        if stop != Stop::Preempted {
            0
        } else if slice.width >= 2 && self.chance.chance(XINUSE_512_PERMILLE) {
            2
        } else {
            u8::from(slice.width >= 1 && self.chance.chance(XINUSE_256_PERMILLE))
        }
    }

    fn needs_belief(&self) -> bool {
        matches!(self.set, SensorSet::Xinuse | SensorSet::FpRetired | SensorSet::Rules)
    }

    /// Cycles by license level, cycles, stalls, and the width that trapped.
    fn counted(&mut self, place: Place, task: usize, slice: &Slice, turbo: &Turbo) -> Observed {
        let own_level = self.detect(task, self.level_of_width[usize::from(slice.width)]);
        let slice = policy::Slice {
            time_ns: slice.time_ns,
            cycles: self.count(slice.cycles_e6),
            ref_cycles: slice.counted_ns * u64::from(turbo.ref_khz) / 1_000_000,
            level_cycles: slice.level_cycles_e6.map(|cycles| self.count(cycles)),
            stall_cycles: self.count_stalls(slice.stall_cycles_e6),
            first_row: place.first_row as u64,
        };
        self.observed(place.cpu, slice, own_level)
    }

    /// What is told of a slice, and who used wider registers than its task last.
    fn observed(&self, cpu: usize, slice: policy::Slice, own_level: u8) -> Observed {
        Observed {
            last_user: self.users[self.topology.core_of(cpu)].above(&slice, own_level),
            slice,
            own_level,
            lost_ns: None,
            is_believed: false,
            seen: Seen::default(),
        }
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

    fn count_stalls(&mut self, cycles_e6: u64) -> u64 {
        let counted = self.count(cycles_e6);
        let error_permille = self.faults.stall_error_permille;
        if error_permille == 0 || self.set != SensorSet::D7 {
            return counted;
        }
        let permille = 1000_u32.saturating_add_signed(error_permille);
        (u128::from(counted) * u128::from(permille) / 1000) as u64
    }

    /// What a sensor says of a task's level when that is detected.
    fn detect(&mut self, task: usize, level: u8) -> u8 {
        let false_permille = self.faults.false_detections_permille;
        if false_permille == 0 || matches!(self.set, SensorSet::Rules | SensorSet::Truth) {
            return level;
        }
        let late = std::mem::replace(&mut self.detected[task], level);
        if !self.chance.chance(false_permille) {
            return late;
        }
        // Any of the others, each as likely.
        let other = self.chance.below(u64::from(self.levels.max(2)) - 1) as u8;
        other + u8::from(other >= late)
    }

    /// Frequency from the CPU table at the levels believed to have been in force.
    fn inferred(
        &self,
        place: Place,
        task: usize,
        slice: &Slice,
        turbo: &Turbo,
        now_ns: u64,
    ) -> Observed {
        let own_level = match self.set {
            SensorSet::FpRetired => slice.fp_level.max(self.believed_level(task, now_ns)),
            _ => self.believed_level(task, now_ns),
        };
        let core = self.topology.core_of(place.cpu);
        let believed = self.beliefs[core].since(&self.booked[place.cpu], slice.time_ns);
        let mut slice = policy::Slice { time_ns: slice.time_ns, ..policy::Slice::default() };
        policy::infer(turbo, place.turbo_row, &believed, &mut slice);
        self.observed(place.cpu, slice, own_level)
    }

    fn believed_level(&self, task: usize, now_ns: u64) -> u8 {
        match self.set {
            SensorSet::Rules => self.ruled[task],
            _ => {
                let of_threads = &self.of_threads[self.application[task]];
                self.learned[task].level(now_ns).max(of_threads.level(now_ns))
            }
        }
    }

    /// From now on the CPU is believed to demand this level.
    fn believe(&mut self, cpu: usize, level: u8, now_ns: u64) {
        let core = self.topology.core_of(cpu);
        self.beliefs[core].change(&self.hold, self.demanded[cpu], level, now_ns);
        self.demanded[cpu] = level;
    }

    fn note_user(&mut self, cpu: usize, task: usize, own_level: u8, now_ns: u64) {
        let level = match self.set {
            SensorSet::D7 | SensorSet::Truth => own_level,
            SensorSet::Xinuse | SensorSet::FpRetired | SensorSet::Rules => {
                self.believed_level(task, now_ns)
            }
        };
        self.note_use(cpu, task, level);
    }
}

/// Whether a CPU has no sensors.
pub(crate) fn is_deaf(topology: &Topology, faults: SensorFaults, cpu: usize) -> bool {
    is_in_share(topology.core_of(cpu), faults.deaf_cores_permille)
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

/// The CPU's table as the policy has it.
pub(crate) fn believed(turbo: &Turbo, faults: SensorFaults) -> Turbo {
    let permille = 1000_u32.saturating_add_signed(faults.table_error_permille);
    let mut believed = turbo.clone();
    for row in &mut believed.khz {
        let [fastest_khz, slower @ ..] = row;
        for khz in slower {
            let wrong_khz = u64::from(*khz) * u64::from(permille) / 1000;
            *khz = wrong_khz.min(u64::from(*fastest_khz)) as u32;
        }
    }
    believed
}
