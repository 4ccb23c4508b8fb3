//! What becomes of time that cannot be given back: `evenkeel/deficit.h`.

/// Time owed to a task that virtual time cannot give back: `struct ek_deficit`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deficit {
    /// How much.
    pub owed_ns: u64,
    /// Refunds that count as virtual time, and were not used; 9 ms at most.
    pub banked_ns: u64,
    /// Since when it sleeps; 0: it does not.
    pub asleep_ns: u64,
}

const _: () = assert!(size_of::<Deficit>() == 24);

impl Deficit {
    /// A refund; what of it counts as virtual time. The rest is owed, 20 ms at most.
    pub fn bank(&mut self, refund_ns: u64) -> u64 {
        ekp_deficit_bank(self, refund_ns)
    }

    /// The task gets a CPU for which it has waited so long: banked refunds are used up.
    pub fn waited(&mut self, waited_ns: u64) {
        ekp_deficit_waited(self, waited_ns);
    }

    /// The task goes to sleep.
    pub fn sleeps(&mut self, now_ns: u64) {
        ekp_deficit_sleeps(self, now_ns);
    }

    /// It wakes, and is placed so much later than it had been; what is owed has halved for every
    /// 10 ms of sleep, and what the placement takes of refunds is owed.
    pub fn wakes(&mut self, later_ns: u64, now_ns: u64) {
        ekp_deficit_wakes(self, later_ns, now_ns);
    }

    /// It ran beside a sibling that stayed quiet for so long, and was faster by so much.
    pub fn repay(&mut self, quiet_ns: u64, gain_permille: u32) {
        ekp_deficit_repay(self, quiet_ns, gain_permille);
    }

    /// How long a sibling is to stay quiet for it, if it is faster then by so much; 0 is not at
    /// all.
    #[must_use]
    pub fn quiet_ns(&self, gain_permille: u32) -> u64 {
        ekp_deficit_quiet_ns(self, gain_permille)
    }
}

/// How much faster a task is alone on its core than beside another, by the share that a
/// compute-bound one has there and the part of its time that it stalls on memory.
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
    safe fn ekp_deficit_wakes(deficit: &mut Deficit, later_ns: u64, now_ns: u64);
    safe fn ekp_deficit_repay(deficit: &mut Deficit, quiet_ns: u64, gain_permille: u32);
    safe fn ekp_deficit_quiet_ns(deficit: &Deficit, gain_permille: u32) -> u64;
}
