//! Reads what the kernel's files and the scheduler's socket say of this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use sensors::sums::Group;
use sensors::topology::FOLDER as CPUS;
use serde_json::{Value, json};

use super::view::GivenBack;
use crate::scheduler_socket::{STATS, Socket};

const SCHED_EXT: &str = "/sys/kernel/sched_ext";
/// The name of our scheduler's operations (`scheduler/src/bpf/evenkeel.bpf.c`).
const OURS: &str = "evenkeel";
/// After a scheduler that does not answer.
const ASKED_AGAIN: Duration = Duration::from_secs(30);
/// With more CPUs /proc/cpuinfo takes too long to read each second.
const CPUINFO_CPUS_MAX: usize = 64;
/// Control groups that are looked at for their names; more than a machine has.
const FOLDERS_MAX: usize = 100_000;

/// The first line of a file.
fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}

/// The name of the machine.
pub fn name() -> String {
    let name = line("/proc/sys/kernel/hostname").unwrap_or_default();
    trace::clean_up_to(name.as_bytes(), 64)
}

/// The text of /proc/cpuinfo.
pub fn cpuinfo() -> String {
    fs::read_to_string("/proc/cpuinfo").unwrap_or_default()
}

/// CPU time of this process.
pub fn own_cpu_ns() -> u64 {
    let spent = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from);
    spent.unwrap_or_default().as_nanos() as u64
}

/// The scheduler that runs, such as `EEVDF` or `sched_ext/scx_evenkeel`.
pub fn scheduler() -> String {
    match operations() {
        Some(operations) => scheduler_name(&operations),
        None => {
            let kernel = line("/proc/sys/kernel/osrelease").unwrap_or_default();
            let facts = sensors::facts::Facts { kernel, ..Default::default() };
            // EEVDF replaced CFS in Linux 6.6.
            if facts.kernel_version() < (6, 6) { "CFS" } else { "EEVDF" }.to_owned()
        }
    }
}

fn scheduler_name(operations: &str) -> String {
    let name = if operations == OURS { "scx_evenkeel" } else { operations };
    format!("sched_ext/{}", trace::clean_up_to(name.as_bytes(), 64))
}

/// The operations of sched_ext that are loaded.
fn operations() -> Option<String> {
    let state = line(Path::new(SCHED_EXT).join("state"))?;
    let operations = || line([SCHED_EXT, "root", "ops"].iter().collect::<PathBuf>());
    (state == "enabled").then(operations).flatten()
}

/// The clocks of that many CPUs, as far as the machine says.
pub fn clocks_mhz(cpus: usize) -> Vec<Option<u32>> {
    let of_cpu = |cpu: usize| {
        let khz: u32 = line(format!("{CPUS}/cpu{cpu}/cpufreq/scaling_cur_freq"))?.parse().ok()?;
        Some(khz / 1000)
    };
    let clocks: Vec<_> = (0..cpus).map(of_cpu).collect();
    if clocks.iter().any(Option::is_some) || cpus > CPUINFO_CPUS_MAX {
        return clocks;
    }
    clocks_of(&cpuinfo(), cpus)
}

/// The clocks of that many CPUs in the text of /proc/cpuinfo; none where the kernel states the
/// nominal clock for want of the counters APERF and MPERF (`arch_freq_get_on_cpu`,
/// arch/x86/kernel/cpu/aperfmperf.c, Linux 6.18).
fn clocks_of(cpuinfo: &str, cpus: usize) -> Vec<Option<u32>> {
    let mut clocks = vec![None; cpus];
    let mut cpu = None;
    let is_measured = |line: &str| {
        line.starts_with("flags") && line.split_whitespace().any(|flag| flag == "aperfmperf")
    };
    if !cpuinfo.lines().any(is_measured) {
        return clocks;
    }
    for line in cpuinfo.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        match key.trim() {
            "processor" => cpu = value.trim().parse::<usize>().ok(),
            "cpu MHz" => {
                let clock = cpu.and_then(|cpu| clocks.get_mut(cpu));
                let mhz = value.trim().parse::<f64>().ok();
                if let (Some(clock), Some(mhz)) = (clock, mhz) {
                    *clock = Some(mhz as u32).filter(|&mhz| mhz > 0);
                }
            }
            _ => {}
        }
    }
    clocks
}

/// The connection to `scx_evenkeel`, where it runs.
#[derive(Default)]
pub struct Scheduler {
    socket: Option<Socket>,
    failed: Option<Instant>,
}

impl Scheduler {
    /// What the scheduler did since it was asked last.
    pub fn given_back(&mut self) -> Option<GivenBack> {
        if operations().as_deref() != Some(OURS) {
            *self = Self::default();
            return None;
        }
        if self.failed.is_some_and(|failed| failed.elapsed() < ASKED_AGAIN) {
            return None;
        }
        let given = self.ask();
        self.failed = given.is_none().then(Instant::now);
        if given.is_none() {
            self.socket = None;
        }
        given
    }

    fn ask(&mut self) -> Option<GivenBack> {
        if self.socket.is_none() {
            self.socket = Some(Socket::connect(Path::new(STATS)).ok()?);
        }
        let request = json!({ "req": "stats" }).to_string();
        given_back(&self.socket.as_mut()?.ask(&request).ok()?)
    }
}

/// What an answer of the scheduler says.
fn given_back(answer: &str) -> Option<GivenBack> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let report = answer.pointer("/args/resp")?;
    let rate = |name: &str| report.get("per_second")?.get(name)?.as_f64();
    let cpus = report.get("cpus")?.as_f64().filter(|&cpus| cpus > 0.0)?;
    Some(GivenBack {
        mode: trace::clean(report.get("mode")?.as_str()?.as_bytes()),
        refunded_pct: report.get("refunded_percent")?.as_f64()?,
        // Nanoseconds a second of all CPUs.
        billed_pct: rate("billed_ns")? / 1e7 / cpus,
        refunds_per_s: rate("refunded")?,
    })
}

/// The folders of control groups by their inode numbers, and so by [`Group`]; empty where no
/// hierarchy of version 2 is mounted.
pub fn control_groups() -> Vec<(Group, String)> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let Some(top) = cgroup2(&mounts) else { return Vec::new() };
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(&top)];
    while let Some(folder) = folders.pop() {
        use std::os::unix::fs::MetadataExt;
        let Ok(metadata) = fs::metadata(&folder) else { continue };
        let below = folder.strip_prefix(&top).unwrap_or(&folder);
        found.push((metadata.ino(), format!("/{}", below.to_string_lossy())));
        if found.len() + folders.len() > FOLDERS_MAX {
            break;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|it| it.is_dir());
        folders.extend(entries.filter(is_folder).map(|entry| entry.path()));
    }
    found
}

/// Where the hierarchy of version 2 is mounted whole (proc_pid_mountinfo(5)).
fn cgroup2(mounts: &str) -> Option<String> {
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut words = before.split(' ').skip(3);
        let (root, place) = (words.next()?, words.next()?);
        (after.starts_with("cgroup2 ") && root == "/").then(|| place.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn clocks_are_those_of_their_cpus() {
        let text = "processor\t: 0\ncpu MHz\t\t: 2445.404\nflags\t\t: fpu aperfmperf\n\n\
                    processor\t: 2\ncpu MHz\t: 3000.1\n";
        let stated = text.replace("aperfmperf", "tsc");
        assert_eq!(clocks_of(&stated, 3), [None; 3], "the nominal clock is no measurement");
        assert_eq!(clocks_of(text, 3), [Some(2445), None, Some(3000)]);
        assert_eq!(clocks_of("CPU part\t: 0xd0c\n", 1), [None]);
    }

    #[test]
    fn the_scheduler_says_what_it_gave_back() {
        let answer = r#"{"errno":0,"args":{"resp":{"mode":"even","cpus":4,"refunded_percent":2.5,
            "per_second":{"refunded":12.0,"billed_ns":400000000.0}}}}"#;
        let expected = GivenBack {
            mode: "even".to_owned(),
            refunded_pct: 2.5,
            billed_pct: 10.0,
            refunds_per_s: 12.0,
        };
        assert_eq!(given_back(answer), Some(expected));
        assert_eq!(given_back(r#"{"errno":0,"args":{"resp":{"mode":"even"}}}"#), None);
    }

    #[test]
    fn the_hierarchy_of_version_2_is_found_among_mounts() {
        let mounts = "30 22 0:26 / /sys/fs/cgroup/cpu rw shared:9 - cgroup cgroup rw,cpu\n\
                      31 22 0:27 /a /mnt rw - cgroup2 none rw\n\
                      29 22 0:25 / /sys/fs/cgroup/unified rw shared:8 - cgroup2 cgroup2 rw\n";
        assert_eq!(cgroup2(mounts).as_deref(), Some("/sys/fs/cgroup/unified"));
        assert_eq!(cgroup2("22 1 0:21 / / rw - ext4 /dev/vda rw"), None);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[ -~\n\t]{0,200}") {
            clocks_of(&text, 4);
            given_back(&text);
            cgroup2(&text);
        }
    }
}
