//! How fast is a program at another clock? Three models that predict it from counters (D 4.3).

use crate::out_of_order::Counts;

/// Speed at the next clock over that now, for a program of whose time a share does not depend on
/// the clock (Eq. 4.3).
fn speed(constant_cycles: u64, cycles: u64, now_khz: u32, next_khz: u32) -> f64 {
    let constant_q30 = policy::share_q30(constant_cycles, cycles) as u32;
    let hz = |khz: u32| u64::from(khz) * 1000;
    let q30 = policy::stall_perf_q30(constant_q30, hz(now_khz), hz(next_khz));
    q30 as f64 / f64::from(policy::ONE)
}

/// Stalled time is constant (D 4.3.2): the model of the profiler.
pub fn stall_cycles(now: &Counts, now_khz: u32, next_khz: u32) -> f64 {
    speed(now.stall_cycles + now.store_bound_cycles, now.cycles, now_khz, next_khz)
}

/// The time of leading loads is constant (D 4.3.1, Fig. 4.5).
pub fn leading_loads(now: &Counts, now_khz: u32, next_khz: u32) -> f64 {
    speed(now.leading_load_cycles, now.cycles, now_khz, next_khz)
}

/// Cycles per instruction at the next clock are linear in those now and in the misses per
/// instruction (D 4.3.1, after Lee et al.); valid for the two clocks of the fit.
#[derive(Clone, Copy, Debug)]
pub struct Empirical {
    cycles: f64,
    misses: f64,
}

impl Empirical {
    /// Fits the coefficients by least squares of relative errors to runs of other programs: counts
    /// now, and cycles at the next clock.
    pub fn fit(runs: &[(Counts, u64)]) -> Self {
        // 1 = a x + b y for each run, with all counts relative to the cycles at the next clock.
        let (mut xx, mut xy, mut yy, mut x1, mut y1) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (now, next_cycles) in runs {
            let x = now.cycles as f64 / *next_cycles as f64;
            let y = now.misses as f64 / *next_cycles as f64;
            xx += x * x;
            xy += x * y;
            yy += y * y;
            x1 += x;
            y1 += y;
        }
        let determinant = xx * yy - xy * xy;
        Self {
            cycles: (x1 * yy - y1 * xy) / determinant,
            misses: (y1 * xx - x1 * xy) / determinant,
        }
    }

    /// Speed at the next clock over that now.
    pub fn speed(&self, now: &Counts, now_khz: u32, next_khz: u32) -> f64 {
        let next_cycles = self.cycles * now.cycles as f64 + self.misses * now.misses as f64;
        let faster = f64::from(next_khz) / f64::from(now_khz);
        now.cycles as f64 / next_cycles * faster
    }
}
