//! What does this machine do with wide instructions? Asked of a [`Machine`] in rounds of bursts.

mod class;
mod curve;
mod effect;
mod entry;
mod fall;
mod findings;
mod neighbours;
mod rates;
mod rounds;
mod table;
mod transitions;
mod words;

use cpu_model::Class;

use crate::machine::{Facts, Machine, Others, Random};
use rounds::{Kind, Rounds};

pub use curve::Point;
pub use findings::{
    ClassFinding, Condition, Cost, FINDINGS_SCHEMA, Findings, Hold, Level, Neighbour, Place,
    RateFinding, Transition, Verdict,
};
pub use table::table;
pub use words::{class_words, duration_words};

/// Shares of the time: all classes with no other core busy; with other cores busy, together.
const ALONE_SHARE: f64 = 0.45;
const BUSY_SHARE: f64 = 0.25;
/// Then, for affected classes: other CPUs, ways between levels, rates.
const NEIGHBOURS_SHARE: f64 = 0.1;
const TRANSITIONS_SHARE: f64 = 0.1;
const RATES_SHARE: f64 = 0.1;

/// Two classes share a level when their clocks are so near, as a share of scalar's.
const LEVEL_WIDTH: f64 = 0.01;

/// A run in progress: the machine, the random numbers, the clock and the listener for progress.
struct Run<'a, M> {
    machine: &'a mut M,
    random: Random,
    start_ns: f64,
    duration_ns: f64,
    /// Share of the duration that the questions asked so far may have used.
    used: f64,
    progress: &'a mut dyn FnMut(f64),
    bursts: (usize, usize),
}

impl<M: Machine> Run<'_, M> {
    /// Plays rounds of these kinds for a share of the duration.
    fn play(&mut self, kinds: &[Kind], others: Others, share: f64) -> Rounds {
        self.used += share;
        let until_ns = self.start_ns + self.used * self.duration_ns;
        let (start_ns, duration_ns) = (self.start_ns, self.duration_ns);
        let progress = &mut *self.progress;
        let mut tell = |now_ns: f64| progress(((now_ns - start_ns) / duration_ns).min(1.0));
        let rounds =
            rounds::play(self.machine, &mut self.random, (kinds, others), until_ns, &mut tell);
        let (all, interrupted) = rounds.interrupted();
        self.bursts = (self.bursts.0 + all, self.bursts.1 + interrupted);
        rounds
    }
}

/// Measures a machine for about `seconds`; less if no class is affected. `progress` receives
/// the share that is done. The order of the bursts is drawn from `seed`.
pub fn characterize(
    machine: &mut impl Machine,
    seconds: f64,
    seed: u64,
    progress: &mut dyn FnMut(f64),
) -> Findings {
    let facts = machine.facts().clone();
    let start_ns = machine.now_ns();
    let mut run = Run {
        machine,
        random: Random::new(seed),
        start_ns,
        duration_ns: seconds * 1e9,
        used: 0.0,
        progress,
        bursts: (0, 0),
    };
    let conditions = conditions(&mut run, &facts);
    let mut findings = Findings {
        schema: FINDINGS_SCHEMA,
        sentence: String::new(),
        place: place(&facts),
        conditions,
        levels: Vec::new(),
        transitions: Vec::new(),
        neighbours: Vec::new(),
        rates: Vec::new(),
        bursts: 0,
        bursts_interrupted: 0,
        hidden: facts.hidden.clone(),
        checks: facts.checks.clone(),
    };
    findings.levels = levels(&findings);
    neighbours::ask(&mut run, &facts, &mut findings);
    transitions::ask(&mut run, &mut findings);
    rates::ask(&mut run, &mut findings);
    (findings.bursts, findings.bursts_interrupted) = run.bursts;
    findings.sentence = words::sentence(&findings);
    (run.progress)(1.0);
    findings
}

/// All classes, with no other core busy and then with some.
fn conditions<M: Machine>(run: &mut Run<'_, M>, facts: &Facts) -> Vec<Condition> {
    let busy = busy_counts(facts.other_cores);
    let classes = facts.classes();
    let kinds: Vec<Kind> = classes.iter().map(|&class| Kind::of(class)).collect();
    let tests = (classes.len() - 1) * (1 + busy.len());
    let alone_share = ALONE_SHARE + if busy.is_empty() { BUSY_SHARE } else { 0.0 };
    let mut conditions = Vec::new();
    for (busy_others, share) in std::iter::once((0, alone_share))
        .chain(busy.iter().map(|&count| (count, BUSY_SHARE / busy.len() as f64)))
    {
        let others = if busy_others == 0 { Others::Idle } else { Others::Busy(busy_others) };
        let rounds = run.play(&kinds, others, share);
        conditions.push(class::condition(&rounds, facts, busy_others, tests));
    }
    conditions
}

/// How many other cores to keep busy: all, and on large machines some numbers in between.
fn busy_counts(other_cores: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = [other_cores / 4, other_cores / 2, other_cores]
        .into_iter()
        .filter(|&count| count > 0)
        .collect();
    counts.dedup();
    counts
}

/// Affected classes put together by their clocks.
fn levels(findings: &Findings) -> Vec<Level> {
    let mut clocks: Vec<(f64, Class)> = findings
        .affected()
        .into_iter()
        .filter_map(|class| Some((findings.telling(class)?.1.ratio?.value, class)))
        .collect();
    clocks.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut levels: Vec<Level> = Vec::new();
    for (ratio, class) in clocks {
        match levels.last_mut() {
            Some(level) if level.ratio - ratio < LEVEL_WIDTH => level.classes.push(class),
            _ => levels.push(Level { classes: vec![class], ratio }),
        }
    }
    for level in &mut levels {
        level.classes.sort();
    }
    levels
}

fn place(facts: &Facts) -> Place {
    Place {
        cpu_name: facts.cpu_name.clone(),
        signature: facts.signature,
        is_virtual: facts.is_virtual,
        cpu: facts.cpu,
        counts: facts.counts,
        tsc_mhz: facts.tsc_hz as f64 / 1e6,
    }
}
