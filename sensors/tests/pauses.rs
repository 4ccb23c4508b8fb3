//! Real pauses of this machine's CPUs. They take a real-time priority, so root or CAP_SYS_NICE;
//! without that right, the refusal is what is tested.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nix::libc;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use sensors::pauses::{PauseError, Pauser, Why, Wish};

/// Set for the process that [`a_killed_process_leaves_no_core_paused`] kills.
const VICTIM: &str = "PAUSES_TEST_CPU";
/// How long anything may take on a busy machine before the test fails: no measurement.
const PATIENCE: Duration = Duration::from_secs(20);
const WISH: Wish = Wish { raise_delay_ns: 700_000, look_again: true, starts_in: Duration::ZERO };

/// The CPUs of this process.
fn cpus() -> Vec<u32> {
    let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
    (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu).unwrap()).map(|cpu| cpu as u32).collect()
}

fn pin(cpu: u32) {
    let mut only = CpuSet::new();
    only.set(cpu as usize).unwrap();
    sched_setaffinity(Pid::from_raw(0), &only).unwrap();
}

/// A pauser, or none where this process may not have one.
fn pauser(cores: &[Vec<u32>]) -> Option<Pauser> {
    match Pauser::start(cores) {
        Ok(pauser) => Some(pauser),
        Err(PauseError::Forbidden) => None,
        Err(error) => panic!("{error}"),
    }
}

/// Samples until one gives a look: others run on this machine.
fn look(pauser: &mut Pauser, cpu: u32, wish: &Wish) -> sensors::pauses::Look {
    let end = Instant::now() + PATIENCE;
    loop {
        match pauser.sample(0, cpu, wish) {
            Ok(look) => return look,
            Err(missed) => assert!(Instant::now() < end, "{missed:?} {:?}", pauser.counts()),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn policy(tid: i32) -> libc::c_int {
    // SAFETY: the call takes a number and touches no memory.
    unsafe { libc::sched_getscheduler(tid) }
}

#[test]
fn a_look_lasts_for_the_raise_delay_and_finds_a_clock() {
    let cpu = *cpus().last().unwrap();
    let Some(mut pauser) = pauser(&[vec![cpu]]) else { return };
    let look = look(&mut pauser, cpu, &WISH);
    assert!(look.paused_ns >= WISH.raise_delay_ns, "{look:?}");
    assert!(look.core_paused_ns >= look.paused_ns, "{look:?}");
    for hz in [look.first_hz, look.last_hz, look.again_hz.unwrap()] {
        assert!((4e8..1e10).contains(&hz), "{look:?}");
    }
    assert_eq!(pauser.counts().taken, 1);
    let first_alone = Wish { look_again: false, ..WISH };
    assert_eq!(self::look(&mut pauser, cpu, &first_alone).again_hz, None);
}

#[test]
fn all_cpus_of_a_core_are_paused_together() {
    let cpus = cpus();
    let [one, other, ..] = cpus[..] else { return };
    let Some(mut pauser) = pauser(&[vec![one, other]]) else { return };
    // A sibling that does not come would make every sample `SiblingLate`.
    let look = look(&mut pauser, other, &WISH);
    assert!(look.core_paused_ns > WISH.raise_delay_ns, "{look:?}");
}

#[test]
fn spinners_are_real_time_threads_until_the_pauser_goes() {
    let cpu = cpus()[0];
    let Some(pauser) = pauser(&[vec![cpu]]) else { return };
    let spinners: Vec<(u32, i32)> = pauser.spinners().collect();
    let [(its, tid)] = spinners[..] else { panic!("{spinners:?}") };
    assert_eq!((its, policy(tid)), (cpu, libc::SCHED_FIFO));
    drop(pauser);
    // A joined thread is known to the kernel for a moment longer.
    let end = Instant::now() + PATIENCE;
    while policy(tid) != -1 {
        assert!(Instant::now() < end, "the thread is still there");
        std::thread::yield_now();
    }
}

#[test]
fn a_pause_begins_when_it_was_asked_to() {
    let cpu = *cpus().last().unwrap();
    let Some(mut pauser) = pauser(&[vec![cpu]]) else { return };
    let starts_in = Duration::from_millis(40);
    let begin = Instant::now();
    let look = look(&mut pauser, cpu, &Wish { starts_in, ..WISH });
    let passed = begin.elapsed();
    assert!(passed >= starts_in + Duration::from_nanos(look.paused_ns), "{passed:?} {look:?}");
}

#[test]
fn a_spinner_that_lost_its_cpu_says_so_and_does_not_spin_elsewhere() {
    let cpus = cpus();
    let [one, other, ..] = cpus[..] else { return };
    let Some(mut pauser) = pauser(&[vec![one]]) else { return };
    let (_, tid) = pauser.spinners().next().unwrap();
    let mut elsewhere = CpuSet::new();
    elsewhere.set(other as usize).unwrap();
    sched_setaffinity(Pid::from_raw(tid), &elsewhere).unwrap();
    let missed = pauser.sample(0, one, &WISH).unwrap_err();
    assert_eq!((missed.why, missed.paused_ns), (Why::CpuLost, 0));
}

#[test]
fn a_core_is_not_paused_again_at_once_nor_for_longer_than_the_limit() {
    let cpu = cpus()[0];
    let Some(mut pauser) = pauser(&[vec![cpu]]) else { return };
    let wish = |raise_delay_ns| Wish { raise_delay_ns, ..WISH };
    let why = |pauser: &mut Pauser, cpu, wish| pauser.sample(0, cpu, &wish).unwrap_err().why;
    assert_eq!(why(&mut pauser, cpu, wish(2_000_000)), Why::TooLong);
    assert_eq!(why(&mut pauser, 9999, WISH), Why::NoSuchCpu);
    assert_eq!(pauser.sample(1, cpu, &WISH).unwrap_err().why, Why::NoSuchCpu);
    // On a busy machine this thread may be away for as long as the core rests.
    let is_refused = (0..100).any(|_| {
        look(&mut pauser, cpu, &wish(1_000_000));
        pauser.sample(0, cpu, &WISH).is_err_and(|missed| missed.why == Why::TooSoon)
    });
    assert!(is_refused, "{:?}", pauser.counts());
    assert!(pauser.counts().not_taken["TooSoon"] > 0, "{:?}", pauser.counts());
}

#[test]
fn cores_that_are_none_are_refused_with_what_was_expected() {
    let text = |cores: &[Vec<u32>]| Pauser::start(cores).unwrap_err().to_string();
    for cores in [vec![], vec![vec![]], vec![vec![0], vec![0]]] {
        assert!(text(&cores).starts_with("each core needs a CPU"), "{}", text(&cores));
    }
    for cpu in [1023, 1 << 20] {
        assert!(text(&[vec![cpu]]).contains("expected a CPU online"), "{}", text(&[vec![cpu]]));
    }
}

#[test]
fn without_the_right_to_a_priority_one_sentence_says_how_to_get_it() {
    let cpu = cpus()[0];
    let refused = std::thread::spawn(move || {
        let nobody = 65_534;
        // SAFETY: the calls take numbers. As system calls, not as functions of the C library, they
        // change this thread alone, as the test needs.
        unsafe {
            let limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
            libc::setrlimit(libc::RLIMIT_RTPRIO, &raw const limit);
            libc::syscall(libc::SYS_setresuid, nobody, nobody, nobody);
        }
        Pauser::start(&[vec![cpu]]).unwrap_err()
    });
    let refused = refused.join().unwrap();
    assert_eq!(refused, PauseError::Forbidden);
    assert!(refused.to_string().contains("CAP_SYS_NICE"), "{refused}");
}

#[test]
#[ignore = "it is the process that another test kills"]
fn pauses_until_it_is_killed() {
    let cpu = std::env::var(VICTIM).unwrap().parse().unwrap();
    let mut pauser = Pauser::start(&[vec![cpu]]).unwrap();
    for (_, tid) in pauser.spinners() {
        println!("spinner {tid}");
    }
    loop {
        let wish = Wish { raise_delay_ns: 1_700_000, look_again: false, ..WISH };
        let _ = pauser.sample(0, cpu, &wish);
    }
}

/// The process and the thread that pauses.
fn victim(cpu: u32) -> (Child, i32) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "pauses_until_it_is_killed", "--nocapture"])
        .env(VICTIM, cpu.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let tid = lines
        .map_while(Result::ok)
        .find_map(|line| line.split_once("spinner ").and_then(|(_, tid)| tid.trim().parse().ok()));
    (child, tid.expect("the process names its thread"))
}

/// Waits until a thread runs.
fn await_running(process: u32, tid: i32) {
    let path = format!("/proc/{process}/task/{tid}/stat");
    let end = Instant::now() + PATIENCE;
    loop {
        let stat = std::fs::read_to_string(&path).unwrap();
        // proc(5): the state follows the name in parentheses.
        if stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R')) {
            return;
        }
        assert!(Instant::now() < end, "no pause began");
    }
}

#[test]
fn a_killed_process_leaves_no_core_paused() {
    let cpus = cpus();
    let [own, paused, ..] = cpus[..] else { return };
    if pauser(&[vec![paused]]).is_none() {
        return;
    }
    pin(own);
    // An ordinary task of the paused CPU that says when it ran.
    let (sender, ran) = mpsc::channel();
    std::thread::spawn(move || {
        pin(paused);
        while sender.send(Instant::now()).is_ok() {
            std::thread::sleep(Duration::from_micros(20));
        }
    });
    for _ in 0..5 {
        let (mut child, tid) = victim(paused);
        await_running(child.id(), tid);
        child.kill().unwrap();
        let killed = Instant::now();
        child.wait().unwrap();
        assert_eq!(policy(tid), -1, "a real-time thread outlived its process");
        let end = Instant::now() + PATIENCE;
        let again = std::iter::from_fn(|| ran.recv_timeout(PATIENCE).ok())
            .take_while(|_| Instant::now() < end)
            .find(|&at| at > killed);
        let again = again.expect("the ordinary task never ran again");
        println!("ran again after {} us", (again - killed).as_micros());
    }
}
