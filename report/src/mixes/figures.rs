//! The figures of each scheduler in one mix, or in one other work.

use scenarios::Role;
use serde::Serialize;

use crate::attribution::Attribution;
use crate::claims::Published;
use crate::comparison::{Comparison, Run, Task};
use crate::statistics::mean;

/// A mix and its figures.
#[derive(Clone, Debug, Serialize)]
pub struct Mix {
    /// What it was drawn from; `evenkeel mixes --show SEED` prints it. 0 for work that was not
    /// drawn.
    pub seed: u64,
    /// A scheduler, sensor set and background each, controls left out.
    pub runs: Vec<MixRun>,
}

/// A scheduler with a background.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MixRun {
    /// Scheduler.
    pub scheduler: String,
    /// Sensor set.
    pub sensors: String,
    /// Background.
    pub background: String,
    /// Simulated runs that the time limit ended, those beside the control included.
    pub unfinished: usize,
    /// Simulated time of its programs and replicates together.
    pub simulated_s: f64,
    /// Mean over programs of |x|, where x is completion beside the background over completion
    /// beside the control, minus one.
    pub isolation_slowdown_pct: f64,
    /// Half the 95 % interval of that mean over seeds; `None` for one seed.
    pub ci95_half_width_pct: Option<f64>,
    /// The same with speed-ups as 0.
    pub slowdown_only_pct: f64,
    /// Mean over programs of x.
    pub signed_slowdown_pct: f64,
    /// x of each program.
    pub programs: Vec<Program>,
    /// Rate of work of the applications that use AVX over their rate beside the control under the
    /// same scheduler, in percent; mean. `None`: none of them did any work.
    pub culprit_rate_pct: Option<f64>,
    /// System throughput (STP) over the number of applications, in percent: the mean over all
    /// applications of their rate of work over a reference (Eyerman and Eeckhout, IEEE Micro 28(3),
    /// 2008). Theirs is the program alone on the machine; here it is the same application beside
    /// the control under the first scheduler, so that 100 is what is had without licenses.
    pub throughput_pct: f64,
    /// How much of the losses the policy attributed to their culprits.
    pub attribution: Attribution,
    /// Wake-ups of the foreground.
    pub wake_count: u64,
    /// 99 % of them ran after at most so long.
    pub wake_p99_us: f64,
    /// Share of busy core time at each license level.
    pub level_share_pct: Vec<f64>,
    /// The published figure about this work.
    pub published: Option<Published>,
}

/// A judged program.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Program {
    /// Name.
    pub name: String,
    /// Completion over completion beside the control, minus one.
    pub slowdown_pct: f64,
}

impl MixRun {
    /// The program that is off most.
    pub(crate) fn worst(&self) -> Option<&Program> {
        self.programs.iter().max_by(|a, b| a.off_pct().total_cmp(&b.off_pct()))
    }
}

impl Program {
    /// |x|.
    pub(crate) fn off_pct(&self) -> f64 {
        self.slowdown_pct.abs()
    }
}

/// The figures of the mix of this seed.
#[must_use]
pub fn mix(seed: u64, comparison: &Comparison) -> Mix {
    let controls: Vec<&Run> = comparison.runs.iter().filter(|run| run.control).collect();
    let control = |run: &Run| {
        let same = |other: &&&Run| other.scheduler == run.scheduler && other.sensors == run.sensors;
        controls.iter().find(same).map_or(0, |control| control.unfinished)
    };
    let reference = controls.first().map_or(&[][..], |run| &run.tasks);
    let figures = |run: &Run| MixRun {
        scheduler: run.scheduler.clone(),
        sensors: run.sensors.clone(),
        background: run.background.clone(),
        unfinished: run.unfinished + control(run),
        simulated_s: run.simulated_s,
        isolation_slowdown_pct: run.isolation_slowdown_pct,
        ci95_half_width_pct: run.ci95_half_width_pct,
        slowdown_only_pct: run.slowdown_only_pct,
        signed_slowdown_pct: run.signed_slowdown_pct,
        programs: run.judged().filter_map(program).collect(),
        culprit_rate_pct: culprit_rate_pct(run),
        throughput_pct: throughput_pct(&run.tasks, reference),
        attribution: run.attribution,
        wake_count: run.wake_latency.count,
        wake_p99_us: run.wake_latency.p99_us,
        level_share_pct: run.level_share_pct.clone(),
        published: run.published.clone(),
    };
    Mix { seed, runs: comparison.compared().map(figures).collect() }
}

fn program(task: &Task) -> Option<Program> {
    Some(Program { name: task.name.clone(), slowdown_pct: task.slowdown_pct()? })
}

fn culprit_rate_pct(run: &Run) -> Option<f64> {
    let is_culprit = |task: &&Task| task.role == Role::Background && task.class != "scalar";
    let culprits = run.tasks.iter().filter(is_culprit);
    let rates: Vec<f64> = culprits.filter_map(|task| Some(100.0 / task.slowdown?)).collect();
    (!rates.is_empty()).then(|| mean(&rates))
}

fn throughput_pct(tasks: &[Task], reference: &[Task]) -> f64 {
    let same = |task: &Task| {
        reference.iter().find(|other| other.program == task.program && other.name == task.name)
    };
    let progress: Vec<f64> =
        tasks.iter().filter_map(|task| normalised_progress(task, same(task)?)).collect();
    100.0 * mean(&progress)
}

/// How fast an application was, by its completion or, where one did not end, its rate of work.
fn normalised_progress(task: &Task, reference: &Task) -> Option<f64> {
    match (task.completion_s, reference.completion_s) {
        (Some(ours), Some(theirs)) if ours > 0.0 => Some(theirs / ours),
        _ if reference.rate_mcycles_per_s > 0.0 => {
            Some(task.rate_mcycles_per_s / reference.rate_mcycles_per_s)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(name: &str, completion_s: Option<f64>, rate_mcycles_per_s: f64) -> Task {
        Task {
            name: name.into(),
            program: None,
            role: Role::Background,
            class: "scalar".into(),
            threads: 1,
            cpu_time_s: 0.0,
            lost_s: 0.0,
            completion_s,
            progress: 0.0,
            rate_mcycles_per_s,
            slowdown: None,
            slowdown_ci95_half_width: None,
            remote_avx_overhead_pct: 0.0,
            slices: 0,
            migrations: 0,
            waited_s: 0.0,
            refunded_s: 0.0,
            billed_s: 0.0,
        }
    }

    #[test]
    fn throughput_is_the_mean_of_the_normalised_work_of_applications() {
        let reference = [task("a", Some(1.0), 50.0), task("b", None, 200.0)];
        assert!((throughput_pct(&reference, &reference) - 100.0).abs() < 1e-9);
        // Half as fast by completion, whatever the rate says, and half as fast again by rate.
        let slower = [task("a", Some(2.0), 50.0), task("b", None, 50.0)];
        assert!((throughput_pct(&slower, &reference) - 37.5).abs() < 1e-9);
        // What ended here and not there is compared by its rate.
        assert_eq!(normalised_progress(&reference[0], &task("a", None, 25.0)), Some(2.0));
        assert_eq!(normalised_progress(&reference[1], &task("b", None, 0.0)), None);
    }
}
