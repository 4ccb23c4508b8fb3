//! Keeping a thread on one CPU.

use thiserror::Error;

/// Why a thread cannot be pinned.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PinError {
    /// The kernel says no.
    #[error("CPU {cpu} cannot be used: {reason}")]
    Refused {
        /// The CPU asked for.
        cpu: u32,
        /// The kernel's error.
        reason: String,
    },
    /// The process may not use this CPU.
    #[error("CPU {cpu} cannot be used, expected one of {}", listed(cpus))]
    NotOurs {
        /// The CPU asked for.
        cpu: u32,
        /// The CPUs that the process may use.
        cpus: Vec<u32>,
    },
    /// The kernel does not list the CPUs.
    #[error("the kernel does not say which CPUs this process may use: {0}")]
    Unknown(String),
    /// The process may use no CPU.
    #[error("this process may use no CPU")]
    None,
}

/// CPUs as the kernel lists them, such as `0-3,8`.
fn listed(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let range = |&(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

/// Most CPUs that are asked for.
const CPUS_MAX: usize = 8192;
const WORD_BITS: usize = 64;

/// A bit a CPU.
type Mask = [u64; CPUS_MAX / WORD_BITS];

/// The CPUs that this process may use, ascending.
///
/// # Errors
/// The kernel's error.
pub fn allowed_cpus() -> Result<Vec<u32>, PinError> {
    Ok(cpus(&allowed(THIS_THREAD)?).collect())
}

/// The first CPU that a thread of any process may use; `None` after the thread's end.
pub(crate) fn first_cpu_of(thread: libc::pid_t) -> Option<u32> {
    cpus(&allowed(thread).ok()?).next()
}

fn cpus(mask: &Mask) -> impl Iterator<Item = u32> {
    let is_set = |cpu: &usize| mask[cpu / WORD_BITS] & (1 << (cpu % WORD_BITS)) != 0;
    (0..CPUS_MAX).filter(is_set).map(|cpu| cpu as u32)
}

/// Keeps this thread on a CPU from now on.
///
/// # Errors
/// The kernel's error.
pub fn pin(cpu: u32) -> Result<(), PinError> {
    let refused = |reason: String| PinError::Refused { cpu, reason };
    let mut mask: Mask = [0; CPUS_MAX / WORD_BITS];
    let bit = cpu as usize;
    let word = mask.get_mut(bit / WORD_BITS).ok_or_else(|| refused("no such CPU".to_owned()))?;
    *word = 1 << (bit % WORD_BITS);
    allow(&mask).map_err(|error| refused(error.to_string()))
}

/// Runs a function on one CPU; processes and threads that `act` starts inherit that CPU.
pub(crate) fn on_cpu<T>(cpu: u32, act: impl FnOnce() -> T) -> Result<T, PinError> {
    let before = allowed(THIS_THREAD)?;
    pin(cpu)?;
    let value = act();
    allow(&before).map_err(|error| PinError::Refused { cpu, reason: error.to_string() })?;
    Ok(value)
}

/// The number of the calling thread, sched_setaffinity(2).
const THIS_THREAD: libc::pid_t = 0;

fn allowed(thread: libc::pid_t) -> Result<Mask, PinError> {
    let mut mask: Mask = [0; CPUS_MAX / WORD_BITS];
    // SAFETY: the kernel writes at most the size given to the address given.
    let result = unsafe {
        let mask_bits = mask.as_mut_ptr().cast::<libc::cpu_set_t>();
        libc::sched_getaffinity(thread, size_of_val(&mask), mask_bits)
    };
    if result < 0 {
        return Err(PinError::Unknown(std::io::Error::last_os_error().to_string()));
    }
    Ok(mask)
}

fn allow(mask: &Mask) -> std::io::Result<()> {
    // SAFETY: the kernel reads the size given from the address given.
    let result = unsafe {
        libc::sched_setaffinity(
            THIS_THREAD,
            size_of_val(mask),
            mask.as_ptr().cast::<libc::cpu_set_t>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_in_ranges() {
        assert_eq!((listed(&[0, 1, 2, 5, 7, 8]), listed(&[3])), ("0-2,5,7-8".into(), "3".into()));
    }

    #[test]
    fn a_thread_stays_where_it_is_pinned_and_no_cpu_that_is_not_there_is_taken() {
        std::thread::spawn(|| {
            let last = *allowed_cpus().unwrap().last().unwrap();
            pin(last).unwrap();
            assert_eq!(allowed_cpus(), Ok(vec![last]));
            assert_eq!(first_cpu_of(nix::unistd::gettid().as_raw()), Some(last));
            assert!(matches!(pin(8191), Err(PinError::Refused { cpu: 8191, .. })));
            assert!(matches!(pin(1 << 20), Err(PinError::Refused { .. })));
        })
        .join()
        .unwrap();
    }
}
