//! A recording: the lanes of all threads, and data of the whole process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::clock::Moment;
use super::functions::Functions;
use super::lane::Lane;
use super::series::Series;
use super::tape::{Budget, Happened, Tape};
use super::usage::Usage;
use crate::scheduler::StepsSum;
use crate::sync::lock_std;

/// How often a lane writes its strip, and the scheduler is looked at, in ticks: some 50 us.
pub(super) const PULSE: u64 = 1 << 17;

/// Counts of a runtime until now.
pub(crate) struct Counts {
    /// Steps of its scheduler.
    pub(crate) steps: StepsSum,
    /// Bytes that were taken from the system for its tasks.
    pub(crate) task_bytes: usize,
    /// Where wide tasks are to run, in words, where that was chosen.
    pub(crate) wide_places: Option<String>,
}

/// Returns the counts of a runtime; `None` once the runtime is gone.
type Watched = dyn Fn() -> Option<Counts> + Send + Sync;

/// The recording of one or more runtimes.
pub(crate) struct Recorder {
    pub(super) begin: Moment,
    /// Whether every slice is kept, and not numbers alone.
    pub(super) traces: bool,
    pub(super) functions: Functions,
    pub(super) budget: Budget,
    lanes: Mutex<Vec<Arc<Lane>>>,
    sampled_at: AtomicU64,
    series: Mutex<Series>,
    runtimes: Mutex<Vec<Arc<Watched>>>,
    /// Of runtimes that are gone, and bytes that their tasks had.
    gone: Mutex<(StepsSum, usize)>,
    /// Where wide tasks of those were to run.
    gone_places: Mutex<Vec<String>>,
    end: Mutex<Option<Moment>>,
    pub(super) usage: Usage,
}

impl Recorder {
    /// A recording that keeps slices in `trace_bytes` bytes; none where that is 0.
    pub(super) fn new(trace_bytes: usize) -> Self {
        let begin = Moment::now();
        Self {
            begin,
            traces: trace_bytes > 0,
            functions: Functions::new(),
            budget: Budget::new(trace_bytes),
            lanes: Mutex::new(Vec::new()),
            sampled_at: AtomicU64::new(begin.ticks),
            series: Mutex::new(Series::new()),
            runtimes: Mutex::new(Vec::new()),
            gone: Mutex::new((StepsSum::default(), 0)),
            gone_places: Mutex::new(Vec::new()),
            end: Mutex::new(None),
            usage: Usage::default(),
        }
    }

    fn all_lanes(&self) -> MutexGuard<'_, Vec<Arc<Lane>>> {
        lock_std(&self.lanes)
    }

    /// A lane that may be taken over, or a new one.
    pub(super) fn lane(
        &self,
        new: impl FnOnce() -> Lane,
        takes_over: impl Fn(&Lane) -> bool,
    ) -> Arc<Lane> {
        let mut all = self.all_lanes();
        if let Some(free) = all.iter().find(|lane| takes_over(lane)) {
            return free.clone();
        }
        all.push(Arc::new(new()));
        all[all.len() - 1].clone()
    }

    pub(crate) fn lanes(&self) -> Vec<Arc<Lane>> {
        self.all_lanes().clone()
    }

    pub(super) fn write(&self, tape: &Tape, happened: Happened, now: u64) {
        tape.write(happened, &self.budget, now.saturating_sub(self.begin.ticks));
    }

    /// Whether a sample of the scheduler is due; the thread that gets `true` takes the sample.
    pub(super) fn wants_sample(&self, now: u64) -> bool {
        let last = self.sampled_at.load(Ordering::Relaxed);
        now.saturating_sub(last) > PULSE
            && self
                .sampled_at
                .compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    pub(super) fn sampled(&self, at: u64, threshold: usize, ready: usize) {
        self.series().add(at, threshold as u64, ready as u64);
    }

    pub(super) fn series(&self) -> MutexGuard<'_, Series> {
        lock_std(&self.series)
    }

    /// Instruments a runtime from now on: `counts` returns its counts, until the runtime is gone.
    pub(crate) fn watches(&self, counts: impl Fn() -> Option<Counts> + Send + Sync + 'static) {
        let mut all = lock_std(&self.runtimes);
        all.retain(|runtime| runtime().is_some());
        all.push(Arc::new(counts));
    }

    /// A runtime is about to go.
    pub(crate) fn forgets(&self, last: Counts) {
        let mut gone = lock_std(&self.gone);
        gone.0.add(&last.steps);
        gone.1 += last.task_bytes;
        if let Some(places) = last.wide_places {
            let mut all = lock_std(&self.gone_places);
            all.push(places);
            all.sort_unstable();
            all.dedup();
        }
    }

    /// All runtimes that are watched now.
    fn counts(&self) -> Vec<Counts> {
        // The list is unlocked before the first is asked: the last reference to a runtime may end
        // here.
        let runtimes = lock_std(&self.runtimes).clone();
        runtimes.iter().filter_map(|runtime| runtime()).collect()
    }

    /// Where wide tasks are to run, in words, where that was chosen.
    pub(super) fn places(&self) -> Vec<String> {
        let mut all = lock_std(&self.gone_places).clone();
        all.extend(self.counts().into_iter().filter_map(|runtime| runtime.wide_places));
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Ends the recording: from here on the process writes the results.
    pub(crate) fn ends(&self) {
        *lock_std(&self.end) = Some(Moment::now());
    }

    /// The end of the recording, or now.
    pub(super) fn now(&self) -> Moment {
        lock_std(&self.end).unwrap_or_else(Moment::now)
    }

    /// Steps of all schedulers, and bytes that tasks have.
    pub(super) fn steps(&self) -> (StepsSum, usize) {
        let (mut sum, mut bytes) = *lock_std(&self.gone);
        for runtime in self.counts() {
            sum.add(&runtime.steps);
            bytes += runtime.task_bytes;
        }
        (sum, bytes)
    }
}
