//! The policy's view of a slice, by sensor set: `observed`, never `actual`.
//!
//! Only the world knows the truth of a slice. Each set passes on the part of the truth that
//! real sensors could report: the counters and traps of D 7.4 (`d7`), register state at
//! switch-out (`xinuse`), wide floating-point instructions (`fp-retired`), names (`rules`),
//! or everything (`truth`).

use cpu_model::{Class, CpuModel, Turbo};
use policy::{Belief, Learned, LevelTimes, NO_TASK, Users};

use crate::config::{Config, Scheduler, SensorFaults, SensorSet};
use crate::random::{Purpose, Stream, of_tasks};
use crate::task::{Slice, Stop};
use crate::topology::{Topology, is_in_share};

/// Share of switch-outs of a task with 512-bit code at which XINUSE bit 6 is set:
/// .02 to .03 measured for x265 (Linux 6.18, glibc 2.36, recordings of both builds).
const XINUSE_512_PERMILLE: u32 = 25;
/// The same for bit 2 and 256-bit code: .09 to .20 measured.
const XINUSE_256_PERMILLE: u32 = 120;
/// The width that a trap on XCR0 reports: one bit covers all EVEX registers.
pub(crate) const WIDEST: u8 = 2;

/// The policy's knowledge of the slice that just ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Observed {
    pub slice: policy::Slice,
    /// Level the task is believed to demand itself.
    pub own_level: u8,
    /// Task to bill, or [`NO_TASK`].
    pub last_user: u32,
    /// Time lost, where the set knows the loss without a model.
    pub lost_ns: Option<u64>,
    /// The core has no sensors: all values are beliefs from earlier slices elsewhere.
    pub is_believed: bool,
    /// Further readings, which only the kernel scheduler's source uses.
    #[cfg_attr(not(feature = "scx"), expect(dead_code, reason = "only that scheduler asks"))]
    pub readings: KernelReadings,
}

/// Readings for a scheduler that keeps beliefs of its own.
#[cfg_attr(not(feature = "scx"), expect(dead_code, reason = "only that scheduler asks"))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KernelReadings {
    /// Width of the registers that were in use when the task left, as in [`Slice::width`].
    pub registers: u8,
    /// Wide floating-point instructions of 256 and of 512 bits.
    pub retired: [u64; 2],
}

impl Observed {
    /// The observation of a scheduler that reads no sensor: the time of the slice.
    fn nothing(time_ns: u64) -> Self {
        Self {
            slice: policy::Slice { time_ns, ..policy::Slice::default() },
            own_level: 0,
            last_user: NO_TASK,
            lost_ns: None,
            is_believed: false,
            readings: KernelReadings::default(),
        }
    }

    /// Level that the slice proves of its task: the highest level up to the task's own that was
    /// in force.
    pub(crate) fn shown_level(&self) -> u8 {
        let in_force = |&level: &u8| self.slice.level_cycles[usize::from(level)] > 0;
        (1..=self.own_level).rev().find(in_force).unwrap_or(0)
    }
}

/// The CPU of a slice, the turbo row in force at its end, and the first row in force during
/// the slice.
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
    /// Whether the scheduler uses sensors.
    is_used: bool,
    /// Whether the scheduler keeps beliefs of its own, and takes the readings of a kernel.
    has_own_beliefs: bool,
    /// By core.
    users: Vec<Users>,
    /// By task: levels that counters showed, with decay.
    learned: Vec<Learned>,
    /// By task: the level that counters showed in its last slice.
    counted: Vec<u8>,
    /// By task: its application, whose threads are those of one process.
    application: Vec<usize>,
    /// By CPU: the width of registers that show if the task that was accounted last leaves.
    in_use: Vec<u8>,
    /// By application: levels that any of its threads showed. Threads mostly run the same code,
    /// and evidence is rare.
    of_threads: Vec<Learned>,
    ruled: Vec<u8>,
    /// By core.
    beliefs: Vec<Belief>,
    hold: LevelTimes,
    /// By CPU: the level that its task is believed to demand.
    demanded: Vec<u8>,
    /// By CPU: the booked times of its core at the beginning of the slice.
    booked: Vec<LevelTimes>,
    level_of_width: [u8; 3],
    levels: u32,
    /// By task: the level of its last detection, where detections are late.
    detected: Vec<u8>,
    topology: Topology,
    /// By task: chance in what its sensors read.
    chance: Vec<Stream>,
}

impl Sensors {
    pub(crate) fn new(
        config: &Config,
        model: &CpuModel,
        topology: Topology,
        application: Vec<usize>,
        ruled: Vec<u8>,
        stream_numbers: &[u64],
    ) -> Self {
        let detected = vec![0; ruled.len()];
        let applications = application.iter().max().map_or(0, |last| last + 1);
        Self {
            set: config.sensors,
            faults: config.sensor_faults,
            is_used: config.scheduler.compensates(),
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
            chance: of_tasks(config.seed, Purpose::Sensor, stream_numbers),
        }
    }

    /// Whether first use of wide registers traps on a CPU.
    pub(crate) fn traps(&self, cpu: usize) -> bool {
        self.is_used
            && self.set == SensorSet::D7
            && !self.has_own_beliefs
            && !self.lacks_sensors(cpu)
    }

    /// The width of registers whose use shows while a task runs code of a class on a CPU.
    pub(crate) fn width_shown(&self, cpu: usize, class: Class) -> u8 {
        if self.faults.evex_strings && self.traps(cpu) { WIDEST } else { class.width() }
    }

    /// Whether code that demands a level faults where a scheduler forbids wide code. XCR0 forbids
    /// registers, which string functions of the C library may need in any code.
    pub(crate) fn faults(&self, class: Class, own_level: u8) -> bool {
        match self.set {
            SensorSet::Proposed => own_level > 0,
            _ => self.faults.evex_strings || class.width() == WIDEST,
        }
    }

    /// Whether the scheduler takes nothing but the time of a slice.
    fn is_unread(&self) -> bool {
        !self.is_used && !self.has_own_beliefs
    }

    fn lacks_sensors(&self, cpu: usize) -> bool {
        lacks_sensors(&self.topology, self.faults, cpu)
    }

    /// A running task used registers of this width for the first time in its slice. Only a trap
    /// reports the use immediately.
    pub(crate) fn first_use(&mut self, cpu: usize, task: usize, width: u8) {
        if self.is_unread() {
            return;
        }
        let is_immediate = match self.set {
            SensorSet::D7 => self.faults.false_detections_permille == 0,
            SensorSet::Truth | SensorSet::Proposed => true,
            SensorSet::Xinuse | SensorSet::FpRetired | SensorSet::Rules => false,
        };
        if is_immediate && !self.lacks_sensors(cpu) {
            self.note_use(cpu, task, self.level_of_width[usize::from(width)]);
        }
    }

    fn note_use(&mut self, cpu: usize, task: usize, level: u8) {
        self.users[self.topology.core_of(cpu)].note(level, task as u32);
    }

    /// A task comes to a CPU.
    pub(crate) fn started(&mut self, cpu: usize, task: usize, now_ns: u64) {
        if self.is_unread() {
            return;
        }
        if self.needs_belief() || self.lacks_sensors(cpu) {
            let level = self.believed_level(task, now_ns);
            self.believe(cpu, level, now_ns);
            self.booked[cpu] = self.beliefs[self.topology.core_of(cpu)].booked;
        }
    }

    /// A task is accounted; `turbo` is the policy's copy of the CPU's table.
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
        if self.is_unread() {
            return Observed::nothing(slice.time_ns);
        }
        if self.lacks_sensors(cpu) {
            return self.believed(place, task, slice, turbo, now_ns);
        }
        let readings = self.kernel_readings(task, slice, stop);
        let observed = match self.set {
            SensorSet::D7 => self.counted(place, task, slice, turbo),
            SensorSet::Proposed => Observed {
                last_user: slice.lost_to.unwrap_or(NO_TASK),
                own_level: slice.needed_level,
                ..self.counted(place, task, slice, turbo)
            },
            SensorSet::Truth => Observed {
                lost_ns: Some(slice.lost_q20 >> 20),
                last_user: slice.lost_to.unwrap_or(NO_TASK),
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
            self.in_use[cpu] = self.width_in_use(task, slice, stop);
        }
        self.note_user(cpu, task, observed.own_level, now_ns);
        self.remember(task, &observed, now_ns);
        Observed { readings, ..observed }
    }

    /// On a core without sensors: the belief that sensors of other cores, or rules, gave.
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

    /// Learns the level that the counters of this slice showed, for slices of the task and of its
    /// sibling threads on cores without sensors.
    fn remember(&mut self, task: usize, observed: &Observed, now_ns: u64) {
        if self.needs_belief() || self.faults.deaf_cores_permille == 0 {
            return;
        }
        let level = observed.shown_level();
        let before = std::mem::replace(&mut self.counted[task], level);
        self.learned[task].learn_shown(level, before, now_ns);
        self.of_threads[self.application[task]].learn_shown(level, before, now_ns);
    }

    /// A task that was accounted has left its CPU. The kernel saves registers only then, so their
    /// evidence arrives after the slice was accounted.
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

    fn kernel_readings(&mut self, task: usize, slice: &Slice, stop: Stop) -> KernelReadings {
        const E9: u64 = 1_000_000_000;
        if !self.is_used || !self.has_own_beliefs {
            return KernelReadings::default();
        }
        let registers = self.width_in_use(task, slice, stop);
        KernelReadings { registers, retired: slice.retired_e9.map(|retired| retired / E9) }
    }

    /// Width in use at switch-out: compiled code clears wide registers before a system call, so
    /// sleeping tasks show none, and preempted tasks show them rarely.
    fn width_in_use(&mut self, task: usize, slice: &Slice, stop: Stop) -> u8 {
        if stop != Stop::Preempted {
            0
        } else if slice.width >= 2 && self.chance[task].chance(XINUSE_512_PERMILLE) {
            2
        } else {
            u8::from(slice.width >= 1 && self.chance[task].chance(XINUSE_256_PERMILLE))
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
            cycles: self.count(task, slice.cycles_e6),
            ref_cycles: slice.counted_ns * u64::from(turbo.ref_khz) / 1_000_000,
            level_cycles: slice.level_cycles_e6.map(|cycles| self.count(task, cycles)),
            stall_cycles: self.count_stalls(task, slice.stall_cycles_e6),
            first_row: place.first_row as u64,
        };
        self.observed(place.cpu, slice, own_level)
    }

    /// The observation of a slice, with the last task that used wider registers on the core.
    fn observed(&self, cpu: usize, slice: policy::Slice, own_level: u8) -> Observed {
        Observed {
            last_user: self.users[self.topology.core_of(cpu)].above(&slice, own_level),
            slice,
            own_level,
            lost_ns: None,
            is_believed: false,
            readings: KernelReadings::default(),
        }
    }

    /// A counter's reading for that many millionths of a cycle.
    fn count(&mut self, task: usize, cycles_e6: u64) -> u64 {
        let noise = u64::from(self.faults.counter_noise_permille.min(1000));
        if noise == 0 || self.set != SensorSet::D7 {
            return cycles_e6 / 1_000_000;
        }
        let permille = 1000 - noise + self.chance[task].below(2 * noise + 1);
        (u128::from(cycles_e6) * u128::from(permille) / 1_000_000_000) as u64
    }

    fn count_stalls(&mut self, task: usize, cycles_e6: u64) -> u64 {
        let counted = self.count(task, cycles_e6);
        let error_permille = self.faults.stall_error_permille;
        if error_permille == 0 || self.set != SensorSet::D7 {
            return counted;
        }
        let permille = 1000_u32.saturating_add_signed(error_permille);
        (u128::from(counted) * u128::from(permille) / 1000) as u64
    }

    /// A sensor's reading of a task's level: false or late, as the configured faults say.
    fn detect(&mut self, task: usize, level: u8) -> u8 {
        let false_permille = self.faults.false_detections_permille;
        if false_permille == 0 || !self.set.errs() {
            return level;
        }
        let late = std::mem::replace(&mut self.detected[task], level);
        if !self.chance[task].chance(false_permille) {
            return late;
        }
        // Any wrong level, each as likely.
        let other = self.chance[task].below(u64::from(self.levels.max(2)) - 1) as u8;
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
            SensorSet::D7 | SensorSet::Proposed | SensorSet::Truth => own_level,
            SensorSet::Xinuse | SensorSet::FpRetired | SensorSet::Rules => {
                self.believed_level(task, now_ns)
            }
        };
        self.note_use(cpu, task, level);
    }
}

/// Whether a CPU has no sensors.
pub(crate) fn lacks_sensors(topology: &Topology, faults: SensorFaults, cpu: usize) -> bool {
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

/// The policy's copy of the CPU's table, with the configured error.
#[must_use]
pub fn believed(turbo: &Turbo, faults: SensorFaults) -> Turbo {
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
