//! Which of several questions does a CPU answer, at which cost, and what stays unknown?

use std::fmt;

use super::events::{Event, Microarchitecture, Question, Scope};

/// The answers of a CPU to some questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Events that answer, in the order of the questions; at least one.
    pub events: Vec<&'static Event>,
    /// Questions without an event.
    pub unanswered: Vec<Question>,
    /// Whether siblings share the counters of their core.
    pub hyper_threading: bool,
}

impl Offer {
    /// The answers to questions; `None` where the CPU answers none of them.
    #[must_use]
    pub fn of(
        cpu: &Microarchitecture,
        questions: &[Question],
        hyper_threading: bool,
    ) -> Option<Self> {
        let events: Vec<_> = questions.iter().filter_map(|&it| cpu.event(it)).collect();
        let unanswered = questions.iter().copied().filter(|&it| cpu.event(it).is_none()).collect();
        (!events.is_empty()).then_some(Self { events, unanswered, hyper_threading })
    }
}

impl fmt::Display for Offer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.events.iter().map(|event| event.question.name()).collect();
        let is_per_core = self.events.iter().any(|event| event.scope == Scope::Core);
        let scope = if is_per_core { "core" } else { "logical CPU" };
        let sets =
            self.events.iter().map(|event| event.counters[usize::from(!self.hyper_threading)]);
        let general: Vec<u8> = sets.filter(|&set| set != 0).collect();
        let room = general.iter().map(|set| set.count_ones()).min().unwrap_or(0);
        let (taken, names) = (general.len(), names.join(", "));
        write!(out, "{names} of each {scope}, which take {taken} of {room} counters")?;
        let mut misses: Vec<&str> = self.events.iter().map(|event| event.misses).collect();
        misses.sort_unstable();
        misses.dedup();
        write!(out, "; they miss {}", misses.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::cpu::microarchitectures;
    use super::*;

    const LEVELS: [Question; 3] = [Question::License1, Question::License2, Question::Throttle];

    fn offer(abbreviation: &str, questions: &[Question]) -> Option<Offer> {
        let cpu = microarchitectures().iter().find(|cpu| cpu.abbreviation == abbreviation)?;
        Offer::of(cpu, questions, true)
    }

    #[test]
    fn an_offer_names_events_cost_and_blind_spots() {
        let said = offer("SKX", &LEVELS).unwrap().to_string();
        let begin = "license-1, license-2, throttle of each core, which take 3 of 4 counters; \
                     they miss the halt while the frequency changes";
        assert!(said.starts_with(begin), "{said}");
        let said = offer("GNR", &[Question::Fp512]).unwrap().to_string();
        assert!(said.starts_with("fp-512 of each logical CPU, which take 1 of 8"), "{said}");
        assert!(said.contains("ChaCha20"));
    }

    #[test]
    fn what_a_cpu_cannot_answer_is_named() {
        assert_eq!(offer("ICX", &LEVELS).unwrap().unanswered, [Question::Throttle]);
        assert_eq!(offer("SPR", &LEVELS), None);
    }
}
