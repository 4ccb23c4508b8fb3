//! The scheduler's own decisions: CPUs to interrupt, refunds and bills.

use super::Engine;
use crate::outcome::{Loss, PolicyRecord, Renewal};
use crate::recorder::tid;
use crate::sched::{Charged, Decided, Scheduler};

impl<S: Scheduler> Engine<'_, S> {
    /// Reschedules the CPUs that the scheduler preempts between its callbacks.
    pub(super) fn follow_scheduler(&mut self) {
        let mut cpus = std::mem::take(&mut self.rescheduled);
        self.scheduler.reschedules(&mut cpus);
        for &cpu in &cpus {
            self.request(cpu);
        }
        cpus.clear();
        self.rescheduled = cpus;
        self.keep_policy_events();
    }

    /// The task was accounted, and goes on.
    pub(super) fn note_renewal(&mut self, task: usize) {
        if self.world.recorder.is_some() {
            self.renewals.push(Renewal { time_ns: self.world.now_ns, tid: tid(task) });
        }
    }

    fn keep_policy_events(&mut self) {
        let Some(recorder) = &self.world.recorder else { return };
        let (time_ns, records) = (self.world.now_ns, recorder.len());
        let record = |event| PolicyRecord { time_ns, records, event };
        self.policy_records.extend(self.scheduler.policy_events().map(record));
    }

    pub(super) fn decide(&mut self, decided: &Decided) {
        let Decided { cpu, victim, slice_ns, charged } = *decided;
        if charged.refund_ns > 0 {
            self.world.record(|| charged.decision(cpu, victim, slice_ns));
        }
        self.book(victim, &charged);
    }

    pub(super) fn follow_decisions(&mut self) {
        while let Some(decided) = self.scheduler.decided() {
            self.decide(&decided);
        }
        self.keep_policy_events();
    }

    /// By victim and culprit; pairs without loss are left out.
    pub(super) fn losses(&self) -> Vec<Loss> {
        let applications = self.world.applications;
        let loss = |pair: usize| Loss {
            victim: (pair / applications) as u32,
            culprit: (pair % applications) as u32,
            lost_ns: (self.world.losses_q20[pair] >> 20) as u64,
            repaid_ns: self.repaid_ns[pair],
            idle_compensation_ns: self.idle_compensation_ns[pair],
        };
        let all = (0..applications * applications).map(loss);
        all.filter(|loss| loss.lost_ns + loss.repaid_ns + loss.idle_compensation_ns > 0).collect()
    }

    fn book(&mut self, victim: usize, charged: &Charged) {
        self.world.tasks[victim].outcome.refunded_ns += charged.refund_ns;
        let Some(culprit) = charged.culprit else { return };
        self.world.tasks[culprit].outcome.billed_ns += charged.bill_ns;
        let pair = self.world.tasks[victim].application * self.world.applications
            + self.world.tasks[culprit].application;
        self.repaid_ns[pair] += charged.refund_ns;
        self.idle_compensation_ns[pair] += charged.idle_compensation_ns;
    }
}
