//! Turns the phases of an application into the program of one thread.

use std::collections::BTreeMap;

use cpu_model::Class;

use crate::error::{ScenarioError, printable};
use crate::fields::Place;
use crate::number::Parameters;
use crate::phase::{Amount, Bursts, ClassOf, Compute, Kind, Phase, Share, Spread as SpreadOf};
use crate::scenario::Demand;
use crate::workload::{Draw, Spread, Step, Work};

/// Longest work or sleep of one phase, in us: 100 s.
const AMOUNT_US_MAX: f64 = 1e8;
/// How often a loop may run in all.
const TIMES_MAX: u32 = 1_000_000_000;
/// Shares of a round are counted in this.
const PPM: f64 = 1e6;

/// The kind of a synchronisation object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sync {
    Barrier,
    Lock,
    Semaphore,
}

/// The threads that share a barrier, lock or semaphore of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    Instance { application: u32, instance: u32, threads: u32 },
    Application(u32),
    Global,
}

/// Numbers given to barriers, locks and semaphores.
#[derive(Default)]
pub(crate) struct Names<'s> {
    pub(crate) numbers: BTreeMap<(Sync, Scope, &'s str), u32>,
    counts: [u32; 3],
}

impl<'s> Names<'s> {
    fn number(&mut self, kind: Sync, scope: Scope, name: &'s str) -> u32 {
        *self.numbers.entry((kind, scope, name)).or_insert_with(|| {
            let count = &mut self.counts[kind as usize];
            *count += 1;
            *count - 1
        })
    }

    pub(crate) fn count(&self, kind: Sync) -> u32 {
        self.counts[kind as usize]
    }
}

/// The values of a scenario's numbers and classes in one case.
pub(crate) struct Amounts<'s> {
    pub(crate) parameters: &'s Parameters,
    pub(crate) classes: &'s BTreeMap<String, Demand>,
    pub(crate) khz: u32,
    /// How many times as long as written all work takes.
    pub(crate) time_scale: f64,
    pub(crate) placebo: Option<Placebo<'s>>,
}

/// What takes the place of classes in a placebo.
#[derive(Clone, Copy)]
pub(crate) struct Placebo<'s> {
    /// The control's bindings.
    pub(crate) classes: &'s BTreeMap<String, Demand>,
    /// Whether classes that are not bound are scalar instead.
    pub(crate) strips: bool,
}

fn bound<'d>(
    classes: &'d BTreeMap<String, Demand>,
    name: &str,
    place: &Place,
) -> Result<&'d Demand, ScenarioError> {
    classes.get(name).ok_or_else(|| {
        let name = printable(name);
        place.error(format!("a class that every background's `classes` binds to `{name}`"))
    })
}

fn one_class(demand: &Demand, place: &Place) -> Result<Class, ScenarioError> {
    match demand {
        Demand::Always(class) => Ok(*class),
        Demand::InTurn(_) => Err(place.error(
            "a class that is bound to one class: classes in turn need `burst_us`, and no `mix`",
        )),
    }
}

impl Amounts<'_> {
    fn class(&self, class: &ClassOf) -> Result<Class, ScenarioError> {
        match (class, &self.placebo) {
            (ClassOf::Fixed(_), Some(placebo)) if placebo.strips => Ok(Class::Scalar),
            (ClassOf::Fixed(class), _) => Ok(*class),
            (ClassOf::Bound(name, place), placebo) => {
                let classes = placebo.as_ref().map_or(self.classes, |placebo| placebo.classes);
                one_class(bound(classes, name, place)?, place)
            }
        }
    }

    /// The classes in turn that a name is bound to, with the class that takes their place in a
    /// placebo; `None`: the name is bound to one class.
    fn in_turn(&self, class: &ClassOf) -> Result<Option<InTurn<'_>>, ScenarioError> {
        let ClassOf::Bound(name, place) = class else { return Ok(None) };
        let Demand::InTurn(shares) = bound(self.classes, name, place)? else { return Ok(None) };
        let Some(placebo) = &self.placebo else {
            return Ok(Some(InTurn { shares, placebo: None }));
        };
        Ok(Some(match bound(placebo.classes, name, place)? {
            Demand::Always(class) => InTurn { shares, placebo: Some(*class) },
            Demand::InTurn(shares) => InTurn { shares, placebo: None },
        }))
    }

    fn spread(&self, spread: &SpreadOf) -> Result<Spread, ScenarioError> {
        Ok(match spread {
            SpreadOf::Fixed => Spread::Fixed,
            SpreadOf::Exponential => Spread::Exponential,
            SpreadOf::UniformPct(pct) => {
                Spread::Uniform((pct.get(self.parameters, 0.0, 100.0)? * 10.0).round() as u32)
            }
        })
    }

    /// Reference cycles; at least one.
    fn cycles(&self, amount: &Amount) -> Result<f64, ScenarioError> {
        let cycles_per_us = f64::from(self.khz) / 1000.0;
        let cycles = match amount {
            Amount::Micros(us) => us.get(self.parameters, 0.001, AMOUNT_US_MAX)? * cycles_per_us,
            Amount::Megacycles(amount) => amount.get(self.parameters, 1e-6, 1e6)? * 1e6,
        };
        Ok((cycles * self.time_scale).max(1.0))
    }

    fn work(&self, compute: &Compute, class: Class) -> Result<Work, ScenarioError> {
        let permille = |value: f64| (value * 1000.0).round() as u32;
        Ok(Work {
            ref_cycles: Draw {
                mean: self.cycles(&compute.work)?.round() as u64,
                spread: self.spread(&compute.spread)?,
            },
            class,
            rate_permille: permille(compute.rate.get(self.parameters, 0.0, 8.0)?),
            stall_permille: permille(compute.stall.get(self.parameters, 0.0, 1.0)?),
            integer: compute.integer,
            working_set_kib: compute.working_set_kib.get_count(self.parameters, 0, u32::MAX)?,
        })
    }
}

/// The program of one thread in the making.
pub(crate) struct Program<'a, 's> {
    pub(crate) amounts: &'a Amounts<'s>,
    pub(crate) endless_allowed: bool,
    pub(crate) application: u32,
    pub(crate) instance: u32,
    /// Threads of the instance.
    pub(crate) threads: u32,
    /// Number within the instance.
    pub(crate) thread: u32,
    pub(crate) names: &'a mut Names<'s>,
    pub(crate) steps_left: usize,
    pub(crate) steps: Vec<Step>,
    pub(crate) places: Vec<&'s Place>,
    /// Most demanding class so far.
    pub(crate) class: Class,
}

/// Classes that take turns.
struct InTurn<'d> {
    shares: &'d [Share],
    placebo: Option<Class>,
}

type Built<'s> = (Vec<Step>, Vec<&'s Place>, Class);

impl<'s> Program<'_, 's> {
    pub(crate) fn build(mut self, phases: &'s [Phase]) -> Result<Built<'s>, ScenarioError> {
        self.emit(phases)?;
        Ok((self.steps, self.places, self.class))
    }

    fn emit(&mut self, phases: &'s [Phase]) -> Result<(), ScenarioError> {
        for phase in phases {
            let place = &phase.place;
            match &phase.kind {
                Kind::Compute(compute) => self.compute(compute, place)?,
                Kind::Sleep(us, spread) => {
                    let mean_us = us.get(self.amounts.parameters, 0.0, AMOUNT_US_MAX)?;
                    let spread = self.amounts.spread(spread)?;
                    // A sleep of 0 is none, so that a parameter can leave it out.
                    if mean_us > 0.0 {
                        let mean = (mean_us * 1e3).round().max(1.0) as u64;
                        self.push(Step::Sleep(Draw { mean, spread }), place)?;
                    }
                }
                &Kind::Timer { timer, period_us, absolute } => {
                    let period_ns = (period_us * 1e3).round().max(1.0) as u64;
                    self.push(Step::Timer { timer, period_ns, absolute }, place)?;
                }
                Kind::SystemCall => self.push(Step::SystemCall, place)?,
                Kind::Barrier(name) => self.sync(Sync::Barrier, name, Step::Barrier, place)?,
                Kind::Lock(name) => self.sync(Sync::Lock, name, Step::Lock, place)?,
                Kind::Unlock(name) => self.sync(Sync::Lock, name, Step::Unlock, place)?,
                Kind::Wait(name) => self.sync(Sync::Semaphore, name, Step::Wait, place)?,
                Kind::Wake(name) => self.sync(Sync::Semaphore, name, Step::Wake, place)?,
                Kind::WakeOthers(name) => {
                    for _ in 1..self.threads {
                        self.sync(Sync::Semaphore, name, Step::Wake, place)?;
                    }
                }
                Kind::Repeat { times: Some(times), phases } => {
                    let times = times.get_count(self.amounts.parameters, 1, TIMES_MAX)?;
                    self.repeat(times, phases, place)?;
                }
                Kind::Repeat { times: None, phases } => self.forever(phases, place)?,
                Kind::First(phases) if self.thread == 0 => self.emit(phases)?,
                Kind::Others(phases) if self.thread != 0 => self.emit(phases)?,
                Kind::First(_) | Kind::Others(_) => {}
            }
        }
        Ok(())
    }

    fn push(&mut self, step: Step, place: &'s Place) -> Result<(), ScenarioError> {
        if matches!(self.steps.last(), Some(Step::Loop { times: None, .. })) {
            return Err(place.error("nothing after an endless loop"));
        }
        if self.steps.len() >= self.steps_left {
            return Err(place.error("fewer steps: all programs together exceed 4 million"));
        }
        self.steps.push(step);
        self.places.push(place);
        Ok(())
    }

    fn sync(
        &mut self,
        kind: Sync,
        name: &'s str,
        step: fn(u32) -> Step,
        place: &'s Place,
    ) -> Result<(), ScenarioError> {
        let scope = if name.starts_with("global:") {
            Scope::Global
        } else if name.starts_with("application:") {
            Scope::Application(self.application)
        } else {
            let Self { application, instance, threads, .. } = *self;
            Scope::Instance { application, instance, threads }
        };
        let number = self.names.number(kind, scope, name);
        self.push(step(number), place)
    }

    fn repeat(
        &mut self,
        times: u32,
        phases: &'s [Phase],
        place: &'s Place,
    ) -> Result<(), ScenarioError> {
        let to = self.steps.len();
        self.emit(phases)?;
        if self.steps.len() == to || times == 1 {
            return Ok(());
        }
        self.push(Step::Loop { to: to as u32, times: Some(times.into()) }, place)
    }

    fn forever(&mut self, phases: &'s [Phase], place: &'s Place) -> Result<(), ScenarioError> {
        if !self.endless_allowed {
            return Err(place.error("a foreground that ends: `repeat` instead of `forever`"));
        }
        let to = self.steps.len();
        self.emit(phases)?;
        if self.steps.len() == to {
            return Ok(());
        }
        let takes_time = |step: &Step| {
            step.work().is_some() || matches!(step, Step::Sleep(_) | Step::Timer { .. })
        };
        if !self.steps[to..].iter().any(takes_time) {
            return Err(place.error("a compute or sleep phase in an endless loop"));
        }
        self.push(Step::Loop { to: to as u32, times: None }, place)
    }

    fn compute(&mut self, compute: &'s Compute, place: &'s Place) -> Result<(), ScenarioError> {
        match &compute.bursts {
            None => {
                let class = self.amounts.class(&compute.class)?;
                let work = self.amounts.work(compute, class)?;
                self.push_work(work, place)
            }
            Some(bursts) => self.bursts(compute, bursts, place),
        }
    }

    fn push_work(&mut self, work: Work, place: &'s Place) -> Result<(), ScenarioError> {
        self.class = self.class.max(work.class);
        self.push(Step::Compute(work), place)
    }

    /// An amount that is drawn at each visit, as that of any work, and its division into rounds of
    /// one burst of each class. Where bursts begin follows from the amount, so that classes change
    /// no draw.
    fn bursts(
        &mut self,
        compute: &'s Compute,
        bursts: &'s Bursts,
        place: &'s Place,
    ) -> Result<(), ScenarioError> {
        let amounts = self.amounts;
        let in_turn = amounts.in_turn(&compute.class)?.filter(|_| bursts.mix.is_empty());
        let placebo = in_turn.as_ref().and_then(|in_turn| in_turn.placebo);
        let (shares, rest) = match &in_turn {
            Some(in_turn) => (in_turn.shares, placebo.unwrap_or(Class::Scalar)),
            None => (&bursts.mix[..], amounts.class(&compute.class)?),
        };
        let burst_us = bursts.burst_us.get(amounts.parameters, 0.001, AMOUNT_US_MAX)?;
        let mut until = 0.0;
        let mut parts = Vec::new();
        for part in shares {
            let share = part.share.get(amounts.parameters, 0.0, 1.0)?;
            until += share;
            if until > 1.0 + 1e-9 {
                return Err(part.share.place.error("shares that add up to at most 1"));
            }
            let class = placebo.map_or_else(|| amounts.class(&part.class), Ok)?;
            parts.push((class, (until * PPM).round().min(PPM) as u32));
        }
        parts.push((rest, PPM as u32));
        let first_ppm = if parts[0].1 > 0 { f64::from(parts[0].1) } else { PPM };
        self.push_parts(compute, &parts, burst_us * PPM / first_ppm, place)
    }

    /// Bursts of a round, each up to a share of it.
    fn push_parts(
        &mut self,
        compute: &'s Compute,
        parts: &[(Class, u32)],
        round_us: f64,
        place: &'s Place,
    ) -> Result<(), ScenarioError> {
        let keeps_apart = self.amounts.placebo.is_some();
        let mut merged: Vec<(Class, u32)> = Vec::new();
        for &(class, until) in parts {
            match merged.last_mut() {
                Some((_, before)) if *before >= until => {}
                Some((before, end)) if *before == class && !keeps_apart => *end = until,
                _ if until > 0 => merged.push((class, until)),
                _ => {}
            }
        }
        let whole = self.amounts.work(compute, merged[0].0)?;
        if merged.len() == 1 {
            return self.push_work(whole, place);
        }
        let cycles = round_us * f64::from(self.amounts.khz) / 1000.0 * self.amounts.time_scale;
        let total = whole.ref_cycles;
        self.push(Step::Amount { total, round_cycles: cycles.round().max(1.0) as u64 }, place)?;
        let to = self.steps.len() as u32;
        let mut from = 0;
        for (class, until_ppm) in merged {
            let mean = (total.mean as f64 * f64::from(until_ppm - from) / PPM).round() as u64;
            let ref_cycles = Draw { mean, spread: Spread::Fixed };
            let work = Work { ref_cycles, class, ..whole };
            from = until_ppm;
            self.class = self.class.max(class);
            self.push(Step::Burst { work, until_ppm }, place)?;
        }
        self.push(Step::NextRound { to }, place)
    }
}
