//! The planted effects of a modelled machine, and the errors of findings.

use cpu_model::{Class, CpuModel, CpuTable, TurboMode};
use silicon::{Findings, Noise, Verdict};

/// A CPU on which nothing lowers the clock.
const NONE: &str = r#"
schema = 1
name = "none"
description = "a CPU on which nothing lowers the clock"
microarchitecture = "none"
[machine]
source = "test"
packages = 1
cores = 2
threads = 1
ref_mhz = 2000
[levels]
source = "test"
names = ["only"]
[turbo]
source = "test"
rows = [{ cores = [1, 2], mhz = { only = 3700 } }]
[demand]
source = "test"
unsupported = ["amx"]
rules = [
    { class = "avx2-light", level = "only" },
    { class = "avx2-heavy", level = "only" },
    { class = "avx512-light", level = "only" },
    { class = "avx512-heavy", level = "only" },
]
[license]
source = "test"
domain = "core"
[widen]
source = "test"
us = 0
hold_us = 0
"#;

/// Machines to plant: a table, and how much longer than it says a hold may be.
pub const MACHINES: [(&str, f64); 5] = [
    ("none", 0.0),
    ("cascade-lake", 0.0),
    ("cascade-lake", 0.3),
    ("xeon-gold-6130", 0.0),
    // 4.5 to 11 us, as seen in a virtual machine on a CPU like it.
    ("granite-rapids", 1.4),
];

/// How machines are disturbed.
pub const NOISES: [(&str, Noise); 3] =
    [("quiet", Noise::QUIET), ("shared", Noise::SHARED), ("busy", Noise::BUSY)];

/// The CPU of that name.
pub fn model(name: &str) -> CpuModel {
    let table = match name {
        "none" => CpuTable::parse(NONE, "none.toml"),
        name => CpuTable::by_name(name),
    };
    table.unwrap().model(TurboMode::On).unwrap()
}

/// The effect of a class while one core is active.
pub struct Planted {
    /// Clock over that of scalar code.
    pub ratio: f64,
    /// Median hold in us.
    pub hold_us: f64,
    /// Cost of the way to its level: what D 5.2.1's method finds, in us. A stage at a higher clock
    /// than that of the level does more in its time.
    pub entry_us: f64,
}

/// The effect of a class on a CPU whose holds are up to `spread` longer than its table says.
pub fn planted(model: &CpuModel, class: Class, spread: f64) -> Planted {
    let demand = model.demand_of(class, if class == Class::Amx { 62 } else { 2000 });
    let khz = |level: u8| f64::from(model.turbo.khz(0, level));
    let level = usize::from(demand.level);
    let few = model.license.few_cores >= 1;
    let lost_us = |us: f64, rate_permille: u16, at: u8| {
        us * (1.0 - f64::from(rate_permille) / 1000.0 * khz(at) / khz(demand.level))
    };
    let duration_us = |ns: u32, few_ns: u32| f64::from(if few { few_ns } else { ns }) / 1000.0;
    let rise = &model.license.rise[0][level][usize::from(class.is_heavy())];
    let rises: f64 = rise
        .stages()
        .iter()
        .map(|stage| {
            let us = duration_us(stage.duration_ns, stage.duration_few_ns);
            lost_us(us, stage.rate_permille, stage.level)
        })
        .sum();
    let widen = &model.license.widen;
    let widens = lost_us(
        duration_us(widen.duration_ns, widen.duration_few_ns),
        widen.rate_permille,
        demand.level,
    );
    Planted {
        ratio: khz(demand.level) / khz(0),
        hold_us: model.license.hold_ns[level] as f64 / 1000.0 * (1.0 + spread / 2.0),
        entry_us: if level > 0 { rises } else { widens },
    }
}

/// Least effect that counts as one.
const EFFECT: f64 = 0.01;

/// Findings about a class compared with the planted effects, with no other core busy.
pub struct Judged {
    /// The class.
    pub class: Class,
    /// The verdict that is right.
    pub is_affected: bool,
    /// Whether it was given.
    pub is_right: bool,
    /// Clock ratio found less that planted, in points; affected classes.
    pub ratio_off_points: Option<f64>,
    /// Hold found less that planted, in us, and how far it may be off: 5 % or two windows.
    pub hold_off_us: Option<(f64, f64)>,
    /// Entry cost found less that planted, in us.
    pub entry_off_us: Option<f64>,
}

/// Compares.
pub fn judge(findings: &Findings, model: &CpuModel, spread: f64) -> Vec<Judged> {
    let alone = &findings.conditions[0];
    Class::ALL
        .into_iter()
        .filter(|&class| class != Class::Scalar && model.supports(class))
        .filter_map(|class| Some((class, alone.class(class)?)))
        .map(|(class, found)| {
            let truth = planted(model, class, spread);
            let is_affected = truth.ratio <= 1.0 - EFFECT;
            let right = if is_affected { Verdict::Affected } else { Verdict::Unaffected };
            let is_right = found.verdict == right;
            let both = is_affected && is_right;
            let off = |ratio: f64| (ratio - truth.ratio) * 100.0;
            let hold_off = |hold: &silicon::Hold| {
                let allowed = (0.05 * truth.hold_us).max(2.0 / truth.ratio);
                (hold.us.value - truth.hold_us, allowed)
            };
            Judged {
                class,
                is_affected,
                is_right,
                ratio_off_points: found.ratio.filter(|_| both).map(|ratio| off(ratio.value)),
                hold_off_us: found.hold.as_ref().filter(|_| both).map(hold_off),
                entry_off_us: found.entry.map(|entry| entry.us.value - truth.entry_us),
            }
        })
        .collect()
}
