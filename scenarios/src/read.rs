//! Reads the tables of a scenario file.

use std::collections::{BTreeMap, BTreeSet};

use cpu_model::Class;
use toml::de::DeTable;

use crate::claim::{Claim, Names, read_claim};
use crate::embedded::by_name;
use crate::error::{SCHEMA, ScenarioError, printable};
use crate::fields::{Fields, Place, Source, Value, list_or_empty};
use crate::number::{Number, Parameters};
use crate::phase::{ClassOf, Defaults, Share, read_class, read_phases, read_share};
use crate::scenario::{
    ApplicationSpec, CPUS_MAX, Demand, ForegroundMode, MachineSpec, Run, Scenario, Start, Variant,
};
use crate::workload::CpuSet;

/// Longest time a scenario may ask for, in s.
const LIMIT_S_MAX: f64 = 3600.0;
/// Longest arrival window and longest warm-up.
const START_MS_MAX: f64 = 60_000.0;

/// Reads a scenario in TOML, without compiling its cases.
pub(crate) fn read_toml(text: &str, source: &Source) -> Result<Scenario, ScenarioError> {
    let document = DeTable::parse(text).map_err(|error| ScenarioError::Syntax {
        file: source.file.to_string(),
        line: source.line(error.span().map_or(0, |span| span.start)),
        reason: printable(error.message()),
    })?;
    let place = Place { file: source.file.clone(), line: 1, field: String::new() };
    read_scenario(Fields::new(source, document.get_ref(), place))
}

/// Reads a whole scenario; values that the file does not give come from its base.
fn read_scenario(mut fields: Fields) -> Result<Scenario, ScenarioError> {
    read_schema(&fields.need("schema", "the version of the format, 1")?)?;
    let based = fields.take("base").map(|value| read_base(&value)).transpose()?;
    let mut scenario = based.unwrap_or_else(blank);
    scenario.file = fields.place.file.to_string();
    scenario.name = fields.need("name", "a name")?.name()?;
    scenario.description = fields.need("description", "a sentence")?.string()?;
    scenario.source = fields.need("source", "where it comes from")?.string()?;
    if let Some(cpu) = fields.take("cpu") {
        scenario.cpu = cpu.name()?;
    }
    if let Some(machine) = fields.take("machine") {
        scenario.machine = read_machine(machine.fields()?)?;
    }
    if let Some(run) = fields.take("run") {
        scenario.run = read_run(run.fields()?, scenario.run)?;
    }
    if let Some(parameters) = fields.take("parameters") {
        scenario.parameters.extend(read_parameters(&parameters, None)?);
    }
    let fits = fields.take("fit");
    let has_fits = fits.is_some();
    if let Some(fits) = fits {
        let known = Some(&scenario.parameters);
        let read = |fit: &Value| read_parameters(fit, known);
        scenario.fits = fits.list()?.iter().map(read).collect::<Result<_, _>>()?;
    }
    if let Some(list) = fields.take("foreground") {
        let read = |value: &Value| read_application(value.fields()?);
        scenario.foreground = list.list()?.iter().map(read).collect::<Result<_, _>>()?;
    }
    if let Some(list) = fields.take("background") {
        if !has_fits {
            // The fits of the base belong to the backgrounds that are replaced.
            scenario.fits.clear();
            scenario.calibrated_on.clear();
        }
        scenario.background = Vec::new();
        for value in list.list()? {
            let variant = read_variant(value.fields()?, &scenario.background)?;
            scenario.background.push(variant);
        }
    }
    let claims = list_or_empty(fields.take("claim"))?;
    check_whole(&scenario, &fields)?;
    fields.finish()?;
    let names = Names {
        backgrounds: scenario.background_names().collect(),
        applications: scenario.foreground_names().collect(),
    };
    let claims: Vec<Claim> =
        claims.iter().map(|claim| read_claim(claim, &names)).collect::<Result<_, _>>()?;
    let fitted = claims.iter().filter(|claim| claim.calibrated);
    scenario.calibrated_on.extend(fitted.filter_map(|claim| claim.id.clone()));
    scenario.claims = claims;
    Ok(scenario)
}

fn blank() -> Scenario {
    Scenario {
        name: String::new(),
        description: String::new(),
        source: String::new(),
        cpu: String::new(),
        run: Run {
            foreground: ForegroundMode::Each,
            start: Start::default(),
            limit_ns: 30_000_000_000,
            replicates: 20,
        },
        parameters: BTreeMap::new(),
        fits: Vec::new(),
        calibrated_on: Vec::new(),
        claims: Vec::new(),
        file: String::new(),
        machine: MachineSpec { turbo: true, ..MachineSpec::default() },
        foreground: Vec::new(),
        background: Vec::new(),
    }
}

fn read_schema(value: &Value) -> Result<(), ScenarioError> {
    let found = value.integer(1, i64::MAX)?.unsigned_abs();
    if found <= u64::from(SCHEMA) {
        return Ok(());
    }
    let Place { file, line, .. } = &value.place;
    Err(ScenarioError::Newer { file: file.to_string(), line: *line, found })
}

fn read_base(value: &Value) -> Result<Scenario, ScenarioError> {
    let text = value.as_str().and_then(by_name);
    let Some((file, text)) = text else {
        return Err(value.error("the name of a shipped scenario"));
    };
    let mut base = read_toml(text, &Source::new(file, text))?;
    base.claims.clear();
    Ok(base)
}

/// Refuses a scenario that lacks a part, names two alike, or has not one control.
fn check_whole(scenario: &Scenario, fields: &Fields) -> Result<(), ScenarioError> {
    if scenario.cpu.is_empty() {
        return Err(fields.missing("cpu", "the name of a CPU table"));
    }
    if scenario.foreground.is_empty() {
        return Err(fields.missing("foreground", "at least one [[foreground]] application"));
    }
    if scenario.background.is_empty() {
        return Err(fields.missing("background", "at least one [[background]] variant"));
    }
    let applications = |list: &[ApplicationSpec]| -> Vec<_> {
        list.iter().map(|one| (one.name.clone(), one.place.clone())).collect()
    };
    let foreground = applications(&scenario.foreground);
    for variant in &scenario.background {
        refuse_twins([foreground.clone(), applications(&variant.applications)].concat())?;
    }
    let variant = |one: &Variant| (one.name.clone(), one.place.clone());
    refuse_twins(scenario.background.iter().map(variant).collect())?;
    let mut controls = scenario.background.iter().filter(|variant| variant.control);
    match (controls.next(), controls.next()) {
        (Some(_), None) => Ok(()),
        (None, _) => Err(scenario.background[0].place.error("one variant with `control = true`")),
        (_, Some(second)) => Err(second.place.error("only one variant with `control = true`")),
    }
}

fn refuse_twins(named: Vec<(String, Place)>) -> Result<(), ScenarioError> {
    let mut seen = BTreeSet::new();
    match named.into_iter().find(|(name, _)| !seen.insert(name.clone())) {
        None => Ok(()),
        Some((name, place)) => Err(place.error(format!("a name other than the taken `{name}`"))),
    }
}

fn read_machine(mut fields: Fields) -> Result<MachineSpec, ScenarioError> {
    let mut count = |name| -> Result<Option<(u32, Place)>, ScenarioError> {
        let Some(value) = fields.take(name) else { return Ok(None) };
        Ok(Some((value.count(1, CPUS_MAX)?, value.place)))
    };
    let packages = count("packages")?;
    let cores = count("cores")?;
    let threads_per_core = count("threads_per_core")?;
    let turbo_cores = count("turbo_cores")?.map(|(cores, _)| cores);
    let turbo = fields.take("turbo").map_or(Ok(true), |value| value.boolean())?;
    fields.finish()?;
    Ok(MachineSpec { packages, cores, threads_per_core, turbo_cores, turbo })
}

fn read_run(mut fields: Fields, base: Run) -> Result<Run, ScenarioError> {
    let foreground = match fields.take("foreground") {
        None => base.foreground,
        Some(value) => match value.as_str() {
            Some("each") => ForegroundMode::Each,
            Some("together") => ForegroundMode::Together,
            _ => return Err(value.error("\"each\" or \"together\"")),
        },
    };
    let mut time_ns = |field, base_ns| match fields.take(field) {
        None => Ok(base_ns),
        Some(value) => {
            let time_ms = Number::read(&value)?.get(&Parameters::new(), 0.0, START_MS_MAX)?;
            Ok((time_ms * 1e6).round() as u64)
        }
    };
    let start = Start {
        arrival_window_ns: time_ns("arrival_window_ms", base.start.arrival_window_ns)?,
        warm_up_ns: time_ns("warm_up_ms", base.start.warm_up_ns)?,
    };
    let limit_ns = match fields.take("limit_s") {
        None => base.limit_ns,
        Some(value) => {
            let limit_s = Number::read(&value)?.get(&Parameters::new(), 0.001, LIMIT_S_MAX)?;
            (limit_s * 1e9).round() as u64
        }
    };
    let replicates =
        fields.take("replicates").map_or(Ok(base.replicates), |value| value.count(1, 10_000))?;
    fields.finish()?;
    Ok(Run { foreground, start, limit_ns, replicates })
}

/// Reads numbers by name; with `known`, only names in `known`.
fn read_parameters(value: &Value, known: Option<&Parameters>) -> Result<Parameters, ScenarioError> {
    let mut parameters = Parameters::new();
    for (name, value) in value.fields()?.take_all() {
        if known.is_some_and(|known| !known.contains_key(name)) {
            return Err(value.error("a name that [parameters] has"));
        }
        parameters.insert(printable(name), value.float()?);
    }
    Ok(parameters)
}

fn read_variant(mut fields: Fields, earlier: &[Variant]) -> Result<Variant, ScenarioError> {
    let name = fields.need("name", "a name")?;
    let place = name.place.clone();
    let name = name.name()?;
    let control = fields.take("control").map_or(Ok(false), |value| value.boolean())?;
    let mut classes = BTreeMap::new();
    if let Some(bound) = fields.take("classes") {
        for (name, value) in bound.fields()?.take_all() {
            classes.insert(name.to_owned(), read_demand(&value)?);
        }
    }
    let time_scale = match fields.take("time_scale") {
        Some(value) => Number::read(&value)?,
        None => Number::fixed(1.0, place.clone()),
    };
    let like = fields.take("like");
    let applications = fields.take("application");
    fields.finish()?;
    let is_like = like.is_some();
    let applications = match (like, applications) {
        (Some(_), Some(extra)) => {
            return Err(extra.error("no applications of its own beside `like`"));
        }
        (Some(like), None) => {
            let found = earlier.iter().find(|one| like.as_str() == Some(one.name.as_str()));
            let found = found.ok_or_else(|| like.error("the name of an earlier background"))?;
            found.applications.clone()
        }
        (None, applications) => list_or_empty(applications)?
            .iter()
            .map(|application| read_application(application.fields()?))
            .collect::<Result<_, _>>()?,
    };
    Ok(Variant { name, control, classes, time_scale, applications, is_like, place })
}

/// A class, or a list of classes with their shares of the work.
fn read_demand(value: &Value) -> Result<Demand, ScenarioError> {
    if !value.is_list() {
        return Ok(Demand::Always(read_fixed_class(value)?));
    }
    let shares: Vec<Share> = value.list()?.iter().map(read_share).collect::<Result<_, _>>()?;
    if let Some(ClassOf::Bound(_, place)) =
        shares.iter().map(|share| &share.class).find(|class| matches!(class, ClassOf::Bound(..)))
    {
        return Err(place.error("the name of a class, not of a binding"));
    }
    if shares.is_empty() {
        return Err(value.error("at least one class with its share"));
    }
    Ok(Demand::InTurn(shares))
}

fn read_fixed_class(value: &Value) -> Result<Class, ScenarioError> {
    match read_class(value)? {
        ClassOf::Fixed(class) => Ok(class),
        ClassOf::Bound(..) => Err(value.error("the name of a class, not of a binding")),
    }
}

fn read_application(mut fields: Fields) -> Result<ApplicationSpec, ScenarioError> {
    let name = fields.need("name", "a name")?;
    let place = name.place.clone();
    let name = name.name()?;
    let number = |value: Option<Value>, default| match value {
        Some(value) => Number::read(&value),
        None => Ok(Number::fixed(default, place.clone())),
    };
    let threads = Number::read(&fields.need("threads", "how many threads")?)?;
    let instances = number(fields.take("instances"), 1.0)?;
    let nice = fields.take("nice").map_or(Ok(0), |value| value.integer(-20, 19))?;
    let affinity = fields.take("affinity").map(|value| read_affinity(&value)).transpose()?;
    let enrolled = fields.take("enrolled").map_or(Ok(true), |value| value.boolean())?;
    let arrival_ms = number(fields.take("arrival_ms"), 0.0)?;
    let stall = number(fields.take("stall"), 0.0)?;
    let working_set_kib = number(fields.take("working_set_kib"), 0.0)?;
    if let Some(source) = fields.take("source") {
        source.string()?;
    }
    let defaults = Defaults { stall, working_set_kib };
    let phases = read_phases(&fields.need("phases", "a list of phases")?, &defaults)?;
    fields.finish()?;
    let nice = i8::try_from(nice).unwrap_or(0);
    Ok(ApplicationSpec {
        name,
        threads,
        instances,
        nice,
        affinity,
        enrolled,
        arrival_ms,
        phases,
        place,
    })
}

/// Reads `"0-3,8"`.
fn read_affinity(value: &Value) -> Result<(CpuSet, Place), ScenarioError> {
    let expected = format!("logical CPUs below {CPUS_MAX} such as \"0-3,8\"");
    let range = |part: &str| -> Option<std::ops::RangeInclusive<u32>> {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first <= last && last < CPUS_MAX).then_some(first..=last)
    };
    let ranges: Option<Vec<_>> =
        value.as_str().and_then(|text| text.split(',').map(range).collect());
    let Some(ranges) = ranges else { return Err(value.error(expected)) };
    let cpus: BTreeSet<u32> = ranges.into_iter().flatten().collect();
    Ok((CpuSet { cpus: cpus.into_iter().collect() }, value.place.clone()))
}
