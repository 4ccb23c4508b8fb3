//! What was found, as data. Clocks are in GHz, durations in microseconds, and every estimate is a
//! median with its 95 % interval.

use cpu_model::Class;
use serde::Serialize;

use super::curve::Point;
use crate::statistics::Estimate;

/// Newest schema of findings.
pub const FINDINGS_SCHEMA: u32 = 1;

/// The verdict on a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict", content = "reason")]
pub enum Verdict {
    /// The class lowers the clock of the code after it, surely and by at least 1 %.
    Affected,
    /// The class surely changes the clock by less than 1 %.
    Unaffected,
    /// Neither is sure, and why.
    Hidden(String),
    /// The class cannot run on this machine; the reason.
    Unsupported(String),
}

/// A cost, and the cases that were left out of the estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The time lost.
    pub us: Estimate,
    /// Samples of more than 100 us, which are preemptions (D 5.2.1).
    pub discarded: usize,
}

/// How long the clock stays low.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hold {
    /// From the last wide instruction until the clock is back.
    pub us: Estimate,
    /// The nine deciles of the bursts.
    pub deciles_us: [f64; 9],
    /// Bursts after which the clock did not come back before the last window.
    pub not_back: usize,
    /// Bursts that were interrupted.
    pub interrupted: usize,
    /// Bursts in which no time of return is clear.
    pub unclear: usize,
}

/// The effect of a class in one condition.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFinding {
    /// The class.
    pub class: Class,
    /// The verdict in this condition.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Clock after it over that after scalar code: of the plateau if it is affected, else where
    /// the two differ most.
    pub ratio: Option<Estimate>,
    /// How long the clock stays low; for affected classes.
    pub hold: Option<Hold>,
    /// Cost until the class runs at its own level.
    pub entry: Option<Cost>,
    /// Cost of the clock's return; for affected classes.
    pub boost: Option<Cost>,
    /// Time at the full clock that pays for a return and a new entry (Eq. D 5.2).
    pub break_even_us: Option<Estimate>,
    /// Clock in GHz over the time since the last instruction, each burst against the scalar one of
    /// its round.
    pub after: Vec<Point>,
    /// Rate of instructions over the time since the first one; 1 = in the end.
    pub entry_curve: Vec<Point>,
}

/// All classes while this many other cores are busy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Condition {
    /// Other cores that execute scalar code.
    pub busy_others: usize,
    /// Rounds played.
    pub rounds: usize,
    /// Clock of scalar code, in GHz; quartiles instead of an interval.
    pub scalar_ghz: Estimate,
    /// Clock in GHz over the time since the last instruction of a scalar burst, each burst against
    /// its own mean.
    pub scalar_after: Vec<Point>,
    /// By class; scalar is not among them.
    pub classes: Vec<ClassFinding>,
}

impl Condition {
    /// Findings about a class.
    #[must_use]
    pub fn class(&self, class: Class) -> Option<&ClassFinding> {
        self.classes.iter().find(|finding| finding.class == class)
    }
}

/// Classes that lower the clock equally.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Classes of the level, lightest first; the first one names the level.
    pub classes: Vec<Class>,
    /// Clock over that of scalar code.
    pub ratio: f64,
}

/// The way between two levels other than scalar's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Transition {
    /// Class of the faster level, which runs before and after.
    pub from: Class,
    /// Class of the slower one.
    pub to: Class,
    /// Cost of the way down.
    pub entry: Option<Cost>,
    /// Cost of the way back.
    pub boost: Option<Cost>,
    /// From the last instruction of the slower class until the clock is back.
    pub hold_us: Option<Estimate>,
    /// Eq. D 5.2 for the two.
    pub break_even_us: Option<Estimate>,
}

/// The effect of a class that another CPU sees.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Neighbour {
    /// The other CPU.
    pub cpu: u32,
    /// `sibling`, `core` (another one of the package) or `package` (another one).
    pub place: &'static str,
    /// The class that runs here.
    pub class: Class,
    /// Whether the other CPU's clock is lowered too.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Its clock over that beside scalar code.
    pub ratio: Option<Estimate>,
}

/// How dense a class must be to lower the clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RateFinding {
    /// The class.
    pub class: Class,
    /// Instructions per 1000 cycles at most, and the clock over that after scalar code.
    pub ratios: Vec<(u32, Estimate)>,
    /// The sparsest of these that still reaches the level of full density.
    pub reaches_level_from_permille: Option<u32>,
}

/// Where the measurement was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Place {
    /// The CPU in words.
    pub cpu_name: String,
    /// Family, model and stepping.
    pub signature: Option<(u32, u32, u32)>,
    /// Whether a hypervisor is in between.
    pub is_virtual: bool,
    /// The CPU that was measured.
    pub cpu: u32,
    /// Packages, cores of a package and threads of a core, as far as they can be seen.
    pub counts: (u32, u32, u32),
    /// Frequency of the TSC in MHz.
    pub tsc_mhz: f64,
}

/// All that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// [`FINDINGS_SCHEMA`].
    pub schema: u32,
    /// The answer.
    pub sentence: String,
    /// Where.
    pub place: Place,
    /// By number of other busy cores, none first.
    pub conditions: Vec<Condition>,
    /// Levels below that of scalar code, the fastest first.
    pub levels: Vec<Level>,
    /// Ways between them.
    pub transitions: Vec<Transition>,
    /// Effects that other CPUs see.
    pub neighbours: Vec<Neighbour>,
    /// How dense affected classes must be.
    pub rates: Vec<RateFinding>,
    /// Bursts played, and how many of them something interrupted.
    pub bursts: usize,
    /// Interrupted ones.
    pub bursts_interrupted: usize,
    /// Properties that this machine hides, in sentences.
    pub hidden: Vec<String>,
    /// Other sources of the frequency, compared with the chain, in sentences.
    pub checks: Vec<String>,
}

impl Findings {
    /// What was found about a class where it shows: in the first condition in which it is
    /// affected, else with no other core busy.
    #[must_use]
    pub fn telling(&self, class: Class) -> Option<(usize, &ClassFinding)> {
        let all = || {
            self.conditions
                .iter()
                .filter_map(|condition| Some((condition.busy_others, condition.class(class)?)))
        };
        let is = |verdict: fn(&Verdict) -> bool| all().find(|(_, found)| verdict(&found.verdict));
        is(|verdict| *verdict == Verdict::Affected)
            .or_else(|| is(|verdict| matches!(verdict, Verdict::Hidden(_))))
            .or_else(|| all().next())
    }

    /// Classes that lower the clock in any condition, lightest first.
    #[must_use]
    pub fn affected(&self) -> Vec<Class> {
        let is_affected = |class: &Class| {
            self.telling(*class).is_some_and(|(_, found)| found.verdict == Verdict::Affected)
        };
        Class::ALL.into_iter().filter(is_affected).collect()
    }
}
