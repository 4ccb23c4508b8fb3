//! All events of one thread, one after the other, as far as the memory reaches.
//!
//! Only its thread writes a tape, and any thread may read at any time: words are atomic, and the
//! number of whole words is published after they were written. All tapes of a recording share one
//! budget. When the budget is used up, a tape ends; later events are counted, not kept.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::tally::Count;
use crate::sync::lock_std;

/// Words of a piece of tape.
const WORDS: usize = 8192;
const BYTES: i64 = (WORDS * size_of::<u64>()) as i64;
/// Bits of a first word with the type of event; the rest is the time.
const TAG_BITS: u32 = 3;
/// Bits of a second word that are the number of a slice's activity; the rest is a length.
const ACTIVITY_BITS: u32 = 12;
/// The activity of a wait. Numbers below it are those of functions.
pub const ACTIVITY_WAITS: u32 = 4001;
/// The activity of a search for tasks.
pub const ACTIVITY_LOOKS: u32 = 4002;
/// The activity of sleep.
pub const ACTIVITY_SLEEPS: u32 = 4003;

/// Something that happened. Times are in ticks since the begin of the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Happened {
    /// A slice, with no other slice inside.
    Slice { at: u64, ticks: u64, activity: u32, task: u64 },
    /// A slice began inside which other slices run.
    Begin { at: u64, activity: u32, task: u64 },
    /// The innermost of these slices ended.
    End { at: u64 },
    /// Another task's end made a task ready.
    Released { at: u64, task: u64 },
    /// The threshold, and how many tasks were ready.
    Threshold { at: u64, threshold: u32, ready: u32 },
}

impl Happened {
    fn words(self) -> ([u64; 3], usize) {
        let first = |at: u64, tag: u64| at << TAG_BITS | tag;
        match self {
            Self::Slice { at, ticks, activity, task } => {
                let ticks = ticks.min(u64::MAX >> ACTIVITY_BITS);
                ([first(at, 0), ticks << ACTIVITY_BITS | u64::from(activity), task], 3)
            }
            Self::Begin { at, activity, task } => ([first(at, 1), activity.into(), task], 3),
            Self::End { at } => ([first(at, 2), 0, 0], 1),
            Self::Released { at, task } => ([first(at, 3), task, 0], 2),
            Self::Threshold { at, threshold, ready } => {
                ([first(at, 4), u64::from(threshold) << 32 | u64::from(ready), 0], 2)
            }
        }
    }

    /// The event of the first words, and the number of these words.
    fn read(words: &[u64]) -> Option<(Self, usize)> {
        let at = words.first()? >> TAG_BITS;
        let word = |number: usize| words.get(number).copied();
        Some(match words[0] & ((1 << TAG_BITS) - 1) {
            0 => {
                let (both, task) = (word(1)?, word(2)?);
                let activity = (both & ((1 << ACTIVITY_BITS) - 1)) as u32;
                (Self::Slice { at, ticks: both >> ACTIVITY_BITS, activity, task }, 3)
            }
            1 => (Self::Begin { at, activity: word(1)? as u32, task: word(2)? }, 3),
            2 => (Self::End { at }, 1),
            3 => (Self::Released { at, task: word(1)? }, 2),
            _ => {
                let both = word(1)?;
                (Self::Threshold { at, threshold: (both >> 32) as u32, ready: both as u32 }, 2)
            }
        })
    }
}

struct Piece {
    words: Box<[AtomicU64]>,
    /// Number of whole words.
    len: AtomicUsize,
}

/// Bytes that all tapes together may still take.
pub(super) struct Budget(AtomicI64);

impl Budget {
    pub(super) fn new(bytes: usize) -> Self {
        Self(AtomicI64::new(i64::try_from(bytes).unwrap_or(i64::MAX)))
    }

    fn takes(&self) -> bool {
        let takes = self.0.fetch_sub(BYTES, Ordering::Relaxed) >= BYTES;
        if !takes {
            self.0.fetch_add(BYTES, Ordering::Relaxed);
        }
        takes
    }
}

/// The events of one thread.
pub(super) struct Tape {
    pieces: Mutex<Vec<Arc<Piece>>>,
    /// The piece that is written. Used by the tape's thread alone, as is `used`.
    at: Cell<*const Piece>,
    used: Cell<usize>,
    /// Whether the memory was used up.
    ended: Cell<bool>,
    /// The time of the end; 0 while the budget lasts.
    pub(super) ended_at: Count,
    /// Events that were not kept since.
    pub(super) dropped: Count,
}

impl Tape {
    pub(super) fn new() -> Self {
        Self {
            pieces: Mutex::new(Vec::new()),
            at: Cell::new(ptr::null()),
            used: Cell::new(WORDS),
            ended: Cell::new(false),
            ended_at: Count::none(),
            dropped: Count::none(),
        }
    }

    /// Writes an event, on the tape's thread.
    pub(super) fn write(&self, happened: Happened, budget: &Budget, now: u64) {
        let (words, number) = happened.words();
        if self.used.get() + number > WORDS && !self.begin_piece(budget, now) {
            return self.dropped.add(1);
        }
        let used = self.used.get();
        // SAFETY: the piece is in the list of this tape, which keeps its pieces.
        let piece = unsafe { &*self.at.get() };
        for (place, &word) in piece.words[used..].iter().zip(&words[..number]) {
            place.store(word, Ordering::Relaxed);
        }
        self.used.set(used + number);
        // Pairs with `read`.
        piece.len.store(used + number, Ordering::Release);
    }

    #[cold]
    fn begin_piece(&self, budget: &Budget, now: u64) -> bool {
        if self.ended.get() {
            return false;
        }
        if !budget.takes() {
            self.ended.set(true);
            self.ended_at.set(now.max(1));
            return false;
        }
        let words = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let piece = Arc::new(Piece { words, len: AtomicUsize::new(0) });
        self.at.set(Arc::as_ptr(&piece));
        self.used.set(0);
        lock_std(&self.pieces).push(piece);
        true
    }

    /// Bytes of the tape.
    pub(super) fn bytes(&self) -> usize {
        lock_std(&self.pieces).len() * BYTES as usize
    }

    /// All events of the tape, in the order of writing.
    pub(super) fn read(&self, mut each: impl FnMut(Happened)) {
        let pieces = lock_std(&self.pieces).clone();
        for piece in pieces {
            let len = piece.len.load(Ordering::Acquire);
            let words: Vec<u64> =
                piece.words[..len].iter().map(|word| word.load(Ordering::Relaxed)).collect();
            let mut rest = &words[..];
            while let Some((happened, number)) = Happened::read(rest) {
                each(happened);
                rest = &rest[number..];
            }
        }
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    fn all(tape: &Tape) -> Vec<Happened> {
        let mut all = Vec::new();
        tape.read(|happened| all.push(happened));
        all
    }

    #[test]
    fn events_are_read_as_they_were_written() {
        let (tape, budget) = (Tape::new(), Budget::new(1 << 20));
        let written = [
            Happened::Begin { at: 1, activity: 7, task: u64::MAX },
            Happened::Slice { at: 2, ticks: 1 << 40, activity: ACTIVITY_SLEEPS, task: 0 },
            Happened::Released { at: 3, task: 9 },
            Happened::Threshold { at: 4, threshold: u32::MAX, ready: 5 },
            Happened::End { at: 1 << 60 },
        ];
        let many: Vec<Happened> = written.into_iter().cycle().take(50_000).collect();
        many.iter().for_each(|&happened| tape.write(happened, &budget, 0));
        assert_eq!(all(&tape), many);
        assert_eq!(tape.dropped.get(), 0);
    }

    #[test]
    fn events_without_room_are_counted() {
        let (tape, budget) = (Tape::new(), Budget::new(BYTES as usize));
        (0..WORDS as u64 + 10).for_each(|at| tape.write(Happened::End { at }, &budget, at));
        assert_eq!(all(&tape).len(), WORDS);
        assert_eq!((tape.dropped.get(), tape.ended_at.get()), (10, WORDS as u64));
        assert_eq!(tape.bytes(), BYTES as usize);
    }
}
