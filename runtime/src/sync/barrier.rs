//! A fence whose cost is paid by the side that seldom runs.
//!
//! `light` on one side and `heavy` on the other order like two sequentially consistent fences.
//! Linux makes every CPU of the process pass a barrier when `heavy` asks for it (membarrier(2)),
//! and so `light` costs nothing. Where the kernel refuses, both are fences.

use super::{Ordering, fence};

#[cfg(not(any(loom, evenkeel_model)))]
mod kernel {
    use std::sync::OnceLock;
    use std::thread::available_parallelism;

    const REGISTER_PRIVATE_EXPEDITED: i32 = 1 << 4;
    const PRIVATE_EXPEDITED: i32 = 1 << 3;

    fn membarrier(command: i32) -> bool {
        // SAFETY: it reads and writes no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    /// Whether the kernel does it for this process, and so many threads gain by it: more than
    /// there are CPUs sleep often, and each sleep would disturb all of them.
    pub(super) fn offers(threads: usize) -> bool {
        static CPUS: OnceLock<usize> = OnceLock::new();
        static OFFERS: OnceLock<bool> = OnceLock::new();
        let cpus = *CPUS.get_or_init(|| available_parallelism().map_or(usize::MAX, usize::from));
        threads <= cpus && *OFFERS.get_or_init(|| membarrier(REGISTER_PRIVATE_EXPEDITED))
    }

    pub(super) fn everywhere() -> bool {
        membarrier(PRIVATE_EXPEDITED)
    }
}

/// What the kernel of a virtual machine does.
#[cfg(evenkeel_model)]
mod kernel {
    pub(super) fn offers(_threads: usize) -> bool {
        true
    }

    pub(super) fn everywhere() -> bool {
        crate::sync::membarrier()
    }
}

/// Which of the two this process uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Barrier {
    asymmetric: bool,
}

impl Barrier {
    /// Between so many threads. Asks the kernel, once a process.
    #[cfg(not(loom))]
    pub(crate) fn between(threads: usize) -> Self {
        Self { asymmetric: kernel::offers(threads) }
    }

    /// Both sides are fences.
    #[cfg(loom)]
    pub(crate) fn between(_threads: usize) -> Self {
        Self { asymmetric: false }
    }

    /// What was stored before it is seen by whoever is past a later `heavy`.
    pub(crate) fn light(self) {
        if self.asymmetric {
            std::sync::atomic::compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// Sees what others stored before their `light`, unless they see what was stored before this.
    pub(crate) fn heavy(self) {
        #[cfg(not(loom))]
        if self.asymmetric {
            assert!(kernel::everywhere(), "membarrier(2) was offered, and then refused");
        }
        fence(Ordering::SeqCst);
    }
}
