//! The structures of `bpf/interface.h`.

/// How to schedule: `struct ek_config` but for what the topology says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Slice of a task of nice 0 for which nobody waits, in ns.
    pub slice_ns: u64,
    /// A waking task is placed this far behind the least virtual time at most, in ns.
    pub sleeper_credit_ns: u64,
    /// A running task this far ahead of a waking one gives way, in ns.
    pub wakeup_granularity_ns: u64,
    /// The kernel ejects a scheduler that lets a task wait for so long, in ms.
    pub watchdog_ms: u32,
}

impl Default for Config {
    /// Slice, credit and granularity of the simulator's `fair`; the kernel's own watchdog.
    fn default() -> Self {
        Self {
            slice_ns: 6 << 20,
            sleeper_credit_ns: 12_000_000,
            wakeup_granularity_ns: 4_000_000,
            watchdog_ms: 30_000,
        }
    }
}

impl Config {
    /// Bytes of `struct ek_config`.
    #[must_use]
    pub fn bytes(&self, cpus: u32, caches: u32) -> Vec<u8> {
        let watchdog_ns = u64::from(self.watchdog_ms) * 1_000_000;
        let times =
            [self.slice_ns, self.sleeper_credit_ns, self.wakeup_granularity_ns, watchdog_ns];
        let times = times.iter().flat_map(|time| time.to_ne_bytes());
        times.chain([cpus, caches].iter().flat_map(|count| count.to_ne_bytes())).collect()
    }
}

/// Bytes of `struct ek_cpu` of a CPU that runs nothing.
#[must_use]
pub fn cpu(next: u32, cache: u32) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&next.to_ne_bytes());
    bytes[4..8].copy_from_slice(&cache.to_ne_bytes());
    bytes
}

/// Bytes of `struct ek_cache` before anything ran.
#[must_use]
pub fn cache(cpus: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[8..12].copy_from_slice(&cpus.to_ne_bytes());
    bytes
}

/// What happened how often; `enum ek_counter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// A waking task found an idle CPU.
    WokeIdle,
    /// A task went into the queue of a cache.
    Queued,
    /// A task went into the queue of the one CPU that it may use.
    Pinned,
    /// A thread of the kernel went to the front.
    KernelThread,
    /// A waking task interrupted one that was ahead.
    Preempted,
    /// A task went on after its slice, since nobody had less virtual time.
    Kept,
    /// A CPU took the task with the least virtual time.
    Took,
    /// A CPU with nothing to do took a task of another cache.
    TookOtherCache,
    /// The least could not be taken: another CPU was quicker, or it may not run there.
    PassedOver,
    /// A task had waited too long and went first.
    Aged,
    /// A task gave its CPU up.
    Yielded,
    /// A task without memory of ours was scheduled in order of arrival.
    NoMemory,
}

impl Counter {
    /// All, in the order of their numbers.
    pub const ALL: [Self; 12] = [
        Self::WokeIdle,
        Self::Queued,
        Self::Pinned,
        Self::KernelThread,
        Self::Preempted,
        Self::Kept,
        Self::Took,
        Self::TookOtherCache,
        Self::PassedOver,
        Self::Aged,
        Self::Yielded,
        Self::NoMemory,
    ];

    /// Its name in statistics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WokeIdle => "woke_idle",
            Self::Queued => "queued",
            Self::Pinned => "pinned",
            Self::KernelThread => "kernel_thread",
            Self::Preempted => "preempted",
            Self::Kept => "kept",
            Self::Took => "took",
            Self::TookOtherCache => "took_other_cache",
            Self::PassedOver => "passed_over",
            Self::Aged => "aged",
            Self::Yielded => "yielded",
            Self::NoMemory => "no_memory",
        }
    }
}

/// Why the kernel no longer runs the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// `enum scx_exit_kind` (kernel/sched/ext_internal.h, Linux 7.0).
    pub kind: i32,
    /// What the scheduler or the kernel gave as a code.
    pub code: i64,
    /// The kernel's reason.
    pub reason: String,
    /// More about it.
    pub message: String,
}

/// Kinds from here on are errors of the scheduler (`SCX_EXIT_ERROR`).
const FIRST_ERROR: i32 = 1024;

impl End {
    /// From the bytes of `struct ek_end`; nothing while the scheduler runs.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let kind = i32::from_ne_bytes(*bytes.first_chunk()?);
        let code = i64::from_ne_bytes(*bytes.get(8..)?.first_chunk()?);
        let text = |bytes: &[u8]| {
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        let (reason, message) = (text(bytes.get(16..144)?), text(bytes.get(144..1168)?));
        (kind != 0).then_some(Self { kind, code, reason, message })
    }

    /// Whether the kernel took the scheduler away because of a mistake of it.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.kind >= FIRST_ERROR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_bytes_that_the_program_expects() {
        assert_eq!(Config::default().bytes(2, 1).len(), 40);
        assert_eq!(cpu(7, 3)[..8], [7, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(cache(4)[8], 4);
        assert_eq!(Counter::ALL.last().map(|&last| last as usize), Some(Counter::ALL.len() - 1));
    }

    #[test]
    fn an_end_has_a_kind_and_texts_that_end_with_zero() {
        let mut bytes = [0; 1168];
        assert_eq!(End::parse(&bytes), None);
        bytes[..4].copy_from_slice(&1026i32.to_ne_bytes());
        bytes[16..21].copy_from_slice(b"stall");
        bytes[144..146].copy_from_slice(b"x\n");
        let end = End::parse(&bytes).unwrap();
        assert_eq!((end.reason.as_str(), end.message.as_str()), ("stall", "x\n"));
        assert!(end.is_error());
        assert_eq!(End::parse(&bytes[..100]), None);
    }
}
