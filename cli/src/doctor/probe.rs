//! Gathers the facts: reads the kernel's files, and tries system calls.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use cpu_model::Class;
use sensors::facts::{Access, CpuidFaulting, Facts, SchedExt, Scheduler};
use sensors::topology::{FOLDER as CPUS, Topology, cpu_list};
use silicon::trial::hide::{Faulting, faulting};

use super::system;
use crate::control_groups::Names;

const PERF_DEVICES: &str = "/sys/bus/event_source/devices";
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// Tracepoints that matter here, by subsystem.
const TRACEPOINTS: [(&str, &str); 4] = [
    ("sched", "sched_switch"),
    ("sched", "sched_waking"),
    ("x86_fpu", "x86_fpu_regs_deactivated"),
    ("power", "cpu_frequency"),
];
const SCHED_EXT: &str = "/sys/kernel/sched_ext";
const BTF: &str = "/sys/kernel/btf/vmlinux";

/// The facts that this machine shows to this user.
pub fn probe() -> Facts {
    let kernel = line("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut facts = Facts { kernel, ..Facts::default() };
    kernel_facts(&mut facts);
    cpu_facts(&mut facts);
    topology(&mut facts);
    counters(&mut facts);
    let mut groups = Names::of_this_machine();
    facts.control_groups = Some(groups.census());
    facts.own_group = groups.of_process(std::process::id());
    let os = fs::read_to_string("/etc/os-release").unwrap_or_default();
    facts.distribution = setting(&os, "PRETTY_NAME");
    for name in ["ID", "ID_LIKE"] {
        let names = setting(&os, name).unwrap_or_default();
        facts.family.extend(names.split_whitespace().map(str::to_owned));
    }
    facts.recorder = cfg!(feature = "record");
    facts.perf = answer("perf", "--version").filter(|said| said.starts_with("perf version"));
    facts.glibc = answer("getconf", "GNU_LIBC_VERSION").and_then(|said| version(&said));
    facts.tunables = std::env::var("GLIBC_TUNABLES").ok();
    facts
}

fn kernel_facts(facts: &mut Facts) {
    let version = facts.kernel_version();
    let state = line(&format!("{SCHED_EXT}/state"));
    let ops = line(&[SCHED_EXT, "root", "ops"].join("/"));
    facts.sched_ext = match state.as_deref() {
        None if version < (6, 12) => SchedExt::TooOld,
        None => SchedExt::NotBuilt,
        Some("enabled") => SchedExt::Active,
        Some(_) => SchedExt::Ready,
    };
    facts.scheduler = match ops.filter(|_| facts.sched_ext == SchedExt::Active) {
        Some(ops) => Scheduler::SchedExt(ops),
        None if version < (6, 6) => Scheduler::Cfs,
        None => Scheduler::Eevdf,
    };
    facts.hz = system::ticks_a_second();
    facts.preemption = preemption();
    facts.btf = Path::new(BTF).exists();
    facts.lockdown = line("/sys/kernel/security/lockdown").and_then(|modes| chosen(&modes, "[]"));
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    facts.capabilities =
        effective.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or(0);
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let is_mounted = |place: &&str| mounts.lines().any(|line| is_tracefs(line, place));
    let place = TRACEFS.into_iter().find(is_mounted);
    facts.tracefs = match place.map(|place| fs::read_dir(format!("{place}/events"))) {
        None => Access::Absent,
        Some(Ok(_)) => Access::Open,
        Some(Err(_)) => Access::Forbidden,
    };
    // The formats of events are readable for all users, tracefs for root.
    let types = fs::read(BTF).unwrap_or_default();
    let described = |event: &str| contains(&types, format!("\0btf_trace_{event}\0").as_bytes());
    let listed = |system: &str, event: &str| {
        place.is_some_and(|place| Path::new(&format!("{place}/events/{system}/{event}")).exists())
    };
    let found =
        TRACEPOINTS.into_iter().filter(|(system, event)| described(event) || listed(system, event));
    facts.tracepoints = found.map(|(_, event)| event.to_owned()).collect();
}

/// The choice of a kernel with several preemption modes, where root may read the file.
fn preemption() -> Option<String> {
    let built = line("/proc/sys/kernel/version")?;
    let word = built.split_whitespace().find(|word| word.starts_with("PREEMPT"));
    let word = word.unwrap_or("PREEMPT_NONE or PREEMPT_VOLUNTARY").to_owned();
    let choice = line("/sys/kernel/debug/sched/preempt").and_then(|all| chosen(&all, "()"));
    Some(match choice {
        Some(choice) => format!("{word}, {choice}"),
        None => word,
    })
}

fn cpu_facts(facts: &mut Facts) {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    };
    facts.cpu = value("model name").unwrap_or_default();
    let mhz: Option<f64> = value("cpu MHz").and_then(|mhz| mhz.parse().ok());
    facts.mhz = mhz.map(|mhz| mhz.round() as u32);
    let flags = value("flags").unwrap_or_default();
    let has = |names: &[&str]| names.iter().all(|name| flags.split(' ').any(|flag| flag == *name));
    const AVX512: [&str; 4] = ["avx512f", "avx512dq", "avx512bw", "avx512vl"];
    let allowed = |class: &Class| match class {
        Class::Scalar => true,
        Class::Avx2Light => has(&["avx2"]),
        Class::Avx2Heavy => has(&["avx2", "fma"]),
        Class::Avx512Light | Class::Avx512Heavy => has(&AVX512),
        Class::Amx => has(&["amx_tile", "amx_int8"]),
    };
    facts.classes = Class::ALL.into_iter().filter(allowed).collect();
    facts.cpuid_faulting = match faulting() {
        Faulting::Offered => CpuidFaulting::Offered,
        Faulting::KernelTooOld => CpuidFaulting::KernelTooOld,
        Faulting::Absent => CpuidFaulting::Absent,
        Faulting::Refused => CpuidFaulting::Refused,
    };
    facts.evex = has(&["avx512vl", "avx512bw"]);
    facts.steady_tsc = has(&["constant_tsc", "nonstop_tsc"]);
    facts.hypervisor = has(&["hypervisor"]).then(hypervisor);
    let driver = line(&format!("{CPUS}/cpu0/cpufreq/scaling_driver"));
    let governor = line(&format!("{CPUS}/cpu0/cpufreq/scaling_governor"));
    facts.cpufreq = driver.map(|driver| match governor {
        Some(governor) => format!("{driver}, {governor}"),
        None => driver,
    });
}

/// Its name, where the machine says.
fn hypervisor() -> String {
    let product = line("/sys/class/dmi/id/sys_vendor");
    answer("systemd-detect-virt", "--vm")
        .filter(|name| name != "none")
        .or(line("/sys/hypervisor/type"))
        .or(product)
        .unwrap_or_else(|| "a hypervisor".to_owned())
}

fn topology(facts: &mut Facts) {
    let read = |name: &str| fs::read_to_string(Path::new(CPUS).join(name)).ok();
    facts.online = read("online").and_then(|list| cpu_list(&list)).unwrap_or_default();
    let cpus = facts.online.last().map_or(0, |&last| last as usize + 1);
    let topology = Topology::new(cpus, read);
    let mut cores = vec![Vec::new(); topology.cores.count as usize];
    for &cpu in &facts.online {
        cores[topology.cores.of[cpu as usize] as usize].push(cpu);
    }
    // A core without a CPU that is online is of a CPU that is not.
    cores.retain(|core| !core.is_empty());
    facts.cores = cores;
    facts.packages = topology.packages.count;
}

fn counters(facts: &mut Facts) {
    facts.paranoid =
        line("/proc/sys/kernel/perf_event_paranoid").and_then(|level| level.parse().ok());
    facts.perf_devices = names(PERF_DEVICES);
    facts.msr_events = names(&format!("{PERF_DEVICES}/msr/events"));
    facts.cycles = system::open_cycles();
    let number = |path: String| line(&path)?.trim_start_matches("event=").parse_hex();
    let kind = line(&format!("{PERF_DEVICES}/msr/type")).and_then(|kind| kind.parse().ok());
    let aperf = number(format!("{PERF_DEVICES}/msr/events/aperf"));
    facts.aperf = match (kind, aperf) {
        (Some(kind), Some(aperf)) => system::open_everywhere(kind, aperf),
        _ => Access::Absent,
    };
}

trait Hex {
    fn parse_hex(&self) -> Option<u64>;
}

impl Hex for str {
    fn parse_hex(&self) -> Option<u64> {
        u64::from_str_radix(self.trim_start_matches("0x"), 16).ok()
    }
}

/// The names in a folder, in order.
fn names(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The first line of a file.
fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

/// The first line that a command prints.
fn answer(command: &str, argument: &str) -> Option<String> {
    let mut command = Command::new(command);
    let output = command.arg(argument).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// A value of os-release.
fn setting(text: &str, name: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
    Some(value.trim_matches('"').to_owned())
}

/// Of `none [integrity] confidentiality` that in brackets.
fn chosen(text: &str, brackets: &str) -> Option<String> {
    let mut brackets = brackets.chars();
    let (open, close) = (brackets.next()?, brackets.next()?);
    let from = text.split_once(open)?.1;
    Some(from.split_once(close)?.0.to_owned())
}

/// The first two numbers of `glibc 2.36`.
fn version(text: &str) -> Option<(u32, u32)> {
    let numbers = text.split_whitespace().last()?;
    let (major, minor) = numbers.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}

fn is_tracefs(mount: &str, place: &str) -> bool {
    let mut words = mount.split(' ').skip(1);
    words.next() == Some(place) && words.next() == Some("tracefs")
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    memchr::memmem::find(bytes, wanted).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_writes_is_read() {
        assert_eq!(chosen("none [integrity] confidentiality", "[]").as_deref(), Some("integrity"));
        assert_eq!(chosen("none (voluntary) full", "()").as_deref(), Some("voluntary"));
        assert_eq!(version("glibc 2.36"), Some((2, 36)));
        assert_eq!(
            setting("ID=x\nPRETTY_NAME=\"Debian 12\"\n", "PRETTY_NAME").unwrap(),
            "Debian 12"
        );
        assert_eq!("event=0x01".trim_start_matches("event=").parse_hex(), Some(1));
        let mount = "tracefs /sys/kernel/tracing tracefs rw 0 0";
        assert!(is_tracefs(mount, TRACEFS[0]) && !is_tracefs(mount, TRACEFS[1]));
    }
}
