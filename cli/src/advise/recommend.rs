//! `evenkeel advise --trace` without a scheduler: what should be done on the recorded machine?

use std::cmp::Ordering;
use std::path::Path;

use anyhow::{Result, ensure};
use serde::Serialize;
use silicon::Estimate;
use silicon::advice::NO_DIFFERENCE_POINTS;
use trace::Glob;

use super::action::{Action, actions};
use super::gains::{self, Done, Verdict};
use super::predict::{BASELINE, Prediction, predict};
use super::situation::{Found, Situation, read};
use super::{Args, recommend_text};
use crate::run_options::Sensors;
use crate::{files, terminal};

/// Programs with less than this share of the work are not listed.
const LISTED_SHARE_MIN: f64 = 0.01;

/// The advice.
#[derive(Serialize)]
pub struct Report {
    schema: u32,
    pub work: String,
    /// The simulated CPU; `None`: nothing was simulated.
    pub cpu: Option<String>,
    /// The scheduler that each action is compared with.
    baseline: &'static str,
    /// How the simulated scx_evenkeel knows wide code.
    sensors: Option<&'static str>,
    seed: u64,
    pub seeds: u32,
    /// A change counts if its interval is beyond this.
    threshold_pct: f64,
    /// The reason why no action can gain, where no simulation is needed.
    pub nothing_to_gain: Option<String>,
    /// Programs whose code lowers the clock.
    pub wide_programs: Vec<String>,
    /// The best first.
    pub actions: Vec<Advised>,
    pub notes: Vec<String>,
}

/// An action and its prediction.
#[derive(Serialize)]
pub struct Advised {
    #[serde(flatten)]
    pub action: Action,
    pub name: String,
    pub effect: String,
    /// Commands that apply the action, for a shell.
    pub commands: Vec<String>,
    /// `None`: the action cannot be judged without the program's own speed-up.
    pub verdict: Option<Verdict>,
    /// Predicted changes; `None`: not simulated.
    pub changes: Option<Changes>,
    /// Of a mode of scx_evenkeel that compensates: its changes against the mode `fair`, which does
    /// not. What that one changes is the effect of another scheduler as such.
    pub changes_from_fair: Option<Changes>,
    pub break_even: Option<BreakEven>,
}

/// Predicted changes of the work done in the same time, in percent.
#[derive(Serialize)]
pub struct Changes {
    pub all_pct: Estimate,
    /// Programs whose own code does not lower the clock; `None`: no such program ran.
    pub victims_pct: Option<Estimate>,
    pub wide_pct: Option<Estimate>,
    /// Those that do most work first.
    pub programs: Vec<ProgramChange>,
}

impl Changes {
    /// Whether they are a gain.
    pub fn verdict(&self) -> Verdict {
        gains::judge(&self.all_pct, self.victims_pct.as_ref(), self.wide_pct.as_ref())
    }
}

#[derive(Serialize)]
pub struct ProgramChange {
    pub name: String,
    pub change_pct: Estimate,
}

/// The speed-up by 512-bit code above which that code pays for the whole machine.
#[derive(Serialize)]
pub struct BreakEven {
    /// `None`: in some seed no speed-up is enough.
    pub speedup: Option<Estimate>,
}

/// Runs the verb.
pub fn run(args: &Args, path: &Path) -> Result<()> {
    refuse_of_switching(args)?;
    let report = match read(args, path)? {
        Found::Nothing { cpu, why } => nothing(args, path, cpu, why),
        Found::Loss(situation) => advised(args, &situation)?,
    };
    let took_stdout =
        args.json.as_ref().map(|path| files::write_json(path, &report)).transpose()?;
    if took_stdout == Some(true) {
        return Ok(());
    }
    terminal::print(&recommend_text::text(&report, terminal::width()))
}

/// These options are of one scheduler that is switched.
fn refuse_of_switching(args: &Args) -> Result<()> {
    for (flag, is_given) in [
        ("--program", args.program.is_some()),
        ("--background", args.background.is_some()),
        ("--window", args.window.is_some()),
        ("--pairs", args.pairs.is_some()),
    ] {
        ensure!(!is_given, "{flag}: name the --scheduler whose specialization is switched as well");
    }
    Ok(())
}

fn nothing(args: &Args, path: &Path, cpu: Option<String>, why: String) -> Report {
    let nothing = Advised {
        action: Action::Nothing,
        name: Action::Nothing.name(),
        effect: why.clone(),
        commands: Vec::new(),
        verdict: Some(Verdict::NoDifference),
        changes: None,
        changes_from_fair: None,
        break_even: None,
    };
    Report {
        schema: 1,
        work: path.display().to_string(),
        cpu,
        baseline: BASELINE,
        sensors: None,
        seed: args.run.seed,
        seeds: 0,
        threshold_pct: NO_DIFFERENCE_POINTS,
        nothing_to_gain: Some(why),
        wide_programs: Vec::new(),
        actions: vec![nothing],
        notes: Vec::new(),
    }
}

fn advised(args: &Args, situation: &Situation) -> Result<Report> {
    let by = sensors(args, situation);
    let names = situation.culprits.iter();
    let wide_programs: Vec<String> =
        names.map(|&it| situation.workload.applications[it as usize].name.clone()).collect();
    for speedup in &args.speedup {
        let is_its = |name: &String| Glob::new(&speedup.glob).fits(name);
        ensure!(
            wide_programs.iter().any(is_its),
            "--speedup: `{}` fits no program with wide code; these are {}",
            speedup.glob,
            wide_programs.join(", ")
        );
    }
    let factor = |name: &str| {
        let found = args.speedup.iter().find(|it| Glob::new(&it.glob).fits(name));
        found.map(|speedup| speedup.factor)
    };
    let actions = actions(situation, factor);
    let predictions = predict(args, situation, &actions, by)?;
    let late = late_note(situation, &predictions);
    let fair = fair(&actions, &predictions);
    let judge = |(action, prediction)| {
        let from_fair = changes_from_fair(situation, &action, prediction, fair);
        let advised = judged(args, situation, by, action, prediction);
        Advised { changes_from_fair: from_fair, ..advised }
    };
    let mut advised: Vec<Advised> = actions.iter().cloned().zip(&predictions).map(judge).collect();
    advised.sort_by(by_rank);
    Ok(Report {
        schema: 1,
        work: situation.work.name().to_owned(),
        cpu: Some(situation.cpu.name.clone()),
        baseline: BASELINE,
        sensors: Some(by.name()),
        seed: args.run.seed,
        seeds: args.replicates,
        threshold_pct: NO_DIFFERENCE_POINTS,
        nothing_to_gain: None,
        wide_programs,
        actions: advised,
        notes: situation.notes.iter().cloned().chain(late).collect(),
    })
}

/// How the simulated scx_evenkeel knows wide code: by rules where there are some, unless another
/// set than the default was asked for.
fn sensors(args: &Args, situation: &Situation) -> Sensors {
    match args.run.sensors.first().copied().unwrap_or(Sensors::D7) {
        Sensors::D7 if !situation.rules.is_empty() => Sensors::Rules,
        other => other,
    }
}

/// Names the programs with work whose changes are not told.
fn late_note(situation: &Situation, predictions: &[Prediction]) -> Option<String> {
    let seeds = predictions.iter().find_map(|it| match it {
        Prediction::Done(seeds) => Some(seeds),
        _ => None,
    })?;
    let late = situation.late.iter().map(|&index| index as usize);
    let late = late.filter(|&index| has_work(seeds, index));
    let name = |index: usize| situation.workload.applications[index].name.as_str();
    let names: Vec<&str> = late.map(name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Part of all work alone: {}, which began late in the simulated time. An action that \
             delays such a program moves its work behind the end.",
            names.join(", ")
        )
    })
}

/// The work of an application without an action, over seeds.
fn work(seeds: &[Vec<Done>], application: usize) -> f64 {
    seeds.iter().map(|done| done[application].before).sum()
}

/// Whether an application does enough to be listed.
fn has_work(seeds: &[Vec<Done>], application: usize) -> bool {
    let all: f64 = seeds.iter().flatten().map(|done| done.before).sum();
    work(seeds, application) >= LISTED_SHARE_MIN * all
}

fn judged(
    args: &Args,
    situation: &Situation,
    by: Sensors,
    action: Action,
    prediction: &Prediction,
) -> Advised {
    let (verdict, changes, break_even) = match prediction {
        Prediction::Nothing => (Some(Verdict::NoDifference), None, None),
        Prediction::Done(seeds) => {
            let changes = changes(situation, seeds);
            let verdict = changes.as_ref().map_or(Verdict::Undecided, Changes::verdict);
            (Some(verdict), changes, None)
        }
        Prediction::BreakEven(seeds) => {
            let found: Option<Vec<f64>> = seeds.iter().copied().collect();
            let speedup = found.and_then(|found| {
                let seed = |after| Done { before: 1.0, after };
                gains::change_pct(found.into_iter().map(seed))
            });
            let speedup = speedup.map(|change| change.map(|percent| 1.0 + percent / 100.0));
            (None, None, Some(BreakEven { speedup }))
        }
    };
    Advised {
        name: action.name(),
        effect: action.effect(situation),
        commands: action.commands(situation, args.run.cpu.as_deref(), by),
        action,
        verdict,
        changes,
        changes_from_fair: None,
        break_even,
    }
}

/// The work by seed under the mode that compensates nothing.
fn fair<'a>(actions: &[Action], predictions: &'a [Prediction]) -> &'a [Vec<Done>] {
    let found = actions.iter().zip(predictions).find(|(action, _)| **action == Action::FAIR);
    match found {
        Some((_, Prediction::Done(seeds))) => seeds,
        _ => &[],
    }
}

fn changes_from_fair(
    situation: &Situation,
    action: &Action,
    prediction: &Prediction,
    fair: &[Vec<Done>],
) -> Option<Changes> {
    let seeds = match (action, prediction) {
        (Action::Scheduler { .. }, Prediction::Done(seeds)) if *action != Action::FAIR => seeds,
        _ => return None,
    };
    let pair = |(fair, done): (&Done, &Done)| Done { before: fair.after, after: done.after };
    let of_seed =
        |(fair, done): (&Vec<Done>, &Vec<Done>)| fair.iter().zip(done).map(pair).collect();
    let seeds: Vec<Vec<Done>> = fair.iter().zip(seeds).map(of_seed).collect();
    changes(situation, &seeds)
}

fn changes(situation: &Situation, seeds: &[Vec<Done>]) -> Option<Changes> {
    let applications = &situation.workload.applications;
    let change = |is_meant: &dyn Fn(usize) -> bool| {
        gains::change_pct(seeds.iter().map(|done| gains::sum(done, is_meant)))
    };
    let is_wide = |index: usize| situation.culprits.contains(&(index as u32));
    let is_listed =
        |&index: &usize| has_work(seeds, index) && !situation.late.contains(&(index as u32));
    let mut listed: Vec<usize> = (0..applications.len()).filter(is_listed).collect();
    listed.sort_by(|&a, &b| work(seeds, b).total_cmp(&work(seeds, a)));
    let program = |index: usize| {
        let change_pct = change(&|other| other == index)?;
        Some(ProgramChange { name: applications[index].name.clone(), change_pct })
    };
    let is_victim = |index: usize| situation.victims.contains(&(index as u32));
    Some(Changes {
        all_pct: change(&|_| true)?,
        victims_pct: change(&is_victim),
        wide_pct: change(&is_wide),
        programs: listed.into_iter().filter_map(program).collect(),
    })
}

/// Verdicts in order, with what cannot be judged before what loses; doing nothing comes before
/// whatever is no better.
fn rank(advised: &Advised) -> u32 {
    match (&advised.action, advised.verdict) {
        (Action::Nothing, _) => 1,
        (_, Some(Verdict::Gains)) => 0,
        (_, Some(Verdict::Trades)) => 2,
        (_, None) => 3,
        (_, Some(Verdict::Undecided)) => 4,
        (_, Some(Verdict::NoDifference)) => 5,
        (_, Some(Verdict::Loses)) => 6,
    }
}

/// What actions of the same verdict are sorted by: the change of all work where that is certain,
/// then that of the victims.
fn gain(advised: &Advised) -> (f64, f64) {
    let Some(changes) = &advised.changes else { return (0.0, 0.0) };
    let is_zero = changes.all_pct.is_inside(-NO_DIFFERENCE_POINTS, NO_DIFFERENCE_POINTS);
    let all = if is_zero { 0.0 } else { changes.all_pct.value };
    (all, changes.victims_pct.map_or(0.0, |change| change.value))
}

fn by_rank(a: &Advised, b: &Advised) -> Ordering {
    let ((all_a, victims_a), (all_b, victims_b)) = (gain(a), gain(b));
    let by_gain = all_b.total_cmp(&all_a).then(victims_b.total_cmp(&victims_a));
    rank(a).cmp(&rank(b)).then(by_gain)
}
