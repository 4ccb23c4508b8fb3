//! The phases an application's threads go through, as the file says them.

use cpu_model::Class;

use crate::error::{ScenarioError, printable};
use crate::fields::{Fields, Place, Value, list_or_empty};
use crate::number::Number;

/// Kinds of phases, for errors.
const KINDS: &str = concat!(
    "compute, sleep, system_call, barrier, lock, unlock, wait, wake, wake_others, ",
    "repeat, forever, first, others"
);

/// One phase, with its place in the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Phase {
    pub(crate) place: Place,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Compute(Box<Compute>),
    /// Sleep for a time in us.
    Sleep(Number, Spread),
    /// Sleep until a timer of the thread fires; files of our own have no such phase.
    Timer {
        timer: u32,
        period_us: f64,
        absolute: bool,
    },
    /// A system call that returns at once.
    SystemCall,
    Barrier(String),
    Lock(String),
    Unlock(String),
    Wait(String),
    Wake(String),
    /// One wake for every thread of the instance but the first.
    WakeOthers(String),
    Repeat {
        /// `None`: for ever.
        times: Option<Number>,
        phases: Vec<Phase>,
    },
    /// Only the first thread of each instance.
    First(Vec<Phase>),
    /// All threads of each instance but the first.
    Others(Vec<Phase>),
}

/// Amount of work.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Amount {
    /// Microseconds at the reference frequency.
    Micros(Number),
    /// Millions of reference cycles.
    Megacycles(Number),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Spread {
    Fixed,
    /// Uniform within mean ± this many percent.
    UniformPct(Number),
    Exponential,
}

/// A class, or the name that the background variant binds to one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ClassOf {
    Fixed(Class),
    Bound(String, Place),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compute {
    pub(crate) work: Amount,
    pub(crate) spread: Spread,
    pub(crate) class: ClassOf,
    pub(crate) rate: Number,
    pub(crate) stall: Number,
    pub(crate) integer: bool,
    pub(crate) working_set_kib: Number,
    pub(crate) bursts: Option<Bursts>,
}

/// Work that alternates between classes. Without a list the classes are those that a background
/// binds to `Compute::class`; with one, that class takes the rest of the shares.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bursts {
    /// Length of a burst of the first class of the mix, in us at the reference frequency.
    pub(crate) burst_us: Number,
    pub(crate) mix: Vec<Share>,
}

/// Share of the work that a class takes, 0..=1.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    pub(crate) class: ClassOf,
    pub(crate) share: Number,
}

/// Defaults of an application's compute phases.
#[derive(Clone, Debug)]
pub(crate) struct Defaults {
    pub(crate) stall: Number,
    pub(crate) working_set_kib: Number,
}

/// Reads a list of phases.
pub(crate) fn read_phases(value: &Value, own: &Defaults) -> Result<Vec<Phase>, ScenarioError> {
    let list = value.list()?;
    if list.is_empty() {
        return Err(value.error("at least one phase"));
    }
    list.iter().map(|phase| read_phase(phase, own)).collect()
}

fn read_phase(value: &Value, own: &Defaults) -> Result<Phase, ScenarioError> {
    let mut given = value.fields()?.take_all().into_iter();
    let (Some((name, body)), None) = (given.next(), given.next()) else {
        return Err(value.error(format!("a table with one phase of: {KINDS}")));
    };
    let kind = match name {
        "compute" => Kind::Compute(Box::new(read_compute(body.fields()?, own)?)),
        "sleep" => {
            let mut fields = body.fields()?;
            let us = Number::read(&fields.need("us", "how long")?)?;
            let spread = read_spread(&mut fields)?;
            fields.finish()?;
            Kind::Sleep(us, spread)
        }
        "system_call" => read_system_call(&body)?,
        "barrier" => Kind::Barrier(body.name()?),
        "lock" => Kind::Lock(body.name()?),
        "unlock" => Kind::Unlock(body.name()?),
        "wait" => Kind::Wait(body.name()?),
        "wake" => Kind::Wake(body.name()?),
        "wake_others" => Kind::WakeOthers(body.name()?),
        "repeat" => read_repeat(body.fields()?, own)?,
        "forever" => read_forever(&body, own)?,
        "first" => Kind::First(read_phases(&body, own)?),
        "others" => Kind::Others(read_phases(&body, own)?),
        _ => {
            return Err(value
                .error(format!("a table with one phase of: {KINDS}; not `{}`", printable(name))));
        }
    };
    Ok(Phase { place: body.place, kind })
}

fn read_repeat(mut fields: Fields, own: &Defaults) -> Result<Kind, ScenarioError> {
    let times = Some(Number::read(&fields.need("times", "how often")?)?);
    let phases = read_phases(&fields.need("phases", "a list of phases")?, own)?;
    fields.finish()?;
    Ok(Kind::Repeat { times, phases })
}

fn read_system_call(body: &Value) -> Result<Kind, ScenarioError> {
    if body.boolean()? {
        return Ok(Kind::SystemCall);
    }
    Err(body.error("`system_call = true`, or no such phase"))
}

fn read_forever(body: &Value, own: &Defaults) -> Result<Kind, ScenarioError> {
    // Old files have a table, since amounts of mixed work were drawn when a file was read.
    if let Ok(mut fields) = body.fields()
        && let Some(variants) = fields.take("variants")
    {
        return Err(variants.error(
            "`forever = […]`, a list of phases without `variants`: every visit draws its own \
             amounts of work",
        ));
    }
    Ok(Kind::Repeat { times: None, phases: read_phases(body, own)? })
}

fn read_compute(mut fields: Fields, own: &Defaults) -> Result<Compute, ScenarioError> {
    let place = fields.place.clone();
    let micros = fields.take("work_us");
    let megacycles = fields.take("work_mcycles");
    let work = match (&micros, &megacycles) {
        (Some(work), None) => Amount::Micros(Number::read(work)?),
        (None, Some(work)) => Amount::Megacycles(Number::read(work)?),
        (Some(_), Some(extra)) => return Err(extra.error("no second amount beside work_us")),
        (None, None) => return Err(fields.missing("work_us", "work_us or work_mcycles")),
    };
    let spread = read_spread(&mut fields)?;
    let class =
        fields.take("class").map_or(Ok(ClassOf::Fixed(Class::Scalar)), |v| read_class(&v))?;
    let or = |given: Option<Value>, default: &Number| {
        given.map_or_else(|| Ok(default.clone()), |value| Number::read(&value))
    };
    let rate = or(fields.take("rate"), &Number::fixed(1.0, place))?;
    let stall = or(fields.take("stall"), &own.stall)?;
    let integer = fields.take("integer").map_or(Ok(false), |value| value.boolean())?;
    let working_set_kib = or(fields.take("working_set_kib"), &own.working_set_kib)?;
    let bursts = read_bursts(&mut fields, &class)?;
    fields.finish()?;
    Ok(Compute { work, spread, class, rate, stall, integer, working_set_kib, bursts })
}

fn read_bursts(fields: &mut Fields, class: &ClassOf) -> Result<Option<Bursts>, ScenarioError> {
    let burst_us = fields.take("burst_us");
    let mix = list_or_empty(fields.take("mix"))?;
    match (burst_us, mix.is_empty()) {
        (None, true) => Ok(None),
        (Some(burst_us), true) if matches!(class, ClassOf::Bound(..)) => {
            Ok(Some(Bursts { burst_us: Number::read(&burst_us)?, mix: Vec::new() }))
        }
        (Some(burst_us), false) => {
            let burst_us = Number::read(&burst_us)?;
            let mix = mix.iter().map(read_share).collect::<Result<_, _>>()?;
            Ok(Some(Bursts { burst_us, mix }))
        }
        (Some(_), true) => Err(fields.missing("mix", "the classes that burst_us alternates")),
        (None, false) => Err(fields.missing("burst_us", "the length of the bursts of mix")),
    }
}

pub(crate) fn read_share(value: &Value) -> Result<Share, ScenarioError> {
    let mut fields = value.fields()?;
    let class = read_class(&fields.need("class", "an instruction class")?)?;
    let share = Number::read(&fields.need("share", "a share of the work")?)?;
    fields.finish()?;
    Ok(Share { class, share })
}

/// Reads `spread_pct = 30` or `spread = "exponential"`.
fn read_spread(fields: &mut Fields) -> Result<Spread, ScenarioError> {
    let uniform = fields.take("spread_pct");
    let named = fields.take("spread");
    match (uniform, named) {
        (None, None) => Ok(Spread::Fixed),
        (Some(pct), None) => Ok(Spread::UniformPct(Number::read(&pct)?)),
        (None, Some(name)) if name.as_str() == Some("exponential") => Ok(Spread::Exponential),
        (None, Some(name)) => Err(name.error("\"exponential\"; a uniform spread is `spread_pct`")),
        (Some(_), Some(name)) => Err(name.error("no second spread beside spread_pct")),
    }
}

/// Reads a class by name, or `"@name"`, which the background variant binds.
pub(crate) fn read_class(value: &Value) -> Result<ClassOf, ScenarioError> {
    let text = value.as_str();
    if let Some(name) = text.and_then(|text| text.strip_prefix('@')) {
        return Ok(ClassOf::Bound(name.into(), value.place.clone()));
    }
    text.and_then(Class::from_name).map(ClassOf::Fixed).ok_or_else(|| {
        let names: Vec<_> = Class::ALL.iter().map(|class| class.name()).collect();
        value.error(format!("one of {}", names.join(", ")))
    })
}
