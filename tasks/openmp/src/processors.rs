//! Which CPUs may this process use?

mod early;

use std::mem;
use std::os::unix::thread::JoinHandleExt;
use std::sync::OnceLock;
use std::thread::JoinHandle;

use evenkeel_runtime::CpuList;
use evenkeel_runtime::internal::parallelism;

/// Of a mask with as many bits as any kernel has; the call refuses fewer than its own.
const WORDS: usize = 1024;

/// The CPUs that the calling thread may run on, ascending; never none.
pub(crate) fn allowed() -> Vec<u32> {
    CpuList::allowed().iter().map(|cpu| cpu as u32).collect()
}

/// Undoes a binding of the first thread by another library, which was initialised first.
pub(crate) fn unbind() {
    if let Some(mask) = early::mask() {
        mask.allow();
    }
}

/// The CPUs that the process could use at the start, before any thread was bound.
pub(crate) fn available() -> &'static [u32] {
    static AVAILABLE: OnceLock<Vec<u32>> = OnceLock::new();
    AVAILABLE.get_or_init(allowed)
}

/// The number of CPUs that the process may use in parallel: a control group may allow less CPU time
/// than the available CPUs have. More threads would all be throttled for the rest of each period.
pub(crate) fn at_once() -> u32 {
    static AT_ONCE: OnceLock<u32> = OnceLock::new();
    *AT_ONCE.get_or_init(|| {
        let all = available().len();
        all.min(parallelism()) as u32
    })
}

/// The CPU that the calling thread runs on, counted from 1: a load where the C library uses
/// restartable sequences (glibc 2.35).
pub(crate) fn current() -> u32 {
    // SAFETY: the call has no conditions.
    unsafe { libc::sched_getcpu() }.wrapping_add(1).cast_unsigned()
}

/// CPUs as the kernel takes them.
pub(crate) struct Mask([u64; WORDS]);

impl Mask {
    pub(crate) fn of(cpus: &[u32]) -> Self {
        let mut mask = Self([0; WORDS]);
        for &cpu in cpus {
            mask.put(cpu, true);
        }
        mask
    }

    /// Adds a CPU to the mask or removes it. Returns 0, as libomp does.
    pub(crate) fn put(&mut self, cpu: u32, is_in: bool) -> i32 {
        if let Some(word) = self.0.get_mut(cpu as usize / 64) {
            let bit = 1 << (cpu % 64);
            *word = if is_in { *word | bit } else { *word & !bit };
        }
        0
    }

    pub(crate) fn has(&self, cpu: u32) -> bool {
        self.0.get(cpu as usize / 64).is_some_and(|word| word >> (cpu % 64) & 1 == 1)
    }

    /// Lets the calling thread run on these CPUs alone. Returns 0, or why the kernel will not.
    pub(crate) fn allow(&self) -> i32 {
        let size = mem::size_of_val(&self.0);
        // SAFETY: The mask is ours and as long as said.
        match unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size, self.0.as_ptr()) } {
            0 => 0,
            _ => std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL),
        }
    }
}

/// Binds the calling thread to these CPUs. If the kernel refuses, the thread runs where it did.
pub(crate) fn allow(cpus: &[u32]) {
    Mask::of(cpus).allow();
}

/// Binds a new thread to these CPUs. The thread inherits the binding of its creator, and would have
/// to wait for one of those CPUs before it could bind itself.
pub(crate) fn send(thread: &JoinHandle<()>, cpus: &[u32]) {
    let mask = Mask::of(cpus);
    // SAFETY: the thread was not joined; the mask is ours and as long as said.
    unsafe {
        libc::pthread_setaffinity_np(
            thread.as_pthread_t(),
            mem::size_of_val(&mask.0),
            mask.0.as_ptr().cast(),
        );
    }
}

/// CPUs that the program may use.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_procs() -> i32 {
    available().len() as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_the_thread_counts() {
        let all = allowed();
        std::thread::spawn(move || {
            allow(&all[..1]);
            assert_eq!(allowed(), all[..1]);
        })
        .join()
        .unwrap();
    }
}
