//! Simulates every action beside the same run without the action.

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use scenarios::Workload;
use simulator::{Config, Outcome};

use super::Args;
use super::action::Action;
use super::changed;
use super::gains::{self, Done};
use super::situation::Situation;
use crate::parallel::in_order;
use crate::run_options::Sensors;
use crate::terminal;

/// The scheduler that the recorded machine has.
pub const BASELINE: &str = "eevdf";
/// Runs that look for a break-even speed-up; each is nearer to it.
const BREAK_EVEN_RUNS: u32 = 3;

/// The simulated effect of an action.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// Nothing changes.
    Nothing,
    /// By seed, by application: its work.
    Done(Vec<Vec<Done>>),
    /// By seed: the speed-up by 512-bit code at which the whole machine does as much work with it
    /// as without; `None`: no speed-up is enough.
    BreakEven(Vec<Option<f64>>),
}

/// The prediction for each action, over seeds.
pub fn predict(
    args: &Args,
    situation: &Situation,
    actions: &[Action],
    by: Sensors,
) -> Result<Vec<Prediction>> {
    let runs = 1 + actions.iter().map(runs_of).sum::<u32>();
    let bar = terminal::progress(u64::from(args.replicates * runs), "simulating");
    let machine = Machine { args, situation, by, bar: &bar };
    let replicates: Vec<u32> = (0..args.replicates).collect();
    let seeds = in_order(&replicates, |&replicate| machine.seed(actions, replicate))?;
    bar.finish_and_clear();
    let of_action = |index: usize| {
        let mut predictions = seeds.iter().map(|seed| &seed[index]);
        match &actions[index] {
            Action::Nothing => Prediction::Nothing,
            Action::Narrow { speedup: None, .. } => {
                Prediction::BreakEven(predictions.map(|it| it.break_even).collect())
            }
            _ => Prediction::Done(predictions.by_ref().map(|it| it.done.clone()).collect()),
        }
    };
    Ok((0..actions.len()).map(of_action).collect())
}

fn runs_of(action: &Action) -> u32 {
    match action {
        Action::Nothing => 0,
        Action::Narrow { speedup: None, .. } => BREAK_EVEN_RUNS,
        _ => 1,
    }
}

/// The effect of an action with one seed.
#[derive(Default)]
struct OfSeed {
    done: Vec<Done>,
    break_even: Option<f64>,
}

/// The simulated machine.
struct Machine<'a> {
    args: &'a Args,
    situation: &'a Situation,
    by: Sensors,
    bar: &'a ProgressBar,
}

impl Machine<'_> {
    fn seed(&self, actions: &[Action], replicate: u32) -> Result<Vec<OfSeed>> {
        let workload = &self.situation.workload;
        let baseline = self.run(workload, BASELINE, replicate)?;
        let of = |action: &Action| {
            let done = |after: &Outcome| gains::done(workload, &baseline, after);
            Ok(match action {
                Action::Nothing => OfSeed::default(),
                Action::Scheduler { mode } => {
                    let after = self.run(workload, &scheduler(mode), replicate)?;
                    OfSeed { done: done(&after), break_even: None }
                }
                Action::Confine { cpus, .. } => {
                    let confined = changed::confined(workload, &self.situation.culprits, cpus);
                    let after = self.run(&confined, BASELINE, replicate)?;
                    OfSeed { done: done(&after), break_even: None }
                }
                &Action::Narrow { application, speedup: Some(speedup), .. } => OfSeed {
                    done: self.narrowed(application, speedup, &baseline, replicate)?,
                    break_even: None,
                },
                &Action::Narrow { application, speedup: None, .. } => OfSeed {
                    done: Vec::new(),
                    break_even: self.break_even(application, &baseline, replicate)?,
                },
            })
        };
        actions.iter().map(of).collect()
    }

    /// The work with an application that uses 256-bit code, in cycles of its 512-bit code.
    fn narrowed(
        &self,
        application: u32,
        speedup: f64,
        baseline: &Outcome,
        replicate: u32,
    ) -> Result<Vec<Done>> {
        let workload = &self.situation.workload;
        let narrowed = changed::narrowed(workload, application, speedup, &self.situation.cpu);
        let after = self.run(&narrowed, BASELINE, replicate)?;
        let mut done = gains::done(workload, baseline, &after);
        done[application as usize].after /= speedup;
        Ok(done)
    }

    /// The speed-up at which the whole machine does as much work either way. What the application
    /// then does in cycles is as good as independent of the speed-up on a busy machine, so that a
    /// few runs suffice, each with the speed-up that the run before it implies.
    fn break_even(
        &self,
        application: u32,
        baseline: &Outcome,
        replicate: u32,
    ) -> Result<Option<f64>> {
        let mut speedup = 1.0;
        for _ in 0..BREAK_EVEN_RUNS {
            let done = self.narrowed(application, speedup, baseline, replicate)?;
            match gains::break_even(&done, application as usize, speedup) {
                Some(implied) => speedup = implied,
                None => return Ok(None),
            }
        }
        Ok(Some(speedup))
    }

    fn run(&self, workload: &Workload, scheduler: &str, replicate: u32) -> Result<Outcome> {
        let options = &self.args.run;
        let (work, name) = (&self.situation.work, self.situation.work.name());
        let config: Config = options.config(
            options.scheduler(scheduler)?,
            self.by,
            replicate.into(),
            work.start(),
            self.situation.window_ns,
        );
        let outcome = simulator::run(&self.situation.cpu, workload, &config)
            .with_context(|| format!("{name}: {scheduler}, seed {}", config.seed))?;
        self.bar.inc(1);
        Ok(outcome)
    }
}

/// The simulator's scheduler for a mode of `scx_evenkeel`: its own source where this build has it.
fn scheduler(mode: &str) -> String {
    if cfg!(feature = "scx") { format!("scx:{mode}") } else { mode.to_owned() }
}
