//! What a profile says: the losses of programs to each other, as the outputs of a profile take it.
//!
//! The types are plain values, so that any estimator can fill them. [`crate::profile_page`] shows
//! all of them to a person; [`folded()`] and [`pprof()`] write the call stacks for other tools.
//! Names come from recorded programs and may hold anything: every output makes them harmless.

pub(crate) mod answer;
mod folded;
mod pprof;
pub(crate) mod words;

pub use answer::answer;
pub use folded::folded;
pub use pprof::pprof;
pub use words::SHOWN_MIN;

/// A profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// What was profiled, such as the name of a recording.
    pub title: String,
    /// How it was profiled: names and values, in the order in which they are shown.
    pub facts: Vec<(String, String)>,
    /// What a reader should know: sentences.
    pub notes: Vec<String>,
    /// Whether losses of clock are known. Without, all of them are 0 here.
    pub has_clock: bool,
    /// How losses of clock were estimated, or why they are not known: a sentence.
    pub estimator: String,
    /// What measured clocks say of all programs, instead of the largest loss: a sentence.
    pub verdict: Option<String>,
    /// What wide code gained its program, and what it cost others, if that was measured.
    pub comparison: Option<Comparison>,
    /// What a victim or a culprit is, as a heading: such as `program` or `thread`.
    pub by: String,
    /// Names of the programs that were asked for; empty: all.
    pub focus: Vec<String>,
    /// Programs, in any order.
    pub victims: Vec<Victim>,
    /// Pairs of programs, in any order.
    pub losses: Vec<Loss>,
    /// Which program ran when; may be empty.
    pub time_line: TimeLine,
    /// Call stacks of culprits, in any order; may be empty.
    pub stacks: Vec<Stack>,
}

/// A program with wide code against the same work with narrow code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// The finding, in a few words.
    pub title: String,
    /// Heads of the columns; one that begins with `#` is of numbers.
    pub heads: Vec<String>,
    /// A cell for each head.
    pub rows: Vec<Vec<String>>,
    /// What the figures mean: sentences.
    pub sentences: Vec<String>,
}

/// A value and its 95 % interval. Bounds that are not finite: the interval is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

impl Interval {
    /// A value whose interval is not known.
    #[must_use]
    pub fn unbounded(value: f64) -> Self {
        Self { value, low: f64::NEG_INFINITY, high: f64::INFINITY }
    }
}

/// What one program lost. Times are sums over its threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Victim {
    /// The program, or whatever the profile is grouped by. Losses name it by the same text.
    pub name: String,
    /// What else is known of it, such as its container: names and values.
    pub labels: Vec<(String, String)>,
    /// Its full path, if it is a control group; shown where the pointer is on its name.
    pub path: Option<String>,
    /// CPU time, in s.
    pub cpu_time_s: f64,
    /// Time for which its threads were runnable and did not run, in s.
    pub waited_s: f64,
    /// CPU time lost to license levels that it does not demand, in s.
    pub lost_s: Interval,
    /// By how much longer its work took because of them, in percent.
    pub overhead_pct: Interval,
    /// What the loss rests on: `measured`; `table`, that is classes or registers and a CPU table;
    /// `assumed`, that is too few samples, and so taken to demand no level; or `at least`: it
    /// demands a level itself, and only part of its loss is known.
    pub basis: &'static str,
    /// The highest license level that its tasks demand, by name; `None`: no table of levels holds.
    pub demands: Option<String>,
}

/// What one program lost to another. All times are in s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loss {
    /// [`Victim::name`] of the program that lost.
    pub victim: String,
    /// The program that it lost to; `None`: not known.
    pub culprit: Option<String>,
    /// CPU time lost to the clock: the sum of the next three.
    pub lost_s: Interval,
    /// Of it, after the culprit had run on the core.
    pub by_hold_s: f64,
    /// Of it, while the culprit ran on the sibling.
    pub by_sibling_s: f64,
    /// Of it, while the core was throttled or halted on the way to the level.
    pub by_transition_s: f64,
    /// Time for which the victim was runnable while the culprit had the CPU.
    pub waited_s: f64,
    /// CPU time lost to the culprit's share of the core's execution units.
    pub by_shared_core_s: f64,
    /// CPU time lost to the package's lower turbo row, because cores of the culprit were active.
    pub by_row_s: f64,
    /// CPU time for which the victim stalled on memory because of the culprit; `None`: not known.
    pub stalled_s: Option<f64>,
}

impl Loss {
    /// All that the victim lost to the culprit, of whatever kind, in s.
    pub(crate) fn all_s(&self) -> f64 {
        let kinds = [self.lost_s.value, self.waited_s, self.by_shared_core_s, self.by_row_s];
        kinds.into_iter().chain(self.stalled_s).filter(|it| it.is_finite()).sum()
    }
}

/// Which program ran on each CPU when. Times are in s from the begin of the profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TimeLine {
    /// Length of the profile.
    pub length_s: f64,
    /// The cores, in the order in which they are drawn.
    pub cores: Vec<Core>,
    /// Names of programs, for [`Span::group`].
    pub groups: Vec<String>,
}

/// A physical core.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Core {
    /// Its name, such as `core 3`.
    pub name: String,
    /// Its CPUs.
    pub cpus: Vec<Lane>,
    /// When it was at which license level above 0: begin and end in s, and the level. In order of
    /// time; empty where levels are not known.
    pub levels: Vec<(f64, f64, u8)>,
}

/// What ran on a CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// The CPU.
    pub cpu: u32,
    /// Stretches of time in which a program ran there.
    pub spans: Vec<Span>,
}

/// A stretch of time of a program on a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// Begin, in s.
    pub from_s: f64,
    /// End, in s.
    pub to_s: f64,
    /// Index into [`TimeLine::groups`].
    pub group: usize,
}

/// A call stack of a culprit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stack {
    /// Name of the thread.
    pub thread: String,
    /// The program.
    pub group: String,
    /// Functions, from the outermost to the innermost.
    pub frames: Vec<String>,
    /// CPU time that others lost to the program, as much of it as is put down to this stack, in s.
    pub lost_s: f64,
    /// How often the stack was seen.
    pub count: u64,
    /// Why stacks of this kind are recorded, such as `wide code`.
    pub kind: String,
}

/// What the size of a stack means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// [`Stack::lost_s`].
    LostTime,
    /// [`Stack::count`].
    Count,
}

impl Weight {
    /// Time lost, if any stack has some; else counts.
    pub(crate) fn of(stacks: &[Stack]) -> Self {
        if stacks.iter().any(|stack| Self::LostTime.size(stack) > 0.0) {
            Self::LostTime
        } else {
            Self::Count
        }
    }

    /// The size of a stack, in s or as a count. A time that is below 1 ns, or beyond any profile,
    /// is 0, so that sums and shares of sizes are finite.
    pub(crate) fn size(self, stack: &Stack) -> f64 {
        match self {
            Self::LostTime if (1e-9..1e12).contains(&stack.lost_s) => stack.lost_s,
            Self::LostTime => 0.0,
            Self::Count => stack.count as f64,
        }
    }
}

/// The name, cut to `most` characters. Of one that ends with what tells it from equal names, as
/// `x.service (user 1000)` and `program/12` do, the middle is cut.
#[must_use]
pub fn shortened(name: &str, most: usize) -> String {
    let count = name.chars().count();
    if count <= most {
        return name.to_owned();
    }
    let number = name.rsplit_once('/').map_or("", |(_, last)| last);
    let is_number = !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit());
    let end = match () {
        () if name.ends_with(')') && name.contains(" (") => most / 2,
        () if is_number => (number.len() + 1).min(most / 2),
        () => 0,
    };
    let (begin, rest) = (name.chars().take(most - 1 - end), name.chars().skip(count - end));
    begin.chain(['…']).chain(rest).collect()
}

/// How many characters of a name other tools get.
const EXPORTED_MAX: usize = 512;

/// A name for other tools: on one line, nothing that a terminal obeys, and not longer than tools
/// can show.
fn exported(name: &str) -> String {
    // Control characters are written as several characters each, so a name is cut before as well.
    let name: String = name.trim().chars().take(EXPORTED_MAX).collect();
    let name: String = crate::format::clean(&name).chars().take(EXPORTED_MAX).collect();
    if name.is_empty() { "[unknown]".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_cut_keeps_what_tells_it_apart() {
        assert_eq!(shortened("nginx.service", 19), "nginx.service");
        assert_eq!(shortened("x.service (user 1000)", 19), "x.service…ser 1000)");
        assert_eq!(shortened("qemu-system-x86/97478", 19), "qemu-system-…/97478");
        assert_eq!(shortened("(kernel threads)", 15), "(kernel thread…");
        assert_eq!(shortened("a-program-with-a-long-name", 19), "a-program-with-a-l…");
    }
}
