//! The structures of `bpf/interface.h`.

use std::collections::BTreeSet;

use cpu_model::{Class, CpuModel, LEVELS_MAX, Turbo};
use policy::{LevelTimes, Mode, Rates, WIDTHS};

use crate::topology::Topology;

/// Configuration of the scheduler: `struct ek_config` without the fields of the topology.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Slice of a task of nice 0 that has its CPU for itself, in ns.
    pub slice_ns: u64,
    /// How far below the minimum virtual runtime a waking task is placed at most, in ns.
    pub sleeper_credit_ns: u64,
    /// By how much a waking task must be behind the running one to preempt it, in ns of virtual
    /// runtime.
    pub wakeup_granularity_ns: u64,
    /// Time of the watchdog: the kernel ejects the scheduler if a task waits for longer, in ms.
    pub watchdog_ms: u32,
    /// Compensation of time lost; `None` is the mode `fair`.
    pub compensation: Option<Compensation>,
    /// Whether a decision for each slice goes to the ring buffer.
    pub emits_decisions: bool,
}

impl Default for Config {
    /// Slice and granularity are those of the simulator's `fair`, the watchdog is the kernel's
    /// default. The sleeper credit is half of that of CFS; EEVDF gives none
    /// (docs/decisions/0033-one-even.md).
    fn default() -> Self {
        Self {
            slice_ns: 6 << 20,
            sleeper_credit_ns: 6_000_000,
            wakeup_granularity_ns: 4_000_000,
            watchdog_ms: 30_000,
            compensation: None,
            emits_decisions: false,
        }
    }
}

/// A sensor of the classes of tasks and of the levels in force: `enum ek_sensor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Sensor {
    /// Cycles at each license level, counted by core.
    Licenses = 1,
    /// Wide floating-point instructions, counted by hardware thread.
    FpRetired = 2,
    /// Registers in use that are saved when a task leaves its CPU.
    Registers = 4,
    /// Names of tasks, by rules.
    Rules = 8,
}

/// Hardware counters: `enum ek_event`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum HardwareEvent {
    /// Cycles at license level 1.
    License1,
    /// Cycles at license level 2.
    License2,
    /// Core cycles.
    Cycles,
    /// Reference cycles while not halted.
    RefCycles,
    /// Cycles stalled on L2 misses.
    StallL2Miss,
    /// Cycles bound by stores.
    StallStores,
    /// Packed floating-point instructions of 256 bits.
    Fp256,
    /// Packed floating-point instructions of 512 bits.
    Fp512,
}

impl HardwareEvent {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::License1,
        Self::License2,
        Self::Cycles,
        Self::RefCycles,
        Self::StallL2Miss,
        Self::StallStores,
        Self::Fp256,
        Self::Fp512,
    ];
}

/// A part of `even` beyond isolation: `enum ek_part`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Part {
    /// CPUs prefer tasks of the level that runs on their siblings.
    Matching = 1,
    /// Waking tasks take the idle CPU whose core suits their level.
    Placing = 2,
    /// Running tasks exchange their CPUs where no task waits.
    Swaps = 4,
    /// Idle compensation: forced idle of siblings repays the deficit that virtual runtime cannot.
    Repayment = 8,
    /// A task that runs without a pause has forced switch-outs, so that its saved registers show
    /// its class.
    ForcedSwitchOut = 16,
}

impl Part {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 5] =
        [Self::Matching, Self::Placing, Self::Swaps, Self::Repayment, Self::ForcedSwitchOut];
}

/// What decides which cores are wide: `enum ek_specialization`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum CoreRule {
    /// Numbers of runnable tasks of each kind (D 6.2.2).
    Load = 1,
    /// Virtual times of waiting tasks of each kind.
    Lag = 2,
}

/// Core specialization: wide tasks run on wide cores alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Specialization {
    /// What decides which cores are wide.
    pub rule: CoreRule,
    /// Wide cores of each last-level cache, always; `None`: as the rule decides.
    pub wide_cores: Option<u32>,
    /// Whether a system call ends a wide phase, unless narrow phases are short (D 6.2.4).
    pub ends_by_call: bool,
    /// Whether only declared tasks are narrow or wide (D 6.3.2), and not all tasks of users.
    pub enrols_declared: bool,
}

/// Kinds of tasks, which are the classes with core specialization.
const TASK_KINDS: u32 = 3;

/// Speed of a hardware thread with a busy sibling, in permille of its speed alone, where no
/// measurement is given: about the value of the two-thread figures in D.
pub const SMT_SHARE_PERMILLE: u32 = 625;

/// Number of hardware counters.
pub const EVENTS: u32 = HardwareEvent::ALL.len() as u32;

/// Compensation, and the sensors and CPU model that the scheduler estimates time lost from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compensation {
    /// Whether victims get refunds, and whether culprits get bills.
    pub mode: Mode,
    /// Parts of `even`; used with isolation only.
    pub parts: Vec<Part>,
    /// Speed of a hardware thread with a busy sibling, in permille of its speed alone.
    pub smt_share_permille: u32,
    /// Core specialization; not with parts of `even`.
    pub specialization: Option<Specialization>,
    /// Sensors of classes and levels.
    pub sensors: Vec<Sensor>,
    /// Counters that are open on every CPU.
    pub events: Vec<HardwareEvent>,
    /// License levels for which registers in use of 256 bits, of 512 bits and of tiles are
    /// evidence.
    pub level_of_width: [u32; 3],
    /// The hold of each level.
    pub hold: LevelTimes,
    /// Lowest rate of wide floating-point instructions that demands each level.
    pub rates: Rates,
    /// The turbo table.
    pub turbo: Turbo,
    /// That of cores of low priority; `None`: all cores are alike.
    pub slow_turbo: Option<Turbo>,
}

/// Rate of code with one instruction of the class in every cycle.
const FULL_RATE_PERMILLE: u32 = 1000;

impl Compensation {
    /// The compensation for a CPU of that model.
    #[must_use]
    pub fn on(model: &CpuModel, mode: Mode, sensors: &[Sensor], events: &[HardwareEvent]) -> Self {
        let level = |classes: &[Class]| {
            let levels = classes.iter().map(|&c| model.level_demanded(c, FULL_RATE_PERMILLE));
            levels.max().unwrap_or(0).into()
        };
        let mut min_permille = [[u32::MAX; LEVELS_MAX]; WIDTHS];
        let heavy = [Class::Avx2Heavy, Class::Avx512Heavy];
        for (of_width, class) in min_permille.iter_mut().zip(heavy) {
            for rule in &model.demand[class as usize] {
                let least = &mut of_width[usize::from(rule.level)];
                *least = rule.rate_min_permille.min(*least);
            }
        }
        Self {
            mode,
            parts: Vec::new(),
            smt_share_permille: SMT_SHARE_PERMILLE,
            specialization: None,
            sensors: sensors.to_vec(),
            events: events.to_vec(),
            level_of_width: [
                level(&[Class::Avx2Light, Class::Avx2Heavy]),
                level(&[Class::Avx512Light, Class::Avx512Heavy]),
                level(&[Class::Amx]),
            ],
            hold: LevelTimes { ns: model.license.hold_ns },
            rates: Rates { min_permille },
            turbo: model.turbo.clone(),
            slow_turbo: model.low_priority.as_ref().map(|low| low.turbo.clone()),
        }
    }
}

/// The bytes of a structure of the BPF program, appended number by number.
#[derive(Default)]
struct Words(Vec<u8>);

impl Words {
    fn u64s(&mut self, words: &[u64]) {
        self.0.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
    }

    fn u32s(&mut self, words: &[u32]) {
        self.0.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
    }

    fn turbo(&mut self, turbo: &Turbo) {
        self.u32s(&[turbo.ref_khz, turbo.levels, turbo.rows]);
        self.u32s(&turbo.cores_max);
        self.u32s(turbo.khz.as_flattened());
    }
}

impl Config {
    /// Bytes of `struct ek_config`.
    #[must_use]
    pub fn bytes(&self, topology: &Topology) -> Vec<u8> {
        let mut words = Words::default();
        words.u64s(&[
            self.slice_ns,
            self.sleeper_credit_ns,
            self.wakeup_granularity_ns,
            u64::from(self.watchdog_ms) * 1_000_000,
        ]);
        words.u32s(&[topology.cpus() as u32, topology.caches.count]);
        let Some(compensation) = &self.compensation else {
            words.u32s(&[Mode::None as u32, 1, 0, 0, self.emits_decisions.into()]);
            words.0.resize(CONFIG_BYTES, 0);
            return words.0;
        };
        let Compensation { mode, sensors, events, level_of_width, hold, rates, turbo, .. } =
            compensation;
        let classes = compensation.specialization.map_or(turbo.levels, |_| TASK_KINDS);
        words.u32s(&[
            *mode as u32,
            classes,
            sensors.iter().fold(0, |bits, &sensor| bits | sensor as u32),
            events.iter().fold(0, |bits, &event| bits | 1 << event as u32),
            self.emits_decisions.into(),
        ]);
        words.u32s(level_of_width);
        words.u64s(&hold.ns);
        words.u32s(rates.min_permille.as_flattened());
        words.turbo(turbo);
        let parts = compensation.parts.iter().fold(0, |bits, &part| bits | part as u32);
        words.u32s(&[parts, compensation.smt_share_permille]);
        let specialization = compensation.specialization.map_or([0; 5], |it| {
            [
                it.rule as u32,
                it.wide_cores.is_some().into(),
                // On a CPU whose clock depends on no class, no task is wide.
                level_of_width[1].max(1),
                it.ends_by_call.into(),
                it.enrols_declared.into(),
            ]
        });
        words.u32s(&specialization);
        if let Some(slow_turbo) = &compensation.slow_turbo {
            words.turbo(slow_turbo);
            words.u32s(&[1]);
        }
        words.0.resize(CONFIG_BYTES, 0);
        words.0
    }
}

const CONFIG_BYTES: usize = 1120;
const CPU_BYTES: usize = 1320;
/// Offset of `is_slow`, which `is_wide` and `narrow_first` follow; the last bytes are unused.
const IS_SLOW: usize = CPU_BYTES - 16;
const IS_WIDE: usize = IS_SLOW + 4;
const CACHE_BYTES: usize = 912;

/// Number of entries of a map whose size depends on the topology; `None` for other maps.
#[must_use]
pub fn entries(map: &str, topology: &Topology) -> Option<u32> {
    let cpus = topology.cpus() as u32;
    match map {
        "cpus" | "idle_timers" | "release_timers" => Some(cpus),
        "caches" => Some(topology.caches.count),
        "cores" => Some(topology.cores.count),
        "packages" => Some(topology.packages.count),
        "events" => Some(cpus * EVENTS),
        _ => None,
    }
}

/// By CPU: whether its core is wide at the start: the last cores of each last-level cache, slow
/// ones before others, but for one narrow core of each cache that has two cores or more.
fn wide_at_start(config: &Config, topology: &Topology) -> Vec<bool> {
    let specialization = config.compensation.as_ref().and_then(|it| it.specialization);
    let Some(specialization) = specialization else { return vec![false; topology.cpus()] };
    let slow: BTreeSet<u32> = (topology.cores.of.iter().zip(&topology.is_slow))
        .filter_map(|(&core, &is_slow)| is_slow.then_some(core))
        .collect();
    let wanted = specialization.wide_cores.unwrap_or(1) as usize;
    let wide_of = |cores: &BTreeSet<u32>| {
        let wide = wanted.min(cores.len().saturating_sub(1)).max(1);
        let mut wide_first: Vec<u32> = cores.iter().rev().copied().collect();
        wide_first.sort_by_key(|core| !slow.contains(core));
        wide_first.truncate(wide);
        wide_first
    };
    let wide: BTreeSet<u32> = cores_of_caches(topology).iter().flat_map(wide_of).collect();
    topology.cores.of.iter().map(|core| wide.contains(core)).collect()
}

/// The cores of each last-level cache.
fn cores_of_caches(topology: &Topology) -> Vec<BTreeSet<u32>> {
    let Topology { cores, caches, .. } = topology;
    let mut of_caches = vec![BTreeSet::new(); caches.count as usize];
    for (&core, &cache) in cores.of.iter().zip(&caches.of) {
        of_caches[cache as usize].insert(core);
    }
    of_caches
}

/// The most wide cores that a last-level cache may have: all but one of the largest cache.
#[must_use]
pub fn wide_cores_max(topology: &Topology) -> u32 {
    let cores = cores_of_caches(topology).iter().map(BTreeSet::len).max();
    cores.unwrap_or(1).saturating_sub(1).max(1) as u32
}

/// Whether the core of a CPU is wide, from the bytes of its `struct ek_cpu`.
#[must_use]
pub fn is_wide(cpu: &[u8]) -> bool {
    let word = cpu.get(IS_WIDE..).and_then(|bytes| bytes.first_chunk());
    word.is_some_and(|bytes| u32::from_ne_bytes(*bytes) != 0)
}

/// Bytes of each CPU's `struct ek_cpu`, while no task runs.
#[must_use]
pub fn cpus(config: &Config, topology: &Topology) -> Vec<Vec<u8>> {
    let Topology { cores, caches, packages, is_slow } = topology;
    let wide = wide_at_start(config, topology);
    let (next, siblings) = (caches.ring(), cores.ring());
    let cpu = |cpu: usize| {
        let mut words = Words::default();
        words.u32s(&[next[cpu], caches.of[cpu]]);
        words.u64s(&[0, 0, 0, 0]);
        words.u32s(&[0]);
        words.u32s(&[cores.of[cpu], packages.of[cpu], siblings[cpu]]);
        words.0.resize(IS_SLOW, 0);
        words.u32s(&[is_slow[cpu].into(), wide[cpu].into(), 0, 0]);
        words.0
    };
    (0..topology.cpus()).map(cpu).collect()
}

/// Bytes of each cache domain's `struct ek_cache`, before any task ran.
#[must_use]
pub fn caches(topology: &Topology) -> Vec<Vec<u8>> {
    let cache = |&cpus: &u32| {
        let mut words = Words::default();
        words.u64s(&[0]);
        // One class; its tasks may wait in the queue of the first affinity group.
        words.u32s(&[0, cpus, 1, 0, 1]);
        words.0.resize(CACHE_BYTES, 0);
        words.0
    };
    topology.caches.sizes().iter().map(cache).collect()
}

/// Why the kernel no longer runs the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// `enum scx_exit_kind` (kernel/sched/ext_internal.h, Linux 7.0).
    pub kind: i32,
    /// The code that the scheduler or the kernel gave.
    pub code: i64,
    /// The kernel's reason.
    pub reason: String,
    /// Details of the reason.
    pub message: String,
    /// State of tasks and CPUs at that time, by the kernel and the scheduler; empty unless the end
    /// is an error.
    pub dump: String,
}

/// Longest dump that a kernel makes (`SCX_EXIT_DUMP_DFL_LEN`).
const DUMP_BYTES: usize = 32 << 10;
/// Kinds from here on are errors of the scheduler (`SCX_EXIT_ERROR`).
const FIRST_ERROR: i32 = 1024;

impl End {
    /// From the bytes of `struct ek_end`; `None` while the scheduler runs.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let kind = i32::from_ne_bytes(*bytes.first_chunk()?);
        let code = i64::from_ne_bytes(*bytes.get(8..)?.first_chunk()?);
        let text = |bytes: &[u8]| {
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        let (reason, message) = (text(bytes.get(16..144)?), text(bytes.get(144..1168)?));
        let dump = text(bytes.get(1168..1168 + DUMP_BYTES)?);
        (kind != 0).then_some(Self { kind, code, reason, message, dump })
    }

    /// Whether the kernel ended the scheduler because of an error of the scheduler.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.kind >= FIRST_ERROR
    }
}

#[cfg(test)]
mod tests {
    use cpu_model::{CpuTable, TurboMode};

    use super::*;
    use crate::topology::Groups;

    fn groups(of: &[u32], count: u32) -> Groups {
        Groups { of: of.to_vec(), count }
    }

    fn two_cores() -> Topology {
        Topology {
            cores: groups(&[0, 1, 0, 1], 2),
            caches: groups(&[0; 4], 1),
            packages: groups(&[0; 4], 1),
            is_slow: vec![false; 4],
        }
    }

    #[test]
    fn structures_have_the_bytes_that_the_program_expects() {
        let topology = two_cores();
        let fair = Config::default().bytes(&topology);
        assert_eq!(fair.len(), CONFIG_BYTES);
        // CPUs, caches, no compensation, one class.
        assert_eq!(fair[32..52], [4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        let cpus = cpus(&Config::default(), &topology);
        assert_eq!((cpus.len(), cpus[1].len()), (4, CPU_BYTES));
        assert!(!cpus.iter().any(|cpu| is_wide(cpu)));
        assert_eq!(cpus[1][..8], [2, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(cpus[1][44..56], [1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0]);
        let cache = [[0; 12].as_slice(), &[4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1]].concat();
        assert_eq!(caches(&topology)[0][..25], cache);
        assert_eq!(caches(&topology)[0].len(), CACHE_BYTES);
        assert_eq!(HardwareEvent::Fp512 as u32 + 1, EVENTS);
    }

    #[test]
    fn what_is_known_of_a_cpu_is_that_of_its_table() {
        let model = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
        let sensors = [Sensor::FpRetired, Sensor::Registers];
        let on = Compensation::on(&model, Mode::Isolation, &sensors, &[HardwareEvent::Fp512]);
        assert_eq!(on.level_of_width, [1, 2, 0]);
        // D 3.2.1: heavy 512-bit code demands level 2 from one instruction in two cycles on.
        assert_eq!(on.rates.min_permille[1][..3], [u32::MAX, 0, 500]);
        let config = Config { compensation: Some(on), ..Config::default() };
        let bytes = config.bytes(&two_cores());
        assert_eq!(bytes.len(), CONFIG_BYTES);
        assert_eq!(bytes[40..52], [2, 0, 0, 0, 3, 0, 0, 0, 6, 0, 0, 0]);
        assert_eq!(bytes[52..56], [128, 0, 0, 0]);
        assert_eq!(bytes[168..172], 2_100_000u32.to_ne_bytes());
    }

    #[test]
    fn the_last_cores_of_a_cache_are_wide_and_one_is_narrow() {
        let model = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
        let wide = |wide_cores, topology: &Topology| {
            let rule = CoreRule::Lag;
            let (ends_by_call, enrols_declared) = (false, false);
            let kinds = Specialization { rule, wide_cores, ends_by_call, enrols_declared };
            let mut on = Compensation::on(&model, Mode::None, &[Sensor::Rules], &[]);
            on.specialization = Some(kinds);
            let config = Config { compensation: Some(on), ..Config::default() };
            // The classes are the kinds.
            assert_eq!(config.bytes(topology)[44], TASK_KINDS as u8);
            cpus(&config, topology).iter().map(|cpu| is_wide(cpu)).collect::<Vec<_>>()
        };
        let two = two_cores();
        assert_eq!(wide(None, &two), [false, true, false, true]);
        assert_eq!(wide(Some(9), &two), [false, true, false, true]);
        let first_is_slow = Topology { is_slow: vec![true, false, true, false], ..two };
        assert_eq!(wide(None, &first_is_slow), [true, false, true, false]);
        let one = groups(&[0, 0], 1);
        let topology = Topology {
            cores: one.clone(),
            caches: one.clone(),
            packages: one,
            is_slow: vec![false; 2],
        };
        assert_eq!(wide(None, &topology), [true, true]);
    }

    #[test]
    fn an_end_has_a_kind_and_texts_that_end_with_zero() {
        let mut bytes = [0; 1168 + DUMP_BYTES];
        assert_eq!(End::parse(&bytes), None);
        bytes[..4].copy_from_slice(&1026i32.to_ne_bytes());
        bytes[16..21].copy_from_slice(b"stall");
        bytes[144..146].copy_from_slice(b"x\n");
        let end = End::parse(&bytes).unwrap();
        assert_eq!((end.reason.as_str(), end.message.as_str()), ("stall", "x\n"));
        assert!(end.is_error());
        assert_eq!(End::parse(&bytes[..100]), None);
    }
}
