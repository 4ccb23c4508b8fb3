//! Which counters are read at each switch?

use trace::CounterCounts;

use super::record::COUNTERS_MAX;
use crate::pmu::{Microarchitecture, Question};

/// The questions, in the order of the counts of a record. Where a CPU has too few counters, those
/// at the end are left out: levels show a loss, cycles give it a size, retired instructions name a
/// culprit, and stalls only make a loss smaller.
pub const COUNTED: [Question; COUNTERS_MAX] = [
    Question::License1,
    Question::License2,
    Question::Cycles,
    Question::RefCycles,
    Question::Fp512,
    Question::Throttle,
    Question::StallsL2Miss,
    Question::Fp256,
];

/// The questions that a CPU can answer at the same time, most important first; none where it does
/// not count cycles by license level, since without them the others say nothing about a loss.
#[must_use]
pub fn counted(cpu: &Microarchitecture, hyper_threading: bool) -> Vec<Question> {
    let mut chosen = Vec::new();
    if [Question::License1, Question::License2].iter().any(|&it| cpu.event(it).is_none()) {
        return chosen;
    }
    for question in COUNTED {
        let with: Vec<_> = chosen.iter().copied().chain([question]).collect();
        if cpu.event(question).is_some() && cpu.fits(&with, hyper_threading) {
            chosen = with;
        }
    }
    chosen
}

/// The counts of a record by their names.
pub(super) fn named(counts: &[u64; COUNTERS_MAX]) -> CounterCounts {
    let &[license_1, license_2, cycles, ref_cycles, fp_512, throttled, stalled, fp_256] = counts;
    CounterCounts { cycles, ref_cycles, license_1, license_2, throttled, stalled, fp_256, fp_512 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pmu::microarchitectures;

    fn of(abbreviation: &str, hyper_threading: bool) -> String {
        let is_it = |cpu: &&Microarchitecture| cpu.abbreviation == abbreviation;
        let cpu = microarchitectures().iter().find(is_it).unwrap();
        let names: Vec<_> = counted(cpu, hyper_threading).into_iter().map(Question::name).collect();
        names.join(" ")
    }

    #[test]
    fn a_cpu_with_license_counters_is_counted_as_far_as_it_has_room() {
        let levels = "license-1 license-2 cycles ref-cycles";
        assert_eq!(of("SKX", true), format!("{levels} fp-512 throttle"));
        assert_eq!(of("SKX", false), format!("{levels} fp-512 throttle stalls-l2-miss fp-256"));
        assert!(of("ICX", true).starts_with(levels));
    }

    #[test]
    fn a_cpu_without_them_is_not() {
        assert_eq!(of("SPR", true), "");
    }
}
