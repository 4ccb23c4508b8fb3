//! A recording at one moment, in plain numbers.

use evenkeel_runtime::internal::recording::{
    FunctionCounts, LaneTimes, Role, SLOT_OUTSIDE, SLOTS, Series, Slots, Snapshot, StepsSum, Strip,
};

use crate::names::Name;
use crate::scale::Scale;

/// Times and counts of one function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: Name,
    pub(crate) role: Role,
    pub(crate) slot: usize,
    pub(crate) runs: u64,
    pub(crate) inlined: u64,
    /// Own time, without slices inside.
    pub(crate) ns: u64,
    pub(crate) median_ns: u64,
    /// 99 of 100 are no longer.
    pub(crate) high_ns: u64,
    pub(crate) longest_ns: u64,
    /// Wide tasks that ran where such are to, and elsewhere.
    pub(crate) wide: [u64; 2],
    /// Why they were taken for wide: a bit each.
    pub(crate) why_wide: u64,
}

/// Times of one thread.
pub(crate) struct Row {
    pub(crate) name: String,
    /// By slot.
    pub(crate) ns: Slots,
    /// Time before the thread was first seen, and after its end.
    pub(crate) unseen_ns: u64,
    pub(crate) strip: Strip,
}

/// The whole recording.
pub(crate) struct View {
    pub(crate) scale: Scale,
    /// How long the recording is.
    pub(crate) wall_ns: u64,
    pub(crate) wall_ticks: u64,
    /// The program's own threads in the order of their begin, then ours by their numbers.
    pub(crate) rows: Vec<Row>,
    /// The longest in all first.
    pub(crate) functions: Vec<Function>,
    /// Where wide tasks are to run, in words; empty where that was not chosen.
    pub(crate) places: Vec<String>,
    pub(crate) steps: StepsSum,
    pub(crate) series: Series,
    pub(crate) task_bytes: usize,
    pub(crate) trace_bytes: usize,
    /// Events missing in the trace, and the time of the first, in ns from the begin.
    pub(crate) dropped: Option<(u64, u64)>,
}

impl View {
    pub(crate) fn of(snapshot: Snapshot) -> Self {
        let scale = Scale::between(snapshot.begin, snapshot.end);
        let wall_ticks = snapshot.end.ticks.saturating_sub(snapshot.begin.ticks);
        let row = |LaneTimes { name, ticks, strip }: LaneTimes| {
            let unseen = wall_ticks.saturating_sub(ticks.iter().sum());
            let ns = ticks.map(|ticks| scale.ns(ticks));
            Row { name, ns, unseen_ns: scale.ns(unseen), strip }
        };
        let mut rows: Vec<Row> = snapshot.lanes.into_iter().map(row).collect();
        rows.retain(|row| row.ns.iter().skip(SLOT_OUTSIDE + 1).any(|&ns| ns > 0));
        rows.sort_by(|a, b| number(&a.name).cmp(&number(&b.name)));
        let width = rows.iter().map(|row| row.strip.width_ticks).max().unwrap_or(1);
        rows.iter_mut().for_each(|row| row.strip.widen(width));
        let functions = snapshot.functions.into_iter().map(|counts| function(counts, scale));
        let mut functions: Vec<Function> = functions.collect();
        functions.sort_by(|a, b| b.ns.cmp(&a.ns).then_with(|| a.name.text.cmp(&b.name.text)));
        Self {
            scale,
            wall_ns: scale.ns(wall_ticks),
            wall_ticks,
            rows,
            functions,
            places: snapshot.places,
            steps: snapshot.steps,
            series: snapshot.series,
            task_bytes: snapshot.task_bytes,
            trace_bytes: snapshot.trace_bytes,
            dropped: snapshot.dropped.map(|(events, at)| (events, scale.ns(at))),
        }
    }

    /// Times of all threads together, by slot.
    pub(crate) fn by_slot(&self) -> Slots {
        std::array::from_fn(|slot| self.rows.iter().map(|row| row.ns[slot]).sum())
    }

    /// The time of all threads while they were workers.
    pub(crate) fn inside_ns(&self) -> u64 {
        self.by_slot().iter().skip(SLOT_OUTSIDE + 1).sum()
    }

    /// The time of all threads in which nothing is known of them.
    pub(crate) fn unseen_ns(&self) -> u64 {
        self.rows.iter().map(|row| row.unseen_ns).sum()
    }

    pub(crate) fn tasks(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.role == Role::Task)
    }

    /// Tasks that have ended, those of them that ran at once, and their own time.
    pub(crate) fn task_sums(&self) -> (u64, u64, u64) {
        self.tasks().fold((0, 0, 0), |(runs, inlined, ns), function| {
            (runs + function.runs, inlined + function.inlined, ns + function.ns)
        })
    }

    /// Whether anything ran around tasks.
    pub(crate) fn runs_code(&self) -> bool {
        self.functions.iter().any(|function| function.role == Role::Code)
    }

    /// The use of each slot, in words; `names` are those of the functions that have slots.
    pub(crate) fn slot_names(&self) -> [String; SLOTS] {
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

fn function(counts: FunctionCounts, scale: Scale) -> Function {
    let FunctionCounts { function, ticks_max, lengths, .. } = counts;
    Function {
        name: Name::of(&function),
        role: function.role,
        slot: function.slot,
        runs: counts.runs,
        inlined: counts.inlined,
        ns: scale.ns(counts.ticks),
        median_ns: scale.ns(lengths.at_permille(500).min(ticks_max)),
        high_ns: scale.ns(lengths.at_permille(990).min(ticks_max)),
        longest_ns: scale.ns(ticks_max),
        wide: counts.wide,
        why_wide: counts.why_wide,
    }
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use evenkeel_runtime::internal::recording::snapshot;
    use evenkeel_runtime::{Runtime, Watch};

    use super::*;

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
        let view = View::of(snapshot(&watch));
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
