//! A real machine with planted effects, so that detection is tested on machines without licenses:
//! each measured window is kept with its noise, and stretched as a CPU table prescribes.

use cpu_model::{CpuModel, Demand, License};

use super::modelled::demand_of;
use super::{Facts, Machine, Others, Played, Segment};

/// A machine on which a CPU table's license machine is planted. Only the measured CPU is touched.
pub struct Planted<M> {
    inner: M,
    model: CpuModel,
    license: License,
    /// Time with everything that was planted.
    now_ns: f64,
    /// Time of `inner` up to which `now_ns` was led.
    inner_ns: f64,
}

impl<M: Machine> Planted<M> {
    /// That machine with this CPU's levels, holds and transitions.
    #[must_use]
    pub fn new(mut inner: M, model: CpuModel) -> Self {
        let now_ns = inner.now_ns();
        Self { inner, model, license: License::new(), now_ns, inner_ns: now_ns }
    }

    /// How long work takes that takes so long where nothing is planted.
    fn stretch(&mut self, mut left_ns: f64, active: u32) -> f64 {
        let start_ns = self.now_ns;
        while left_ns > 0.0 {
            let effect = self.license.effect(&self.model.license);
            let row = self.model.turbo.row(active);
            let khz = |level| f64::from(self.model.turbo.khz(row, level));
            let speed = khz(effect.level) / khz(0) * f64::from(effect.rate_permille) / 1000.0;
            let change_ns = self.license.next_ns().map_or(f64::INFINITY, |ns| ns as f64);
            let needed_ns = if speed > 0.0 { left_ns / speed } else { f64::INFINITY };
            if self.now_ns + needed_ns <= change_ns {
                self.now_ns += needed_ns;
                break;
            }
            let until_ns = change_ns.max(self.now_ns);
            left_ns -= (until_ns - self.now_ns) * speed;
            self.now_ns = until_ns;
            self.license.advance(&self.model.license, active, self.now_ns as u64);
        }
        self.now_ns - start_ns
    }

    /// Time passes in which nothing of ours runs.
    fn pass(&mut self, ns: f64, active: u32) {
        let end_ns = self.now_ns + ns.max(0.0);
        while let Some(ns) = self.license.next_ns().filter(|&ns| (ns as f64) <= end_ns) {
            self.license.advance(&self.model.license, active, ns);
        }
        self.now_ns = end_ns;
    }

    fn demand(&mut self, demand: Demand, active: u32) {
        self.license.demand(&self.model.license, demand, active, self.now_ns as u64);
    }
}

impl<M: Machine> Machine for Planted<M> {
    fn facts(&self) -> &Facts {
        self.inner.facts()
    }

    fn now_ns(&mut self) -> f64 {
        self.inner.now_ns()
    }

    fn play(&mut self, segments: &[Segment], others: Others) -> Played {
        let busy = if let Others::Busy(count) = others { count as u32 } else { 0 };
        let active = (1 + busy).min(self.model.cores_per_package);
        let start_ns = self.inner.now_ns();
        self.pass(start_ns - self.inner_ns, active);
        let mut played = self.inner.play(segments, others);
        self.inner_ns = self.inner.now_ns();
        for (segment, windows) in segments.iter().zip(&mut played.windows) {
            self.demand(demand_of(&self.model, segment.work), active);
            for window in windows {
                *window = self.stretch(f64::from(*window), active) as f32;
            }
        }
        self.demand(Demand::default(), active);
        played
    }
}
