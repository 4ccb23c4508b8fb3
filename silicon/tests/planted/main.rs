//! Planted effects of modelled machines are found; `examples/planted.rs` repeats it 100 times.

mod truth;

use silicon::{Modelled, characterize};
use truth::{MACHINES, NOISES, judge, model};

/// Short for a measurement, and enough where nothing takes turns on the CPU.
const SECONDS: f64 = 3.0;

#[test]
fn planted_effects_are_found_and_absent_ones_are_not() {
    for (index, &(name, spread)) in MACHINES.iter().enumerate() {
        for (kind, noise) in &NOISES[..2] {
            let model = model(name);
            let noise = silicon::Noise { hold_spread: spread, ..*noise };
            let mut machine = Modelled::new(model.clone(), noise, 1000 + index as u64);
            let findings = characterize(&mut machine, SECONDS, 7, &mut |_| {});
            for judged in judge(&findings, &model, spread) {
                let at = format!("{name} {spread} {kind} {}", judged.class);
                assert!(judged.is_right, "{at}: {}", silicon::table(&findings));
                if judged.is_affected {
                    let ratio_off = judged.ratio_off_points.unwrap();
                    assert!(ratio_off.abs() < 1.0, "{at}: ratio off by {ratio_off}");
                    let (off, allowed) = judged.hold_off_us.expect(&at);
                    assert!(off.abs() <= allowed, "{at}: hold off by {off} us");
                }
                if let Some(off) = judged.entry_off_us {
                    assert!(off.abs() < 2.0, "{at}: entry off by {off} us");
                }
            }
        }
    }
}

#[test]
fn the_same_seeds_give_the_same_findings() {
    let run = || {
        let mut machine = Modelled::new(model("cascade-lake"), silicon::Noise::BUSY, 5);
        characterize(&mut machine, 0.5, 7, &mut |_| {})
    };
    assert_eq!(run(), run());
}
