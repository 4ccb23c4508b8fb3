//! Threads, children, signals, pauses and ends of a program that is followed.

use std::arch::x86_64::__cpuid_count;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use silicon::trial::hide::{Answer, Emulation, Faulting, Traced, faulting, hidden};
use silicon::trial::{Command, TrialError};

use crate::program::{
    HIDING, STAND_IN, holds_soon, program, program_32, skipped, some_cpu, start, told,
};

fn asked(leaf: u32, subleaf: u32) -> Answer {
    let found = __cpuid_count(leaf, subleaf);
    Answer { eax: found.eax, ebx: found.ebx, ecx: found.ecx, edx: found.edx }
}

/// The program's output, after a successful end.
fn lines(mut traced: Traced) -> Vec<String> {
    let mut text = String::new();
    traced.stdout().unwrap().read_to_string(&mut text).unwrap();
    let status = traced.wait().unwrap();
    assert!(status.success(), "{status}: {text}");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_program_is_told_of_no_wide_instructions() {
    for (leaf, subleaf) in [(1, 0), (7, 0), (7, 1), (0xd, 0), (0xd, 1), (0x8000_0001, 0)] {
        let arguments = ["ask", &format!("{leaf:x}"), &format!("{subleaf:x}")];
        let [line] = &lines(start(&arguments, HIDING))[..] else { panic!("one line") };
        let (_, _, mut answer) = told(line);
        let mut expected = hidden(leaf, subleaf, asked(leaf, subleaf));
        if leaf == 1 {
            // The upper byte is the number of the CPU that was asked.
            (answer.ebx, expected.ebx) = (answer.ebx & 0xff_ffff, expected.ebx & 0xff_ffff);
        }
        assert_eq!(answer, expected, "{leaf:x} {subleaf:x}");
    }
}

#[test]
fn a_program_that_is_only_followed_is_told_the_truth() {
    let showing = Emulation { hides: false, stand_in: Some(STAND_IN) };
    let found = lines(start(&["ask", "7", "0"], showing));
    assert_eq!(told(&found[0]), (7, 0, asked(7, 0)));
}

#[test]
fn a_program_that_goes_to_a_cpu_is_told_its_number() {
    let cpus = silicon::allowed_cpus().unwrap();
    let names: Vec<String> = cpus.iter().map(u32::to_string).collect();
    let mut arguments = vec!["on"];
    arguments.extend(names.iter().map(String::as_str));
    // Wherever the tracer is: its thread stays where the one stays that starts it.
    let told_to_one_at = |tracer: u32| {
        silicon::pin(tracer).unwrap();
        lines(start(&arguments, HIDING))
    };
    for &tracer in &cpus {
        let found = std::thread::scope(|scope| scope.spawn(|| told_to_one_at(tracer)).join());
        for (line, &cpu) in found.unwrap().iter().zip(&cpus) {
            let there = move || {
                silicon::pin(cpu).unwrap();
                asked(1, 0).ebx
            };
            let expected = std::thread::spawn(there).join().unwrap();
            assert_eq!(told(line).2.ebx, expected, "CPU {cpu}, tracer on {tracer}");
        }
    }
}

#[test]
fn threads_children_and_what_they_become_are_told_the_same() {
    let found = lines(start(&["everywhere"], HIDING));
    // The program itself, four threads, a child, the child's next program, and a spawned process.
    assert_eq!(found.len(), 8, "{found:?}");
    let expected = (7, 0, hidden(7, 0, asked(7, 0)));
    assert!(found.iter().all(|line| told(line) == expected), "{found:?}");
    // The whole process becomes another program while its first thread waits.
    let become_another = lines(start(&["become"], HIDING));
    assert_eq!(told(&become_another[0]), expected);
}

#[test]
fn signals_arrive_and_questions_raise_none() {
    assert_eq!(lines(start(&["signals"], HIDING)).len(), 3);
}

#[test]
fn a_program_that_crashes_dies_of_that() {
    let status = start(&["crash"], HIDING).wait().unwrap();
    assert_eq!(status.signal(), Some(libc::SIGSEGV));
}

#[test]
fn programs_of_32_bits_are_told_the_same() {
    let Some(program) = program_32() else {
        skipped("programs of 32 bits cannot be made or do not run here");
        return;
    };
    let asks = Command { words: vec![program.to_owned()], environment: Vec::new() };
    let mut traced = Traced::start(&asks, some_cpu(), Stdio::piped(), HIDING).unwrap();
    let mut registers = [0; 16];
    traced.stdout().unwrap().read_exact(&mut registers).unwrap();
    let expected = hidden(7, 0, asked(7, 0));
    let words = [expected.eax, expected.ebx, expected.ecx, expected.edx];
    assert_eq!(registers, words.map(u32::to_le_bytes).concat()[..]);
    // The kernel has understood the other way to ask it.
    assert_eq!(traced.faulting(), start(&["ask", "7", "0"], HIDING).faulting());
    assert!(traced.wait().unwrap().success());
}

#[test]
fn programs_run_and_end_as_without() {
    let shell = |script: &str| {
        let words = ["sh", "-c", script].map(str::to_owned).to_vec();
        let environment = vec![("NAME".to_owned(), "value".to_owned())];
        Command { words, environment }
    };
    let script = shell("echo \"$NAME $(cat)\"; for i in 1 2 3; do (true | cat); done; exit 7");
    let mut traced = Traced::start(&script, some_cpu(), Stdio::piped(), HIDING).unwrap();
    let mut text = String::new();
    traced.stdout().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), traced.wait().unwrap().code()), ("value \n", Some(7)));
    for (words, error) in [("/no/such/program", libc::ENOENT), ("/", libc::EACCES)] {
        let missing = Command { words: vec![words.to_owned()], environment: Vec::new() };
        let started = Traced::start(&missing, some_cpu(), Stdio::null(), HIDING);
        let Err(TrialError::Start { source, .. }) = started else { panic!("{words} started") };
        assert_eq!(source.raw_os_error(), Some(error), "{words}");
    }
}

/// Lines that a program has written until now.
fn count(traced: &mut Traced) -> Arc<AtomicU64> {
    let lines = Arc::new(AtomicU64::new(0));
    let mut output = BufReader::new(traced.stdout().unwrap());
    let counted = Arc::clone(&lines);
    std::thread::spawn(move || {
        while output.skip_until(b'\n').is_ok_and(|bytes| bytes > 0) {
            counted.fetch_add(1, Ordering::Relaxed);
        }
    });
    lines
}

/// States of the threads of all processes that run the test's program with this last argument.
fn states(argument: &str) -> Vec<char> {
    let end = format!("\0{argument}\0");
    let mut states = Vec::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        let line = fs::read(process.path().join("cmdline")).unwrap_or_default();
        if !line.starts_with(program().as_bytes()) || !line.ends_with(end.as_bytes()) {
            continue;
        }
        for thread in fs::read_dir(process.path().join("task")).into_iter().flatten().flatten() {
            let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
            states.extend(stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()));
        }
    }
    states
}

#[test]
fn a_stopped_group_does_nothing_until_it_is_continued() {
    let mut traced = start(&["write", "pause"], HIDING);
    let lines = count(&mut traced);
    let read = || lines.load(Ordering::Relaxed);
    for _ in 0..3 {
        let before = read();
        assert!(holds_soon(|| read() > before + 20), "it does not run");
        killpg(traced.pid(), Signal::SIGSTOP).unwrap();
        // A thread that a tracer has stopped is `t`: two of the process, one of its child.
        assert!(holds_soon(|| states("pause") == ['t'; 3]), "{:?}", states("pause"));
        std::thread::sleep(Duration::from_millis(50));
        let stopped = read();
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(read(), stopped, "it runs while it is stopped");
        killpg(traced.pid(), Signal::SIGCONT).unwrap();
    }
    let before = read();
    assert!(holds_soon(|| read() > before), "it does not go on");
}

#[test]
fn pauses_at_any_moment_do_no_harm() {
    // Most of its time goes to becoming other programs.
    let script = "for i in $(seq 200); do \"$0\" ask 7 0; done";
    let words = ["sh", "-c", script, program()].map(str::to_owned).to_vec();
    let many = Command { words, environment: Vec::new() };
    let mut traced = Traced::start(&many, some_cpu(), Stdio::piped(), HIDING).unwrap();
    let lines = count(&mut traced);
    let mut pauses = 0;
    let status = loop {
        if let Some(status) = traced.ended().unwrap() {
            break status;
        }
        for signal in [Signal::SIGSTOP, Signal::SIGCONT] {
            let _ = killpg(traced.pid(), signal);
            std::thread::sleep(Duration::from_micros(300 + pauses % 7 * 100));
        }
        pauses += 1;
    };
    assert!(status.success() && pauses > 20, "{status}, {pauses} pauses");
    assert!(holds_soon(|| lines.load(Ordering::Relaxed) == 200), "{lines:?}");
}

#[test]
fn nothing_is_left_of_a_program_that_is_dropped() {
    let traced = start(&["leave", "drop"], HIDING);
    // Two threads, and a child that has left the group.
    assert!(holds_soon(|| states("drop").len() == 3), "{:?}", states("drop"));
    drop(traced);
    assert!(holds_soon(|| states("drop").is_empty()), "{:?}", states("drop"));
}

/// Where the program is that the tracer to be killed follows.
const FOLLOWED: &str = "EVENKEEL_TEST_FOLLOWED";

#[test]
#[ignore = "goes on until the test below kills it"]
fn follows_until_it_is_killed() {
    let Ok(program) = std::env::var(FOLLOWED) else { return };
    let words = [&program, "leave", "kill"].map(str::to_owned).to_vec();
    let followed = Command { words, environment: Vec::new() };
    let traced = Traced::start(&followed, some_cpu(), Stdio::null(), HIDING).unwrap();
    traced.wait().unwrap();
}

#[test]
fn nothing_is_left_of_a_program_whose_tracer_is_killed() {
    let mut tracer = Process::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "follow::follows_until_it_is_killed"])
        .env(FOLLOWED, program())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    assert!(holds_soon(|| states("kill").len() == 3), "{:?}", states("kill"));
    tracer.kill().unwrap();
    tracer.wait().unwrap();
    assert!(holds_soon(|| states("kill").is_empty()), "{:?}", states("kill"));
}

#[test]
fn cpuid_itself_is_answered_where_it_can_fault_and_refused_where_not() {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap();
    let is_offered = cpuinfo.split_whitespace().any(|word| word == "cpuid_fault");
    // What the kernel answered to a followed program is what it answers to this one.
    assert_eq!(start(&["ask", "7", "0"], HIDING).faulting(), faulting());
    assert_eq!(faulting() == Faulting::Offered, is_offered);
    let for_real = Emulation { hides: true, stand_in: None };
    let script = "\"$0\" cpuid 7 0; \"$0\" cpuid 1 0 | cat";
    let words = ["sh", "-c", script, program()].map(str::to_owned).to_vec();
    let asks = Command { words, environment: Vec::new() };
    let started = Traced::start(&asks, some_cpu(), Stdio::piped(), for_real);
    if is_offered {
        let found = lines(started.unwrap());
        assert_eq!(told(&found[0]).2, hidden(7, 0, asked(7, 0)));
        assert_eq!(told(&found[1]).2.ecx, hidden(1, 0, asked(1, 0)).ecx);
        return;
    }
    let Err(TrialError::Start { source, .. }) = started else { panic!("it is followed") };
    assert_eq!(source.to_string(), "CPUID does not fault on this machine");
    let found = lines(start(&["cpuid", "7", "0"], HIDING));
    assert_eq!(told(&found[0]).2, asked(7, 0));
    skipped("CPUID cannot fault here (no cpuid_fault): only its stand-in was answered");
}
