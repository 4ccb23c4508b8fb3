//! The doctor's answers for recorded machines, and for the same ones with one change.

use cpu_model::Class;
use sensors::control_groups::{Census, Labels, Version};
use sensors::doctor::{Ability, Answer, Report, assess};
use sensors::facts::{Access, CpuidFaulting, Facts, SchedExt, Scheduler};
use sensors::pmu::CpuId;

/// A virtual machine with Zen 4, Debian 12 and Linux 6.18, 2026-11-21.
const ROOT: &str = include_str!("../fixtures/zen4-vm-root.json");
/// That machine, asked by the user `nobody`.
const NOBODY: &str = include_str!("../fixtures/zen4-vm-nobody.json");

fn facts(text: &str) -> Facts {
    serde_json::from_str(text).unwrap()
}

/// As root of the recorded machine, after `change`.
fn changed(change: impl FnOnce(&mut Facts)) -> Report {
    let mut facts = facts(ROOT);
    change(&mut facts);
    assess(&facts)
}

fn ability<'r>(report: &'r Report, what: &str) -> &'r Ability {
    report.abilities.iter().find(|ability| ability.what == what).unwrap()
}

#[track_caller]
fn lacks(report: &Report, what: &str, answer: Answer, remedy: &str) {
    let ability = ability(report, what);
    assert_eq!(ability.answer, answer, "{ability:?}");
    let found = ability.remedy.as_deref().unwrap_or_default();
    assert!(found.contains(remedy), "{found}");
}

#[test]
fn root_of_a_virtual_machine_can_record_but_not_count() {
    let report = assess(&facts(ROOT));
    assert_eq!(
        report.sentence(),
        "this machine can: record schedules (yes), see register states (yes), measure frequencies \
         by counters (no), measure frequencies by APERF/MPERF (no), count license levels (no), \
         count wide instructions (no), count stalls (no), measure energy (no), measure frequencies \
         by chains of additions (yes), load BPF schedulers (no), run AVX2 (yes), run AVX-512 \
         (yes), run AMX (no), hide wide instructions by CPUID (no), record with perf (yes)"
    );
    lacks(&report, "measure frequencies by counters", Answer::No, "pmu=on");
    lacks(&report, "load BPF schedulers", Answer::No, "trixie-backports");
    assert!(report.caveats.iter().any(|caveat| caveat.contains("GLIBC_TUNABLES=glibc.cpu.hwcaps")));
}

#[test]
fn nobody_is_told_what_root_would_add() {
    let report = assess(&facts(NOBODY));
    for what in ["record schedules", "see register states"] {
        lacks(&report, what, Answer::AsRoot, "setcap cap_bpf,cap_perfmon+ep");
    }
    lacks(&report, "record with perf", Answer::AsRoot, "sudo perf");
    let chains = ability(&report, "measure frequencies by chains of additions");
    assert_eq!((chains.answer, &chains.remedy), (Answer::Yes, &None));
}

#[test]
fn the_two_capabilities_suffice_to_record() {
    let report = changed(|facts| facts.capabilities = 1 << 38 | 1 << 39);
    assert_eq!(ability(&report, "record schedules").answer, Answer::Yes);
}

#[test]
fn a_kernel_without_btf_or_too_old_leaves_perf() {
    let without = changed(|facts| facts.btf = false);
    lacks(&without, "record schedules", Answer::No, "record with perf and import it");
    lacks(&without, "see register states", Answer::No, "record with perf and import it");
    let old = changed(|facts| {
        facts.kernel = "5.10.0-32-amd64".to_owned();
        facts.perf = None;
    });
    lacks(
        &old,
        "record schedules",
        Answer::No,
        "apt-get install linux-perf; then record with perf",
    );
    assert!(ability(&old, "record schedules").found.contains("older than 5.11"));
}

#[test]
fn a_build_without_recorder_says_how_to_have_one() {
    let report = changed(|facts| facts.recorder = false);
    lacks(&report, "record schedules", Answer::No, "cargo build");
}

#[test]
fn a_locked_kernel_does_not_record_for_root_either() {
    let confidential = changed(|facts| facts.lockdown = Some("confidentiality".to_owned()));
    lacks(&confidential, "record schedules", Answer::No, "lockdown=integrity");
    let integrity = changed(|facts| facts.lockdown = Some("integrity".to_owned()));
    assert_eq!(ability(&integrity, "record schedules").answer, Answer::Yes);
}

#[test]
fn without_the_tracepoint_schedules_are_recorded_and_registers_not() {
    let report = changed(|facts| facts.tracepoints.retain(|it| it != "x86_fpu_regs_deactivated"));
    assert_eq!(ability(&report, "record schedules").answer, Answer::Yes);
    assert_eq!(ability(&report, "see register states").answer, Answer::No);
}

#[test]
fn counters_that_exist_are_had_by_a_setting() {
    let counts = |cycles, paranoid| {
        changed(|facts| {
            facts.cycles = cycles;
            facts.paranoid = Some(paranoid);
        })
    };
    let what = "measure frequencies by counters";
    assert_eq!(ability(&counts(Access::Open, 2), what).answer, Answer::Yes);
    let strict = counts(Access::Forbidden, 4);
    lacks(&strict, what, Answer::AsRoot, "sudo sysctl kernel.perf_event_paranoid=2");
    assert!(ability(&strict, what).found.ends_with("is 4"));
    let bare = changed(|facts| facts.hypervisor = None);
    lacks(&bare, what, Answer::No, "newer kernel");
}

/// A bare machine of that model, with hyper-threading.
fn bare(model: u32, stepping: u32, change: impl FnOnce(&mut Facts)) -> Report {
    changed(|facts| {
        facts.hypervisor = None;
        facts.cycles = Access::Open;
        facts.cpu_id = Some(CpuId { is_intel: true, family: 6, model, stepping });
        facts.cores = vec![vec![0, 1]];
        facts.capabilities = 1 << 38;
        facts.power_events = vec!["energy-pkg".to_owned()];
        change(facts);
    })
}

#[test]
fn events_are_named_with_their_cost_and_what_they_miss() {
    let skylake = bare(0x55, 4, |_| {});
    let levels = ability(&skylake, "count license levels");
    assert_eq!(levels.answer, Answer::Yes);
    assert!(levels.found.contains("of each core, which take 4 of 4 counters; they miss"));
    assert!(!levels.found.contains("nmi_watchdog"));
    let watched = bare(0x55, 4, |facts| facts.nmi_watchdog = true);
    assert!(ability(&watched, "count stalls").found.contains("kernel.nmi_watchdog"));
    assert!(ability(&skylake, "count wide instructions").found.contains("ChaCha20"));
    assert_eq!(ability(&skylake, "measure energy").answer, Answer::Yes);
    let sapphire = bare(0x8f, 6, |_| {});
    lacks(&sapphire, "count license levels", Answer::No, "aperf");
    let unknown = bare(0xff, 0, |_| {});
    lacks(&unknown, "count stalls", Answer::No, "register states");
}

#[test]
fn counting_on_all_cpus_takes_a_right_or_a_setting() {
    let user = |paranoid| {
        bare(0x55, 7, |facts| {
            facts.capabilities = 0;
            facts.paranoid = Some(paranoid);
        })
    };
    for what in ["count license levels", "measure energy"] {
        lacks(&user(2), what, Answer::AsRoot, "kernel.perf_event_paranoid=0");
        assert_eq!(ability(&user(0), what).answer, Answer::Yes);
    }
    lacks(&assess(&facts(ROOT)), "count license levels", Answer::No, "pmu=on");
    lacks(&assess(&facts(ROOT)), "measure energy", Answer::No, "host");
}

#[test]
fn aperf_is_there_forbidden_hidden_or_without_a_device() {
    let what = "measure frequencies by APERF/MPERF";
    let with = |aperf, events: &[&str]| {
        changed(|facts| {
            facts.aperf = aperf;
            facts.msr_events = events.iter().map(|&event| event.to_owned()).collect();
        })
    };
    assert_eq!(ability(&with(Access::Open, &["aperf"]), what).answer, Answer::Yes);
    lacks(&with(Access::Forbidden, &["aperf", "tsc"]), what, Answer::AsRoot, "paranoid=-1");
    lacks(&with(Access::Absent, &["tsc"]), what, Answer::No, "pass APERF");
    let none = changed(|facts| facts.perf_devices.clear());
    lacks(&none, what, Answer::No, "modprobe msr");
}

#[test]
fn schedulers_in_bpf_need_a_kernel_and_an_administrator() {
    let what = "load BPF schedulers";
    let with = |sched_ext| changed(|facts| facts.sched_ext = sched_ext);
    assert_eq!(ability(&with(SchedExt::Ready), what).answer, Answer::Yes);
    lacks(&with(SchedExt::TooOld), what, Answer::No, "apt-get install -t trixie-backports");
    let active = changed(|facts| {
        facts.sched_ext = SchedExt::Active;
        facts.scheduler = Scheduler::SchedExt("lavd_1.0".to_owned());
        facts.capabilities = 0;
    });
    lacks(&active, what, Answer::AsRoot, "sudo");
    assert!(ability(&active, what).found.contains("lavd_1.0 is loaded"));
    let fedora = changed(|facts| facts.family = vec!["fedora".to_owned()]);
    lacks(&fedora, what, Answer::No, "CONFIG_SCHED_CLASS_EXT=y");
}

#[test]
fn each_width_needs_all_of_its_classes() {
    let amx = changed(|facts| facts.classes.push(Class::Amx));
    assert_eq!(ability(&amx, "run AMX").answer, Answer::Yes);
    let no_fma = changed(|facts| facts.classes.retain(|&class| class != Class::Avx2Heavy));
    assert_eq!(ability(&no_fma, "run AVX2").answer, Answer::No);
}

#[test]
fn perf_comes_from_the_package_of_the_distribution() {
    let without = |family: &[&str]| {
        changed(|facts| {
            facts.perf = None;
            facts.family = family.iter().map(|&name| name.to_owned()).collect();
        })
    };
    for (family, package) in [
        (&["debian"][..], "apt-get install linux-perf"),
        (&["ubuntu", "debian"], "apt-get install linux-tools-$(uname -r)"),
        (&["rhel", "fedora"], "dnf install perf"),
        (&["arch"], "pacman -S perf"),
        (&["else"], "your distribution"),
    ] {
        lacks(&without(family), "record with perf", Answer::No, package);
    }
    let unmounted = changed(|facts| facts.tracefs = Access::Absent);
    lacks(&unmounted, "record with perf", Answer::No, "mount -t tracefs");
}

#[test]
fn the_caveat_about_the_c_library_goes_where_it_does_not_hold() {
    let warns = |change: fn(&mut Facts)| {
        changed(change).caveats.iter().any(|caveat| caveat.contains("GLIBC_TUNABLES"))
    };
    assert!(warns(|_| {}));
    assert!(!warns(|facts| facts.evex = false));
    assert!(!warns(|facts| facts.glibc = Some((2, 33))));
    assert!(!warns(|facts| facts.tunables = Some("glibc.cpu.hwcaps=-AVX512VL".to_owned())));
}

#[test]
fn cpuid_that_cannot_fault_is_laid_to_the_host_the_kernel_or_the_cpu() {
    let what = "hide wide instructions by CPUID";
    lacks(&assess(&facts(ROOT)), what, Answer::No, "bare metal");
    let with = |kernel: &str, cpu: &str, hypervisor: Option<&str>, faulting| {
        changed(|facts| {
            facts.kernel = kernel.to_owned();
            facts.cpu = cpu.to_owned();
            facts.hypervisor = hypervisor.map(str::to_owned);
            facts.cpuid_faulting = faulting;
        })
    };
    let absent = CpuidFaulting::Absent;
    let amd = "AMD EPYC 9454 48-Core Processor";
    lacks(&with("6.12.1", amd, None, absent), what, Answer::No, "a kernel of 6.17");
    lacks(&with("6.18.1", amd, None, absent), what, Answer::No, "Ivy Bridge");
    lacks(
        &with("6.12.1", "Intel Xeon", Some("kvm"), absent),
        what,
        Answer::No,
        "MSR_PLATFORM_INFO",
    );
    let old = CpuidFaulting::KernelTooOld;
    assert!(ability(&with("4.9.1", amd, None, old), what).found.contains("this is 4.9.1"));
    let refused = with("6.18.1", amd, None, CpuidFaulting::Refused);
    lacks(&refused, what, Answer::No, "kernel.yama.ptrace_scope=1");
    let offered = with("6.18.1", amd, None, CpuidFaulting::Offered);
    assert_eq!(
        (ability(&offered, what).answer, &ability(&offered, what).remedy),
        (Answer::Yes, &None)
    );
}

#[test]
fn the_machine_has_a_row_for_its_control_groups() {
    let row = |report: &Report| {
        let is_row = |(name, _): &&(&str, String)| *name == "control groups";
        report.machine.iter().find(is_row).unwrap().1.clone()
    };
    // The fixtures are older than the row.
    assert_eq!(row(&assess(&facts(ROOT))), "unknown");
    let id = "ab".repeat(32);
    let own = Labels::of_path(&format!("/system.slice/docker-{id}.scope"));
    let report = changed(|facts| {
        let groups = [Labels::of_path("/"), own.clone()];
        facts.control_groups = Some(Census::of(Version::V2, false, groups.iter()));
        facts.own_group = Some(own);
    });
    assert_eq!(row(&report), "v2, 2 groups; containers: 1 docker; this command: abababababab");
    let report = changed(|facts| {
        facts.control_groups =
            Some(Census::of(Version::Hybrid, false, [Labels::of_path("/")].iter()));
    });
    assert!(row(&report).ends_with("; profile and top tell only groups of v2 apart"));
}
