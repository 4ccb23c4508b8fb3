//! Kernel messages that report a fault of the kernel.

/// Words that a sound kernel does not use: `kernel/panic.c`, `kernel/watchdog.c`,
/// `kernel/hung_task.c`, `kernel/rcu/tree_stall.h`, `kernel/locking/lockdep.c`,
/// `kernel/sched/ext.c`, `kernel/workqueue.c`, `lib/`, `mm/`, `arch/x86/`; Linux 6.18 to 7.3.
/// All messages of sched_ext are among them: a caller that expects one must say so.
const WORDS: [&str; 19] = [
    "WARNING:",
    "BUG:",
    "Oops",
    "Kernel panic",
    "Call Trace:",
    "general protection fault",
    "double fault",
    "invalid opcode",
    "soft lockup",
    "hard LOCKUP",
    "blocked for more than",
    "detected stall",
    "self-detected stall",
    "kthread starved for",
    "rcu: INFO:",
    "UBSAN:",
    "refcount_t:",
    "Out of memory:",
    "sched_ext:",
];

/// The lines of a kernel's log that say that something is wrong.
#[must_use]
pub fn complaints(log: &str) -> Vec<&str> {
    log.lines().filter(|line| WORDS.iter().any(|word| line.contains(word))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As kernels of 6.18 to 7.3 print them; the words that differ from time to time are made up.
    const WRONG: [&str; 20] = [
        "WARNING: CPU: 0 PID: 1 at kernel/sched/ext.c:1234 scx_tick+0x10/0x20",
        "WARNING: kernel/sched/core.c:4321 at sched_tick+0x1/0x2, CPU#1: swapper/1/0",
        "WARNING: possible circular locking dependency detected",
        "WARNING: possible recursive locking detected",
        "WARNING: inconsistent lock state",
        "WARNING: suspicious RCU usage",
        "BUG: unable to handle page fault for address: ffffffffffffff00",
        "BUG: scheduling while atomic: swapper/0/1/0x00000002",
        "BUG: workqueue lockup - pool cpus=1 node=0 flags=0x0 nice=0 stuck for 31s!",
        "watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [sh:123]",
        "watchdog: CPU1: Watchdog detected hard LOCKUP on cpu 1",
        "INFO: task kworker/0:1:12 blocked for more than 120 seconds.",
        "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
        "rcu: INFO: rcu_preempt self-detected stall on CPU",
        "rcu: rcu_preempt kthread starved for 5256 jiffies! g1 f0x0 RCU_GP_WAIT_FQS(5)",
        "Oops: int3: 0000 [#1] SMP NOPTI",
        "sched_ext: BPF scheduler \"evenkeel\" disabled (runnable task stall)",
        "sched_ext: evenkeel: sleep[123] failed to run for 5.123s",
        "sched_ext: evenkeel: watchdog failed to check in for 5.000s",
        "refcount_t: underflow; use-after-free.",
    ];
    const RIGHT: [&str; 6] = [
        "Linux version 6.18.15+deb13-cloud-amd64 (debian-kernel@lists.debian.org)",
        "rcu: Hierarchical RCU implementation.",
        "sched: RT throttling activated",
        "hrtimer: interrupt took 1234567 ns",
        "smpboot: CPU 1 is now offline",
        "clocksource: Switched to clocksource tsc",
    ];

    #[test]
    fn what_is_wrong_is_found() {
        for line in WRONG {
            let log = format!("[ 0.1] {}\n[ 1.0] {line}\n[ 2.0] {}\n", RIGHT[0], RIGHT[1]);
            assert_eq!(complaints(&log), [format!("[ 1.0] {line}")], "{line}");
        }
    }

    #[test]
    fn what_sound_kernels_say_is_no_complaint() {
        assert_eq!(complaints(&RIGHT.join("\n")), Vec::<&str>::new());
    }
}
