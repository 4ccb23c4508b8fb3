//! Facts about a machine. The command gathers them; nothing here opens a file.

use std::collections::BTreeMap;

use cpu_model::Class;
use serde::{Deserialize, Serialize};

use crate::control_groups::{Census, Labels};
use crate::pmu::{Circumstances, CpuId, Microarchitecture, Refusal};

/// The scheduler that decides now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Fair by virtual time, until 6.5.
    Cfs,
    /// Earliest eligible virtual deadline first, from 6.6.
    #[default]
    Eevdf,
    /// A BPF scheduler of this name.
    SchedExt(String),
}

/// Whether the kernel takes BPF schedulers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SchedExt {
    /// Older than 6.12.
    TooOld,
    /// Built without sched_ext.
    #[default]
    NotBuilt,
    /// Ready for one.
    Ready,
    /// One is loaded.
    Active,
}

/// Whether a file or a system call opened on trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// The trial succeeded.
    Open,
    /// The interface exists, and this user may not use the interface.
    Forbidden,
    /// The interface does not exist.
    #[default]
    Absent,
}

/// Whether CPUID can be made to fault in programs, so that a tracer answers instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CpuidFaulting {
    /// CPUID can fault.
    Offered,
    /// The kernel is older than 4.12.
    KernelTooOld,
    /// The kernel has no way to make CPUID fault on this CPU (no flag `cpuid_fault`).
    #[default]
    Absent,
    /// The kernel refuses CPUID faulting, or ptrace, to this user.
    Refused,
}

/// Facts about a machine. Lists are empty and options are `None` where nothing was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Release of the kernel, as `uname -r` prints the name.
    pub kernel: String,
    /// Name of the distribution.
    pub distribution: Option<String>,
    /// Names of its family: `ID` and `ID_LIKE` of os-release.
    pub family: Vec<String>,
    /// The scheduler that decides now.
    pub scheduler: Scheduler,
    /// Whether the kernel takes BPF schedulers.
    pub sched_ext: SchedExt,
    /// Ticks a second.
    pub hz: Option<u32>,
    /// How a task in the kernel can be preempted.
    pub preemption: Option<String>,
    /// Name of the CPU.
    pub cpu: String,
    /// What CPUID says of it.
    pub cpu_id: Option<CpuId>,
    /// CPUs that are online.
    pub online: Vec<u32>,
    /// The threads of each core, by the first of them.
    pub cores: Vec<Vec<u32>>,
    /// Packages.
    pub packages: u32,
    /// The hypervisor, in a virtual machine.
    pub hypervisor: Option<String>,
    /// Numbers of control groups and containers.
    pub control_groups: Option<Census>,
    /// The control group of the command itself.
    pub own_group: Option<Labels>,
    /// Classes of instructions that CPU and kernel allow.
    pub classes: Vec<Class>,
    /// Whether CPUID can be made to fault.
    pub cpuid_faulting: CpuidFaulting,
    /// Whether the C library can use EVEX registers (AVX512VL, AVX512BW).
    pub evex: bool,
    /// Whether the TSC runs at one rate, always.
    pub steady_tsc: bool,
    /// Frequency that the kernel states for the first CPU.
    pub mhz: Option<u32>,
    /// Driver that sets frequencies.
    pub cpufreq: Option<String>,
    /// Devices of perf, such as `cpu`, `msr` and `power`.
    pub perf_devices: Vec<String>,
    /// Events of the `msr` device.
    pub msr_events: Vec<String>,
    /// Events of the `power` device.
    pub power_events: Vec<String>,
    /// Whether a hardware counter of cycles opened.
    pub cycles: Access,
    /// Whether APERF opened.
    pub aperf: Access,
    /// `kernel.perf_event_paranoid`.
    pub paranoid: Option<i32>,
    /// `kernel.nmi_watchdog`: whether the kernel itself uses a counter of each CPU.
    pub nmi_watchdog: bool,
    /// Whether tracefs is mounted, and readable.
    pub tracefs: Access,
    /// Tracepoints that the kernel has, of those that matter here.
    pub tracepoints: Vec<String>,
    /// Whether the kernel describes its types.
    pub btf: bool,
    /// Capabilities in force, as bits (include/uapi/linux/capability.h).
    pub capabilities: u64,
    /// The kernel's lockdown mode.
    pub lockdown: Option<String>,
    /// Whether this build of the command has a recorder.
    pub recorder: bool,
    /// Version of perf.
    pub perf: Option<String>,
    /// Version of the C library.
    pub glibc: Option<(u32, u32)>,
    /// `GLIBC_TUNABLES` of this environment.
    pub tunables: Option<String>,
}

/// `CAP_SYS_ADMIN`, which includes the other two.
const CAP_SYS_ADMIN: u32 = 21;
/// `CAP_PERFMON`.
const CAP_PERFMON: u32 = 38;
/// `CAP_BPF`.
const CAP_BPF: u32 = 39;

impl Facts {
    fn has(&self, capability: u32) -> bool {
        self.capabilities & (1 << capability | 1 << CAP_SYS_ADMIN) != 0
    }

    /// Whether this user may load tracing programs.
    #[must_use]
    pub fn may_trace(&self) -> bool {
        self.has(CAP_BPF) && self.has(CAP_PERFMON)
    }

    /// Whether this user has the rights of root.
    #[must_use]
    pub fn may_administer(&self) -> bool {
        self.has(CAP_SYS_ADMIN)
    }

    /// Whether this user may open counters whatever `perf_event_paranoid` says.
    #[must_use]
    pub fn may_count(&self) -> bool {
        self.has(CAP_PERFMON)
    }

    /// Whether this user may count what all tasks of a CPU do (`perf_allow_cpu`,
    /// include/linux/perf_event.h, Linux 6.18).
    #[must_use]
    pub fn may_count_cpus(&self) -> bool {
        self.may_count() || self.paranoid.is_some_and(|level| level <= 0)
    }

    /// What decides the remedy where a counter is refused.
    #[must_use]
    pub fn circumstances(&self) -> Circumstances<'_> {
        Circumstances {
            cpu: &self.cpu,
            hypervisor: self.hypervisor.as_deref(),
            paranoid: self.paranoid,
            may_count: self.may_count(),
            nmi_watchdog: self.nmi_watchdog,
        }
    }

    /// Major and minor version of the kernel.
    #[must_use]
    pub fn kernel_version(&self) -> (u32, u32) {
        let mut parts = self.kernel.split(|c: char| !c.is_ascii_digit());
        let mut next = || parts.next().and_then(|part| part.parse().ok()).unwrap_or(0);
        (next(), next())
    }

    /// Whether the kernel has a tracepoint.
    #[must_use]
    pub fn has_tracepoint(&self, name: &str) -> bool {
        self.tracepoints.iter().any(|found| found == name)
    }

    /// Whether some core has more than one hardware thread.
    #[must_use]
    pub fn has_hyper_threading(&self) -> bool {
        self.cores.iter().any(|core| core.len() > 1)
    }

    /// The CPU by whose list events are counted.
    ///
    /// # Errors
    /// [`Refusal::NoPmu`] and [`Refusal::UnknownCpu`].
    pub fn pmu(&self) -> Result<&'static Microarchitecture, Refusal> {
        if self.cycles == Access::Absent {
            return Err(Refusal::NoPmu);
        }
        self.cpu_id.and_then(CpuId::microarchitecture).ok_or(Refusal::UnknownCpu)
    }

    /// Hardware threads of a core where CPU `c` belongs to core `c / threads`, the same for all.
    #[must_use]
    pub fn threads_per_core(&self) -> Option<u32> {
        let threads = u32::try_from(self.cores.first()?.len()).ok()?;
        let fits = |(core, cpus): (u32, &Vec<u32>)| {
            cpus.iter().copied().eq(core * threads..(core + 1) * threads)
        };
        (0..).zip(&self.cores).all(fits).then_some(threads)
    }

    /// Cores of a package, where all have the same number.
    #[must_use]
    pub fn cores_per_package(&self) -> Option<u32> {
        let cores = u32::try_from(self.cores.len()).ok()?;
        let whole = self.packages > 0 && cores > 0 && cores.is_multiple_of(self.packages);
        whole.then(|| cores / self.packages)
    }

    /// Name of the scheduler.
    #[must_use]
    pub fn scheduler_name(&self) -> &str {
        match &self.scheduler {
            Scheduler::Cfs => "cfs",
            Scheduler::Eevdf => "eevdf",
            Scheduler::SchedExt(ops) => ops,
        }
    }

    /// The properties of the machine that a recording states.
    #[must_use]
    pub fn for_recording(&self) -> BTreeMap<String, String> {
        let mut facts = BTreeMap::new();
        let mut say = |name: &str, value: Option<String>| {
            facts.extend(value.filter(|value| !value.is_empty()).map(|v| (name.to_owned(), v)));
        };
        say("kernel", Some(self.kernel.clone()));
        say("scheduler", Some(self.scheduler_name().to_owned()));
        say("hz", self.hz.map(|hz| hz.to_string()));
        say("preemption", self.preemption.clone());
        say("machine", Some(self.cpu.clone()));
        say("hypervisor", self.hypervisor.clone());
        say("mhz", self.mhz.map(|mhz| mhz.to_string()));
        say("cpufreq", self.cpufreq.clone());
        if self.threads_per_core().is_none() && self.has_hyper_threading() {
            let cores = self.cores.iter().map(|core| numbers(core, "+"));
            say("cores", Some(cores.collect::<Vec<_>>().join(",")));
        }
        facts
    }
}

fn numbers(list: &[u32], between: &str) -> String {
    list.iter().map(u32::to_string).collect::<Vec<_>>().join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_cores(cores: &[&[u32]], packages: u32) -> Facts {
        let cores = cores.iter().map(|core| core.to_vec()).collect();
        Facts { cores, packages, ..Facts::default() }
    }

    #[test]
    fn siblings_are_told_by_number_only_where_they_are_neighbours() {
        let neighbours = with_cores(&[&[0, 1], &[2, 3]], 1);
        assert_eq!(neighbours.threads_per_core(), Some(2));
        assert_eq!(neighbours.cores_per_package(), Some(2));
        let halves = with_cores(&[&[0, 2], &[1, 3]], 2);
        assert_eq!(halves.threads_per_core(), None);
        assert_eq!(halves.cores_per_package(), Some(1));
        assert_eq!(halves.for_recording()["cores"], "0+2,1+3");
        assert_eq!(with_cores(&[&[0], &[2]], 1).threads_per_core(), None);
    }

    #[test]
    fn a_release_has_a_version_whatever_follows() {
        let version =
            |kernel: &str| Facts { kernel: kernel.to_owned(), ..Facts::default() }.kernel_version();
        assert_eq!(version("6.18.44-fc-v595"), (6, 18));
        assert_eq!(version("5.10"), (5, 10));
        assert_eq!(version(""), (0, 0));
    }

    #[test]
    fn administrators_need_no_other_capability() {
        let with = |capabilities| Facts { capabilities, ..Facts::default() };
        assert!(with(1 << 21).may_trace());
        assert!(with(1 << 38 | 1 << 39).may_trace());
        assert!(!with(1 << 39).may_trace() && !with(1 << 39).may_count());
    }
}
