//! Loops: iterations that run at once as far as there are workers.
//!
//! A loop is divided only where somebody wants more work: its worker runs iterations in pieces that
//! take some microseconds, and looks after each whether others find enough in its queue (lazy
//! binary splitting: Tzannes, Caragea, Barua, Vishkin, PPoPP 2010). If not, half of what is left
//! goes there. So a short loop is never divided, and how many iterations belong together need not
//! be said.

mod divide;

use std::panic::Location;

pub use divide::{Chunks, Divide};

use crate::grain;
use crate::join::join_on;
use crate::pool::Runtime;
use crate::sync::Ordering;
use crate::worker::Worker;

/// A piece of so many cycles is worth being handed to somebody: about a microsecond, our choice.
const SHORT_CYCLES: u64 = 2_000;
/// After so many cycles at most a worker looks whether others want work.
const LONG_CYCLES: u64 = 20_000;
/// Where time cannot be told: pieces of a loop for each worker.
const PIECES: usize = 16;

/// Iterations that are to be run: see [`over`].
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
    /// Iterations that belong together: nobody is handed fewer. One, if it is not said.
    pub fn grain(mut self, iterations: usize) -> Self {
        self.grain = iterations.max(1);
        self
    }

    /// The same over pieces of so many elements; the last may have fewer.
    ///
    /// # Panics
    /// They have none.
    #[track_caller]
    pub fn chunks(self, elements: usize) -> Over<Chunks<D>> {
        Over { items: Chunks::new(self.items, elements), grain: self.grain }
    }

    /// Runs all iterations, and returns when they have ended.
    ///
    /// # Panics
    /// With a panic of the body, when nothing of the loop runs any more; some iterations may not
    /// have run then.
    #[track_caller]
    pub fn for_each(self, body: impl Fn(D::Item) + Sync) {
        self.fold(|| (), |(), item| body(item), |(), ()| ());
    }

    /// Folds pieces of the loop, each beginning with a `zero`, and combines what neighbours yield,
    /// the lower one first.
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
        let body = Body { zero, step, combine, grain: self.grain, place: Location::caller() };
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

/// What is done with the iterations of a loop.
struct Body<Z, S, C> {
    zero: Z,
    step: S,
    combine: C,
    /// Iterations that belong together.
    grain: usize,
    /// The line of the program that runs the loop.
    place: &'static Location<'static>,
}

impl<R, Z, S, C> Body<Z, S, C>
where
    R: Send,
    Z: Fn() -> R + Sync,
    C: Fn(R, R) -> R + Sync,
{
    /// Runs iterations on this worker, and hands half of what is left to others where they want it.
    /// So many at once took some microseconds before.
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
        let (low, high) = join_on(worker, || go_on(low), || go_on(high), self.place);
        (self.combine)((self.combine)(sum, low), high)
    }

    /// How many iterations to run at once when so many have taken so long.
    fn next_piece(&self, piece: usize, cycles: u64) -> usize {
        match cycles {
            0..SHORT_CYCLES => piece.saturating_mul(2),
            SHORT_CYCLES..=LONG_CYCLES => piece,
            _ => (piece / 2).max(self.grain),
        }
    }
}

impl Worker {
    /// Whether half of a loop is to be handed to others, when a piece of it was or was not worth
    /// that.
    fn wants_half(&self, is_worth_it: bool) -> bool {
        (is_worth_it || !self.shared.config.cutoff) && !self.has_enough()
    }
}
