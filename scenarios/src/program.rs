//! Turns the phases of an application into the program of one thread.

use std::collections::BTreeMap;

use cpu_model::Class;
use random::SplitMix64;

use crate::error::{ScenarioError, printable};
use crate::fields::Place;
use crate::number::Parameters;
use crate::phase::{Amount, Bursts, ClassOf, Compute, Kind, Phase, Spread as SpreadOf};
use crate::random::scramble;
use crate::workload::{Draw, Spread, Step, Work};

/// Longest work or sleep of one phase, in us: 100 s.
const AMOUNT_US_MAX: f64 = 1e8;
/// How often a loop may run in all.
const TIMES_MAX: u32 = 1_000_000_000;
/// Spread of single bursts around their share: our choice, so that threads do not run in step.
const BURST_SPREAD_PERMILLE: u32 = 200;

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
    pub(crate) classes: &'s BTreeMap<String, Class>,
    pub(crate) khz: u32,
    /// Distinguishes the totals drawn on reading between parameter sets.
    pub(crate) draw: u64,
}

impl Amounts<'_> {
    fn class(&self, class: &ClassOf) -> Result<Class, ScenarioError> {
        match class {
            ClassOf::Fixed(class) => Ok(*class),
            ClassOf::Bound(name, place) => self.classes.get(name).copied().ok_or_else(|| {
                let name = printable(name);
                place.error(format!("a class that every background's `classes` binds to `{name}`"))
            }),
        }
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
        Ok(cycles.max(1.0))
    }

    fn work(&self, compute: &Compute, class: &ClassOf) -> Result<Work, ScenarioError> {
        let permille = |value: f64| (value * 1000.0).round() as u32;
        Ok(Work {
            ref_cycles: Draw {
                mean: self.cycles(&compute.work)?.round() as u64,
                spread: self.spread(&compute.spread)?,
            },
            class: self.class(class)?,
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
    pub(crate) stream: u64,
    pub(crate) names: &'a mut Names<'s>,
    pub(crate) steps_left: usize,
    pub(crate) steps: Vec<Step>,
    pub(crate) places: Vec<&'s Place>,
    /// Most demanding class so far.
    pub(crate) class: Class,
    /// Totals drawn so far.
    pub(crate) drawn: u64,
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
                    let mean = us.get(self.amounts.parameters, 0.001, AMOUNT_US_MAX)? * 1e3;
                    let mean = mean.round().max(1.0) as u64;
                    let spread = self.amounts.spread(spread)?;
                    self.push(Step::Sleep(Draw { mean, spread }), place)?;
                }
                &Kind::Timer { timer, period_us, absolute } => {
                    let period_ns = (period_us * 1e3).round().max(1.0) as u64;
                    self.push(Step::Timer { timer, period_ns, absolute }, place)?;
                }
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
                Kind::Repeat { times: Some(times), phases, .. } => {
                    let times = times.get_count(self.amounts.parameters, 1, TIMES_MAX)?;
                    self.repeat(times, phases, place)?;
                }
                Kind::Repeat { times: None, variants, phases } => {
                    self.forever(*variants, phases, place)?;
                }
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

    fn forever(
        &mut self,
        variants: u32,
        phases: &'s [Phase],
        place: &'s Place,
    ) -> Result<(), ScenarioError> {
        if !self.endless_allowed {
            return Err(place.error("a foreground that ends: `repeat` instead of `forever`"));
        }
        let to = self.steps.len();
        for _ in 0..variants {
            self.emit(phases)?;
        }
        if self.steps.len() == to {
            return Ok(());
        }
        let takes_time =
            |step: &Step| matches!(step, Step::Compute(_) | Step::Sleep(_) | Step::Timer { .. });
        if !self.steps[to..].iter().any(takes_time) {
            return Err(place.error("a compute or sleep phase in an endless loop"));
        }
        self.push(Step::Loop { to: to as u32, times: None }, place)
    }

    fn compute(&mut self, compute: &'s Compute, place: &'s Place) -> Result<(), ScenarioError> {
        let work = self.amounts.work(compute, &compute.class)?;
        match &compute.bursts {
            None => self.push_work(work, place),
            Some(bursts) => self.bursts(compute, bursts, work, place),
        }
    }

    fn push_work(&mut self, work: Work, place: &'s Place) -> Result<(), ScenarioError> {
        self.class = self.class.max(work.class);
        self.push(Step::Compute(work), place)
    }

    /// Draws the total now, from the thread's stream, and divides the total into rounds of one
    /// burst of each class, so that the shares of the work are exact.
    fn bursts(
        &mut self,
        compute: &'s Compute,
        bursts: &'s Bursts,
        rest: Work,
        place: &'s Place,
    ) -> Result<(), ScenarioError> {
        let parameters = self.amounts.parameters;
        let mut left = 1.0;
        let mut parts = Vec::new();
        for part in &bursts.mix {
            let share = part.share.get(parameters, 0.0, 1.0)?;
            left -= share;
            if left < -1e-9 {
                return Err(part.share.place.error("shares that add up to at most 1"));
            }
            parts.push((self.amounts.work(compute, &part.class)?, share));
        }
        parts.push((rest, left));
        let burst_us = bursts.burst_us.get(parameters, 0.001, AMOUNT_US_MAX)?;
        let burst = burst_us * f64::from(self.amounts.khz) / 1000.0;
        let total = self.draw_total(rest.ref_cycles);
        let first = if parts[0].1 > 0.0 { parts[0].1 } else { 1.0 };
        let rounds = (total * first / burst).round().clamp(1.0, TIMES_MAX.into());
        let to = self.steps.len() as u32;
        for (work, share) in parts {
            let mean = (total * share / rounds).round() as u64;
            if mean > 0 {
                let spread = Spread::Uniform(BURST_SPREAD_PERMILLE);
                self.push_work(Work { ref_cycles: Draw { mean, spread }, ..work }, place)?;
            }
        }
        if rounds > 1.0 {
            self.push(Step::Loop { to, times: Some(rounds as u64) }, place)?;
        }
        Ok(())
    }

    /// A total of the given distribution, the same for the same thread, place and draw.
    fn draw_total(&mut self, draw: Draw) -> f64 {
        self.drawn += 1;
        let seed = self.stream ^ scramble(self.drawn ^ scramble(self.amounts.draw));
        let unit = SplitMix64::new(seed).unit();
        let mean = draw.mean as f64;
        let factor = match draw.spread {
            Spread::Fixed => 1.0,
            Spread::Uniform(permille) => 1.0 + f64::from(permille) / 1000.0 * (2.0 * unit - 1.0),
            Spread::Exponential => (-(1.0 - unit).ln()).min(20.0),
        };
        (mean * factor).max(1.0)
    }
}
