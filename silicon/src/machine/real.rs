//! This machine: one thread on one CPU that plays bursts, and companions on all other CPUs.

mod companion;
mod comparison;
mod pinning;
mod places;

use std::time::Duration;

use cpu_model::Class;
use kernels::{Rate, Stream, Tsc, TscError, allowed, chain, identity};
use thiserror::Error;

use super::{Facts, Machine, Others, Played, Relation, Segment, WINDOW_NS, Work};
use crate::statistics::typical;
use companion::{Companion, Mode};

pub use pinning::{PinError, allowed_cpus, pin};
pub(crate) use pinning::{first_cpu_of, on_cpu};

/// Why this machine cannot be measured.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RealError {
    /// Its clock cannot be used.
    #[error(transparent)]
    Clock(#[from] TscError),
    /// The thread cannot stay on the CPU.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// Additions and multiplications disagree about the length of a cycle.
    #[error(
        "on this CPU a dependent addition does not take one cycle where a multiplication takes \
         three (they disagree by a factor of {0:.2}), so its frequency cannot be measured this way"
    )]
    Chain(f64),
}

/// How far additions and multiplications may disagree.
const CHAIN_DISAGREEMENT: f64 = 0.03;
/// How often they are compared before the disagreement is the CPU's and not a neighbour's.
const CHAIN_TRIES: usize = 20;
/// Limit for companions to begin the requested work before a burst begins.
const PATIENCE: Duration = Duration::from_millis(50);
/// How long the machine gets to settle when its companions change.
const SETTLE: Duration = Duration::from_millis(3);

/// Additions take the time they are taken to take, or do not in any of many tries.
fn check_chain(tsc: &Tsc) -> Result<(), RealError> {
    let mut found = 0.0;
    for _ in 0..CHAIN_TRIES {
        found = chain::agreement(tsc);
        if (found - 1.0).abs() <= CHAIN_DISAGREEMENT {
            return Ok(());
        }
        std::thread::sleep(SETTLE);
    }
    Err(RealError::Chain(found))
}

/// This machine.
pub struct Real {
    tsc: Tsc,
    facts: Facts,
    /// Additions of a window of a chain, in steps.
    steps: u64,
    /// Streams asked for until now, and the blocks of a window.
    streams: Vec<(Stream, u64)>,
    companions: Vec<Companion>,
    others: Others,
    stamps: Vec<u64>,
}

impl Real {
    /// Pins this thread to a CPU (`None`: the last that the process may use) and
    /// starts a sleeping companion on every other CPU that this process may use. `msr_pmu` is the
    /// number of the kernel's `msr` event source, if the kernel has one.
    ///
    /// # Errors
    /// Why this machine cannot be measured.
    pub fn new(cpu: Option<u32>, msr_pmu: Option<u32>) -> Result<Self, RealError> {
        let tsc = Tsc::calibrate()?;
        let cpus = allowed_cpus()?;
        let cpu = match cpu {
            Some(cpu) if !cpus.contains(&cpu) => return Err(PinError::NotOurs { cpu, cpus }.into()),
            Some(cpu) => cpu,
            None => *cpus.last().ok_or(PinError::None)?,
        };
        let places = places::places(&cpus);
        pin(cpu)?;
        check_chain(&tsc)?;
        let (steps, window_cycles) = chain_window(&tsc);
        let facts = Facts {
            window_cycles,
            ..facts(&tsc, cpu, &cpus, &places, comparison::compare(&tsc, msr_pmu))
        };
        let companions =
            facts.others.iter().map(|&(cpu, _)| Companion::start(cpu, tsc, steps)).collect();
        Ok(Self {
            tsc,
            facts,
            steps,
            streams: Vec::new(),
            companions,
            others: Others::Idle,
            stamps: Vec::new(),
        })
    }

    /// The stream of a class at a rate and the blocks of a window; `None` if the class may not run.
    fn stream(&mut self, class: Class, rate: Rate) -> Option<(Stream, u64)> {
        let known = |(stream, _): &&(Stream, u64)| (stream.class(), stream.rate()) == (class, rate);
        if let Some(&found) = self.streams.iter().find(known) {
            return Some(found);
        }
        let stream = Stream::new(class, rate).ok()?;
        let window = self.tsc.ticks(Duration::from_nanos(WINDOW_NS as u64));
        let found = (stream, stream.blocks_in(&self.tsc, window));
        self.streams.push(found);
        Some(found)
    }

    /// Requests the companions' modes, and waits until they have begun.
    fn arrange(&mut self, others: Others) {
        for (index, companion) in self.companions.iter().enumerate() {
            companion.ask(match others {
                Others::Idle => Mode::Sleep,
                Others::Busy(count) if index < count => Mode::Work,
                Others::Busy(_) => Mode::Sleep,
                Others::Observes(observer) if observer == index => Mode::Observe,
                Others::Observes(_) => Mode::Sleep,
            });
        }
        for companion in &self.companions {
            companion.await_obedience(&self.tsc, PATIENCE);
        }
        if std::mem::replace(&mut self.others, others) != others {
            let settled = self.tsc.now() + self.tsc.ticks(SETTLE);
            while self.tsc.now() < settled {
                chain::additions(self.steps);
            }
        }
    }
}

impl Machine for Real {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn now_ns(&mut self) -> f64 {
        self.tsc.ns(self.tsc.now())
    }

    fn play(&mut self, segments: &[Segment], others: Others) -> Played {
        let plan: Vec<(Option<(Stream, u64)>, usize)> = segments
            .iter()
            .map(|segment| {
                let stream = match segment.work {
                    Work::Chain => None,
                    Work::Stream(class, rate) => self.stream(class, rate),
                };
                (stream, segment.windows)
            })
            .collect();
        let windows: usize = plan.iter().map(|(_, windows)| windows).sum();
        self.stamps.clear();
        self.stamps.resize(windows + 1, 0);
        self.arrange(others);
        chain::additions(self.steps);
        let mut stamps = self.stamps.iter_mut();
        let mut stamp = || {
            if let Some(slot) = stamps.next() {
                *slot = self.tsc.now();
            }
        };
        stamp();
        for (stream, windows) in &plan {
            match stream {
                None => (0..*windows).for_each(|_| {
                    chain::additions(self.steps);
                    stamp();
                }),
                Some((stream, blocks)) => (0..*windows).for_each(|_| {
                    stream.run(*blocks);
                    stamp();
                }),
            }
        }
        self.collect(segments, others)
    }
}

impl Real {
    fn collect(&self, segments: &[Segment], others: Others) -> Played {
        let mut played = Played::default();
        let durations: Vec<f32> =
            self.stamps.windows(2).map(|pair| self.tsc.ns(pair[1] - pair[0]) as f32).collect();
        let mut rest = durations.as_slice();
        for segment in segments {
            let (now, later) = rest.split_at(segment.windows);
            played.windows.push(now.to_vec());
            rest = later;
        }
        if let Others::Observes(observer) = others {
            let begin = self.stamps[0];
            let log = self.companions[observer].report(&self.tsc, PATIENCE);
            let since_begin = |&(start, end): &(u64, u64)| {
                let after_ns = self.tsc.ns(start.abs_diff(begin));
                let start_ns = if start < begin { -after_ns } else { after_ns };
                (start_ns, self.tsc.ns(end - start) as f32)
            };
            played.observed = log.iter().map(since_begin).collect();
        }
        played
    }
}

/// Steps of a window of a chain, and the cycles that it takes with its stamp: what two windows'
/// additions take longer than one's is known to be as many cycles as additions.
fn chain_window(tsc: &Tsc) -> (u64, f64) {
    let time = |steps: u64, windows: usize| {
        let mut last = tsc.now();
        let mut durations = Vec::with_capacity(windows);
        for _ in 0..windows {
            chain::additions(steps);
            let now = tsc.now();
            durations.push(tsc.ns(now - last) as f32);
            last = now;
        }
        typical(&durations).unwrap_or(WINDOW_NS)
    };
    // Lets the clock come up from idle.
    let step_ns = (0..20).map(|_| time(1000, 100)).fold(f64::INFINITY, f64::min) / 1000.0;
    let steps = ((WINDOW_NS / step_ns) as u64).max(2);
    let mut cycles: Vec<f64> = (0..40)
        .map(|_| {
            let (one, two) = (time(steps, 100), time(2 * steps, 100));
            (steps * chain::STEP_ADDITIONS) as f64 * one / (two - one).max(1.0)
        })
        .collect();
    cycles.sort_by(f64::total_cmp);
    (steps, cycles[cycles.len() / 2])
}

fn facts(
    tsc: &Tsc,
    cpu: u32,
    cpus: &[u32],
    places: &[Option<kernels::Place>],
    counters: comparison::Comparison,
) -> Facts {
    let identity = identity();
    let (others, other_cores) = places::others(cpu, cpus, places);
    let unsupported =
        Class::ALL.into_iter().filter_map(|class| Some((class, allowed(class).err()?))).collect();
    let mut hidden = counters.missing;
    if !others.iter().any(|(_, relation)| *relation == Relation::Sibling) {
        hidden.push(
            "siblings: no two CPUs of this process are shown as threads of one core, so whether \
             a sibling is slowed cannot be seen"
                .to_owned(),
        );
    }
    if others.is_empty() {
        hidden.push("other cores: this process may use one CPU only".to_owned());
    }
    if identity.is_virtual {
        hidden.push(
            "a hypervisor is in between: which physical core this CPU is on, who else uses the \
             package, and how many of its cores are active"
                .to_owned(),
        );
    }
    Facts {
        cpu_name: identity.name,
        signature: Some((identity.family, identity.model, identity.stepping)),
        is_virtual: identity.is_virtual,
        cpu,
        counts: places::counts(places),
        others,
        other_cores,
        tsc_hz: tsc.hz(),
        window_cycles: 0.0,
        unsupported,
        hidden,
        checks: counters.agreements,
    }
}
