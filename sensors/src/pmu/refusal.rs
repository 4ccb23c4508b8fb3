//! Why can an event not be counted, and what is to be done about it?
//!
//! Pure decisions: the caller passes the kernel's error and what it knows of the machine.

use std::fmt;

use super::code::Code;

/// Why an event cannot be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// The event codes of this CPU are not known.
    UnknownCpu,
    /// This CPU has no event for the question.
    NoEvent,
    /// Perf has no such device, or the device has no such event here.
    NoDevice(&'static str),
    /// Perf has no hardware counters on this machine.
    NoPmu,
    /// This user may not count.
    NotPermitted,
    /// The counters are in use by other programs, or by the kernel's watchdog.
    Taken,
    /// The group needs more counters than the PMU has.
    TooMany,
    /// The CPU is offline.
    CpuOffline,
    /// This process has as many open files as it may have.
    TooManyFiles,
    /// Another error of the kernel.
    Errno(i32),
}

impl Refusal {
    /// What an error of `perf_event_open` means (its manual page, section errors, and
    /// kernel/events/core.c, Linux 6.18), for the first event of a group or a further one.
    #[must_use]
    pub fn of(errno: i32, code: Code, is_further: bool) -> Self {
        match errno {
            libc::EACCES | libc::EPERM => Self::NotPermitted,
            libc::ENODEV => Self::CpuOffline,
            libc::EBUSY => Self::Taken,
            libc::EMFILE | libc::ENFILE => Self::TooManyFiles,
            // validate_event and validate_group of arch/x86/events/core.c.
            libc::EINVAL if is_further => Self::TooMany,
            libc::EINVAL if code.is_of_core() => Self::NoEvent,
            libc::ENOENT | libc::EOPNOTSUPP | libc::ENOSYS if code.is_of_core() => Self::NoPmu,
            other => Self::Errno(other),
        }
    }

    /// What is wrong on this machine and what to do about it, in one sentence.
    #[must_use]
    pub fn sentence(self, machine: &Circumstances) -> String {
        match self {
            Self::UnknownCpu => format!(
                "the event codes of this CPU ({}) are not known: use register states, or aperf \
                 and mperf",
                machine.cpu
            ),
            Self::NoEvent => format!(
                "the PMU of this CPU ({}) has no such event: use register states, or aperf and \
                 mperf",
                machine.cpu
            ),
            Self::NoDevice(device) => {
                let remedy = match (device, machine.hypervisor) {
                    (_, Some(_)) => "ask the host to pass the registers on, or use bare metal",
                    ("msr", None) => "count cycles and reference cycles by the PMU instead",
                    ("power", None) => "load the driver by sudo modprobe rapl",
                    _ => "use a kernel that has the device",
                };
                format!("perf has no such event of the device {device} here: {remedy}")
            }
            Self::NoPmu => no_pmu(machine),
            Self::NotPermitted => not_permitted(machine),
            Self::Taken => taken(machine),
            Self::TooMany => "the PMU has too few counters for all events at once: ask for fewer, \
                              or switch hyper-threading off, which doubles them on CPUs before \
                              Ice Lake"
                .to_owned(),
            Self::CpuOffline => "the CPU is offline: choose one of \
                                 /sys/devices/system/cpu/online"
                .to_owned(),
            Self::TooManyFiles => "each counter of each CPU is an open file, and this process has \
                                   as many as it may have: raise the limit by ulimit -n"
                .to_owned(),
            Self::Errno(errno) => {
                format!("perf refuses the event with error {errno}: see perf_event_open(2)")
            }
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCpu => out.write_str("the event codes of this CPU are not known"),
            Self::NoEvent => out.write_str("this CPU has no such event"),
            Self::NoDevice(device) => write!(out, "perf has no such event of the device {device}"),
            Self::NoPmu => out.write_str("no PMU (ENOENT)"),
            Self::NotPermitted => out.write_str("not permitted"),
            Self::Taken => out.write_str("the counters are in use"),
            Self::TooMany => out.write_str("more events than counters"),
            Self::CpuOffline => out.write_str("the CPU is offline"),
            Self::TooManyFiles => out.write_str("too many open files"),
            Self::Errno(errno) => write!(out, "perf refuses it (errno {errno})"),
        }
    }
}

impl std::error::Error for Refusal {}

/// What decides the remedy for a refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Circumstances<'a> {
    /// Name of the CPU.
    pub cpu: &'a str,
    /// The hypervisor, in a virtual machine.
    pub hypervisor: Option<&'a str>,
    /// `kernel.perf_event_paranoid`.
    pub paranoid: Option<i32>,
    /// Whether this user has `CAP_PERFMON` or `CAP_SYS_ADMIN`.
    pub may_count: bool,
    /// `kernel.nmi_watchdog`.
    pub nmi_watchdog: bool,
}

fn no_pmu(machine: &Circumstances) -> String {
    match machine.hypervisor {
        Some(hypervisor) => format!(
            "{hypervisor} shows no PMU to this virtual machine: ask the host for one (QEMU: -cpu \
             host,pmu=on), or use bare metal"
        ),
        None => "perf has no PMU here: boot a kernel that knows this CPU, and look for PMU in its \
                 log (dmesg)"
            .to_owned(),
    }
}

fn not_permitted(machine: &Circumstances) -> String {
    if machine.may_count {
        return "the kernel refuses counters although this user has CAP_PERFMON: a container's \
                seccomp profile or the lockdown mode forbids perf_event_open; allow the call, or \
                run outside the container"
            .to_owned();
    }
    let level = machine.paranoid.map_or_else(|| "set".to_owned(), |level| level.to_string());
    format!(
        "counting what all tasks of a CPU do takes CAP_PERFMON, and kernel.perf_event_paranoid is \
         {level}: run as root, or allow all users by sudo sysctl kernel.perf_event_paranoid=0"
    )
}

fn taken(machine: &Circumstances) -> String {
    let remedy = if machine.nmi_watchdog {
        "the watchdog of hanging CPUs has one of them (sudo sysctl kernel.nmi_watchdog=0), and a \
         running perf or another profiler may have the rest"
    } else {
        "end a running perf or other profiler, or ask for fewer events"
    };
    format!("other users have the counters that the events need: {remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSR: Code = Code { device: 11, config: 1 };

    #[test]
    fn each_error_of_the_kernel_has_a_cause() {
        let first = |errno| Refusal::of(errno, Code::CYCLES, false);
        assert_eq!(first(libc::EACCES), Refusal::NotPermitted);
        assert_eq!(first(libc::EPERM), Refusal::NotPermitted);
        assert_eq!(first(libc::ENOENT), Refusal::NoPmu);
        assert_eq!(first(libc::EOPNOTSUPP), Refusal::NoPmu);
        assert_eq!(first(libc::ENODEV), Refusal::CpuOffline);
        assert_eq!(first(libc::EBUSY), Refusal::Taken);
        assert_eq!(first(libc::EMFILE), Refusal::TooManyFiles);
        assert_eq!(first(libc::EINVAL), Refusal::NoEvent);
        assert_eq!(first(libc::EFAULT), Refusal::Errno(libc::EFAULT));
        assert_eq!(Refusal::of(libc::EINVAL, Code::raw(0x2028), true), Refusal::TooMany);
        assert_eq!(Refusal::of(libc::EINVAL, MSR, false), Refusal::Errno(libc::EINVAL));
    }

    const ALL: [Refusal; 10] = [
        Refusal::UnknownCpu,
        Refusal::NoEvent,
        Refusal::NoDevice("msr"),
        Refusal::NoPmu,
        Refusal::NotPermitted,
        Refusal::Taken,
        Refusal::TooMany,
        Refusal::CpuOffline,
        Refusal::TooManyFiles,
        Refusal::Errno(99),
    ];

    #[test]
    fn each_refusal_has_one_sentence_with_a_remedy() {
        for refusal in ALL {
            let sentence = refusal.sentence(&Circumstances::default());
            assert!(sentence.contains(": "), "{refusal:?}: {sentence}");
            assert!(!sentence.contains(". ") && !sentence.ends_with('.'), "{sentence}");
            assert!(!refusal.to_string().is_empty());
        }
    }

    #[test]
    fn the_remedy_depends_on_the_machine() {
        let bare = Circumstances { cpu: "Xeon", paranoid: Some(4), ..Circumstances::default() };
        let said = Refusal::NotPermitted.sentence(&bare);
        assert!(said.contains("perf_event_paranoid is 4") && said.contains("CAP_PERFMON"));
        let root = Circumstances { may_count: true, ..bare.clone() };
        assert!(Refusal::NotPermitted.sentence(&root).contains("seccomp"));
        assert!(Refusal::NoPmu.sentence(&bare).contains("dmesg"));
        let guest = Circumstances { hypervisor: Some("kvm"), ..bare.clone() };
        assert!(Refusal::NoPmu.sentence(&guest).starts_with("kvm shows no PMU"));
        assert!(Refusal::NoDevice("msr").sentence(&guest).contains("ask the host"));
        assert!(Refusal::NoDevice("msr").sentence(&bare).contains("by the PMU instead"));
        assert!(!Refusal::Taken.sentence(&bare).contains("nmi_watchdog"));
        let watched = Circumstances { nmi_watchdog: true, ..bare };
        assert!(Refusal::Taken.sentence(&watched).contains("kernel.nmi_watchdog=0"));
    }
}
