//! A recording at one moment, in plain numbers.

use std::collections::BTreeMap;

use super::clock::Scale;
use super::kinds::{Kind, Name, Role};
use super::recorder::Recorder;
use super::series::Series;
use super::strip::{SLOT_OUTSIDE, SLOTS, Slots, Strip};
use super::tally::Lengths;
use crate::scheduler::StepsSum;

/// Times and counts of one function.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: Name,
    pub(super) role: Role,
    pub(super) slot: usize,
    pub(super) runs: u64,
    pub(super) inlined: u64,
    /// Own time, without slices inside.
    pub(super) ns: u64,
    pub(super) median_ns: u64,
    /// 99 of 100 are no longer.
    pub(super) high_ns: u64,
    pub(super) longest_ns: u64,
    /// Wide tasks that ran where such are to, and elsewhere.
    pub(super) wide: [u64; 2],
    /// Why they were taken for wide: a bit each.
    pub(super) why_wide: u64,
}

/// Times of one thread.
pub(super) struct Row {
    pub(super) name: String,
    /// By slot.
    pub(super) ns: Slots,
    /// Time before the thread was first seen, and after its end.
    pub(super) unseen_ns: u64,
    pub(super) strip: Strip,
}

/// The whole recording.
pub(super) struct View {
    pub(super) scale: Scale,
    /// How long the recording is.
    pub(super) wall_ns: u64,
    pub(super) wall_ticks: u64,
    /// The program's own threads in the order of their begin, then ours by their numbers.
    pub(super) rows: Vec<Row>,
    /// The longest in all first.
    pub(super) functions: Vec<Function>,
    /// Where wide tasks are to run, in words; empty where that was not chosen.
    pub(super) places: Vec<String>,
    pub(super) steps: StepsSum,
    pub(super) series: Series,
    pub(super) task_bytes: usize,
    pub(super) trace_bytes: usize,
    /// Events missing in the trace, and the time of the first, in ns from the begin.
    pub(super) dropped: Option<(u64, u64)>,
}

impl View {
    pub(super) fn of(recorder: &Recorder) -> Self {
        let now = recorder.now();
        let scale = Scale::between(recorder.begin, now);
        let wall_ticks = now.ticks.saturating_sub(recorder.begin.ticks);
        let lanes = recorder.lanes();
        let mut rows: Vec<Row> = lanes
            .iter()
            .map(|lane| {
                let (done, strip) = lane.did(now.ticks);
                let unseen = wall_ticks.saturating_sub(done.iter().sum());
                let (name, ns) = (lane.name.clone(), done.map(|ticks| scale.ns(ticks)));
                Row { name, ns, unseen_ns: scale.ns(unseen), strip }
            })
            .collect();
        rows.retain(|row| row.ns.iter().skip(SLOT_OUTSIDE + 1).any(|&ns| ns > 0));
        rows.sort_by(|a, b| number(&a.name).cmp(&number(&b.name)));
        let width = rows.iter().map(|row| row.strip.width_ticks).max().unwrap_or(1);
        rows.iter_mut().for_each(|row| row.strip.widen(width));
        let (steps, task_bytes) = recorder.steps();
        let ended = lanes.iter().map(|lane| lane.tape.ended_at.get()).filter(|&at| at > 0).min();
        let dropped: u64 = lanes.iter().map(|lane| lane.tape.dropped.get()).sum();
        Self {
            scale,
            wall_ns: scale.ns(wall_ticks),
            wall_ticks,
            rows,
            functions: functions(recorder, scale),
            places: recorder.places(),
            steps,
            series: recorder.series().clone(),
            task_bytes,
            trace_bytes: lanes.iter().map(|lane| lane.tape.bytes()).sum(),
            dropped: ended.map(|at| (dropped, scale.ns(at))),
        }
    }

    /// Times of all threads together, by slot.
    pub(super) fn by_slot(&self) -> Slots {
        std::array::from_fn(|slot| self.rows.iter().map(|row| row.ns[slot]).sum())
    }

    /// The time of all threads while they were workers.
    pub(super) fn inside_ns(&self) -> u64 {
        self.by_slot().iter().skip(SLOT_OUTSIDE + 1).sum()
    }

    /// The time of all threads in which nothing is known of them.
    pub(super) fn unseen_ns(&self) -> u64 {
        self.rows.iter().map(|row| row.unseen_ns).sum()
    }

    pub(super) fn tasks(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.role == Role::Task)
    }

    /// Tasks that have ended, those of them that ran at once, and their own time.
    pub(super) fn task_sums(&self) -> (u64, u64, u64) {
        self.tasks().fold((0, 0, 0), |(runs, inlined, ns), function| {
            (runs + function.runs, inlined + function.inlined, ns + function.ns)
        })
    }

    /// Whether anything ran around tasks.
    pub(super) fn runs_code(&self) -> bool {
        self.functions.iter().any(|function| function.role == Role::Code)
    }

    /// The use of each slot, in words; `names` are those of the functions that have slots.
    pub(super) fn slot_names(&self) -> [String; SLOTS] {
        let fixed = ["outside", "in the runtime", "looking or waiting", "asleep", "around tasks"];
        std::array::from_fn(|slot| {
            let function = || self.tasks().find(|function| function.slot == slot);
            match fixed.get(slot) {
                Some(&name) => name.to_owned(),
                None if slot == SLOTS - 1 => "other tasks".to_owned(),
                None => function().map_or(String::new(), |function| function.name.title()),
            }
        })
    }
}

/// The number of a thread of ours, which follows the name of its kind.
fn number(name: &str) -> Option<(&str, u64)> {
    let (kind, number) = name.rsplit_once(' ')?;
    let number = number.parse().ok()?;
    kind.starts_with("evenkeel").then_some((kind, number))
}

/// Counts of one function on all threads.
struct Sum {
    runs: u64,
    inlined: u64,
    ticks: u64,
    ticks_max: u64,
    lengths: Lengths,
    wide: [u64; 2],
    why_wide: u64,
}

fn functions(recorder: &Recorder, scale: Scale) -> Vec<Function> {
    let mut sums: BTreeMap<u32, Sum> = BTreeMap::new();
    for tally in recorder.lanes().iter().flat_map(|lane| lane.tallies()) {
        let sum = sums.entry(tally.kind).or_insert_with(|| Sum {
            runs: 0,
            inlined: 0,
            ticks: 0,
            ticks_max: 0,
            lengths: Lengths::none(),
            wide: [0; 2],
            why_wide: 0,
        });
        sum.runs += tally.runs.get();
        sum.inlined += tally.inlined.get();
        sum.ticks += tally.ticks.get();
        sum.ticks_max = sum.ticks_max.max(tally.ticks_max.get());
        tally.add_to(&mut sum.lengths);
        sum.wide.iter_mut().zip(&tally.wide).for_each(|(all, own)| *all += own.get());
        sum.why_wide |= tally.why_wide.get();
    }
    let used = sums.into_iter().filter(|(_, sum)| sum.runs > 0);
    let kinds = recorder.kinds.named();
    let mut all: Vec<Function> = used
        .map(|(kind, sum)| {
            let (Kind { role, slot, .. }, name) = kinds[kind as usize].clone();
            Function {
                name,
                role,
                slot,
                runs: sum.runs,
                inlined: sum.inlined,
                ns: scale.ns(sum.ticks),
                median_ns: scale.ns(sum.lengths.at_permille(500).min(sum.ticks_max)),
                high_ns: scale.ns(sum.lengths.at_permille(990).min(sum.ticks_max)),
                longest_ns: scale.ns(sum.ticks_max),
                wide: sum.wide,
                why_wide: sum.why_wide,
            }
        })
        .collect();
    all.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.name.text.cmp(&b.name.text)));
    all
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;
    use crate::{Runtime, Watch};

    #[test]
    fn threads_of_ours_come_by_their_numbers_after_those_of_the_program() {
        let mut names = ["evenkeel omp 10", "main", "evenkeel omp 9", "evenkeel 2", "reader 1"];
        names.sort_by(|a, b| number(a).cmp(&number(b)));
        let sorted = ["main", "reader 1", "evenkeel 2", "evenkeel omp 9", "evenkeel omp 10"];
        assert_eq!(names, sorted);
    }

    #[test]
    fn all_of_a_threads_time_is_somewhere() {
        const LONG: Duration = Duration::from_millis(20);
        let watch = Watch::new();
        sleep(LONG);
        let runtime = Runtime::builder().workers(1).watch(&watch).build().unwrap();
        for _ in 0..2 {
            runtime.scope(|_| sleep(LONG));
            sleep(LONG);
        }
        let view = View::of(&watch.0);
        let [row] = &view.rows[..] else { panic!("{} threads", view.rows.len()) };
        let long = LONG.as_nanos() as u64;
        let all = row.ns.iter().sum::<u64>() + row.unseen_ns;
        assert!(all.abs_diff(view.wall_ns) < SLOTS as u64 + 2, "{all} {}", view.wall_ns);
        assert!(row.unseen_ns >= long && row.ns[SLOT_OUTSIDE] >= 2 * long);
        assert!(view.inside_ns() >= 2 * long && view.inside_ns() + 3 * long <= view.wall_ns);
        let drawn: u64 = row.strip.bins.iter().flatten().sum();
        assert!(view.scale.ns(drawn).abs_diff(view.wall_ns - row.unseen_ns) < 1000);
    }
}
