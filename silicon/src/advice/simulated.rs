//! The same question asked to a simulated machine, in two ways.

use cpu_model::CpuModel;
use scenarios::Workload;
use simulator::{Config, Operated, Operator, Outcome, SimError, TaskOutcome};

use super::{Alternation, Pair, Plan};
use crate::Estimate;
use crate::changes::of_changes;

/// What one seed says.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Pairs of windows of a run in which specialization is switched.
    pub pairs: Vec<Pair>,
    /// Work a second of a whole run without specialization, and of one with it.
    pub whole: (f64, f64),
}

/// Never switches specialization on.
struct Off {
    acts_ns: Option<u64>,
}

impl Operator for Off {
    fn acts_ns(&self) -> Option<u64> {
        self.acts_ns
    }

    fn act(&mut self, machine: &mut dyn Operated) {
        self.acts_ns = None;
        machine.specialize(false);
    }
}

/// Runs a workload three times under a scheduler with core specialization: with it, without it,
/// and while it is switched.
///
/// # Errors
/// When the simulator refuses the workload, or the scheduler has no core specialization.
pub fn simulate(
    cpu: &CpuModel,
    workload: &Workload,
    config: &Config,
    plan: &Plan,
) -> Result<Simulated, SimError> {
    let mut alternation = Alternation::new(plan.clone(), config.start.counts_from_ns());
    simulator::run_operated(cpu, workload, config, &mut alternation)?;
    let mut off = Off { acts_ns: Some(0) };
    let without = simulator::run_operated(cpu, workload, config, &mut off)?;
    let with = simulator::run(cpu, workload, config)?;
    let whole = (rate(&without), rate(&with));
    Ok(Simulated { pairs: alternation.pairs().to_vec(), whole })
}

/// Sum over tasks of their reference cycles a second, each from the end of the warm-up to its own
/// end: as programs end one after the other, the last ones leave CPUs idle.
fn rate(outcome: &Outcome) -> f64 {
    let from_ns = outcome.warm_up.as_ref().map_or(0, |warm_up| warm_up.ended_ns);
    let before = |task: usize| outcome.warm_up.as_ref().map_or(0, |it| it.ref_cycles[task]);
    let of_task = |(index, task): (usize, &TaskOutcome)| {
        let end_ns = task.completion_ns.unwrap_or(outcome.simulated_ns);
        let seconds = end_ns.saturating_sub(from_ns).max(1) as f64 / 1e9;
        task.ref_cycles.saturating_sub(before(index)) as f64 / seconds
    };
    outcome.tasks.iter().enumerate().map(of_task).sum()
}

/// The change of whole runs over seeds, in percent; `None` for too few seeds.
#[must_use]
pub fn whole_runs(seeds: &[Simulated]) -> Option<Estimate> {
    let change = |it: &Simulated| (it.whole.1 / it.whole.0 - 1.0) * 100.0;
    of_changes(&seeds.iter().map(change).collect::<Vec<_>>())
}
