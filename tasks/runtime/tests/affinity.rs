//! A runtime keeps to the CPUs that its maker may use.

use std::sync::Mutex;
use std::{mem, thread};

use evenkeel_runtime::internal::lock_std;
use evenkeel_runtime::{Runtime, Topology};

/// The CPUs of the calling thread's mask.
fn allowed() -> Vec<usize> {
    // SAFETY: a mask of zeroes is valid, and the kernel writes no more than its length.
    unsafe {
        let mut mask: libc::cpu_set_t = mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&mask), &raw mut mask), 0);
        (0..8 * size_of_val(&mask)).filter(|&cpu| libc::CPU_ISSET(cpu, &mask)).collect()
    }
}

fn keep_to(cpu: usize) {
    // SAFETY: a mask of zeroes is valid, and the kernel only reads the mask.
    unsafe {
        let mut mask: libc::cpu_set_t = mem::zeroed();
        libc::CPU_SET(cpu, &mut mask);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&mask), &raw const mask), 0);
    }
}

#[test]
fn a_thread_that_may_use_one_cpu_gets_a_runtime_of_one_worker_there() {
    let last = *allowed().last().unwrap();
    let of_thread = move || {
        keep_to(last);
        assert_eq!(Topology::of_machine().cpus(), 1);
        assert_eq!(Runtime::new().unwrap().workers(), 1);
        // More workers than that share the CPU.
        let runtime = Runtime::builder().workers(3).build().unwrap();
        let masks = Mutex::new(Vec::new());
        runtime.scope(|s| {
            for _ in 0..30 {
                s.task().spawn_with(|_| lock_std(&masks).push(allowed()));
            }
        });
        assert_eq!(masks.into_inner().unwrap(), vec![vec![last]; 30]);
    };
    thread::spawn(of_thread).join().unwrap();
}
