//! What a kernel says when something is wrong with it.

/// Words that a sound kernel does not use; `kernel/panic.c`, `kernel/watchdog.c`,
/// `kernel/rcu/tree_stall.h`, `kernel/locking/lockdep.c`, `kernel/sched/ext.c`, `mm/`.
const WORDS: [&str; 13] = [
    "WARNING:",
    "BUG:",
    "Oops",
    "Kernel panic",
    "general protection fault",
    "soft lockup",
    "hard LOCKUP",
    "blocked for more than",
    "rcu_preempt detected stalls",
    "rcu: INFO:",
    "possible circular locking",
    "Out of memory:",
    "sched_ext: BPF scheduler",
];

/// The lines of a kernel's log that say that something is wrong.
#[must_use]
pub fn complaints(log: &str) -> Vec<&str> {
    log.lines().filter(|line| WORDS.iter().any(|word| line.contains(word))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_found_and_nothing_else() {
        let log = "[ 0.1] Linux version 6.1\n[ 1.0] WARNING: CPU: 0 PID: 1 at kernel/x.c:1\n\
                   [ 2.0] reboot: Power down\n[ 3.0] rcu: INFO: rcu_sched self-detected stall\n";
        assert_eq!(complaints(log).len(), 2);
        assert!(complaints(log)[0].contains("kernel/x.c"));
    }
}
