//! How loaded a CPU is and how much load a task brings, as a decaying average.
//!
//! Load, runnable and utilisation signals of `kernel/sched/pelt.c` (the same in 5.9, 6.12
//! and 6.18): the current value contributes in full, earlier values decay by half every 32
//! periods of 2^20 ns. The kernel rounds to whole periods of 1024 us of 1024 ns; here the
//! decay is interpolated instead. Frequency invariance is left out: a signal follows time,
//! not cycles.

/// Half-life: 32 periods (`LOAD_AVG_PERIOD`) of 2^20 ns.
const HALF_LIFE_SHIFT: u32 = 25;
/// Fraction bits of the stored signals.
const FRACTION: u32 = 10;
/// Utilisation of a CPU that is always busy: `SCHED_CAPACITY_SCALE`.
pub(crate) const CAPACITY: u64 = 1024;

/// 2^32 * 2^(-i/32) for i = 0..=32, rounded down: `runnable_avg_yN_inv` of 5.9's pelt.h.
const DECAY_Q32: [u64; 33] = [
    0x1_0000_0000,
    0xfa83_b2da,
    0xf525_7d14,
    0xefe4_b99a,
    0xeac0_c6e6,
    0xe5b9_06e6,
    0xe0cc_deeb,
    0xdbfb_b796,
    0xd744_fcc9,
    0xd2a8_1d91,
    0xce24_8c14,
    0xc9b9_bd85,
    0xc567_2a10,
    0xc12c_4cc9,
    0xbd08_a39e,
    0xb8fb_af46,
    0xb504_f333,
    0xb123_f581,
    0xad58_3ee9,
    0xa9a1_5ab4,
    0xa5fe_d6a9,
    0xa270_4302,
    0x9ef5_325f,
    0x9b8d_39b9,
    0x9837_f050,
    0x94f4_efa8,
    0x91c3_d373,
    0x8ea4_398a,
    0x8b95_c1e3,
    0x8898_0e80,
    0x85aa_c367,
    0x82cd_8698,
    0x8000_0000,
];

/// Three averages of one CPU or one task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signal {
    load: u64,
    runnable: u64,
    util: u64,
    at_ns: u64,
}

/// The values in force between two changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Input {
    /// Weights of the runnable tasks.
    pub load: u64,
    /// How many are runnable.
    pub runnable: u64,
    pub running: bool,
}

impl Signal {
    /// A signal that has been in force for ever.
    pub(crate) fn settled(load: u64, runnable: u64, util: u64, at_ns: u64) -> Self {
        Self {
            load: load << FRACTION,
            runnable: runnable << FRACTION,
            util: util << FRACTION,
            at_ns,
        }
    }

    pub(crate) fn advance(&mut self, now_ns: u64, input: Input) {
        let dt_ns = now_ns - self.at_ns;
        if dt_ns == 0 {
            return;
        }
        self.at_ns = now_ns;
        let keep_q32 = decay_q32(dt_ns);
        let toward = |signal: u64, target: u64| {
            let kept = u128::from(signal) * u128::from(keep_q32);
            let new = u128::from(target << FRACTION) * u128::from((1 << 32) - keep_q32);
            ((kept + new) >> 32) as u64
        };
        self.load = toward(self.load, input.load);
        self.runnable = toward(self.runnable, input.runnable * CAPACITY);
        self.util = toward(self.util, if input.running { CAPACITY } else { 0 });
    }

    /// Adds a task's signal to the CPU's; both must be updated to this instant.
    pub(crate) fn attach(&mut self, task: &Self) {
        self.load += task.load;
        self.runnable += task.runnable;
        self.util += task.util;
    }

    pub(crate) fn detach(&mut self, task: &Self) {
        self.load = self.load.saturating_sub(task.load);
        self.runnable = self.runnable.saturating_sub(task.runnable);
        self.util = self.util.saturating_sub(task.util);
    }

    pub(crate) fn load(&self) -> u64 {
        self.load >> FRACTION
    }

    pub(crate) fn runnable(&self) -> u64 {
        self.runnable >> FRACTION
    }

    pub(crate) fn util(&self) -> u64 {
        self.util >> FRACTION
    }
}

/// 2^32, decayed over that time.
fn decay_q32(dt_ns: u64) -> u64 {
    let halvings = dt_ns >> HALF_LIFE_SHIFT;
    if halvings >= 32 {
        return 0;
    }
    let rest = dt_ns & ((1 << HALF_LIFE_SHIFT) - 1);
    let step = (rest >> (HALF_LIFE_SHIFT - 5)) as usize;
    let part = rest & ((1 << (HALF_LIFE_SHIFT - 5)) - 1);
    let (high, low) = (DECAY_Q32[step], DECAY_Q32[step + 1]);
    let between = high - (((high - low) * part) >> (HALF_LIFE_SHIFT - 5));
    between >> halvings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_halves_in_32_periods() {
        let mut signal = Signal::settled(1024, 1024, 1024, 0);
        signal.advance(32 << 20, Input::default());
        assert_eq!((signal.load(), signal.runnable(), signal.util()), (512, 512, 512));
    }

    #[test]
    fn a_busy_cpu_approaches_its_capacity_and_no_more() {
        let mut signal = Signal::default();
        let busy = Input { load: 2048, runnable: 2, running: true };
        for ms in 1..=400 {
            signal.advance(ms * 1_000_000, busy);
            assert!(signal.util() <= CAPACITY && signal.load() <= 2048);
        }
        assert!(signal.util() >= CAPACITY - 2);
        assert!(signal.runnable() >= 2 * CAPACITY - 4);
    }

    #[test]
    fn many_short_steps_equal_one_long_one() {
        let input = Input { load: 3000, runnable: 3, running: true };
        let mut once = Signal::settled(100, 100, 100, 0);
        let mut often = once;
        once.advance(50_000_000, input);
        for step in 1..=50 {
            often.advance(step * 1_000_000, input);
        }
        assert!(once.load().abs_diff(often.load()) <= 2);
    }
}
