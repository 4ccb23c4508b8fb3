//! What was measured becomes a CPU table that a run can use and that says what was measured.

use cpu_model::{Class, CpuTable, TurboMode};
use silicon::{Findings, Modelled, Noise, characterize, cpu_table};

fn measured(name: &str) -> Findings {
    let model = CpuTable::by_name(name).unwrap().model(TurboMode::On).unwrap();
    characterize(&mut Modelled::new(model, Noise::QUIET, 3), 3.0, 3, &mut |_| {})
}

fn read(findings: &Findings) -> CpuTable {
    let text = cpu_table(findings, "mine");
    CpuTable::parse(&text, "mine.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn the_table_of_a_modelled_machine_is_that_of_its_model() {
    for name in ["xeon-gold-6130", "cascade-lake", "granite-rapids"] {
        let truth = CpuTable::by_name(name).unwrap().model(TurboMode::On).unwrap();
        let found = read(&measured(name)).model(TurboMode::On).unwrap();
        for class in Class::ALL.into_iter().filter(|&class| truth.supports(class)) {
            let rate = if class == Class::Amx { 62 } else { 1000 };
            let khz = |model: &cpu_model::CpuModel| {
                f64::from(model.turbo.khz(0, model.level_demanded(class, rate)))
            };
            let (planted, found) = (khz(&truth), khz(&found));
            assert!((found / planted - 1.0).abs() < 0.01, "{name} {class}: {found} {planted}");
        }
        assert_eq!(found.turbo.ref_khz, truth.turbo.ref_khz);
    }
}

#[test]
fn thresholds_of_rates_come_back() {
    let found = read(&measured("xeon-gold-6130")).model(TurboMode::On).unwrap();
    let level = |rate| found.level_demanded(Class::Avx512Heavy, rate);
    assert!(level(500) > level(250) && level(250) > 0, "{:?}", found.demand);
    assert_eq!(found.level_demanded(Class::Avx2Heavy, 250), 0);
    assert_eq!(found.level_demanded(Class::Avx512Light, 4), level(250));
}

#[test]
fn a_machine_without_an_effect_has_a_table_of_one_level_that_runs_can_use() {
    let mut findings = measured("cascade-lake");
    findings.levels.clear();
    findings.transitions.clear();
    for condition in &mut findings.conditions {
        for class in &mut condition.classes {
            if class.verdict == silicon::Verdict::Affected {
                class.verdict = silicon::Verdict::Unaffected;
            }
            class.entry = None;
        }
    }
    let table = read(&findings);
    assert_eq!(table.levels.names, ["scalar"]);
    assert!(table.model(TurboMode::On).is_ok(), "{:?}", table.missing());
}

#[test]
fn what_noise_hid_is_left_out_and_named() {
    let mut findings = measured("cascade-lake");
    for condition in &mut findings.conditions {
        condition.classes[0].verdict = silicon::Verdict::Hidden("noise".to_owned());
    }
    let table = read(&findings);
    assert!(table.missing().contains(&"demand.rules for avx2-light".to_owned()));
    assert!(table.demand.unwrap().source.contains("avx2-light"));
}

#[test]
fn a_known_cpu_takes_over_events_and_says_from_whom() {
    let mut findings = measured("cascade-lake");
    findings.place.signature = Some((6, 85, 7));
    let events = read(&findings).events.unwrap();
    assert!(events.source.contains("taken over from cascade-lake"), "{}", events.source);
    assert!(!events.list.is_empty());
}
