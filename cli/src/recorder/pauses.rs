//! Pauses one core after another while the machine is recorded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use random::SplitMix64;
use sensors::facts::Facts;
use sensors::pauses::{Counts, Look, NotTaken, Pauser, Wish, become_real_time};
use sensors::recorder::Pause;
use sensors::topology::{self, cpu_list};

/// Order by order: the thread looks between two of them whether it is to end.
const ORDER_MAX: Duration = Duration::from_millis(100);

/// How cores are paused.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Each a list of CPUs.
    pub cores: Vec<Vec<u32>>,
    /// From one pause to the next: uniform from the first to the second.
    pub interval_ns: (u64, u64),
    /// How long the core runs scalar code at least.
    pub raise_delay_ns: u64,
    /// Decides the times of all pauses.
    pub seed: u64,
}

/// The cores whose tasks may be paused: those of CPUs that this process may run on, and none that
/// the administrator keeps from the scheduler (`isolcpus`) or from the tick (`nohz_full`).
pub fn cores(facts: &Facts) -> Result<Vec<Vec<u32>>> {
    ensure!(
        !is_in_namespace(),
        "--pauses: this process is in a PID namespace, as those of containers are, where it does \
         not know the kernel's numbers of its threads; run it in the namespace of the host \
         (docker run --pid=host, hostPID: true)"
    );
    let listed = |file: &str| {
        let text = std::fs::read_to_string(format!("{}/{file}", topology::FOLDER));
        text.ok().and_then(|text| cpu_list(&text)).unwrap_or_default()
    };
    let mut left_out = listed("isolated");
    left_out.extend(listed("nohz_full"));
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap_or_else(|_| CpuSet::new());
    let is_usable =
        |cpu: &u32| !left_out.contains(cpu) && allowed.is_set(*cpu as usize).unwrap_or_default();
    let cores: Vec<Vec<u32>> =
        facts.cores.iter().filter(|core| core.iter().all(is_usable)).cloned().collect();
    ensure!(
        !cores.is_empty(),
        "--pauses: no core may be paused: each has a CPU that this process may not use, or that \
         isolcpus or nohz_full keeps free"
    );
    if cores.len() < facts.cores.len() {
        let (some, all) = (facts.cores.len() - cores.len(), facts.cores.len());
        eprintln!("{some} of {all} cores are not paused: isolated, or not open to this process");
    }
    Ok(cores)
}

/// Whether the kernel knows this process by another number: the first PID namespace of the machine
/// has a fixed number (`PROC_PID_INIT_INO`, include/linux/proc_ns.h, Linux 6.18).
fn is_in_namespace() -> bool {
    let link = std::fs::read_link("/proc/self/ns/pid");
    link.is_ok_and(|link| link.as_os_str() != "pid:[4026531836]")
}

/// The thread that orders the pauses.
pub struct Pauses {
    end: Arc<AtomicBool>,
    looks: Receiver<Pause>,
    thread: JoinHandle<Counts>,
}

impl Pauses {
    /// Starts the thread.
    pub fn start(plan: Plan) -> Result<Self> {
        let pauser = Pauser::start(&plan.cores).context("--pauses")?;
        let end = Arc::new(AtomicBool::new(false));
        let (sender, looks) = channel();
        let its = Arc::clone(&end);
        let thread = std::thread::Builder::new()
            .name("evenkeel-sample".to_owned())
            .spawn(move || sample(pauser, &plan, &its, &sender))
            .context("--pauses: starting a thread")?;
        Ok(Self { end, looks, thread })
    }

    /// The pauses that ended since the last call, by their end.
    pub fn take(&self) -> Vec<Pause> {
        self.looks.try_iter().collect()
    }

    /// Ends the thread after the present pause; the last pauses, and how all ended.
    pub fn end(self) -> Result<(Vec<Pause>, Counts)> {
        self.end.store(true, Ordering::Relaxed);
        let counts = self.thread.join();
        let counts = counts.map_err(|_| anyhow!("the thread that pauses cores failed"))?;
        Ok((self.looks.try_iter().collect(), counts))
    }
}

/// A CPU that is sampled: its core, its number, and the thread that pauses it.
#[derive(Clone, Copy)]
struct Sampled {
    core: usize,
    cpu: u32,
    by: u32,
}

/// Samples one CPU after another until the end.
fn sample(mut pauser: Pauser, plan: &Plan, end: &AtomicBool, sender: &Sender<Pause>) -> Counts {
    // Without the priority records come late, and nothing else.
    become_real_time();
    let core_of = |cpu: u32| plan.cores.iter().position(|cpus| cpus.contains(&cpu));
    let mut cpus: Vec<Sampled> = pauser
        .spinners()
        .filter_map(|(cpu, tid)| Some(Sampled { core: core_of(cpu)?, cpu, by: tid as u32 }))
        .collect();
    let mut random = SplitMix64::new(plan.seed);
    loop {
        // Each round in another order: a short profile of many CPUs meets any of them.
        for at in 0..cpus.len() {
            let other = at + random.below((cpus.len() - at) as u64) as usize;
            cpus.swap(at, other);
        }
        for &Sampled { core, cpu, by } in &cpus {
            let Some(starts_in) = wait(plan, &mut random, end) else {
                return pauser.counts().clone();
            };
            let wish = Wish { raise_delay_ns: plan.raise_delay_ns, look_again: true, starts_in };
            match pauser.sample(core, cpu, &wish) {
                Ok(look) if sender.send(pause(&look, cpu, by)).is_err() => {
                    // The recording has failed.
                    return pauser.counts().clone();
                }
                Ok(_) => {}
                // Refused at once: nothing has slept.
                Err(NotTaken { paused_ns: 0, .. }) => std::thread::sleep(starts_in),
                Err(_) => {}
            }
        }
    }
}

/// Waits until the next pause is to be ordered; how long it then is until the pause. `None`: all
/// ends.
fn wait(plan: &Plan, random: &mut SplitMix64, end: &AtomicBool) -> Option<Duration> {
    let (least_ns, most_ns) = plan.interval_ns;
    let interval_ns = least_ns + random.below(most_ns.saturating_sub(least_ns) + 1);
    let mut starts_in = Duration::from_nanos(interval_ns);
    while starts_in > ORDER_MAX && !end.load(Ordering::Relaxed) {
        std::thread::sleep(ORDER_MAX);
        starts_in -= ORDER_MAX;
    }
    (!end.load(Ordering::Relaxed)).then_some(starts_in)
}

/// Facts of a recording with pauses.
pub fn facts(counts: &Counts) -> Vec<(String, String)> {
    let reasons: Vec<String> =
        counts.not_taken.iter().map(|(why, count)| format!("{why} {count}")).collect();
    let not_taken: u64 = counts.not_taken.values().sum();
    vec![
        ("pauses_without_clock".to_owned(), not_taken.to_string()),
        ("pauses_without_clock_why".to_owned(), reasons.join(", ")),
        ("paused_ns".to_owned(), counts.paused_ns.to_string()),
    ]
}

fn pause(look: &Look, cpu: u32, by: u32) -> Pause {
    let khz = |hz: f64| (hz / 1e3) as u32;
    Pause {
        time_ns: look.times.end_ns,
        cpu,
        by,
        first_ns: look.times.first_ns,
        alone_ns: look.times.again_ns,
        first_khz: khz(look.first_hz),
        last_khz: khz(look.last_hz),
        alone_khz: khz(look.again_hz.unwrap_or_default()),
        paused_ns: look.paused_ns,
    }
}
