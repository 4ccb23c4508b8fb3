//! The traits of allocators, and their words in `OMP_ALLOCATOR`.
//!
//! Names and numbers are those of OpenMP 5.2, section 6.2, and of both compilers' headers.

use std::ffi::c_int;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The alignment of all memory of the C library.
pub(super) const ALIGNMENT: usize = 16;

/// `omp_atk_sync_hint` is the first of the keys, `omp_atk_partition` the last.
const ALIGNMENT_KEY: c_int = 2;
const POOL_SIZE_KEY: c_int = 4;
const FALLBACK_KEY: c_int = 5;
const FALLBACK_DATA_KEY: c_int = 6;
const PINNED_KEY: c_int = 7;
const KEYS_MAX: c_int = 8;
/// `omp_atv_default`.
const DEFAULT: usize = usize::MAX;
/// `omp_atv_default_mem_fb`.
const DEFAULT_MEM_FB: usize = 11;
/// `omp_atv_null_fb`.
const NULL_FB: usize = 12;
/// `omp_atv_abort_fb`.
const ABORT_FB: usize = 13;
/// `omp_atv_allocator_fb`.
const ALLOCATOR_FB: usize = 14;
/// The last of the memory spaces that both headers know.
const SPACES_MAX: usize = 4;

/// `omp_alloctrait_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Trait {
    key: c_int,
    value: usize,
}

/// The `fallback` trait: what an allocator does with nothing left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fallback {
    /// Other memory is taken, without its traits.
    Default,
    Null,
    Abort,
    Allocator(usize),
}

/// An allocator that the program or the environment made.
#[derive(Debug)]
pub(super) struct Allocator {
    pub alignment: usize,
    pub is_pinned: bool,
    pub fallback: Fallback,
    /// Bytes that the allocator may have given at one time.
    pool: usize,
    /// Bytes that the allocator has given.
    given: AtomicUsize,
}

impl Allocator {
    /// An allocator with these traits; `None` if the traits or the space are invalid.
    pub(super) fn new(space: usize, traits: &[Trait]) -> Option<Self> {
        let given = AtomicUsize::new(0);
        let (alignment, is_pinned, pool) = (ALIGNMENT, false, usize::MAX);
        let mut made = Self { alignment, is_pinned, fallback: Fallback::Default, pool, given };
        let mut fallback_data = 0;
        for &Trait { key, value } in traits {
            match (key, value) {
                (1..=KEYS_MAX, DEFAULT) => {}
                (ALIGNMENT_KEY, _) if value.is_power_of_two() => {
                    made.alignment = value.max(ALIGNMENT);
                }
                (POOL_SIZE_KEY, _) if value > 0 => made.pool = value,
                (FALLBACK_KEY, DEFAULT_MEM_FB) => made.fallback = Fallback::Default,
                (FALLBACK_KEY, NULL_FB) => made.fallback = Fallback::Null,
                (FALLBACK_KEY, ABORT_FB) => made.fallback = Fallback::Abort,
                (FALLBACK_KEY, ALLOCATOR_FB) => made.fallback = Fallback::Allocator(0),
                (FALLBACK_DATA_KEY, _) => fallback_data = value,
                (PINNED_KEY, 0 | 1) => made.is_pinned = value == 1,
                (ALIGNMENT_KEY | POOL_SIZE_KEY | FALLBACK_KEY | PINNED_KEY, _) => return None,
                // `access` and `partition`: all threads may use all memory, which is near to all.
                (1..=KEYS_MAX, _) => {}
                _ => return None,
            }
        }
        if let Fallback::Allocator(handle) = &mut made.fallback {
            *handle = fallback_data;
        }
        (space <= SPACES_MAX).then_some(made)
    }

    /// Takes `bytes` from the pool, unless fewer are left.
    pub(super) fn take(&self, bytes: usize) -> bool {
        if self.pool == usize::MAX {
            return true;
        }
        let more = |given: usize| given.checked_add(bytes).filter(|&given| given <= self.pool);
        self.given.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    /// Puts them back.
    pub(super) fn put_back(&self, bytes: usize) {
        if self.pool < usize::MAX {
            self.given.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

/// An allocator in the words of `OMP_ALLOCATOR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    /// A predefined allocator.
    Handle(usize),
    /// One that is to be made.
    Traits { space: usize, traits: Vec<Trait> },
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |number: usize| NAMES.get(number - 1).map_or("", |(name, _)| *name);
        match self {
            Self::Handle(handle) => write!(f, "{}alloc", name(*handle)),
            Self::Traits { space, traits } => {
                write!(f, "{}space", name(space + 1))?;
                for (index, Trait { key, value }) in traits.iter().enumerate() {
                    let words = VALUES.iter().find(|(_, of, number)| (of, number) == (key, value));
                    let key = KEYS[*key as usize - 1];
                    f.write_str(if index == 0 { ":" } else { "," })?;
                    match words {
                        Some((word, ..)) => write!(f, "{key}={word}")?,
                        None => write!(f, "{key}={value}")?,
                    }
                }
                Ok(())
            }
        }
    }
}

/// OpenMP's own allocators, and the spaces that they take from.
const NAMES: [(&str, usize); 8] = [
    ("omp_default_mem_", 1),
    ("omp_large_cap_mem_", 2),
    ("omp_const_mem_", 3),
    ("omp_high_bw_mem_", 4),
    ("omp_low_lat_mem_", 5),
    ("omp_cgroup_mem_", 6),
    ("omp_pteam_mem_", 7),
    ("omp_thread_mem_", 8),
];
/// Words of values, with the keys that they are for.
const VALUES: [(&str, c_int, usize); 21] = [
    ("contended", 1, 3),
    ("uncontended", 1, 4),
    ("serialized", 1, 5),
    ("sequential", 1, 5),
    ("private", 1, 6),
    ("all", 3, 7),
    ("thread", 3, 8),
    ("pteam", 3, 9),
    ("cgroup", 3, 10),
    ("default_mem_fb", FALLBACK_KEY, DEFAULT_MEM_FB),
    ("null_fb", FALLBACK_KEY, NULL_FB),
    ("abort_fb", FALLBACK_KEY, ABORT_FB),
    ("allocator_fb", FALLBACK_KEY, ALLOCATOR_FB),
    ("true", PINNED_KEY, 1),
    ("false", PINNED_KEY, 0),
    ("environment", KEYS_MAX, 15),
    ("nearest", KEYS_MAX, 16),
    ("blocked", KEYS_MAX, 17),
    ("interleaved", KEYS_MAX, 18),
    ("1", PINNED_KEY, 1),
    ("0", PINNED_KEY, 0),
];
/// Words of keys.
const KEYS: [&str; KEYS_MAX as usize] =
    ["sync_hint", "alignment", "access", "pool_size", "fallback", "fb_data", "pinned", "partition"];

/// The number of an allocator (`…alloc`) or a space (`…space`) of OpenMP's.
fn named(text: &str, what: &str) -> Option<usize> {
    let name = text.trim().to_ascii_lowercase();
    let name = name.strip_suffix(what)?;
    NAMES.iter().find(|(known, _)| *known == name).map(|&(_, number)| number)
}

/// Reads the name of an allocator, or of a space with traits: `omp_low_lat_mem_space:pinned=true`.
pub(crate) fn parse(text: &str) -> Option<Words> {
    if let Some(handle) = named(text, "alloc") {
        return Some(Words::Handle(handle));
    }
    let (space, traits) = text.split_once(':').unwrap_or((text, ""));
    let space = named(space, "space").filter(|&space| space <= SPACES_MAX + 1)? - 1;
    let traits = traits.split(',').map(str::trim).filter(|text| !text.is_empty());
    let traits: Option<Vec<Trait>> = traits.map(|text| one(&text.to_ascii_lowercase())).collect();
    Some(Words::Traits { space, traits: traits? })
}

fn one(text: &str) -> Option<Trait> {
    let (key, value) = text.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    let key = KEYS.iter().position(|known| *known == key)? as c_int + 1;
    let value = match key {
        _ if value == "default" => DEFAULT,
        ALIGNMENT_KEY | POOL_SIZE_KEY => value.parse().ok()?,
        FALLBACK_DATA_KEY => named(value, "alloc")?,
        _ => VALUES.iter().find(|(word, of, _)| *word == value && *of == key)?.2,
    };
    Some(Trait { key, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(key: c_int, value: usize) -> Option<Allocator> {
        Allocator::new(0, &[Trait { key, value }])
    }

    #[test]
    fn invalid_traits_make_no_allocator() {
        assert!(with(ALIGNMENT_KEY, 3).is_none());
        assert!(with(POOL_SIZE_KEY, 0).is_none());
        assert!(with(FALLBACK_KEY, 9).is_none());
        assert!(with(99, 1).is_none());
        assert!(Allocator::new(17, &[]).is_none());
        assert_eq!(with(ALIGNMENT_KEY, DEFAULT).map(|made| made.alignment), Some(ALIGNMENT));
    }

    #[test]
    fn a_pool_gives_what_it_has() {
        let pool = with(POOL_SIZE_KEY, 100).unwrap();
        assert!(pool.take(60) && !pool.take(41) && pool.take(40));
        pool.put_back(60);
        assert!(pool.take(60) && !pool.take(1));
        assert!(!pool.take(usize::MAX));
    }

    #[test]
    fn an_allocator_can_be_said_in_words() {
        assert_eq!(parse("omp_Cgroup_mem_alloc"), Some(Words::Handle(6)));
        let traits = vec![
            Trait { key: ALIGNMENT_KEY, value: 64 },
            Trait { key: FALLBACK_KEY, value: ALLOCATOR_FB },
            Trait { key: FALLBACK_DATA_KEY, value: 2 },
            Trait { key: PINNED_KEY, value: 0 },
        ];
        let text = "omp_low_lat_mem_space: alignment=64,fallback=allocator_fb, \
                    fb_data=omp_large_cap_mem_alloc,pinned=false";
        assert_eq!(parse(text), Some(Words::Traits { space: 4, traits }));
        let shown = parse("omp_default_mem_space:pinned=1,pool_size=9").unwrap().to_string();
        assert_eq!(shown, "omp_default_mem_space:pinned=true,pool_size=9");
        for text in ["", "omp_mem_alloc", "omp_default_mem_space:pinned=2", "omp_pteam_mem_space"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
