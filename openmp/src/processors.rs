//! Which CPUs may this process use?

use std::mem;
use std::sync::OnceLock;

/// Of a mask with as many bits as any kernel has; the call refuses fewer than its own.
const WORDS: usize = 1024;

/// The CPUs that the calling thread may run on, ascending; never none.
pub(crate) fn allowed() -> Vec<u32> {
    let mut mask = [0_u64; WORDS];
    // SAFETY: The mask is ours and as long as said.
    let bytes = unsafe {
        libc::syscall(libc::SYS_sched_getaffinity, 0, mem::size_of_val(&mask), mask.as_mut_ptr())
    };
    let words = usize::try_from(bytes).unwrap_or(0) / mem::size_of::<u64>();
    let is_in = |cpu: &u32| mask[*cpu as usize / 64] >> (cpu % 64) & 1 == 1;
    let cpus: Vec<u32> = (0..(words * 64) as u32).filter(is_in).collect();
    if cpus.is_empty() { vec![0] } else { cpus }
}

/// Those that it could use at the start, before any thread was bound.
pub(crate) fn available() -> &'static [u32] {
    static AVAILABLE: OnceLock<Vec<u32>> = OnceLock::new();
    AVAILABLE.get_or_init(allowed)
}

/// Lets the calling thread run on these CPUs alone. If the kernel will not, it runs where it did.
pub(crate) fn allow(cpus: &[u32]) {
    let mut mask = [0_u64; WORDS];
    for &cpu in cpus {
        if let Some(word) = mask.get_mut(cpu as usize / 64) {
            *word |= 1 << (cpu % 64);
        }
    }
    // SAFETY: The mask is ours and as long as said.
    unsafe {
        libc::syscall(libc::SYS_sched_setaffinity, 0, mem::size_of_val(&mask), mask.as_ptr())
    };
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
