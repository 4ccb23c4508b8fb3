//! Which code of perf does an event have on this CPU, and does it open?

use sensors::pmu::{Code, Group, Microarchitecture, Question, aperf_mperf, code};

use super::{Found, Lack};
use crate::interface::HardwareEvent;

impl HardwareEvent {
    /// The question that the event answers.
    #[must_use]
    pub fn question(self) -> Question {
        match self {
            Self::License1 => Question::License1,
            Self::License2 => Question::License2,
            Self::Cycles => Question::Cycles,
            Self::RefCycles => Question::RefCycles,
            Self::StallL2Miss => Question::StallsL2Miss,
            Self::StallStores => Question::BoundOnStores,
            Self::Fp256 => Question::Fp256,
            Self::Fp512 => Question::Fp512,
        }
    }
}

/// The code of each event on this machine's CPU. Beside the CPU table of another CPU, cycles alone
/// are counted.
#[must_use]
pub fn codes(
    cpu: Option<&Microarchitecture>,
    is_table_of_this_cpu: bool,
) -> Vec<(HardwareEvent, Result<Code, Lack>)> {
    let code = |event: HardwareEvent| match event {
        HardwareEvent::Cycles | HardwareEvent::RefCycles => of(cpu, event),
        _ if !is_table_of_this_cpu => Err(Lack::OtherCpu),
        _ => of(cpu, event),
    };
    HardwareEvent::ALL.into_iter().map(|event| (event, code(event))).collect()
}

fn of(cpu: Option<&Microarchitecture>, event: HardwareEvent) -> Result<Code, Lack> {
    code(cpu, event.question()).map_err(Lack::Refused)
}

/// Tries to open each event that has a code on a CPU, and the two events of aperf and mperf;
/// `read` yields the text of a file below [`sensors::pmu::FOLDER`].
#[must_use]
pub fn probe(
    codes: Vec<(HardwareEvent, Result<Code, Lack>)>,
    cpu: u32,
    read: impl Fn(&str) -> Option<String>,
) -> Found {
    let try_one = |code: Code| match Group::open(&[code], cpu) {
        Ok(_) => Ok(code),
        Err((_, refusal)) => Err(Lack::Refused(refusal)),
    };
    let events = codes.into_iter().map(|(event, code)| (event, code.and_then(try_one)));
    let msr = aperf_mperf(read).ok();
    let msr = msr.filter(|codes| codes.iter().all(|&code| try_one(code).is_ok()));
    Found { events: events.collect(), msr, ..Found::default() }
}

#[cfg(test)]
mod tests {
    use sensors::pmu::{Refusal, microarchitectures};

    use super::*;

    #[test]
    fn codes_are_those_of_this_cpu() {
        let of = |abbreviation, is_table_of_this_cpu, event| {
            let cpu = microarchitectures().iter().find(|cpu| cpu.abbreviation == abbreviation);
            let mut codes = codes(cpu, is_table_of_this_cpu).into_iter();
            codes.find(|&(it, _)| it == event).unwrap().1
        };
        let license = HardwareEvent::License2;
        assert_eq!(of("SKX", true, license), Ok(Code::raw(0x2028)));
        assert_eq!(of("SKX", true, HardwareEvent::StallL2Miss), Ok(Code::raw(0x0500_05a3)));
        assert_eq!(of("SKX", false, HardwareEvent::RefCycles), Ok(Code::REF_CYCLES));
        assert_eq!(of("SKX", false, license), Err(Lack::OtherCpu));
        assert_eq!(of("SPR", true, license), Err(Lack::Refused(Refusal::NoEvent)));
        assert_eq!(of("none", true, license), Err(Lack::Refused(Refusal::UnknownCpu)));
    }
}
