//! A fence whose cost is paid by the side that seldom runs.
//!
//! `light` on one side and `heavy` on the other order like two sequentially consistent fences.
//! Linux makes every CPU of the process pass a barrier in `heavy` (membarrier(2)), and so `light`
//! costs nothing. Where the kernel refuses, or the process had several threads before its
//! registration, both are fences.

use super::{Ordering, fence};

#[cfg(not(any(loom, evenkeel_model)))]
mod kernel {
    use std::mem::zeroed;
    use std::sync::OnceLock;

    use crate::limits::parallelism;

    const REGISTER_PRIVATE_EXPEDITED: i32 = 1 << 4;
    const PRIVATE_EXPEDITED: i32 = 1 << 3;

    fn membarrier(command: i32) -> bool {
        // SAFETY: the call reads and writes no memory of ours.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
    }

    /// Whether this process may use membarrier(2); the first call registers the process. The kernel
    /// registers a process of one thread in less than a microsecond, and makes one of several
    /// threads wait for an RCU grace period, 10 to 25 ms: such a process uses fences instead.
    pub(super) fn is_registered() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        *REGISTERED.get_or_init(|| has_one_thread() && membarrier(REGISTER_PRIVATE_EXPEDITED))
    }

    fn has_one_thread() -> bool {
        // A folder has a link for itself, one in the folder above, and one for each folder inside:
        // here one a thread.
        // SAFETY: a zeroed status is valid, and the call writes only to `tasks`.
        unsafe {
            let mut tasks: libc::stat = zeroed();
            libc::stat(c"/proc/self/task".as_ptr(), &raw mut tasks) == 0 && tasks.st_nlink == 3
        }
    }

    /// Whether `threads` threads gain by membarrier(2), and may use it. If there are more threads
    /// than CPUs they sleep often, and each sleep would disturb all of them.
    pub(super) fn offers(threads: usize) -> bool {
        // A filter of seccomp(2) may have taken the right from the process since its registration.
        threads <= parallelism() && is_registered() && everywhere()
    }

    pub(super) fn everywhere() -> bool {
        membarrier(PRIVATE_EXPEDITED)
    }
}

/// The kernel of a virtual machine.
#[cfg(evenkeel_model)]
mod kernel {
    pub(super) fn offers(_threads: usize) -> bool {
        true
    }

    pub(super) fn everywhere() -> bool {
        crate::sync::membarrier()
    }
}

/// Registers the process for heavy barriers while the process has one thread; later the kernel
/// would delay the call, and the barriers that are made later are fences instead.
pub fn register_membarrier() {
    #[cfg(not(any(loom, evenkeel_model)))]
    kernel::is_registered();
}

/// Which of the two this process uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsymmetricFence {
    asymmetric: bool,
}

impl AsymmetricFence {
    /// Between `threads` threads.
    #[cfg(not(loom))]
    pub(crate) fn between(threads: usize) -> Self {
        Self { asymmetric: kernel::offers(threads) }
    }

    /// Both sides are fences.
    #[cfg(loom)]
    pub(crate) fn between(_threads: usize) -> Self {
        Self { asymmetric: false }
    }

    /// A thread that is past a later `heavy` sees all stores before this.
    pub(crate) fn light(self) {
        if self.asymmetric {
            std::sync::atomic::compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }

    /// Sees all stores before the `light` of another thread, unless that thread sees the stores
    /// before this.
    pub(crate) fn heavy(self) {
        #[cfg(not(loom))]
        if self.asymmetric {
            assert!(
                kernel::everywhere(),
                "membarrier(2) is refused, which was allowed when the runtime began: allow it in \
                 the filter of seccomp(2), or install the filter before the first parallel region"
            );
        }
        fence(Ordering::SeqCst);
    }
}
