//! A child process has none of its parent's threads.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU32, Ordering};

use evenkeel_runtime::{Runtime, scope};

fn sum() -> u32 {
    let sum = AtomicU32::new(0);
    scope(|s| {
        for number in 0..1000 {
            let sum = &sum;
            s.spawn(move |_| _ = sum.fetch_add(number, Ordering::Relaxed));
        }
    });
    sum.into_inner()
}

/// Runs a function in a child process, and returns its exit status.
fn in_child(run: impl FnOnce() -> i32) -> i32 {
    let mut status = 0;
    // SAFETY: the child uses nothing that another thread may have locked, but the allocator, which
    // glibc sees to.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(run());
        }
        libc::waitpid(child, &raw mut status, 0);
    }
    libc::WEXITSTATUS(status)
}

#[test]
fn a_child_process_gets_a_global_runtime_of_its_own() {
    let other = Runtime::builder().workers(2).build().unwrap();
    assert_eq!(sum(), 499_500);
    assert_eq!(in_child(|| i32::from(sum() != 499_500)), 0);
    let says_so = || {
        let used = std::panic::catch_unwind(AssertUnwindSafe(|| other.scope(|_| ())));
        i32::from(!used.is_err_and(|said| {
            said.downcast_ref::<&str>().is_some_and(|said| said.contains("child process"))
        }))
    };
    assert_eq!(in_child(says_so), 0);
    assert_eq!(sum(), 499_500);
}
