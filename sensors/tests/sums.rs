//! Sums of this machine's kernel. Needs root and a kernel with BTF, and reports a skip without.
#![cfg(feature = "bpf")]

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cpu_model::{CpuTable, TurboMode};
use sensors::sums::{By, CollectError, Collector, Costs, Group, PairSum, Sums};

/// How long something may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The upper halves of YMM registers, in XSTATE_BV.
const YMM: u64 = 1 << 2;

/// A process that ends with the test.
struct Process(Child);

impl Process {
    /// Runs a program on one CPU.
    fn on_cpu(cpu: u32, program: &Path) -> Self {
        let mut command = Command::new("taskset");
        command.args(["-c", &cpu.to_string()]).arg(program);
        let process = Self(command.spawn().expect("taskset is part of util-linux"));
        let comm = format!("/proc/{}/comm", process.0.id());
        let name = program.file_name().unwrap().to_str().unwrap();
        wait_for("a program begins on its CPU", || {
            std::fs::read_to_string(&comm).unwrap().trim() == name
        });
        process
    }

    fn group(&self) -> Group {
        self.0.id().into()
    }

    /// Takes it from its CPU, so that nothing of it is left to account.
    fn stop(&self) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args(["-STOP", &id]).status().unwrap().success());
        let stat = || std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        wait_for("a process stops", || stat().contains(") T "));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !happened() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A program that runs this instruction for ever, by the clang that compiled the BPF program.
fn forever(name: &str, instruction: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let source = format!("int main(void) {{ for (;;) __asm__ volatile(\"{instruction}\"); }}");
    let clang = std::env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let mut command = Command::new(clang);
    let command = command.args(["-x", "c", "-O1", "-o"]).arg(&place).arg("-");
    let mut clang = command.stdin(Stdio::piped()).spawn().unwrap();
    clang.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    assert!(clang.wait().unwrap().success());
    place
}

/// The CPUs that are online.
fn online() -> Vec<u32> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap();
    sensors::topology::cpu_list(&text).unwrap()
}

/// A collection; `None` without the rights, except on machines for CI, which have them.
fn collect(siblings: &[u32], by: By, costs: Option<&Costs>) -> Option<Collector> {
    match Collector::start(&online(), siblings, by, costs) {
        Ok(collector) => Some(collector),
        Err(
            error @ (CollectError::NoRights(_) | CollectError::NoBtf(_) | CollectError::TooOld),
        ) => {
            let strict = ["CI", "EVENKEEL_CI"].iter().any(|name| std::env::var_os(name).is_some());
            assert!(!strict, "{error}");
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

fn alone() -> Vec<u32> {
    (0..=online().into_iter().max().unwrap()).collect()
}

/// The time that a process has run and waited, all its threads together, as the kernel says.
fn schedstat(process: &Process) -> (u64, u64) {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", process.0.id())).unwrap();
    let of_task = |task: std::io::Result<std::fs::DirEntry>| {
        let text = std::fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap();
        let mut numbers = text.split_whitespace().map(|number| number.parse::<u64>().unwrap());
        (numbers.next().unwrap(), numbers.next().unwrap())
    };
    tasks.map(of_task).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
}

fn pair(sums: &Sums, victim: Group, culprit: Group) -> PairSum {
    sums.pairs.get(&(victim, culprit)).copied().unwrap_or_default()
}

/// The losses and waits of a group, by culprit, together.
fn of_culprits(sums: &Sums, victim: Group) -> PairSum {
    let of_victim = sums.pairs.iter().filter(|((of, _), _)| *of == victim);
    of_victim.fold(PairSum::default(), |sum, (_, pair)| PairSum {
        waited_ns: sum.waited_ns + pair.waited_ns,
        beside_ns: sum.beside_ns + pair.beside_ns,
        lost_ns: sum.lost_ns + pair.lost_ns,
    })
}

#[test]
fn a_task_waits_for_those_that_run_on_its_cpu_as_long_as_the_kernel_says() {
    let spin = forever("spin-waits", "pause");
    let elsewhere = online().get(1).map(|&cpu| Process::on_cpu(cpu, &spin));
    let Some(mut collector) = collect(&alone(), By::Process, None) else { return };
    let loops = [Process::on_cpu(0, &spin), Process::on_cpu(0, &spin)];
    // Until it had its CPU, a loop may have waited elsewhere.
    let before = collector.read().unwrap();
    wait_for("both loops take turns", || {
        let sums = collector.read().unwrap();
        let leaves = |of: &Process| sums.groups.get(&of.group()).map_or(0, |sum| sum.leaves);
        loops.iter().all(|of| leaves(of) >= 50)
    });
    loops.iter().for_each(Process::stop);
    // A process says that it has stopped a moment before it leaves its CPU.
    let mut sums = Sums::default();
    wait_for("all waits are accounted", || {
        sums = collector.read().unwrap();
        loops.iter().all(|of| sums.groups[&of.group()].waited_ns == schedstat(of).1)
    });
    for (victim, culprit) in [(&loops[0], &loops[1]), (&loops[1], &loops[0])] {
        let sum = sums.groups[&victim.group()];
        assert_eq!(sum.waited_ns, of_culprits(&sums, victim.group()).waited_ns);
        let waited_ns = pair(&sums, victim.group(), culprit.group()).waited_ns;
        assert!(
            waited_ns > 0 && waited_ns <= sums.groups[&culprit.group()].cpu_time_ns,
            "{sums:?}"
        );
        if let Some(elsewhere) = &elsewhere {
            let of = |sums| pair(sums, victim.group(), elsewhere.group());
            assert_eq!(of(&sums), of(&before));
        }
    }
    assert_eq!(collector.name(loops[0].group()).as_deref(), Some("spin-waits"));
    let ran_ns: u64 = sums.groups.values().map(|sum| sum.cpu_time_ns).sum();
    let busy_ns = |sums: &Sums| sums.cpus.iter().map(|cpu| cpu.busy_ns).sum::<u64>();
    // Between the two readings lies all that ran until the first.
    assert!(ran_ns >= busy_ns(&sums) && ran_ns <= busy_ns(&collector.read().unwrap()));
    assert_eq!(sums.without_room, 0);
}

#[test]
fn tasks_on_siblings_run_beside_each_other_for_the_same_time() {
    // Two CPUs, said to be a core.
    if online().len() < 2 {
        return eprintln!("skipped: one CPU");
    }
    let Some(mut collector) = collect(&[1, 0], By::Process, None) else { return };
    let spin = forever("spin-beside", "pause");
    let loops = [0, 0, 1].map(|cpu| Process::on_cpu(cpu, &spin));
    let [one, other, sibling] = [0, 1, 2].map(|number: usize| loops[number].group());
    // Until they had their CPU, both may have run on others.
    let before = collector.read().unwrap();
    wait_for("each loop runs beside the sibling's", || {
        let sums = collector.read().unwrap();
        [one, other].iter().all(|&of| pair(&sums, of, sibling).beside_ns > 10_000_000)
    });
    loops.iter().for_each(Process::stop);
    let sums = collector.read().unwrap();
    for of in [one, other] {
        assert_eq!(pair(&sums, of, sibling).beside_ns, pair(&sums, sibling, of).beside_ns);
    }
    let of_cpu = |sums| pair(sums, one, other).beside_ns;
    assert_eq!(of_cpu(&sums), of_cpu(&before), "they share a CPU");
    assert_eq!(sums.groups[&one].lost_ns, 0, "no CPU table");
}

#[test]
fn a_sibling_with_wide_registers_takes_clock_by_the_cpu_table() {
    if online().len() < 2 || !std::arch::is_x86_feature_detected!("avx") {
        return eprintln!("skipped: one CPU, or one without AVX");
    }
    let name = "xeon-gold-6130";
    let (_, text) = cpu_model::embedded().iter().find(|(table, _)| *table == name).unwrap();
    let model = CpuTable::parse(text, name).unwrap().model(TurboMode::On).unwrap();
    // Every machine has 256-bit registers.
    let costs = Costs::new(&model).with_wide_registers(YMM);
    let Some(mut collector) = collect(&[1, 0], By::Process, Some(&costs)) else { return };
    let wide = Process::on_cpu(1, &forever("spin-wide", "vaddps %ymm1, %ymm1, %ymm1"));
    let victim = Process::on_cpu(0, &forever("spin-scalar", "pause"));
    let (wide_group, victim_group) = (wide.group(), victim.group());
    wait_for("the victim loses clock", || {
        pair(&collector.read().unwrap(), victim_group, wide_group).lost_ns > 1_000_000
    });
    let running = collector.read().unwrap();
    wide.stop();
    victim.stop();
    let sums = collector.read().unwrap();
    assert!(sums.groups[&wide_group].wide_leaves >= 2);
    let sum = sums.groups[&victim_group];
    assert_eq!(sum.lost_ns, of_culprits(&sums, victim_group).lost_ns);
    // D Table 3.1: 3.7 and 3.5 GHz for two active cores.
    let lost_ns = pair(&sums, victim_group, wide_group).lost_ns;
    assert!(lost_ns <= pair(&sums, victim_group, wide_group).beside_ns.max(sum.cpu_time_ns) / 18);
    assert_eq!(pair(&sums, wide_group, victim_group).lost_ns, 0);
    assert!(running.cpus[..2].iter().all(|cpu| cpu.held_ns > 0 && cpu.held_ns <= cpu.busy_ns));
}

#[test]
fn a_process_that_ended_is_named_and_can_be_forgotten() {
    let Some(mut collector) = collect(&alone(), By::Process, None) else { return };
    let mut sleep = Command::new("sleep").arg("0.01").spawn().unwrap();
    let group = Group::from(sleep.id());
    sleep.wait().unwrap();
    let mut sums = Sums::default();
    wait_for("the end is final", || {
        sums = collector.read().unwrap();
        collector.ended().contains(&group)
    });
    assert_eq!(collector.name(group).as_deref(), Some("sleep"));
    assert!(!collector.ended().contains(&std::process::id().into()));
    collector.forget(&BTreeSet::from([group]), &sums).unwrap();
    let sums = collector.read().unwrap();
    assert!(!sums.groups.contains_key(&group) && sums.pairs.keys().all(|pair| pair.0 != group));
    assert_eq!(collector.name(group), None);
}

#[test]
fn a_control_group_has_the_number_of_its_folder() {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
    let mut mounts = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let Some(mount) = mounts.find(|mount| mount[2] == "cgroup2") else {
        return eprintln!("skipped: no control groups of version 2");
    };
    let Some(mut collector) = collect(&alone(), By::ControlGroup, None) else { return };
    let folder = Path::new(mount[1]).join(format!("evenkeel-test-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let number = std::fs::metadata(&folder).unwrap().ino();
    let spin = Process::on_cpu(0, &forever("spin-group", "pause"));
    std::fs::write(folder.join("cgroup.procs"), spin.0.id().to_string()).unwrap();
    wait_for("the control group has CPU time", || {
        let sums = collector.read().unwrap();
        sums.groups.get(&number).is_some_and(|sum| sum.cpu_time_ns > 0 && sum.leaves > 0)
    });
    drop(spin);
    wait_for("the control group is empty", || std::fs::remove_dir(&folder).is_ok());
    assert_eq!(collector.name(number), None);
}
