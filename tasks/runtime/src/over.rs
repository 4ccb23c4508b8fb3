//! Loops whose iterations run in parallel on the workers of a runtime.
//!
//! A loop is divided only while other workers want tasks: its worker runs iterations in pieces of
//! some microseconds, and checks after each whether its queue has enough tasks to steal (lazy
//! binary splitting: Tzannes, Caragea, Barua, Vishkin, PPoPP 2010). If not, half of the remaining
//! iterations go there. So a short loop is never divided, and a program need not choose a grain.

mod divide;

use std::panic::Location;

pub use divide::{Chunks, Divide};

use crate::grain;
use crate::join::join_on;
use crate::pool::Runtime;
use crate::sync::Ordering;
use crate::worker::Worker;

/// A piece of this many cycles is worth moving to another worker: about a microsecond, our choice.
const SHORT_CYCLES: u64 = 2_000;
/// The most cycles between two looks whether other workers want tasks.
const LONG_CYCLES: u64 = 20_000;
/// Without a time stamp counter: pieces of a loop for each worker.
const PIECES: usize = 16;

/// A loop that is about to run: see [`over`].
#[derive(Debug)]
#[must_use = "a loop is run by `for_each` or `fold`"]
pub struct Over<D> {
    items: D,
    grain: usize,
}

/// A loop over a range, over the elements of a slice, or over several at once, as in
/// `(&x[..], &mut y[..])`. It uses the runtime of this thread's task, or else the global one.
///
/// ```
/// use evenkeel_runtime::over;
///
/// let (x, mut y) = (vec![1.0; 1000], vec![2.0; 1000]);
/// over((&x[..], &mut y[..])).for_each(|(x, y)| *y += 3.0 * x);
/// assert!(y.iter().all(|&y| y == 5.0));
///
/// over(&mut y[..]).chunks(100).for_each(|row| row.sort_by(f64::total_cmp));
///
/// let sum = over(0..1_000_000_u64).fold(|| 0, |sum, n| sum + n, |low, high| low + high);
/// assert_eq!(sum, 499_999_500_000);
/// ```
pub fn over<D: Divide>(items: D) -> Over<D> {
    Over { items, grain: 1 }
}

impl<D: Divide> Over<D> {
    /// The fewest iterations that are moved to another worker. Default: 1.
    pub fn grain(mut self, iterations: usize) -> Self {
        self.grain = iterations.max(1);
        self
    }

    /// A loop over pieces of `elements` elements; the last may have fewer.
    ///
    /// # Panics
    /// `elements` is 0.
    #[track_caller]
    pub fn chunks(self, elements: usize) -> Over<Chunks<D>> {
        Over { items: Chunks::new(self.items, elements), grain: self.grain }
    }

    /// Runs all iterations, and returns when they have ended.
    ///
    /// # Panics
    /// With a panic of the body, after all running pieces have ended; some iterations may not have
    /// run then.
    #[track_caller]
    pub fn for_each(self, body: impl Fn(D::Item) + Sync) {
        self.fold(|| (), |(), item| body(item), |(), ()| ());
    }

    /// Folds pieces of the loop, each beginning with a `zero`, and combines the results of
    /// neighbours, the lower one first.
    ///
    /// # Panics
    /// As [`Over::for_each`].
    #[track_caller]
    pub fn fold<R: Send>(
        self,
        zero: impl Fn() -> R + Sync,
        step: impl Fn(R, D::Item) -> R + Sync,
        combine: impl Fn(R, R) -> R + Sync,
    ) -> R {
        let body = Body { zero, step, combine, grain: self.grain, location: Location::caller() };
        let run = |worker: &Worker| {
            let workers = worker.shared.present.load(Ordering::Relaxed).max(1);
            let piece = if grain::KNOWN { 0 } else { self.items.len() / workers / PIECES };
            body.run(worker, self.items, piece.max(body.grain))
        };
        match Worker::current() {
            // SAFETY: the worker of this thread is alive.
            Some(worker) => run(unsafe { worker.as_ref() }),
            None => Runtime::global().as_worker(run),
        }
    }
}

/// The functions of a fold, and its grain.
struct Body<Z, S, C> {
    zero: Z,
    step: S,
    combine: C,
    /// The fewest iterations that are moved.
    grain: usize,
    /// The line of the program that runs the loop.
    location: &'static Location<'static>,
}

impl<R, Z, S, C> Body<Z, S, C>
where
    R: Send,
    Z: Fn() -> R + Sync,
    C: Fn(R, R) -> R + Sync,
{
    /// Runs iterations on this worker, `piece` at a time, and moves half of the remaining ones to
    /// other workers that want tasks. A piece took some microseconds before.
    fn run<D: Divide>(&self, worker: &Worker, items: D, mut piece: usize) -> R
    where
        S: Fn(R, D::Item) -> R + Sync,
    {
        let (mut sum, mut rest) = ((self.zero)(), items);
        loop {
            if rest.len() <= piece {
                return rest.items().fold(sum, &self.step);
            }
            let (now, later) = rest.divide(piece);
            let begin = grain::cycles();
            sum = now.items().fold(sum, &self.step);
            let cycles = if grain::KNOWN { grain::cycles() - begin } else { SHORT_CYCLES };
            rest = later;
            if rest.len() / 2 >= self.grain && worker.wants_half(cycles >= SHORT_CYCLES) {
                break;
            }
            piece = self.next_piece(piece, cycles);
        }
        let half = (rest.len() / 2).max(self.grain);
        let (low, high) = rest.divide(half);
        let go_on = |items: D| {
            let worker = Worker::current().expect("a join's functions run on workers");
            // SAFETY: the worker of this thread is alive.
            self.run(unsafe { worker.as_ref() }, items, piece)
        };
        let (low, high) = join_on(worker, || go_on(low), || go_on(high), self.location);
        (self.combine)((self.combine)(sum, low), high)
    }

    /// The length of the next piece, when one of `piece` iterations took as many cycles.
    fn next_piece(&self, piece: usize, cycles: u64) -> usize {
        match cycles {
            0..SHORT_CYCLES => piece.saturating_mul(2),
            SHORT_CYCLES..=LONG_CYCLES => piece,
            _ => (piece / 2).max(self.grain),
        }
    }
}

impl Worker {
    /// Whether to move half of a loop to other workers, when a piece was worth moving or was not.
    fn wants_half(&self, is_worth_it: bool) -> bool {
        (is_worth_it || !self.shared.config.cutoff) && !self.has_enough()
    }
}
