//! The exact command that gets something missing.

use crate::facts::Facts;

/// The way to the rights that a recording needs.
#[must_use]
pub fn rights_remedy(facts: &Facts) -> String {
    let once = "run it with sudo";
    // Before 5.8 both were part of CAP_SYS_ADMIN.
    if facts.kernel_version() < (5, 8) {
        return once.to_owned();
    }
    let command = "sudo setcap cap_bpf,cap_perfmon+ep \"$(command -v evenkeel)\"";
    format!("{once}, or allow it for good: {command}")
}

/// Recording by perf, where our recorder cannot.
pub fn perf_remedy(facts: &Facts) -> String {
    let record = "record with perf and import it (evenkeel trace --help)";
    match &facts.perf {
        Some(_) => record.to_owned(),
        None => format!("{}; then {record}", perf_package(facts)),
    }
}

/// The package of perf.
pub fn perf_package(facts: &Facts) -> String {
    let package = match family(facts) {
        Family::Ubuntu => return "sudo apt-get install linux-tools-$(uname -r)".to_owned(),
        Family::Debian => return "sudo apt-get install linux-perf".to_owned(),
        Family::Fedora => "dnf install perf",
        Family::Suse => "zypper install perf",
        Family::Arch => "pacman -S perf",
        Family::Other => return "install perf from your distribution's packages".to_owned(),
    };
    format!("sudo {package}")
}

/// A kernel that has sched_ext.
pub fn kernel_remedy(facts: &Facts) -> String {
    match family(facts) {
        // 6.16.12 of trixie-backports is the first of Debian's kernels with sched_ext.
        Family::Debian => "with trixie-backports among the sources of apt (Debian 13): \
                           sudo apt-get install -t trixie-backports linux-image-amd64"
            .to_owned(),
        _ => "a kernel of 6.12 or newer with CONFIG_SCHED_CLASS_EXT=y".to_owned(),
    }
}

/// Why `cpuid_fault` is missing, and which kernel or CPU has the flag.
pub fn cpuid_fault(facts: &Facts) -> (String, &'static str) {
    // `bsp_init_amd` of arch/x86/kernel/cpu/amd.c tests for the feature from 6.17 on.
    if facts.cpu.contains("AMD") && facts.kernel_version() < (6, 17) {
        let found = format!("Linux knows of it on AMD's CPUs since 6.17; this is {}", facts.kernel);
        return (found, "a kernel of 6.17 or newer on Zen 4 or newer");
    }
    match &facts.hypervisor {
        // `kvm_emulate_cpuid` of arch/x86/kvm/cpuid.c (6.18).
        Some(hypervisor) => (
            format!("{hypervisor} does not show that CPUID can fault (no flag cpuid_fault)"),
            "ask the host to show MSR_PLATFORM_INFO, with which KVM lets CPUID fault on Intel's \
             CPUs, or use bare metal",
        ),
        None => (
            "the CPU does not let CPUID fault (no flag cpuid_fault)".to_owned(),
            "Intel's CPUs since Ivy Bridge and AMD's since Zen 4 have it",
        ),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    Debian,
    Ubuntu,
    Fedora,
    Suse,
    Arch,
    Other,
}

fn family(facts: &Facts) -> Family {
    const NAMES: [(&str, Family); 8] = [
        ("ubuntu", Family::Ubuntu),
        ("debian", Family::Debian),
        ("fedora", Family::Fedora),
        ("rhel", Family::Fedora),
        ("opensuse", Family::Suse),
        ("suse", Family::Suse),
        ("arch", Family::Arch),
        ("cachyos", Family::Arch),
    ];
    let is = |name: &str| facts.family.iter().any(|of| of == name);
    NAMES.into_iter().find(|(name, _)| is(name)).map_or(Family::Other, |(_, family)| family)
}
