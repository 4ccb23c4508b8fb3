//! The word of a lock: the owner, and whether a thread sleeps or starves for the lock.
//!
//! The first thread that comes takes a free word. That mostly is the thread that has just released
//! the word, and on a CPU that many threads want this can repeat for long. So a thread that has
//! slept for a word, and after [`PATIENCE_NS`] found the word taken once more, marks the word as
//! starved for. The next release leaves the word *promised* instead of free: only threads that have
//! slept for the word may take a promised one, and one of them is awake.
//!
//! A promise costs the time of a wake-up, milliseconds on an oversubscribed machine, in which no
//! thread has the word. So promises of all words together pause for [`REST`] times the time of the
//! last one.

use std::ffi::c_int;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Instant;

/// The word is free.
pub(super) const FREE: u32 = 0;
/// The bits of an owner's number.
pub(crate) const OWNERS: u32 = (1 << 30) - 1;
/// A thread sleeps: a release must wake one.
const WAITED_FOR: u32 = 1 << 31;
/// A thread that sleeps, or is about to, has waited for long.
const STARVED_FOR: u32 = 1 << 30;
/// The word is free for threads that have slept.
const PROMISED: u32 = WAITED_FOR | STARVED_FOR;
/// Looks at a word before its thread sleeps.
const SPINS: u32 = 100;
/// The wait after which a thread marks the word as starved for. Our choice.
const PATIENCE_NS: u64 = 1_000_000;
/// So a thirtieth of the time is lost, where every word is always wanted. Our choice.
const REST: u64 = 30;

/// The time from which a thread may starve again, in nanoseconds on [`now`]'s clock.
static RESTED_AT: AtomicU64 = AtomicU64::new(0);
/// The time when a thread starved last.
static STARVED_AT: AtomicU64 = AtomicU64::new(0);

/// Time since this was asked first.
fn now() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Whether a thread that has slept from this time on starves.
fn may_starve(since: u64) -> bool {
    let now = now();
    now - since >= PATIENCE_NS && now >= RESTED_AT.load(Relaxed)
}

/// A promise was kept.
fn rest() {
    let now = now();
    let took = now.saturating_sub(STARVED_AT.load(Relaxed));
    RESTED_AT.store(now + took * REST, Relaxed);
}

/// Takes a free word for `owner`.
pub(super) fn try_take(word: &AtomicU32, owner: u32) -> bool {
    // Pairs with the release in `give`.
    word.compare_exchange(FREE, owner, Acquire, Relaxed).is_ok()
}

/// The owner's number; 0 while the word is free.
pub(super) fn owner(word: &AtomicU32) -> u32 {
    word.load(Relaxed) & OWNERS
}

/// Waits for a word.
pub(super) fn take(word: &AtomicU32, owner: u32) {
    for _ in 0..SPINS {
        if word.load(Relaxed) == FREE && try_take(word, owner) {
            return;
        }
        std::hint::spin_loop();
    }
    take_asleep(word, owner);
}

/// The number of checks between sleeps.
#[cold]
fn take_asleep(word: &AtomicU32, owner: u32) {
    let mut since = None;
    loop {
        let seen = word.load(Relaxed);
        if seen == FREE || seen == PROMISED && since.is_some() {
            // A thread that has slept cannot know whether it was the only one: the mark stays.
            // Pairs with the release in `give`.
            if word.compare_exchange(seen, owner | WAITED_FOR, Acquire, Relaxed).is_ok() {
                if seen == PROMISED {
                    rest();
                }
                return;
            }
            continue;
        }
        let starves = seen & STARVED_FOR == 0 && since.is_some_and(may_starve);
        let marked = seen | WAITED_FOR | if starves { STARVED_FOR } else { 0 };
        if seen == marked || word.compare_exchange(seen, marked, Relaxed, Relaxed).is_ok() {
            if starves {
                STARVED_AT.store(now(), Relaxed);
            }
            since = since.or_else(|| Some(now()));
            futex(word, libc::FUTEX_WAIT, marked);
        }
    }
}

/// Lets go of a word.
pub(super) fn give(word: &AtomicU32) {
    // A starving thread waits until it has had the word: a promised word has a thread to take it.
    let left = if word.load(Relaxed) & STARVED_FOR == 0 { FREE } else { PROMISED };
    // Pairs with the acquire of the next owner.
    if word.swap(left, Release) & WAITED_FOR != 0 {
        futex(word, libc::FUTEX_WAKE, 1);
    }
}

fn futex(word: &AtomicU32, what: c_int, value: u32) {
    let what = what | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: The word lives as long as the call. Any way to return is a reason to look again.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), what, value, ptr::null::<u8>()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_thread_that_slept_takes_a_promised_word() {
        let word = AtomicU32::new(1 | PROMISED);
        give(&word);
        assert_eq!((word.load(Relaxed), owner(&word), try_take(&word, 5)), (PROMISED, 0, false));
        // A thread that comes now sleeps first, and no other thread would wake it.
        let taker = std::thread::scope(|scope| {
            let taker = scope.spawn(|| take(&word, 7));
            while !taker.is_finished() {
                futex(&word, libc::FUTEX_WAKE, 1);
                std::thread::yield_now();
            }
            taker.join()
        });
        assert!(taker.is_ok() && owner(&word) == 7);
        give(&word);
        assert_eq!(word.load(Relaxed), FREE);
    }
}
