//! What simulated runs truly lost, beside which estimates are judged.

use scenarios::Workload;
use simulator::Outcome;

/// CPU time and losses of applications, summed over runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Length of the runs.
    pub simulated_ns: u64,
    /// By application.
    pub cpu_time_ns: Vec<u64>,
    /// By application.
    pub lost_ns: Vec<u64>,
    /// By victim and culprit: victim times number of applications plus culprit.
    pub pairs_ns: Vec<u64>,
}

impl Truth {
    /// The truth of a run.
    #[must_use]
    pub fn of(workload: &Workload, outcome: &Outcome) -> Self {
        let applications = workload.applications.len();
        let mut truth = Self {
            simulated_ns: outcome.simulated_ns,
            cpu_time_ns: vec![0; applications],
            lost_ns: vec![0; applications],
            pairs_ns: vec![0; applications * applications],
        };
        for (thread, task) in workload.threads.iter().zip(&outcome.tasks) {
            truth.cpu_time_ns[thread.application as usize] += task.cpu_time_ns;
            truth.lost_ns[thread.application as usize] += task.lost_ns;
        }
        for loss in &outcome.losses {
            let pair = loss.victim as usize * applications + loss.culprit as usize;
            truth.pairs_ns[pair] += loss.lost_ns;
        }
        truth
    }

    /// Adds the truth of another run of the same applications.
    pub fn add(&mut self, other: &Self) {
        let add = |sum: &mut Vec<u64>, other: &[u64]| {
            sum.resize(other.len(), 0);
            sum.iter_mut().zip(other).for_each(|(sum, it)| *sum += it);
        };
        self.simulated_ns += other.simulated_ns;
        add(&mut self.cpu_time_ns, &other.cpu_time_ns);
        add(&mut self.lost_ns, &other.lost_ns);
        add(&mut self.pairs_ns, &other.pairs_ns);
    }

    /// By how much longer an application's work took, in percent.
    #[must_use]
    pub fn overhead_pct(&self, application: usize) -> f64 {
        let time_ns = self.cpu_time_ns[application];
        let left_ns = time_ns.saturating_sub(self.lost_ns[application]);
        if left_ns == 0 { 0.0 } else { 100.0 * (time_ns as f64 / left_ns as f64 - 1.0) }
    }

    /// What an application lost to another.
    #[must_use]
    pub fn pair_ns(&self, victim: usize, culprit: usize) -> u64 {
        self.pairs_ns[victim * self.lost_ns.len() + culprit]
    }

    /// The application to which another one lost most.
    #[must_use]
    pub fn culprit(&self, victim: usize) -> Option<usize> {
        (0..self.lost_ns.len()).max_by_key(|&culprit| self.pair_ns(victim, culprit))
    }
}
