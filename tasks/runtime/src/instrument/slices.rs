//! The tapes of all threads as slices, and which task let which run.

use std::collections::HashMap;
use std::sync::Arc;

use super::clock::Moment;
use super::functions::Function;
use super::lane::Lane;
use super::recorder::Recorder;
use super::tape::Happened;

/// A slice of a thread. Times are in ticks since the begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// When the slice began.
    pub begin: u64,
    /// When the slice ended.
    pub end: u64,
    /// The activity of the thread: the number of a function, or a number above those, such as
    /// [`ACTIVITY_LOOKS`](super::ACTIVITY_LOOKS).
    pub activity: u32,
    /// The address of the task; 0 where the slice is no task's.
    pub task: u64,
}

/// The index of a slice in [`Slices`]: that of its thread, and that of the slice in the thread.
pub type SliceIndex = (usize, usize);

/// A task let another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The slice that ended.
    pub from: SliceIndex,
    /// The slice that could begin.
    pub to: SliceIndex,
}

/// The slices of one thread.
#[derive(Clone, Debug)]
pub struct LaneSlices {
    /// Name of the thread.
    pub name: String,
    /// The kernel's number of the thread.
    pub thread: u32,
    /// By their begin, an outer slice before the slices inside.
    pub slices: Vec<Slice>,
}

/// All events of the tapes.
#[derive(Clone, Debug)]
pub struct Slices {
    /// When the recording began.
    pub begin: Moment,
    /// When these were read, or when the recording ended.
    pub end: Moment,
    /// By thread.
    pub lanes: Vec<LaneSlices>,
    /// Which task let which run.
    pub flows: Vec<Flow>,
    /// When, the threshold, and the ready tasks; by time.
    pub thresholds: Vec<(u64, u32, u32)>,
    /// Functions by their numbers, those of all slices among them.
    pub functions: Vec<Function>,
}

impl Slices {
    /// The slices on the tapes until now. Where one tape has ended for want of room, all do.
    pub(crate) fn of(recorder: &Recorder) -> Self {
        let (begin, end) = (recorder.begin, recorder.now());
        let now = end.ticks.saturating_sub(begin.ticks);
        let lanes = recorder.lanes();
        let ended = lanes.iter().map(|lane| lane.tape.ended_at.get()).filter(|&at| at > 0).min();
        let last = ended.unwrap_or(u64::MAX).min(now);
        let (mut by_lane, mut released, mut thresholds) = (Vec::new(), Vec::new(), Vec::new());
        for (number, lane) in lanes.iter().enumerate() {
            let mut one = OneLane::default();
            lane.tape.read(|happened| match happened {
                Happened::Released { at, task } if at <= last => released.push((at, number, task)),
                Happened::Threshold { at, threshold, ready } if at <= last => {
                    thresholds.push((at, threshold, ready));
                }
                other => one.add(other),
            });
            by_lane.push(one.finish(last, lane.is_doing()));
        }
        thresholds.sort_unstable();
        let flows = flows(&by_lane, &released);
        let lane = |(lane, slices): (&Arc<Lane>, _)| {
            let (name, thread) = (lane.name.clone(), lane.thread);
            LaneSlices { name, thread, slices }
        };
        let lanes = lanes.iter().zip(by_lane).map(lane).collect();
        // Read after the tapes: a function has its number before the first of its slices.
        let functions = recorder.functions.all();
        Self { begin, end, lanes, flows, thresholds, functions }
    }
}

/// State of reading one tape.
#[derive(Default)]
struct OneLane {
    slices: Vec<Slice>,
    /// Indices of the slices that have not ended.
    open: Vec<usize>,
}

impl OneLane {
    fn add(&mut self, happened: Happened) {
        match happened {
            Happened::Slice { at, ticks, activity, task } => {
                self.slices.push(Slice { begin: at, end: at + ticks, activity, task });
            }
            Happened::Begin { at, activity, task } => {
                self.open.push(self.slices.len());
                self.slices.push(Slice { begin: at, end: u64::MAX, activity, task });
            }
            Happened::End { at } => {
                if let Some(open) = self.open.pop() {
                    self.slices[open].end = at;
                }
            }
            Happened::Released { .. } | Happened::Threshold { .. } => {}
        }
    }

    /// Ends all open slices.
    fn finish(mut self, last: u64, doing: Option<(u64, u32)>) -> Vec<Slice> {
        if let Some((begin, activity)) = doing {
            self.slices.push(Slice { begin, end: u64::MAX, activity, task: 0 });
        }
        self.slices.retain(|slice| slice.begin < last);
        self.slices.iter_mut().for_each(|slice| slice.end = slice.end.min(last));
        self.slices.sort_by(|a, b| a.begin.cmp(&b.begin).then(b.end.cmp(&a.end)));
        self.slices
    }
}

/// The innermost slice around a moment.
fn around(slices: &[Slice], at: u64) -> Option<usize> {
    let after = slices.partition_point(|slice| slice.begin <= at);
    // A slice that ended before may lie inside of one that goes on.
    slices[..after].iter().rposition(|slice| slice.end >= at)
}

/// From each release to the next slice of that task: no other task has its address before that
/// slice.
fn flows(by_lane: &[Vec<Slice>], released: &[(u64, usize, u64)]) -> Vec<Flow> {
    let mut begins: HashMap<u64, Vec<(u64, SliceIndex)>> = HashMap::new();
    for (lane, slices) in by_lane.iter().enumerate() {
        for (number, slice) in slices.iter().enumerate().filter(|(_, slice)| slice.task != 0) {
            begins.entry(slice.task).or_default().push((slice.begin, (lane, number)));
        }
    }
    begins.values_mut().for_each(|all| all.sort_unstable());
    let flow = |&(at, lane, task): &(u64, usize, u64)| {
        let begins = begins.get(&task)?;
        let &(_, to) = begins.get(begins.partition_point(|&(begin, _)| begin < at))?;
        Some(Flow { from: (lane, around(&by_lane[lane], at)?), to })
    };
    released.iter().filter_map(flow).collect()
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    fn slice(begin: u64, end: u64, task: u64) -> Slice {
        Slice { begin, end, activity: 1, task }
    }

    #[test]
    fn an_open_slice_ends_with_the_recording_and_a_later_one_is_left_out() {
        let mut lane = OneLane::default();
        for happened in [
            Happened::Begin { at: 1, activity: 1, task: 7 },
            Happened::Slice { at: 3, ticks: 2, activity: 1, task: 8 },
            Happened::Slice { at: 11, ticks: 2, activity: 1, task: 9 },
        ] {
            lane.add(happened);
        }
        assert_eq!(lane.finish(10, None), [slice(1, 10, 7), slice(3, 5, 8)]);
    }

    #[test]
    fn a_flow_leads_to_the_next_run_at_that_address() {
        let lanes =
            [vec![slice(0, 100, 1), slice(10, 20, 2)], vec![slice(5, 8, 9), slice(30, 40, 9)]];
        let flows = flows(&lanes, &[(25, 0, 9)]);
        assert_eq!(flows, [Flow { from: (0, 0), to: (1, 1) }]);
    }
}
