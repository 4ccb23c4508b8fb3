//! Streams: endless instructions of a class at a rate.

use std::time::Duration;

use cpu_model::Class;

use crate::code::{self, Code};
use crate::{Tsc, Unsupported, allowed};

/// Several times the 60 us that the longest throttle lasts (D 3.2.2).
const WARM_UP: Duration = Duration::from_micros(300);

/// Instructions of its class in a block of a stream.
pub const BLOCK_INSTRUCTIONS: u64 = code::INSTRUCTIONS;

/// How dense the instructions of a stream are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rate {
    /// As many as the core can.
    Full,
    /// At most one instruction in this many cycles, evenly over blocks of [`BLOCK_INSTRUCTIONS`].
    OneIn(u32),
}

impl Rate {
    /// Instructions per 1000 cycles; `None`: as many as the core can.
    #[must_use]
    pub fn permille(self) -> Option<u32> {
        match self {
            Self::Full => None,
            Self::OneIn(cycles) => Some(1000 / cycles.max(1)),
        }
    }
}

/// Instructions of a class that CPU and kernel allow here.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    class: Class,
    rate: Rate,
    code: Code,
}

impl Stream {
    /// A stream, if its instructions may run here.
    ///
    /// # Errors
    /// Whether the CPU or the kernel refuses the class.
    pub fn new(class: Class, rate: Rate) -> Result<Self, Unsupported> {
        allowed(class)?;
        let code: Code = match class {
            Class::Scalar => code::scalar,
            Class::Avx2Light => code::avx2_light,
            Class::Avx2Heavy => code::avx2_heavy,
            Class::Avx512Light => code::avx512_light,
            Class::Avx512Heavy => code::avx512_heavy,
            Class::Amx => code::amx,
        };
        Ok(Self { class, rate, code })
    }

    /// Class of its instructions.
    #[must_use]
    pub fn class(&self) -> Class {
        self.class
    }

    /// Density of its instructions.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Runs that many blocks of [`BLOCK_INSTRUCTIONS`] instructions.
    #[inline]
    pub fn run(&self, blocks: u64) {
        let gaps = match self.rate {
            Rate::Full => 0,
            Rate::OneIn(cycles) => u64::from(cycles.max(1)),
        };
        if blocks > 0 {
            // SAFETY: `new` checked that CPU and kernel allow the class, and neither takes that
            // back from a running process; the number is not 0.
            unsafe { (self.code)(blocks, gaps) }
        }
    }

    /// Blocks that take about that many ticks of the counter, at least one. Found after a while of
    /// the stream, when the throttle that wide instructions may begin with is over.
    #[must_use]
    pub fn blocks_in(&self, tsc: &Tsc, ticks: u64) -> u64 {
        let warm = tsc.now() + tsc.ticks(WARM_UP);
        while tsc.now() < warm {
            self.run(1);
        }
        let mut blocks = 1;
        loop {
            let took = (0..5)
                .map(|_| {
                    let start = tsc.now();
                    self.run(blocks);
                    tsc.now() - start
                })
                .min()
                .expect("there are five");
            // Past a tenth the overhead of a call and of two stamps no longer matters.
            if took >= ticks / 10 && took > 2000 {
                return (blocks * ticks).div_ceil(took).max(1);
            }
            blocks *= 2;
        }
    }
}
