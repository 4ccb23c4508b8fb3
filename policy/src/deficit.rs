//! Time lost that virtual runtime cannot repay: `evenkeel/deficit.h`.

/// Time lost by a task that virtual runtime cannot repay: `struct ek_deficit`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deficit {
    /// The deficit, in ns.
    pub deficit_ns: u64,
    /// Refunds that count as virtual time, and are unused so far, in ns; 9 ms at most.
    pub banked_ns: u64,
    /// Beginning of the task's sleep; 0: awake.
    pub asleep_ns: u64,
    /// Gained by being alone on a core more often than the mean task, in ns; 20 ms at most.
    pub lead_ns: u64,
}

const _: () = assert!(size_of::<Deficit>() == 32);

impl Deficit {
    /// Splits a refund: returns the part that counts as virtual time, and adds the rest to the
    /// deficit, which is 20 ms at most.
    pub fn bank(&mut self, refund_ns: u64) -> u64 {
        ekp_deficit_bank(self, refund_ns)
    }

    /// The task gets a CPU after waiting for `waited_ns`, which uses up banked refunds.
    pub fn waited(&mut self, waited_ns: u64) {
        ekp_deficit_waited(self, waited_ns);
    }

    /// The task goes to sleep.
    pub fn sleeps(&mut self, now_ns: u64) {
        ekp_deficit_sleeps(self, now_ns);
    }

    /// How far before the others a task that wakes is placed at most, in ns: by a sleeper's credit
    /// and by its banked refunds, which have halved for every 10 ms of sleep.
    #[must_use]
    pub fn credit_ns(&self, credit_ns: u64, now_ns: u64) -> u64 {
        ekp_deficit_credit_ns(self, credit_ns, now_ns)
    }

    /// The task wakes, and its placement raises its virtual time by `later_ns`. Deficit
    /// and lead have halved for every 10 ms of sleep; banked refunds that the placement takes are
    /// added to the deficit.
    pub fn wakes(&mut self, later_ns: u64, now_ns: u64) {
        ekp_deficit_wakes(self, later_ns, now_ns);
    }

    /// A sibling was forced idle for that time, and the task was faster by the gain.
    pub fn repay(&mut self, forced_idle_ns: u64, gain_permille: u32) {
        ekp_deficit_repay(self, forced_idle_ns, gain_permille);
    }

    /// Length of a sibling's forced idle for this deficit, if the task then gains so much; 0: none.
    #[must_use]
    pub fn forced_idle_ns(&self, gain_permille: u32) -> u64 {
        ekp_deficit_forced_idle_ns(self, gain_permille)
    }
}

/// Speed-up of a task alone on its core compared with sharing the core, from the throughput of
/// a compute-bound task beside another one and the task's share of stalled cycles.
#[must_use]
pub fn alone_gain_permille(smt_share_permille: u32, stall_q30: u32) -> u32 {
    ekp_deficit_gain_permille(smt_share_permille, stall_q30)
}

unsafe extern "C" {
    // Plain integers: the C functions accept every value.
    safe fn ekp_deficit_gain_permille(smt_share_permille: u32, stall_q30: u32) -> u32;

    // References: valid for the call; C keeps none of them, and every bit pattern of the
    // structs is a value.
    safe fn ekp_deficit_bank(deficit: &mut Deficit, refund_ns: u64) -> u64;
    safe fn ekp_deficit_waited(deficit: &mut Deficit, waited_ns: u64);
    safe fn ekp_deficit_sleeps(deficit: &mut Deficit, now_ns: u64);
    safe fn ekp_deficit_credit_ns(deficit: &Deficit, credit_ns: u64, now_ns: u64) -> u64;
    safe fn ekp_deficit_wakes(deficit: &mut Deficit, later_ns: u64, now_ns: u64);
    safe fn ekp_deficit_repay(deficit: &mut Deficit, forced_idle_ns: u64, gain_permille: u32);
    safe fn ekp_deficit_forced_idle_ns(deficit: &Deficit, gain_permille: u32) -> u64;
}
