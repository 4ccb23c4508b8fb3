//! Without memory for tasks or threads, the process ends or returns an error, with a message.
#![cfg(all(target_os = "linux", not(evenkeel_model)))]

use std::env;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::sync::{Barrier, Mutex};

use evenkeel_runtime::internal::lock_std;
use evenkeel_runtime::{Data, Runtime};

const VARIABLE: &str = "EVENKEEL_TEST_NO_MEMORY";

fn again(test: &str) -> Output {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(VARIABLE, "1").output().unwrap()
}

fn is_alone() -> bool {
    env::var_os(VARIABLE).is_some()
}

/// Pages of addresses that the process has.
fn pages() -> u64 {
    let sizes = fs::read_to_string("/proc/self/statm").unwrap();
    sizes.split(' ').next().unwrap().parse().unwrap()
}

/// Limits the process to `bytes` more bytes from here on.
fn leave(bytes: u64) {
    let pages = pages();
    // SAFETY: the calls read and set; the limit outlives them.
    unsafe {
        let page = u64::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap();
        let most = pages * page + bytes;
        let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limit), 0);
    }
}

/// Whether a sanitizer has taken most addresses: the limit would leave the sanitizer none.
fn is_sanitized() -> bool {
    let is_so = pages() > 1 << 28;
    if is_so {
        eprintln!("not tried: a sanitizer has taken the addresses");
    }
    is_so
}

#[test]
fn tasks_that_find_no_memory_end_the_process_with_a_word() {
    if is_alone() {
        let runtime = Runtime::builder().workers(2).config("tree-nocutoff".parse().unwrap());
        let (runtime, chain) = (runtime.build().unwrap(), Data::new(0_usize));
        let held = Mutex::new(None);
        // A thread that has not begun yet would find no memory for its signals.
        let both = Barrier::new(2);
        runtime.scope(|s| (0..2).for_each(|_| s.spawn(|_| _ = both.wait())));
        leave(64 << 20);
        runtime.scope(|s| {
            // None of these tasks runs before all are created.
            s.task().inout(&chain).spawn_with(|s, _| *lock_std(&held) = Some(s.event()));
            for _ in 0..100_000 {
                let large = [0_u8; 4096];
                s.task().inout(&chain).spawn(move |sum| *sum += usize::from(large[7]));
            }
            // The memory sufficed for all of them.
            drop(lock_std(&held).take());
        });
        return;
    }
    if is_sanitized() {
        return;
    }
    let Output { status, stderr, .. } =
        again("tasks_that_find_no_memory_end_the_process_with_a_word");
    let said = String::from_utf8_lossy(&stderr);
    assert_eq!(status.signal(), Some(libc::SIGABRT), "{said}");
    assert_eq!(said.matches("memory allocation of").count(), 1, "{said}");
}

#[test]
fn threads_that_find_no_memory_are_an_error() {
    if is_alone() {
        leave(64 << 20);
        let error = Runtime::builder().workers(500).build().err().unwrap();
        println!("no thread: {error}");
        // The failed attempt has given back its memory.
        let runtime = Runtime::builder().workers(2).build().unwrap();
        runtime.scope(|s| s.spawn(|_| println!("a task")));
        return;
    }
    if is_sanitized() {
        return;
    }
    let Output { status, stdout, stderr } = again("threads_that_find_no_memory_are_an_error");
    let said = String::from_utf8_lossy(&stdout);
    assert!(status.success(), "{said}{}", String::from_utf8_lossy(&stderr));
    let told = said.lines().find(|line| line.starts_with("no thread: starting thread "));
    let told = told.unwrap_or_else(|| panic!("{said}"));
    assert!(told.contains(" of 499: ") && told.contains("`ulimit -u`, `pids.max`"), "{said}");
    assert!(said.contains("a task"), "{said}");
}
