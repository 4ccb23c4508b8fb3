//! The choice of sensors on machines that exist.

use super::*;

const NO_PMU: Lack = Lack::Refused(Refusal::NoPmu);

fn raw(config: u64) -> Result<Code, Lack> {
    Ok(Code::raw(config))
}

fn found(events: &[(HardwareEvent, Result<Code, Lack>)]) -> Found {
    Found { events: events.iter().copied().collect(), tells_registers: true, ..Found::default() }
}

/// A Xeon Gold 6130 whose PMU no other program uses.
fn skylake() -> Found {
    found(&[
        (HardwareEvent::License1, raw(0x1828)),
        (HardwareEvent::License2, raw(0x2028)),
        (HardwareEvent::Cycles, Ok(Code::CYCLES)),
        (HardwareEvent::RefCycles, Ok(Code::REF_CYCLES)),
        (HardwareEvent::StallL2Miss, raw(0x0500_05a3)),
        (HardwareEvent::StallStores, raw(0x40a6)),
        (HardwareEvent::Fp256, raw(0x30c7)),
        (HardwareEvent::Fp512, raw(0xc0c7)),
    ])
}

/// A virtual machine without counters.
fn virtual_machine() -> Found {
    found(&HardwareEvent::ALL.map(|event| (event, Err(NO_PMU))))
}

fn events(choice: &Choice) -> Vec<HardwareEvent> {
    choice.counters.iter().map(|&(event, _)| event).collect()
}

#[test]
fn with_all_counters_it_is_that_of_the_dissertation() {
    let choice = choose(&skylake(), None).unwrap();
    assert_eq!(choice.source, Source::D7);
    assert_eq!(choice.sensors, [Sensor::Licenses, Sensor::Registers]);
    use HardwareEvent::{Cycles, License1, License2, RefCycles, StallL2Miss, StallStores};
    let expected = [Cycles, RefCycles, License1, License2, StallL2Miss, StallStores];
    assert_eq!(events(&choice), expected);
    assert_eq!(
        choice.to_string(),
        "d7 (cycles at license levels, and register state), frequencies from the cycle counters"
    );
}

#[test]
fn aperf_and_mperf_leave_the_cycle_counters_to_others() {
    let aperf = Code { device: 9, config: 1 };
    let mperf = Code { device: 9, config: 2 };
    let choice = choose(&Found { msr: Some([aperf, mperf]), ..skylake() }, None).unwrap();
    assert_eq!(choice.frequency, Frequency::Msr);
    assert_eq!(
        choice.counters[..2],
        [(HardwareEvent::Cycles, aperf), (HardwareEvent::RefCycles, mperf)]
    );
}

#[test]
fn without_stall_counters_licenses_are_still_counted() {
    let mut found = skylake();
    found.events.insert(HardwareEvent::StallStores, Err(Lack::Refused(Refusal::NoEvent)));
    let choice = choose(&found, None).unwrap();
    assert_eq!(choice.source, Source::D7);
    assert!(!events(&choice).contains(&HardwareEvent::StallStores));
}

#[test]
fn a_sapphire_rapids_counts_instructions_since_it_has_no_license_events() {
    let mut found = skylake();
    for event in [HardwareEvent::License1, HardwareEvent::License2] {
        found.events.insert(event, Err(Lack::Refused(Refusal::NoEvent)));
    }
    let choice = choose(&found, None).unwrap();
    assert_eq!(choice.source, Source::FpRetired);
    assert_eq!(choice.sensors, [Sensor::FpRetired, Sensor::Registers]);
    assert!(choice.to_string().ends_with("; not d7: license-1: this CPU has no such event"));
}

#[test]
fn a_virtual_machine_has_registers_and_the_table() {
    let choice = choose(&virtual_machine(), None).unwrap();
    assert_eq!((choice.source, choice.frequency), (Source::Xinuse, Frequency::Table));
    assert_eq!(choice.counters, []);
    assert_eq!(
        choice.to_string(),
        "xinuse (register state), frequencies from the CPU table; not d7: license-1: no PMU \
         (ENOENT); not fp-retired: fp-256: no PMU (ENOENT)"
    );
}

#[test]
fn license_counters_without_cycles_are_worth_nothing() {
    let mut found = skylake();
    found.events.insert(HardwareEvent::RefCycles, Err(Lack::Refused(Refusal::NotPermitted)));
    let choice = choose(&found, None).unwrap();
    assert_eq!(choice.source, Source::Xinuse);
    assert_eq!(choice.passed_over[0], (Source::D7, "cycles: not permitted".to_owned()));
}

#[test]
fn rules_are_taken_beside_what_is_better_and_alone_where_there_is_nothing() {
    let with_rules = Found { has_rules: true, ..virtual_machine() };
    let choice = choose(&with_rules, None).unwrap();
    assert_eq!(choice.sensors, [Sensor::Registers, Sensor::Rules]);
    assert!(choice.to_string().starts_with("xinuse (register state) and rules, "));
    let alone = choose(&with_rules, Some(Source::Rules)).unwrap();
    assert_eq!(alone.sensors, [Sensor::Rules]);
    let old = Found { tells_registers: false, ..with_rules };
    assert_eq!(choose(&old, None).unwrap().source, Source::Rules);
}

#[test]
fn where_nothing_tells_every_reason_is_named() {
    let old = Found { tells_registers: false, ..virtual_machine() };
    assert_eq!(
        choose(&old, None).unwrap_err(),
        "nothing tells classes here: d7: license-1: no PMU (ENOENT); fp-retired: fp-256: no PMU \
         (ENOENT); xinuse: registers are not saved behind their task (Linux 6.16 and newer do); \
         rules: no --rule is given"
    );
    assert_eq!(
        choose(&virtual_machine(), Some(Source::D7)).unwrap_err(),
        "nothing tells classes here: d7: license-1: no PMU (ENOENT)"
    );
}
