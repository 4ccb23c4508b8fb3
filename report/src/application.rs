//! The CPU time and work of one application in one run, and its slowdown against another run.

use scenarios::{Application, Role};
use simulator::{Outcome, TaskOutcome};

use crate::sample::{ReportError, Sample};

/// The threads of an application of one run, summed up.
#[derive(Clone, Debug)]
pub(crate) struct Got {
    pub(crate) application: Application,
    pub(crate) threads: usize,
    /// Sums over the threads; `completion_ns` is the longest, `None` when one did not end.
    pub(crate) sum: TaskOutcome,
    /// Reference cycles a nanosecond of the run, without its warm-up.
    pub(crate) rate: f64,
}

/// Sums up a sample by application.
pub(crate) fn got(sample: &Sample) -> Result<Vec<Got>, ReportError> {
    sum_up_all(
        &sample.applications,
        &sample.thread_application,
        &sample.outcome,
        &sample.scheduler,
        &sample.background,
    )
}

/// Sums up an outcome by application; the names are those of an error.
pub(crate) fn sum_up_all(
    applications: &[Application],
    thread_application: &[u32],
    outcome: &Outcome,
    scheduler: &str,
    background: &str,
) -> Result<Vec<Got>, ReportError> {
    if let Some(what) = contradiction(applications, thread_application, outcome) {
        let (scheduler, background) = (scheduler.to_owned(), background.to_owned());
        return Err(ReportError::Inconsistent { scheduler, background, what });
    }
    let all = applications.iter().enumerate();
    Ok(all.map(|(index, one)| sum_up(outcome, thread_application, index, one)).collect())
}

fn sum_up(
    outcome: &Outcome,
    thread_application: &[u32],
    index: usize,
    application: &Application,
) -> Got {
    let owners = thread_application.iter().map(|&owner| owner as usize);
    let threads: Vec<&TaskOutcome> = owners
        .zip(&outcome.tasks)
        .filter_map(|(owner, task)| (owner == index).then_some(task))
        .collect();
    let total = |of: fn(&TaskOutcome) -> u64| threads.iter().map(|task| of(task)).sum();
    let ends: Option<Vec<u64>> = threads.iter().map(|task| task.completion_ns).collect();
    let sum = TaskOutcome {
        cpu_time_ns: total(|task| task.cpu_time_ns),
        lost_ns: total(|task| task.lost_ns),
        ref_cycles: total(|task| task.ref_cycles),
        completion_ns: ends.and_then(|ends| ends.into_iter().max()),
        slices: total(|task| task.slices),
        migrations: total(|task| task.migrations),
        waited_ns: total(|task| task.waited_ns),
        refunded_ns: total(|task| task.refunded_ns),
        billed_ns: total(|task| task.billed_ns),
    };
    let (from_ns, ref_cycles_before) = outcome.warm_up.as_ref().map_or((0, 0), |warm_up| {
        let threads = thread_application.iter().zip(&warm_up.ref_cycles);
        let own = threads.filter(|&(&owner, _)| owner as usize == index);
        (warm_up.ended_ns, own.map(|(_, done)| done).sum())
    });
    let ref_cycles = sum.ref_cycles.saturating_sub(ref_cycles_before);
    let counted_ns = outcome.simulated_ns.saturating_sub(from_ns);
    let rate = ref_cycles as f64 / counted_ns.max(1) as f64;
    Got { application: application.clone(), threads: threads.len(), sum, rate }
}

impl Got {
    /// Completion over the control's; where a side did not end, the control's rate of work
    /// over this one. `None` when there is no work to judge by.
    pub(crate) fn slowdown(&self, control: &Self) -> Option<f64> {
        let (slow, fast) = match (self.sum.completion_ns, control.sum.completion_ns) {
            (Some(ours), Some(theirs)) => (ours as f64, theirs as f64),
            _ => (control.rate, self.rate),
        };
        (slow > 0.0 && fast > 0.0).then(|| slow / fast)
    }

    pub(crate) fn is_judged(&self) -> bool {
        self.application.role == Role::Foreground
    }

    /// The same application in the control run: of the same name, else (a background that is
    /// named after its variant) in the same place and role.
    pub(crate) fn counterpart<'a>(&self, index: usize, control: &'a [Self]) -> Option<&'a Self> {
        let role = self.application.role;
        control.iter().find(|other| other.application.name == self.application.name).or_else(|| {
            control.get(index).filter(|other| {
                role == Role::Background && other.application.role == Role::Background
            })
        })
    }
}

fn contradiction(
    applications: &[Application],
    thread_application: &[u32],
    outcome: &Outcome,
) -> Option<&'static str> {
    let known = |index: u32| (index as usize) < applications.len();
    if outcome.tasks.len() != thread_application.len() {
        Some("the run has another number of threads than the workload")
    } else if !thread_application.iter().all(|&index| known(index)) {
        Some("a thread belongs to no application")
    } else if !outcome.losses.iter().all(|loss| known(loss.victim) && known(loss.culprit)) {
        Some("a loss names no application")
    } else if !applications.iter().any(|one| one.role == Role::Foreground) {
        Some("no application is in the foreground")
    } else {
        None
    }
}
