//! The table of events against Intel's lists and the CPU tables, and counters of this machine.

use cpu_model::{CpuTable, embedded};
use sensors::pmu::{
    Circumstances, Clock, CpuCounters, Energy, Microarchitecture, Question, Refusal, Scope,
    microarchitectures,
};

/// The rows that the table was generated from.
const LISTS: &str = include_str!("../data/perfmon_events.csv");

fn of(abbreviation: &str) -> &'static Microarchitecture {
    let mut all = microarchitectures().iter();
    all.find(|cpu| cpu.abbreviation == abbreviation).unwrap()
}

/// By columns of the lists that have no quotes before them: CPU, event, code, unit mask, counter
/// mask.
fn rows() -> Vec<[&'static str; 5]> {
    let row = |line: &'static str| {
        let columns: Vec<_> = line.split(',').collect();
        [0, 3, 4, 5, 6].map(|column| columns[column])
    };
    LISTS.lines().skip(1).map(row).collect()
}

fn number(text: &str) -> u8 {
    let hex = text.strip_prefix("0x").map(|digits| u8::from_str_radix(digits, 16).unwrap());
    hex.unwrap_or_else(|| text.parse().unwrap())
}

#[test]
fn each_event_has_the_codes_of_its_rows() {
    let rows = rows();
    let mut checked = 0;
    for cpu in microarchitectures() {
        for event in cpu.events {
            let mut umask = 0;
            for name in event.names {
                let found: Vec<_> = rows
                    .iter()
                    .filter(|[abbreviation, row, ..]| {
                        *abbreviation == cpu.abbreviation && row == name
                    })
                    .collect();
                let [[_, _, code, bits, cmask]] = found[..] else { panic!("{name}: {found:?}") };
                assert_eq!((event.event, event.cmask), (number(code), number(cmask)), "{name}");
                umask |= number(bits);
            }
            assert_eq!(event.umask, umask, "{} {}", cpu.abbreviation, event.question.name());
            checked += event.names.len();
        }
    }
    assert!(checked > 90, "{checked}");
}

#[test]
fn codes_are_written_as_perf_has_them() {
    let raw = |cpu, question| of(cpu).event(question).unwrap().code().config;
    assert_eq!(raw("SKX", Question::License2), 0x2028);
    assert_eq!(raw("SKX", Question::Throttle), 0x4028);
    assert_eq!(raw("SKX", Question::License1Avx512Light), 0x1028);
    // CYCLE_ACTIVITY.STALLS_L2_MISS as perf writes it: cpu/event=0xa3,umask=0x5,cmask=5/.
    assert_eq!(raw("SKX", Question::StallsL2Miss), 0x0500_05a3);
    assert_eq!(raw("SKX", Question::Fp512), 0xc0c7);
    assert_eq!(raw("SKX", Question::BoundOnStores), 0x40a6);
    assert_eq!(raw("ICX", Question::BoundOnStores), 0x0200_40a6);
    assert_eq!(raw("CWF", Question::StallsL2Miss), 0x1e34);
    let codes = sensors::pmu::code(None, Question::RefCycles).unwrap();
    assert_eq!((codes.device, codes.config), (0, 9));
}

#[test]
fn only_skylake_to_ice_lake_have_events_of_license_levels() {
    let with = |question| -> Vec<_> {
        let has = |cpu: &&Microarchitecture| cpu.event(question).is_some();
        microarchitectures().iter().filter(has).map(|cpu| cpu.abbreviation).collect()
    };
    assert_eq!(with(Question::License2), ["SKX", "CLX", "ICX"]);
    assert_eq!(with(Question::Throttle), ["SKX", "CLX"]);
    assert_eq!(with(Question::License0Narrow), ["SKX", "CLX"]);
    let skylake = of("SKX");
    assert_eq!(skylake.event(Question::License2).unwrap().scope, Scope::Core);
    assert_eq!(skylake.event(Question::Fp512).unwrap().scope, Scope::Thread);
}

#[test]
fn a_skylake_with_siblings_has_room_for_licenses_and_stalls_only() {
    use Question::{
        BoundOnStores, Cycles, Fp512, License0, License1, License2, RefCycles, StallsL2Miss,
    };
    let d7 = [Cycles, RefCycles, License1, License2, StallsL2Miss, BoundOnStores];
    assert!(of("SKX").fits(&d7, true));
    let more = [&d7[..], &[Fp512]].concat();
    assert!(!of("SKX").fits(&more, true));
    assert!(of("SKX").fits(&more, false));
    // On Ice Lake four counters are for licenses and stalls alone, and stores have the other four.
    assert!(of("ICX").fits(&more, true));
    assert!(of("ICX").fits(&[&more[..], &[License0]].concat(), true));
}

/// CPU tables describe events for their readers: where one is in both, both say the same.
#[test]
fn cpu_tables_have_the_same_events() {
    let mut checked = 0;
    for &(name, _) in embedded() {
        let table = CpuTable::by_name(name).unwrap();
        let Some(events) = &table.events else { continue };
        let said = match table.microarchitecture.as_str() {
            "Skylake-X" | "Skylake-W" => "Skylake-SP",
            said => said,
        };
        let mut all = microarchitectures().iter();
        let cpu = all.find(|cpu| cpu.name.starts_with(said)).unwrap_or_else(|| panic!("{said}"));
        for event in &events.list {
            let known = cpu.events.iter().find(|it| it.question.name() == event.signal);
            let known = known.unwrap_or_else(|| panic!("{name}: {}", event.signal));
            let codes = [known.event, known.umask, known.cmask].map(u32::from);
            assert_eq!(codes, [event.event, event.umask, event.cmask], "{name}: {}", event.signal);
            assert_eq!(known.scope == Scope::Core, event.per_core, "{name}: {}", event.signal);
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked}");
}

/// Text of a file of this machine.
fn device_file(name: &str) -> Option<String> {
    std::fs::read_to_string(format!("{}/{name}", sensors::pmu::FOLDER)).ok()
}

/// Counters that open are read and grow; those that do not are refused for a reason that this
/// machine can have.
#[test]
fn counters_of_this_machine_count_or_say_why_not() {
    match CpuCounters::open(None, 0, &[Question::Cycles, Question::RefCycles]) {
        Ok(counters) => {
            let first = counters.read().unwrap();
            let second = counters.read().unwrap().since(&first).unwrap();
            assert!(second.count(Question::Cycles).is_some());
        }
        Err((_, refusal)) => {
            assert!([Refusal::NoPmu, Refusal::NotPermitted].contains(&refusal), "{refusal:?}");
            let machine = Circumstances { hypervisor: Some("kvm"), ..Circumstances::default() };
            assert!(refusal.sentence(&machine).contains(": "));
        }
    }
    let unknown = CpuCounters::open(None, 0, &[Question::License2]).unwrap_err();
    assert_eq!(unknown, (Question::License2, Refusal::UnknownCpu));
    let missing = CpuCounters::open(Some(of("SPR")), 0, &[Question::License2]).unwrap_err();
    assert_eq!(missing, (Question::License2, Refusal::NoEvent));
}

#[test]
fn aperf_and_energy_of_this_machine_are_read_or_missing() {
    match Clock::open(device_file, 0) {
        Ok(clock) => {
            let first = clock.read().unwrap();
            assert!(clock.read().unwrap().aperf >= first.aperf);
        }
        Err(refusal) => {
            let known = [Refusal::NoDevice("msr"), Refusal::NotPermitted];
            assert!(known.contains(&refusal), "{refusal:?}");
        }
    }
    match Energy::open(device_file) {
        Ok(energy) => assert!(energy.read_j().unwrap().iter().all(|&(_, joules)| joules >= 0.0)),
        Err(refusal) => {
            let known = [Refusal::NoDevice("power"), Refusal::NotPermitted];
            assert!(known.contains(&refusal), "{refusal:?}");
        }
    }
}
