//! One task of rt-app: its properties, and its phases of events.

use std::collections::{BTreeMap, BTreeSet};

use cpu_model::Class;

use super::{Json, Value, require_other, unknown};
use crate::error::ScenarioError;
use crate::fields::Place;
use crate::number::Number;
use crate::phase::{Amount, ClassOf, Compute, Kind, Phase, Spread};
use crate::scenario::CPUS_MAX;
use crate::workload::CpuSet;

/// Longest amount of an event, in us: 100 s.
const AMOUNT_US_MAX: f64 = 1e8;
/// Most rounds of a loop.
const ROUNDS_MAX: i32 = 1_000_000_000;
/// Properties of a task.
const PROPERTIES: &str = "instance, loop, policy, priority, cpus, delay, phases, x-evenkeel";
/// Events.
const EVENTS: &str = "run, sleep, timer, lock, unlock, barrier, suspend, resume";

/// A task of the file.
#[derive(Clone)]
pub(super) struct Task {
    pub(super) name: String,
    pub(super) place: Place,
    pub(super) instances: u32,
    pub(super) nice: i8,
    pub(super) affinity: Option<(CpuSet, Place)>,
    pub(super) delay_us: f64,
    pub(super) is_background: bool,
    pub(super) phases: Vec<Phase>,
    /// Timers that rt-app shares between threads, as their names do not begin with `unique`.
    pub(super) shared_timers: BTreeMap<String, Place>,
    /// Classes that the task names.
    pub(super) classes: BTreeSet<Class>,
    /// Length of a round of an endless task at the reference frequency, alone on its CPU.
    round_us: f64,
}

/// The instructions of a task or phase.
#[derive(Clone)]
struct Instructions {
    class: Class,
    rate: f64,
    stall: f64,
    integer: bool,
    working_set_kib: f64,
}

const SCALAR: Instructions = Instructions {
    class: Class::Scalar,
    rate: 1.0,
    stall: 0.0,
    integer: false,
    working_set_kib: 0.0,
};

/// Events of a phase or round, and how long they last on an idle machine.
#[derive(Default)]
struct Events {
    phases: Vec<Phase>,
    worked_us: f64,
    /// By timer, since its last expiry.
    timed_us: f64,
}

/// Reads a task.
pub(super) fn read_task(name: &str, value: &Value) -> Result<Task, ScenarioError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    if !(1..=64).contains(&name.len()) || !name.chars().all(plain) {
        return Err(value.error("a name of 1 to 64 letters, digits, `-`, `_`, `.` or `:`"));
    }
    let mut reader = Reader { task: name.to_owned(), ..Reader::default() };
    let mut task = Task {
        name: name.to_owned(),
        place: value.place.clone(),
        instances: 1,
        nice: 0,
        affinity: None,
        delay_us: 0.0,
        is_background: false,
        phases: Vec::new(),
        shared_timers: BTreeMap::new(),
        classes: BTreeSet::new(),
        round_us: 0.0,
    };
    let mut rounds = None;
    let mut instructions = SCALAR;
    // A task's properties apply to the whole task, wherever they stand in its object.
    for (key, value) in value.object()? {
        if !reader.property(key, value)? {
            continue;
        }
        match key.as_str() {
            "instance" => task.instances = value.whole(1, 1024)? as u32,
            "loop" => rounds = read_rounds(value)?,
            "policy" => require_other(value)?,
            "priority" => task.nice = value.whole(-20, 19)? as i8,
            "cpus" => task.affinity = Some(read_cpus(value)?),
            "delay" => task.delay_us = value.number(0.0, AMOUNT_US_MAX)?,
            "x-evenkeel" => {
                instructions = read_instructions(value, &instructions, &mut task.is_background)?;
            }
            _ => {}
        }
    }
    let own = instructions;
    let events = match value.object()?.iter().find(|(key, _)| key == "phases") {
        Some((_, phases)) => reader.phases(phases, value, &own)?,
        None => reader.events(value, &own, true)?,
    };
    if events.phases.is_empty() {
        return Err(value.error(format!("at least one event of: {EVENTS}")));
    }
    task.classes = reader.classes;
    task.shared_timers = reader.shared_timers;
    task.round_us = events.worked_us;
    task.phases = match rounds {
        Some(times) => vec![repeat(Some(times), events.phases, &task.place)],
        None => vec![repeat(None, events.phases, &task.place)],
    };
    Ok(task)
}

impl Task {
    /// Lets a task of the foreground that never ends do as many rounds as fit into the file's
    /// duration on an idle machine at the reference frequency.
    pub(super) fn bound_rounds(&mut self, duration_s: Option<f64>) -> Result<(), ScenarioError> {
        let place = Place { field: format!("{}.loop", self.place.field), ..self.place.clone() };
        let [Phase { kind: Kind::Repeat { times, .. }, .. }] = &mut self.phases[..] else {
            return Ok(());
        };
        if self.is_background || times.is_some() {
            return Ok(());
        }
        let Some(duration_s) = duration_s else {
            return Err(place.error(
                "a number of rounds, a `duration` in `global`, or \"role\": \"background\" in \
                 `x-evenkeel`, as the task never ends",
            ));
        };
        let rounds = (duration_s * 1e6 / self.round_us.max(1.0)).floor();
        *times = Some(Number::fixed(rounds.clamp(1.0, ROUNDS_MAX.into()), place));
        Ok(())
    }
}

fn repeat(times: Option<f64>, phases: Vec<Phase>, place: &Place) -> Phase {
    let times = times.map(|times| Number::fixed(times, place.clone()));
    Phase { place: place.clone(), kind: Kind::Repeat { times, phases } }
}

/// A number of rounds; `None`: for ever.
fn read_rounds(value: &Value) -> Result<Option<f64>, ScenarioError> {
    match value.whole(-1, ROUNDS_MAX)? {
        -1 => Ok(None),
        0 => Err(value.error("-1 or a number from 1")),
        rounds => Ok(Some(rounds.into())),
    }
}

fn read_cpus(value: &Value) -> Result<(CpuSet, Place), ScenarioError> {
    let cpu = |value: &Value| Ok(value.whole(0, CPUS_MAX as i32 - 1)? as u32);
    let cpus: BTreeSet<u32> = value.list()?.iter().map(cpu).collect::<Result<_, _>>()?;
    Ok((CpuSet { cpus: cpus.into_iter().collect() }, value.place.clone()))
}

fn read_instructions(
    value: &Value,
    outer: &Instructions,
    background: &mut bool,
) -> Result<Instructions, ScenarioError> {
    let mut instructions = outer.clone();
    for (key, value) in value.object()? {
        match key.as_str() {
            "class" => {
                let names = Class::ALL.map(Class::name).join(", ");
                let class = Class::from_name(value.text()?);
                instructions.class = class.ok_or_else(|| value.error(format!("one of {names}")))?;
            }
            "rate" => instructions.rate = value.number(0.0, 8.0)?,
            "stall" => instructions.stall = value.number(0.0, 1.0)?,
            "integer" => instructions.integer = value.boolean()?,
            "working_set_kib" => {
                instructions.working_set_kib = value.whole(0, i32::MAX)?.into();
            }
            "role" => match value.text()? {
                "background" => *background = true,
                "foreground" => *background = false,
                _ => return Err(value.error("\"foreground\" or \"background\"")),
            },
            _ => {
                let known = "class, rate, stall, integer, working_set_kib, role";
                return Err(unknown(value, known));
            }
        }
    }
    Ok(instructions)
}

/// State of reading the events of one task.
#[derive(Default)]
struct Reader {
    /// Name of the task.
    task: String,
    seen: BTreeSet<String>,
    timers: BTreeMap<String, u32>,
    shared_timers: BTreeMap<String, Place>,
    classes: BTreeSet<Class>,
}

impl Reader {
    /// Whether a key of a task is a property, which must not come again, and no event.
    fn property(&mut self, key: &str, value: &Value) -> Result<bool, ScenarioError> {
        if !PROPERTIES.split(", ").any(|property| property == key) {
            return Ok(false);
        }
        if self.seen.insert(key.to_owned()) {
            return Ok(true);
        }
        Err(value.error("no second value"))
    }

    /// The phases of a task that has no events beside them.
    fn phases(
        &mut self,
        phases: &Value,
        task: &Value,
        own: &Instructions,
    ) -> Result<Events, ScenarioError> {
        let is_property = |key: &str| PROPERTIES.split(", ").any(|property| property == key);
        if let Some((_, event)) = task.object()?.iter().find(|(key, _)| !is_property(key)) {
            return Err(unknown(event, PROPERTIES));
        }
        let mut all = Events::default();
        for (_, phase) in phases.object()? {
            let mut rounds = 1.0;
            let mut instructions = own.clone();
            for (key, value) in phase.object()? {
                match key.as_str() {
                    "loop" => {
                        let endless = || value.error("a number of rounds: a phase has to end");
                        rounds = read_rounds(value)?.ok_or_else(endless)?;
                    }
                    "x-evenkeel" => {
                        let mut role = false;
                        instructions = read_instructions(value, own, &mut role)?;
                        if role {
                            return Err(value.error("the role at the task, not at a phase"));
                        }
                    }
                    _ => {}
                }
            }
            let events = self.events(phase, &instructions, false)?;
            all.worked_us += rounds * events.worked_us;
            all.phases.push(repeat(Some(rounds), events.phases, &phase.place));
        }
        Ok(all)
    }

    /// The events of a phase, or of a task that is one.
    fn events(
        &mut self,
        value: &Value,
        instructions: &Instructions,
        is_task: bool,
    ) -> Result<Events, ScenarioError> {
        let skipped = if is_task { PROPERTIES } else { "loop, x-evenkeel" };
        let mut events = Events::default();
        for (key, value) in value.object()? {
            if !skipped.split(", ").any(|property| property == key) {
                self.event(key, value, instructions, &mut events)?;
            }
        }
        events.worked_us = events.worked_us.max(events.timed_us);
        Ok(events)
    }

    /// One event; keys may end in digits, which keep them apart in plain JSON.
    fn event(
        &mut self,
        key: &str,
        value: &Value,
        instructions: &Instructions,
        events: &mut Events,
    ) -> Result<(), ScenarioError> {
        let kind = match key.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "run" => {
                let us = value.number(0.001, AMOUNT_US_MAX)?;
                events.worked_us += us;
                self.compute(us, value, instructions)
            }
            "sleep" => {
                let us = value.number(0.001, AMOUNT_US_MAX)?;
                events.worked_us += us;
                Kind::Sleep(Number::fixed(us, value.place.clone()), Spread::Fixed)
            }
            "timer" => self.timer(value, events)?,
            "lock" => Kind::Lock(global(value)?),
            "unlock" => Kind::Unlock(global(value)?),
            "barrier" => Kind::Barrier(global(value)?),
            // Without a name a task suspends itself, as workgen writes such events.
            "suspend" => match &value.json {
                Json::Null => Kind::Wait(format!("global:{}", self.task)),
                _ => Kind::Wait(global(value)?),
            },
            "resume" => Kind::Wake(global(value)?),
            "runtime" => {
                return Err(value.error(
                    "no `runtime`: it ends by the clock however much was done; `run` is work",
                ));
            }
            _ => return Err(unknown(value, EVENTS)),
        };
        events.phases.push(Phase { place: value.place.clone(), kind });
        Ok(())
    }

    fn compute(&mut self, us: f64, value: &Value, own: &Instructions) -> Kind {
        self.classes.insert(own.class);
        let number = |value_of| Number::fixed(value_of, value.place.clone());
        Kind::Compute(Box::new(Compute {
            work: Amount::Micros(number(us)),
            spread: Spread::Fixed,
            class: ClassOf::Bound(own.class.name().to_owned(), value.place.clone()),
            rate: number(own.rate),
            stall: number(own.stall),
            integer: own.integer,
            working_set_kib: number(own.working_set_kib),
            bursts: None,
        }))
    }

    fn timer(&mut self, value: &Value, events: &mut Events) -> Result<Kind, ScenarioError> {
        let (mut name, mut period_us, mut absolute) = (None, None, false);
        for (key, value) in value.object()? {
            match key.as_str() {
                "ref" => name = Some(value.text()?),
                "period" => period_us = Some(value.number(0.001, AMOUNT_US_MAX)?),
                "mode" => match value.text()? {
                    "relative" => absolute = false,
                    "absolute" => absolute = true,
                    _ => return Err(value.error("\"relative\" or \"absolute\"")),
                },
                _ => return Err(unknown(value, "ref, period, mode")),
            }
        }
        let (Some(name), Some(period_us)) = (name, period_us) else {
            return Err(value.error("a \"ref\" and a \"period\""));
        };
        if !name.starts_with("unique") {
            self.shared_timers.insert(name.to_owned(), value.place.clone());
        }
        let next = self.timers.len() as u32;
        let timer = *self.timers.entry(name.to_owned()).or_insert(next);
        events.timed_us += period_us;
        Ok(Kind::Timer { timer, period_us, absolute })
    }
}

/// A mutex, barrier or thread, by the name that all tasks share.
fn global(value: &Value) -> Result<String, ScenarioError> {
    match &value.json {
        Json::Text(name) if !name.is_empty() => Ok(format!("global:{name}")),
        _ => Err(value.error("a name in quotes")),
    }
}
