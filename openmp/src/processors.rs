//! Which CPUs may this process use?

use std::mem;
use std::sync::OnceLock;

/// The CPUs that the calling thread may run on, ascending; never none.
pub(crate) fn allowed() -> Vec<u32> {
    // As many bits as any kernel has; the call refuses fewer than its own.
    const WORDS: usize = 1024;
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
            let mut one = [0_u64; 1024];
            one[all[0] as usize / 64] = 1 << (all[0] % 64);
            // SAFETY: The mask is ours; only this thread, which ends here, is bound.
            let set = unsafe {
                let size = mem::size_of_val(&one);
                libc::syscall(libc::SYS_sched_setaffinity, 0, size, one.as_ptr())
            };
            assert_eq!((set, allowed()), (0, vec![all[0]]));
        })
        .join()
        .unwrap();
    }
}
