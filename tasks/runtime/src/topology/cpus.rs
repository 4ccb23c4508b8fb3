//! A set of CPUs, in the text form of the kernel: `0-3,8`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// No machine has a CPU of a higher number.
const CPUS_MAX: usize = 65_536;
/// Bits of a word of a mask.
const BITS: usize = u64::BITS as usize;

/// CPUs by the kernel's numbers.
///
/// ```
/// use evenkeel_runtime::CpuList;
///
/// let list: CpuList = "0-2,8".parse().unwrap();
/// assert!(list.contains(8) && !list.contains(3));
/// assert_eq!(list.iter().collect::<Vec<_>>(), [0, 1, 2, 8]);
/// assert_eq!(list.to_string(), "0-2,8");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CpuList(BTreeSet<usize>);

/// The mistake in a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no list of CPUs such as `0-3,8`")]
pub struct CpuListError {
    text: String,
}

impl CpuList {
    /// The CPUs that the calling thread may run on: its affinity mask, which its cpuset has
    /// narrowed. CPU 0 where the kernel does not tell.
    #[must_use]
    pub fn allowed() -> Self {
        // Large machines need a larger mask than `cpu_set_t`; the kernel refuses one too small.
        let mut mask = [0_u64; CPUS_MAX / BITS];
        let size = size_of_val(&mask);
        // SAFETY: the kernel writes at most `size` bytes, the length of the mask.
        let written =
            unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, size, mask.as_mut_ptr()) };
        let words = usize::try_from(written).unwrap_or(0) / size_of::<u64>();
        let is_set = |cpu: &usize| mask[cpu / BITS] >> (cpu % BITS) & 1 == 1;
        let allowed: Self = (0..words * BITS).filter(is_set).collect();
        if allowed.is_empty() { Self::from_iter([0]) } else { allowed }
    }

    /// Whether the set has a CPU.
    #[must_use]
    pub fn contains(&self, cpu: usize) -> bool {
        self.0.contains(&cpu)
    }

    /// Whether the set has no CPU.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lowest.
    #[must_use]
    pub fn first(&self) -> Option<usize> {
        self.0.first().copied()
    }

    /// All CPUs, ascending.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.0.iter().copied()
    }
}

impl FromIterator<usize> for CpuList {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        Self(cpus.into_iter().collect())
    }
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<usize> = self.iter().collect();
        for (place, run) in all.chunk_by(|a, b| a + 1 == *b).enumerate() {
            f.write_str(if place > 0 { "," } else { "" })?;
            match run {
                [first, .., last] => write!(f, "{first}-{last}")?,
                _ => write!(f, "{}", run[0])?,
            }
        }
        Ok(())
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::default());
        }
        let number = |text: &str| text.trim().parse().ok().filter(|&cpu| cpu < CPUS_MAX);
        let range = |part: &str| -> Option<std::ops::RangeInclusive<usize>> {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some(first..=last)
        };
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        let ranges = ranges.ok_or_else(|| CpuListError { text: text.to_owned() })?;
        Ok(ranges.into_iter().flatten().collect())
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_numbers_make_a_set_and_nothing_makes_none() {
        let list: CpuList = "0-2, 8\n".parse().unwrap();
        assert_eq!(list, CpuList::from_iter([0, 1, 2, 8]));
        assert_eq!("\n".parse(), Ok(CpuList::default()));
    }

    #[test]
    fn an_invalid_list_is_refused() {
        for text in ["3-1", "a", "1,,2", "-1", "99999999", "cpus.txt", ",", "0-", "1 2"] {
            assert!(text.parse::<CpuList>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_thread_may_use_what_its_mask_says() {
        let all = CpuList::allowed();
        let one = all.iter().last().unwrap();
        let found = std::thread::spawn(move || {
            let mut mask = [0_u64; CPUS_MAX / BITS];
            mask[one / BITS] = 1 << (one % BITS);
            let size = size_of_val(&mask);
            // SAFETY: the mask is as long as said.
            let set = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, size, mask.as_ptr()) };
            (set, CpuList::allowed())
        });
        assert_eq!(found.join().unwrap(), (0, CpuList::from_iter([one])));
    }
}
