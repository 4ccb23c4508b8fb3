//! The bounds that the policy's headers state (`evenkeel/mix.h`, `deficit.h`, `compensate.h`),
//! for one run.

use cpu_model::CpuModel;
use simulator::Queues;

use crate::genome::{Genome, MS};

/// `SLICE_NS` of `fair`.
pub const SLICE_NS: u64 = 6 << 20;
/// Less than what `mix.h` derives for `even`, 6 ms of credit and 9 ms of banked refunds.
pub const CREDIT_NS: u64 = 12 * MS;
/// `EK_MIX_PRICE_MAX_NS`.
pub const WHOLE_NS: u64 = 6 * MS;
/// `EK_BILL_MAX_NS`.
pub const BILL_NS: u64 = 100 * MS;
/// `EK_DEFICIT_BANK_NS`, `EK_DEFICIT_MAX_NS`, `EK_DEFICIT_HALF_NS`, `EK_DEFICIT_MIN_NS`.
pub const BANK_NS: u64 = 9 * MS;
pub const DEFICIT_NS: u64 = 20 * MS;
pub const HALF_NS: u64 = 10 * MS;
pub const DEFICIT_MIN_NS: u64 = 300_000;
/// `EK_FORCED_IDLE_MAX_NS`.
pub const FORCED_IDLE_NS: u64 = 4 * MS;

/// Bounds that differ between runs.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub price_ns: u64,
    /// Longest slice of a task while another one waits.
    pub slice_ns: u64,
    /// Time over time charged, at most, in permille.
    pub stretch_permille: u64,
}

impl Bounds {
    pub fn new(genome: &Genome, cpu: &CpuModel) -> Self {
        let slice_ns = match genome.queues {
            Queues::Global => SLICE_NS * 115 / 100,
            // A tick ends the slice.
            Queues::PerLlc => SLICE_NS + 1000 * MS / u64::from(genome.hz),
        };
        let (rows, levels) = (cpu.turbo.rows as usize, cpu.turbo.levels as u8);
        let losses = (0..rows).flat_map(|row| {
            (0..levels).map(move |level| policy::mix_loss_permille(&cpu.turbo, row, 0, level))
        });
        let price_ns = policy::mix_price_ns(losses.max().unwrap());
        Self { price_ns, slice_ns, stretch_permille: 2000 }
    }
}

/// Time as virtual time.
pub fn virtual_ns(ns: u64, weight: u32) -> u64 {
    ns * 1024 / u64::from(weight)
}
