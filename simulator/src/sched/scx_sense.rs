//! Sensor readings for the kernel scheduler's source, and the decisions that the source reports.
//!
//! Counters belong to a CPU and advance when a slice is accounted; registers show when a task has
//! left; names are looked up before the run. The source derives classes and levels itself.

use scx_host::{
    Compensation as Compensates, CoreRule, Counted, EVENTS, HardwareEvent, Host, Object,
    ObjectError, Part, Sensor,
};

use crate::config::{EvenParts, KernelMode, SensorSet, Specialization};
use crate::error::SimError;
use crate::sched::{Charged, Decided};
use crate::sensors::{Observed, lacks_sensors};
use crate::world::World;

/// Bits of `XSTATE_BV` by width of registers: nothing, upper halves of YMM, of ZMM (SDM 13.1).
const IN_USE: [u64; 3] = [0, 1 << 2, 1 << 6];

/// The counters of each CPU, and where decisions have their fields.
pub(super) struct Sense {
    events: Vec<HardwareEvent>,
    /// By CPU, then by event.
    counted: Vec<[u64; EVENTS as usize]>,
    /// By CPU: the registers in use that a switch-out would show now.
    in_use: Vec<u64>,
    fields: Fields,
}

/// Offsets of the fields of `struct ek_decision` that the totals of a run need.
struct Fields {
    slice_ns: usize,
    refund_ns: usize,
    idle_compensation_ns: usize,
    bill_ns: usize,
    cpu: usize,
    victim: usize,
    culprit: usize,
}

/// `EK_NO_TASK`.
const NO_TASK: u32 = u32::MAX;

/// The compensation and sensors that the source is configured with; `None` for `fair`.
pub(super) fn compensation(
    world: &World,
    mode: KernelMode,
) -> Result<Option<Compensates>, SimError> {
    let (mode, parts, specialization) = match mode {
        KernelMode::Fair => return Ok(None),
        KernelMode::Relative => (policy::Mode::Relative, Vec::new(), None),
        KernelMode::Isolation => (policy::Mode::Isolation, Vec::new(), None),
        KernelMode::Even(parts) => (policy::Mode::Isolation, parts_of(parts), None),
        KernelMode::Specialize(settings) => {
            (policy::Mode::None, Vec::new(), Some(kinds(world, CoreRule::Load, settings)))
        }
        KernelMode::FairSpecialize(settings) => {
            (policy::Mode::Isolation, Vec::new(), Some(kinds(world, CoreRule::Lag, settings)))
        }
    };
    let (sensors, events): (&[Sensor], &[HardwareEvent]) = match world.config.sensors {
        SensorSet::D7 => (
            &[Sensor::Licenses, Sensor::Registers],
            &[
                HardwareEvent::License1,
                HardwareEvent::License2,
                HardwareEvent::Cycles,
                HardwareEvent::RefCycles,
                HardwareEvent::StallL2Miss,
                HardwareEvent::StallStores,
            ],
        ),
        SensorSet::FpRetired => (
            &[Sensor::FpRetired, Sensor::Registers],
            &[HardwareEvent::Fp256, HardwareEvent::Fp512, HardwareEvent::Cycles],
        ),
        SensorSet::Xinuse => (&[Sensor::Registers], &[]),
        SensorSet::Rules => (&[Sensor::Rules], &[]),
        SensorSet::Proposed | SensorSet::Truth => {
            let what =
                "the kernel's scheduler has no sensors `proposed` or `truth`: no machine has";
            return Err(SimError::Machine(what.into()));
        }
    };
    let faults = world.config.sensor_faults;
    if faults.false_detections_permille > 0 {
        let what = "the kernel's scheduler detects levels itself: false detections are for the \
            model alone";
        return Err(SimError::Machine(what.into()));
    }
    let mut compensates = Compensates::on(world.model, mode, sensors, events);
    compensates.parts = parts;
    compensates.specialization = specialization;
    compensates.turbo = world.clocks.believed(0).clone();
    compensates.slow_turbo = world.clocks.believed_slow().cloned();
    compensates.smt_share_permille = world.config.believed_smt_share_permille;
    if let Some(cores) = world.turbo_cores {
        // The source counts the cores of its own machine, which stands for a part of one here.
        for turbo in std::iter::once(&mut compensates.turbo).chain(&mut compensates.slow_turbo) {
            turbo.khz[0] = turbo.khz[turbo.row(cores)];
            turbo.rows = 1;
        }
    }
    Ok(Some(compensates))
}

/// Kinds of cores and tasks as the loader sets them by default: the host has no tracepoint of
/// system calls, so that a phase ends when it is no longer believed.
fn kinds(world: &World, rule: CoreRule, settings: Specialization) -> scx_host::Specialization {
    let packages = world.topology.packages as u32;
    scx_host::Specialization {
        rule,
        wide_cores: settings.wide_cores.map(|cores| cores.div_ceil(packages)),
        ends_by_call: false,
        enrols_declared: false,
    }
}

fn parts_of(even: EvenParts) -> Vec<Part> {
    let is_there = |part: &Part| match part {
        Part::Matching => !even.without_matching,
        Part::Placing => !even.without_placing,
        Part::Swaps => !even.without_swaps,
        Part::Repayment => !even.without_repayment,
        Part::ForcedSwitchOut => !even.without_forced_switch_out,
    };
    Part::ALL.into_iter().filter(is_there).collect()
}

impl Sense {
    pub(super) fn new(
        world: &World,
        object: &Object,
        compensation: Option<&Compensates>,
    ) -> Result<Self, ObjectError> {
        let place = |field| object.offset_of("ek_decision", field);
        Ok(Self {
            events: compensation.map(|it| it.events.clone()).unwrap_or_default(),
            counted: vec![[0; EVENTS as usize]; world.topology.cpus],
            in_use: vec![0; world.topology.cpus],
            fields: Fields {
                slice_ns: place("slice_ns")?,
                refund_ns: place("refund_ns")?,
                idle_compensation_ns: place("idle_compensation_ns")?,
                bill_ns: place("bill_ns")?,
                cpu: place("cpu")?,
                victim: place("victim")?,
                culprit: place("culprit")?,
            },
        })
    }

    /// Opens the counters of the CPUs that have sensors.
    pub(super) fn open(&self, host: &mut Host, world: &World) {
        let faults = world.config.sensor_faults;
        for cpu in
            (0..world.topology.cpus).filter(|&cpu| !lacks_sensors(&world.topology, faults, cpu))
        {
            for &event in &self.events {
                set(host, cpu, event, 0);
            }
        }
    }

    /// Advances the counters of a CPU after a slice; a core without sensors has none.
    pub(super) fn count(&mut self, host: &mut Host, cpu: usize, observed: &Observed) {
        let (slice, readings) = (&observed.slice, &observed.readings);
        self.in_use[cpu] = IN_USE[usize::from(readings.registers)];
        if observed.is_believed {
            return;
        }
        for &event in &self.events {
            let gained = match event {
                HardwareEvent::License1 => slice.level_cycles[1],
                HardwareEvent::License2 => slice.level_cycles[2..].iter().sum(),
                HardwareEvent::Cycles => slice.cycles,
                HardwareEvent::RefCycles => slice.ref_cycles,
                HardwareEvent::StallL2Miss => slice.stall_cycles,
                HardwareEvent::Fp256 => readings.retired[0],
                HardwareEvent::Fp512 => readings.retired[1],
                _ => 0,
            };
            let counter = &mut self.counted[cpu][event as usize];
            *counter += gained;
            set(host, cpu, event, *counter);
        }
    }

    /// A task has left a CPU.
    pub(super) fn left(&mut self, host: &mut Host, cpu: usize, number: usize) {
        host.save_registers(number, std::mem::take(&mut self.in_use[cpu]));
    }

    /// The next decision that gave time back; tasks by their numbers in the host.
    pub(super) fn decided(&self, host: &mut Host) -> Option<Decided> {
        while let Some(record) = host.take_record("decisions").ok()? {
            let word = |at: usize| record.get(at..).and_then(|bytes| bytes.first_chunk());
            let u64_at = |at| word(at).map_or(0, |bytes| u64::from_ne_bytes(*bytes));
            let u32_at = |at: usize| {
                let bytes = record.get(at..).and_then(|bytes| bytes.first_chunk());
                bytes.map_or(NO_TASK, |bytes| u32::from_ne_bytes(*bytes))
            };
            let (refund_ns, idle_compensation_ns) =
                (u64_at(self.fields.refund_ns), u64_at(self.fields.idle_compensation_ns));
            if refund_ns == 0 && idle_compensation_ns == 0 {
                continue;
            }
            let culprit = u32_at(self.fields.culprit);
            // Numbers of processes begin with 1.
            let number = |pid: u32| pid as usize - 1;
            return Some(Decided {
                cpu: u32_at(self.fields.cpu) as usize,
                victim: number(u32_at(self.fields.victim)),
                slice_ns: u64_at(self.fields.slice_ns),
                charged: Charged {
                    refund_ns,
                    bill_ns: u64_at(self.fields.bill_ns),
                    idle_compensation_ns,
                    culprit: (culprit != NO_TASK && culprit != 0).then(|| number(culprit)),
                },
            });
        }
        None
    }
}

fn set(host: &mut Host, cpu: usize, event: HardwareEvent, counter: u64) {
    let value = Counted { cpu, counter, ..Counted::default() };
    let key = cpu as u32 * EVENTS + event as u32;
    host.set_event("events", key, value).expect("there is room for every CPU's events");
}

/// Answers the source's question for the class of a task's and its process's name, before the
/// task runs.
pub(super) fn answer_names(host: &mut Host, task: &str, process: &str, level: u8) {
    const NAME: usize = 16;
    let mut key = [0; 2 * NAME];
    for (half, name) in key.chunks_exact_mut(NAME).zip([task, process]) {
        let length = name.len().min(NAME - 1);
        half[..length].copy_from_slice(&name.as_bytes()[..length]);
    }
    // A name without room in the map stays unanswered, and has no class.
    let _ = host.insert("names", &key, &u32::from(level).to_ne_bytes());
}
