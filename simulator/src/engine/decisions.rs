//! What the scheduler decides by itself: whom it interrupts, who gets time back.

use super::Engine;
use crate::sched::{Charged, Decided, Scheduler};

impl<S: Scheduler> Engine<'_, S> {
    /// CPUs that the scheduler interrupts of its own accord.
    pub(super) fn follow_scheduler(&mut self) {
        let mut asked = std::mem::take(&mut self.asked);
        self.scheduler.reschedules(&mut asked);
        for &cpu in &asked {
            self.request(cpu);
        }
        asked.clear();
        self.asked = asked;
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
    }

    fn book(&mut self, victim: usize, charged: &Charged) {
        self.world.tasks[victim].outcome.refunded_ns += charged.refund_ns;
        let Some(culprit) = charged.culprit else { return };
        self.world.tasks[culprit].outcome.billed_ns += charged.bill_ns;
        let pair = self.world.tasks[victim].application * self.world.applications
            + self.world.tasks[culprit].application;
        self.repaid_ns[pair] += charged.refund_ns;
        self.in_kind_ns[pair] += charged.in_kind_ns;
    }
}
