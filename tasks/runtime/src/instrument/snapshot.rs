//! A recording at one moment, in plain numbers.

use std::collections::BTreeMap;

use super::clock::Moment;
use super::functions::Function;
use super::recorder::Recorder;
use super::series::Series;
use super::strip::{Slots, Strip};
use super::tally::Lengths;
use crate::scheduler::StepsSum;

/// Counts of one function on all threads. Times are in ticks.
#[derive(Clone, Debug)]
pub struct FunctionCounts {
    /// The function.
    pub function: Function,
    /// Runs that have ended.
    pub runs: u64,
    /// Of them, those that their creators ran at once.
    pub inlined: u64,
    /// Own time of the runs, without slices inside.
    pub ticks: u64,
    /// The longest run.
    pub ticks_max: u64,
    /// How many runs took how long.
    pub lengths: Lengths,
    /// Wide tasks that ran where such are to, and elsewhere.
    pub wide: [u64; 2],
    /// Why they were taken for wide: a bit for each [`Why`](crate::class::Why).
    pub why_wide: u64,
}

impl FunctionCounts {
    fn none(function: Function) -> Self {
        Self {
            function,
            runs: 0,
            inlined: 0,
            ticks: 0,
            ticks_max: 0,
            lengths: Lengths::none(),
            wide: [0; 2],
            why_wide: 0,
        }
    }
}

/// Times of one thread, in ticks.
#[derive(Clone, Debug)]
pub struct LaneTimes {
    /// Name of the thread.
    pub name: String,
    /// By slot. The rest of the recording's time is that before the thread was first seen, and
    /// after its end.
    pub ticks: Slots,
    /// The same over time.
    pub strip: Strip,
}

/// The whole recording.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When the recording began.
    pub begin: Moment,
    /// When the snapshot was taken, or when the recording ended.
    pub end: Moment,
    /// The threads in the order of their begin.
    pub lanes: Vec<LaneTimes>,
    /// The functions that have run, in the order of their first run.
    pub functions: Vec<FunctionCounts>,
    /// Where wide tasks are to run, in words; empty where that was not chosen.
    pub places: Vec<String>,
    /// Steps of all schedulers.
    pub steps: StepsSum,
    /// The threshold and the ready tasks over time.
    pub series: Series,
    /// Bytes that were taken from the system for tasks.
    pub task_bytes: usize,
    /// Bytes that slices have.
    pub trace_bytes: usize,
    /// Events that are missing among the slices, and the time of the first since the begin.
    pub dropped: Option<(u64, u64)>,
}

impl Snapshot {
    pub(crate) fn of(recorder: &Recorder) -> Self {
        let end = recorder.now();
        let lanes = recorder.lanes();
        let times = lanes.iter().map(|lane| {
            let (ticks, strip) = lane.did(end.ticks);
            LaneTimes { name: lane.name.clone(), ticks, strip }
        });
        let times = times.collect();
        let (steps, task_bytes) = recorder.steps();
        let ended = lanes.iter().map(|lane| lane.tape.ended_at.get()).filter(|&at| at > 0).min();
        let dropped: u64 = lanes.iter().map(|lane| lane.tape.dropped.get()).sum();
        Self {
            begin: recorder.begin,
            end,
            lanes: times,
            functions: functions(recorder),
            places: recorder.places(),
            steps,
            series: recorder.series().clone(),
            task_bytes,
            trace_bytes: lanes.iter().map(|lane| lane.tape.bytes()).sum(),
            dropped: ended.map(|at| (dropped, at)),
        }
    }
}

fn functions(recorder: &Recorder) -> Vec<FunctionCounts> {
    let tallies = recorder.lanes().into_iter().flat_map(|lane| lane.tallies());
    let tallies: Vec<_> = tallies.collect();
    // Read after the tallies: a function has its number before its first tally.
    let all = recorder.functions.all();
    let mut sums: BTreeMap<u32, FunctionCounts> = BTreeMap::new();
    for tally in tallies {
        let sum = sums
            .entry(tally.function)
            .or_insert_with(|| FunctionCounts::none(all[tally.function as usize].clone()));
        sum.runs += tally.runs.get();
        sum.inlined += tally.inlined.get();
        sum.ticks += tally.ticks.get();
        sum.ticks_max = sum.ticks_max.max(tally.ticks_max.get());
        tally.add_to(&mut sum.lengths);
        sum.wide.iter_mut().zip(&tally.wide).for_each(|(all, own)| *all += own.get());
        sum.why_wide |= tally.why_wide.get();
    }
    sums.into_values().filter(|sum| sum.runs > 0).collect()
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;
    use crate::{Runtime, Watch};

    #[test]
    fn a_snapshot_has_every_task_by_the_line_that_creates_the_task() {
        let watch = Watch::new();
        let runtime = Runtime::builder().workers(2).watch(&watch).build().unwrap();
        runtime.scope(|s| (0..100).for_each(|_| s.spawn(|_| ())));
        let snapshot = Snapshot::of(&watch.recorder());
        let runs: Vec<(u64, bool)> = snapshot
            .functions
            .iter()
            .map(|counts| {
                let location =
                    counts.function.name.as_ref().and_then(|name| name.location.as_ref());
                (counts.runs, location.is_some_and(|(file, _)| file.ends_with("snapshot.rs")))
            })
            .collect();
        assert!(runs.contains(&(100, true)) && runs.contains(&(1, true)), "{runs:?}");
        assert!(snapshot.lanes.iter().any(|lane| lane.ticks.iter().sum::<u64>() > 0));
    }
}
