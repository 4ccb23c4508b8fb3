//! The sections of a measured CPU table.

use cpu_model::{Class, CpuTable};

use super::quoted;
use crate::characterize::{ClassFinding, Condition, Cost, Findings, Level, Verdict};

/// Name of the level of scalar code.
const BASE: &str = "scalar";
/// Share of the rate that a throttle lets through where only its cost is known (D 3.2.2).
const THROTTLE_RATE: f64 = 0.25;

/// The name of a level: its lightest class.
fn name(level: &Level) -> &'static str {
    level.classes[0].name()
}

/// The level of a class; `None`: that of scalar code.
fn level_of(findings: &Findings, class: Class) -> Option<&Level> {
    findings.levels.iter().find(|level| level.classes.contains(&class))
}

/// A number with at most three digits after the point.
fn number(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

pub(super) fn machine(findings: &Findings) -> String {
    let place = &findings.place;
    let (packages, cores, threads) = place.counts;
    let seen = match place.is_virtual {
        true => "the CPUs that this process may use, as the hypervisor shows them",
        false => "the CPUs that this process may use, by CPUID",
    };
    format!(
        "[machine]\nsource = \"measured: {seen}; TSC against CPUID and clock\"\n\
         packages = {packages}\ncores = {cores}\nthreads = {threads}\nref_mhz = {:.0}\n",
        place.tsc_mhz
    )
}

pub(super) fn levels(findings: &Findings) -> String {
    let mut names = vec![format!("\"{BASE}\"")];
    names.extend(findings.levels.iter().map(|level| format!("\"{}\"", name(level))));
    format!(
        "[levels]\nsource = \"measured: classes whose clocks are within 1 % of scalar's share a \
         level, which has the name of its lightest class\"\nnames = [{}]\n",
        names.join(", ")
    )
}

/// A row a number of busy cores; a number that was not measured has the row of the next one.
pub(super) fn turbo(findings: &Findings) -> String {
    let cores = findings.place.counts.1.max(1) as usize;
    let mut text =
        "[turbo]\nsource = \"\"\"\nmeasured: median clock of a chain of additions after \
                    scalar code, times the ratio after a class of the level; other cores of the \
                    package that this process cannot see are others' business; never faster than \
                    a lighter level or than with fewer cores\"\"\"\nrows = [\n"
            .to_owned();
    let mut limits = vec![f64::INFINITY; 1 + findings.levels.len()];
    let mut first = 1;
    for (index, condition) in findings.conditions.iter().enumerate() {
        let is_last = index + 1 == findings.conditions.len();
        let last = if is_last { cores } else { (condition.busy_others + 1).min(cores) };
        let mut slowest = f64::INFINITY;
        let mut mhz = Vec::new();
        for (limit, (name, clock)) in limits.iter_mut().zip(clocks(findings, condition)) {
            slowest = clock.min(slowest).min(*limit);
            *limit = slowest;
            mhz.push(format!("{name} = {slowest:.0}"));
        }
        if first <= last {
            let row = mhz.join(", ");
            text += &format!("    {{ cores = [{first}, {last}], mhz = {{ {row} }} }},\n");
        }
        first = last + 1;
    }
    text + "]\n"
}

/// Clock of each level in MHz.
fn clocks(findings: &Findings, condition: &Condition) -> Vec<(&'static str, f64)> {
    let scalar = condition.scalar_ghz.value * 1000.0;
    let ratio = |level: &Level| {
        let found = condition.class(level.classes[0]);
        found.and_then(|class| class.ratio).map_or(1.0, |ratio| ratio.value)
    };
    std::iter::once((BASE, scalar))
        .chain(findings.levels.iter().map(|level| (name(level), scalar * ratio(level))))
        .collect()
}

pub(super) fn demand(findings: &Findings) -> String {
    let mut unsupported = Vec::new();
    let mut rules = Vec::new();
    let mut hidden = Vec::new();
    for class in Class::ALL.into_iter().filter(|class| *class != Class::Scalar) {
        let Some((_, found)) = findings.telling(class) else { continue };
        match found.verdict {
            Verdict::Unsupported(_) => unsupported.push(format!("\"{class}\"")),
            Verdict::Hidden(_) => hidden.push(class.name()),
            Verdict::Unaffected => rules.push(rule(class, None, BASE)),
            Verdict::Affected => rules.extend(rules_of(findings, class)),
        }
    }
    let left_out = match hidden.as_slice() {
        [] => String::new(),
        hidden => format!("; left out, because noise hid them: {}", hidden.join(", ")),
    };
    format!(
        "[demand]\nsource = \"measured: streams of each class at full density, and of those that \
         lower the clock at several rates{left_out}\"\nunsupported = [{}]\nrules = [\n{}]\n",
        unsupported.join(", "),
        rules.concat()
    )
}

/// Full density, and the clocks to which sparser streams lower the core.
fn rules_of(findings: &Findings, class: Class) -> Vec<String> {
    let Some(level) = level_of(findings, class) else { return Vec::new() };
    let rates = findings.rates.iter().find(|rates| rates.class == class);
    let Some(rates) = rates.filter(|rates| rates.reaches_level_from_permille.is_some()) else {
        return vec![rule(class, None, name(level))];
    };
    let nearest = |ratio: f64| {
        let far = |level: &&Level| (level.ratio - ratio).abs();
        let lighter = findings.levels.iter().filter(|other| other.ratio >= level.ratio);
        match lighter.min_by(|a, b| far(a).total_cmp(&far(b))) {
            Some(level) if far(&level) < (1.0 - ratio).abs() => name(level),
            _ => BASE,
        }
    };
    // From sparse to dense, a rule wherever the level changes.
    let mut rules = Vec::new();
    let mut last = None;
    for &(permille, ratio) in rates.ratios.iter().rev() {
        let found = nearest(ratio.value);
        if last != Some(found) {
            let from = last.map(|_| permille);
            rules.push(rule(class, from, found));
            last = Some(found);
        }
    }
    rules
}

fn rule(class: Class, from_permille: Option<u32>, level: &str) -> String {
    let rate = from_permille.map_or_else(String::new, |permille| {
        format!("rate = {}, ", number(f64::from(permille) / 1000.0))
    });
    format!("    {{ class = \"{class}\", {rate}level = \"{level}\" }},\n")
}

pub(super) fn license(findings: &Findings, relative: Option<&CpuTable>) -> String {
    let cores = findings.neighbours.iter().find(|neighbour| neighbour.place == "core");
    let (domain, why) = match cores.map(|core| &core.verdict) {
        Some(Verdict::Affected) => ("package", "measured: another core is lowered too".to_owned()),
        Some(Verdict::Unaffected) => ("core", "measured: another core is not touched".to_owned()),
        _ if findings.levels.is_empty() => ("core", "no meaning with one level".to_owned()),
        _ => match relative {
            Some(table) => ("core", format!("not seen; as on other CPUs like {}", table.name)),
            None => ("core", "not seen; a core's own on all CPUs since Broadwell".to_owned()),
        },
    };
    let finding = |level: &Level| findings.telling(level.classes[0]).map(|(_, found)| found);
    let halts: Vec<f64> =
        findings.levels.iter().filter_map(|level| Some(finding(level)?.boost?.us.value)).collect();
    let holds: Vec<String> = findings
        .levels
        .iter()
        .filter_map(|level| {
            let hold = finding(level)?.hold.as_ref()?;
            Some(format!("{} = {}", name(level), number(hold.us.value)))
        })
        .collect();
    let mut text = format!(
        "[license]\nsource = \"domain: {why}; hold: measured, the median; halt at the return: \
         {}\"\ndomain = \"{domain}\"\nfall_halt_us = {}\n",
        if halts.is_empty() { "none was resolved" } else { "measured, as D 5.2.2" },
        number(crate::statistics::median(&halts)),
    );
    if !holds.is_empty() {
        text += &format!("hold_us = {{ {} }}\n", holds.join(", "));
    }
    text
}

/// The cost of wider registers without a lower clock.
pub(super) fn widen(findings: &Findings, relative: Option<&CpuTable>) -> String {
    let unaffected = |class: &&ClassFinding| class.verdict == Verdict::Unaffected;
    let cost_us = findings
        .conditions
        .first()
        .into_iter()
        .flat_map(|condition| condition.classes.iter().filter(unaffected))
        .filter_map(|class| Some(class.entry?.us.value))
        .min_by(f64::total_cmp);
    let Some(cost_us) = cost_us else {
        return "[widen]\nsource = \"measured: no class that leaves the clock alone costs anything \
                at its start\"\nus = 0\nhold_us = 0\n"
            .to_owned();
    };
    let held = findings.levels.iter().find_map(|level| {
        let hold = findings.telling(level.classes[0])?.1.hold.as_ref()?;
        Some((hold.us.value, "as measured for the levels".to_owned()))
    });
    let relatives = || {
        let table = relative?;
        let hold_us = f64::from(table.widen.as_ref()?.hold_ns) / 1000.0;
        Some((hold_us, format!("taken over from {}", table.name)))
    };
    let Some((hold_us, why)) = held.or_else(relatives) else { return String::new() };
    format!(
        "[widen]\nsource = \"cost: measured at the start of the class that leaves the clock alone \
         and costs least; that it is a throttle to a quarter: D 3.2.2; hold: {why}\"\nus = {}\n\
         rate = {THROTTLE_RATE}\nhold_us = {}\n",
        number(cost_us / (1.0 - THROTTLE_RATE)),
        number(hold_us)
    )
}

pub(super) fn rises(findings: &Findings) -> String {
    let mut rises = Vec::new();
    for level in &findings.levels {
        let entry = |heavy: bool| {
            let of_kind = level.classes.iter().filter(|class| class.is_heavy() == heavy);
            of_kind.filter_map(|&class| findings.telling(class)).map(|(_, found)| found).next()
        };
        let costs: Vec<(Option<bool>, Option<Cost>)> = match (entry(false), entry(true)) {
            (Some(light), Some(heavy)) => {
                vec![(Some(false), light.entry), (Some(true), heavy.entry)]
            }
            (one, other) => one.or(other).map(|found| (None, found.entry)).into_iter().collect(),
        };
        rises.extend(costs.iter().map(|(heavy, cost)| rise(None, name(level), *heavy, *cost)));
    }
    for way in &findings.transitions {
        let level = |class| level_of(findings, class).map(name);
        if let (Some(from), Some(to)) = (level(way.from), level(way.to)) {
            rises.push(rise(Some(from), to, None, way.entry));
        }
    }
    rises.join("\n")
}

fn rise(from: Option<&str>, to: &str, heavy: Option<bool>, cost: Option<Cost>) -> String {
    let from = from.map_or_else(String::new, |from| format!("from = {}\n", quoted(from)));
    let heavy = heavy.map_or_else(String::new, |heavy| format!("heavy = {heavy}\n"));
    let (source, stages) = match cost {
        Some(cost) => (
            "measured, as D 5.2.1; that it is a halt: our choice",
            format!("{{ kind = \"halt\", us = {} }}", number(cost.us.value)),
        ),
        None => ("measured, as D 5.2.1: no cost was resolved", String::new()),
    };
    format!("[[rise]]\n{from}to = \"{to}\"\n{heavy}source = \"{source}\"\nstages = [{stages}]\n")
}
