//! A history: the task on each CPU at each time, with the frequency and level of the core.
//!
//! The same form serves recordings of real machines and runs of the simulator;
//! a recording simply lacks the events that no kernel can see.

use cpu_model::Class;
use serde::{Deserialize, Serialize};

/// Where a history comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A recording of a real machine.
    Recorded,
    /// A run of the simulator.
    Simulated,
}

/// The properties of a whole history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format.
    pub schema: u32,
    /// Origin of the history.
    pub source: Source,
    /// Logical CPUs, numbered from 0.
    pub cpus: u32,
    /// Time of the first and last record.
    pub start_ns: u64,
    /// End of the last record.
    pub end_ns: u64,
    /// Hardware threads of a core, where known. CPU `c` belongs to core `c / threads_per_core`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads_per_core: Option<u32>,
    /// Cores of a package, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores_per_package: Option<u32>,
    /// Name of the CPU table a simulated run used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Free words: scheduler, seed, kernel, command.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub facts: std::collections::BTreeMap<String, String>,
    /// Every task that appears, by ascending id.
    pub tasks: Vec<TaskInfo>,
    /// Call stacks that [`Event::Stack`] names, each from the outermost function to the innermost.
    /// Since schema 5.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Vec<String>>,
}

/// Fact of a recording that shows interrupts, so that the waker of every wake-up is known.
const INTERRUPTS_FACT: (&str, &str) = ("interrupts", "recorded");

impl Header {
    /// Whether a wake-up names a task only if that task woke the other, and no interrupt.
    #[must_use]
    pub fn interrupts_known(&self) -> bool {
        let (name, value) = INTERRUPTS_FACT;
        let recorded = self.facts.get(name).is_some_and(|found| found == value);
        self.source == Source::Simulated || recorded
    }

    /// Notes that the recording shows interrupts.
    pub fn know_interrupts(&mut self) {
        let (name, value) = INTERRUPTS_FACT;
        self.facts.insert(name.to_owned(), value.to_owned());
    }
}

/// A task of a history. Id 0 is the idle task of every CPU and is not listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskInfo {
    /// Thread id, unique in the history.
    pub tid: u32,
    /// Process of the task, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Name, cleaned of control characters.
    pub comm: String,
    /// Application, the name losses are summed up under; in recordings the name of the process, or
    /// of its eldest thread where its leader never ran.
    pub app: String,
    /// Nice level, -20..=19.
    #[serde(default)]
    pub nice: i8,
    /// Whether the task is a kernel thread.
    #[serde(default)]
    pub kernel: bool,
    /// Its control group of version 2, if known. Since schema 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_group: Option<ControlGroup>,
}

/// A control group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlGroup {
    /// Path below the root, such as `/system.slice/nginx.service`.
    pub path: String,
    /// What people call it: the name of a container, a pod or a unit.
    pub name: String,
    /// The pod that it belongs to, if it was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<Pod>,
}

/// A pod of Kubernetes, as its API names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pod {
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

/// Why a task left its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchState {
    /// The task stays runnable.
    Runnable,
    /// The task waits: sleep, lock, input.
    Blocked,
    /// The task ended.
    Dead,
}

/// The fact of a recording that names the counters that were read at each switch, separated by
/// commas, as `sensors::pmu::Question` names them.
pub const COUNTED_FACT: &str = "counters";

/// Counts of hardware counters in a slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CounterCounts {
    /// Core cycles while not halted.
    pub cycles: u64,
    /// Reference cycles while not halted.
    pub ref_cycles: u64,
    /// Core cycles at license level 1; cycles at no other level are at level 0.
    pub license_1: u64,
    /// Core cycles at license level 2.
    pub license_2: u64,
    /// Core cycles throttled for a change of the level.
    pub throttled: u64,
    /// Cycles stalled while a load misses L2.
    pub stalled: u64,
    /// Floating-point instructions of 256 bits that retired.
    pub fp_256: u64,
    /// Floating-point instructions of 512 bits that retired.
    pub fp_512: u64,
}

/// Something that happened at one instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "e", rename_all = "kebab-case")]
pub enum Event {
    /// A CPU changed from one task to another; task 0 is idle.
    Switch {
        /// The CPU.
        cpu: u32,
        /// Task that left.
        prev: u32,
        /// State in which `prev` left the CPU.
        state: SwitchState,
        /// Task that comes.
        next: u32,
    },
    /// A task became runnable; `by` is the running waker, 0 for a timer or device.
    /// An interrupt may have woken the task while `by` ran, unless [`Header::interrupts_known`].
    Wake {
        /// Task that was woken.
        task: u32,
        /// The waking task.
        by: u32,
        /// CPU whose queue received the task.
        cpu: u32,
        /// CPU whose interrupt woke the task, if `by` is 0 and the CPU is known. Since schema 3.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<u32>,
        /// Whether the waker promised to wait soon (`WF_SYNC`), if known. Since schema 4.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sync: Option<bool>,
    },
    /// A task began; the first wake makes the task runnable.
    Fork {
        /// The new task.
        task: u32,
        /// Its parent, 0 where unknown.
        by: u32,
    },
    /// A running task began another program (`execve`), for which the scheduler chooses a CPU.
    /// Since schema 4.
    Exec {
        /// The task.
        task: u32,
    },
    /// A running task begins to write so much to a pipe or a socket of this machine. Since
    /// schema 4.
    Send {
        /// The task.
        task: u32,
        /// Number of the pipe or of this direction of the connection.
        channel: u32,
        /// Bytes.
        bytes: u64,
    },
    /// So much of the last [`Event::Send`] of the task and the channel was not written after all.
    /// Since schema 4.
    Unsent {
        /// The task.
        task: u32,
        /// The channel.
        channel: u32,
        /// Bytes.
        bytes: u64,
    },
    /// A running task has read so much from a pipe or a socket. Since schema 4.
    Receive {
        /// The task.
        task: u32,
        /// The channel.
        channel: u32,
        /// Bytes.
        bytes: u64,
    },
    /// A task moved from one CPU's queue to another's.
    Migrate {
        /// The task.
        task: u32,
        /// From this CPU.
        from: u32,
        /// To that CPU.
        to: u32,
    },
    /// The class of the instructions of a running task from now on (simulated runs, and marks of
    /// recordings).
    Phase {
        /// The task.
        task: u32,
        /// Class of its instructions.
        class: Class,
        /// Instructions of the class per 1000 cycles.
        rate_permille: u32,
        /// Share of the time at the reference frequency that memory stalls take.
        stall_permille: u32,
    },
    /// The task that just came to a CPU first has this much overhead to work off
    /// (context switch, migration, trap), in reference time. Simulated runs only.
    Overhead {
        /// The CPU.
        cpu: u32,
        /// Reference time.
        ns: u64,
    },
    /// The license of a core changed. Simulated runs only.
    License {
        /// The core.
        core: u32,
        /// Level whose frequency applies.
        level: u8,
        /// Share of the normal instruction rate; 0 = halted.
        rate_permille: u16,
    },
    /// The frequency of a core changed.
    Frequency {
        /// The core.
        core: u32,
        /// New frequency.
        khz: u32,
    },
    /// Register state saved when the task left its CPU (`x86_fpu_regs_deactivated`).
    Registers {
        /// The task.
        task: u32,
        /// XSTATE_BV bits in use.
        xfeatures: u64,
    },
    /// The user stack of a task that left its CPU with 512-bit registers or tiles in use. Since
    /// schema 5.
    Stack {
        /// The task.
        task: u32,
        /// Index into [`Header::stacks`].
        stack: u32,
    },
    /// A thread of real-time priority kept the tasks of a core from running for a moment, and timed
    /// scalar code on one of its CPUs (`evenkeel profile --pauses`); the record is of the end.
    /// Since schema 5.
    Pause {
        /// The CPU whose clock was timed.
        cpu: u32,
        /// The thread that timed it.
        by: u32,
        /// When it began its first look, after the switch to it.
        first_ns: u64,
        /// When it began its second look.
        alone_ns: u64,
        /// The clock at the beginning: what the interrupted task ran at.
        first_khz: u32,
        /// The clock at the end of the pause, when no level was held any more.
        last_khz: u32,
        /// The clock after the interrupted task had run alone for 70 us: what its code demands.
        alone_khz: u32,
        /// For how long the tasks of this CPU did not run.
        paused_ns: u64,
    },
    /// What a CPU's counters counted since the last switch of that CPU; the switch that ends the
    /// slice follows, or the end of the recording. The fact [`COUNTED_FACT`] names what was
    /// counted; other counts are 0. Since schema 5.
    Counters {
        /// The CPU.
        cpu: u32,
        /// The counts.
        #[serde(flatten)]
        counts: CounterCounts,
    },
    /// The policy gave a task back time that it had lost in the slice that ends now, and billed
    /// it or not. Of the simulator and of the kernel scheduler, since schema 2.
    Decision {
        /// Where the slice ran.
        cpu: u32,
        /// Task that lost time.
        victim: u32,
        /// Task that the loss is attributed to, 0 where no task is known.
        culprit: u32,
        /// How long the slice was.
        slice_ns: u64,
        /// CPU time given back to the victim.
        refund_ns: u64,
        /// CPU time billed to the culprit.
        bill_ns: u64,
    },
    /// Time the kernel accounted to a task since the last such record.
    Runtime {
        /// The task.
        task: u32,
        /// Accounted time, without the time that a hypervisor stole.
        ns: u64,
    },
}

/// An event and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Time since an arbitrary start.
    #[serde(rename = "t")]
    pub time_ns: u64,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// A whole history in memory, records by ascending time.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The header.
    pub header: Header,
    /// The event.
    pub records: Vec<Record>,
}
