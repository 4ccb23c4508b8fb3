//! How far apart virtual times may be: `evenkeel/lag.h`.

/// Virtual time of an affinity group on the clock of a CPU: `struct ek_anchor`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anchor {
    /// A virtual time of the group, in ns.
    pub vtime_ns: u64,
    /// Time of the CPU's clock at that virtual time, in ns.
    pub clock_ns: u64,
}

const _: () = assert!(size_of::<Anchor>() == 16);

impl Anchor {
    /// A virtual time of the group on the clock of the CPU.
    #[must_use]
    pub fn clock_ns(&self, vtime_ns: u64) -> u64 {
        ekp_anchor_clock_ns(self, vtime_ns)
    }

    /// The least virtual time of the group on the clock of the CPU, which shows `now_clock_ns`: at
    /// most a limit later, and two limits sooner. A greater distance moves the anchor.
    pub fn bound_ns(&mut self, vtime_ns: u64, now_clock_ns: u64, limit_ns: u64) -> u64 {
        ekp_anchor_bound_ns(self, vtime_ns, now_clock_ns, limit_ns)
    }
}

/// How far apart virtual times may be for a task of a weight: 16 slices of its own.
#[must_use]
pub fn lag_limit_ns(slice_ns: u64, weight: u32) -> u64 {
    ekp_lag_limit_ns(slice_ns, weight)
}

/// The virtual time of a task that is not further behind its group than the limit.
#[must_use]
pub fn lag_bound_ns(vtime_ns: u64, min_vtime_ns: u64, limit_ns: u64) -> u64 {
    ekp_lag_bound_ns(vtime_ns, min_vtime_ns, limit_ns)
}

/// Virtual time that passed, decayed over `while_ns`: from all of that time at 0 to none after
/// 2^30 ns.
#[must_use]
pub fn rate_ns(passed_ns: u64, while_ns: u64) -> u64 {
    ekp_rate_ns(passed_ns, while_ns)
}

/// A rate that is higher by more than chance: by an eighth.
#[must_use]
pub fn rate_above_ns(rate_ns: u64) -> u64 {
    ekp_rate_above_ns(rate_ns)
}

unsafe extern "C" {
    // Plain integers: the C functions accept every value.
    safe fn ekp_lag_limit_ns(slice_ns: u64, weight: u32) -> u64;
    safe fn ekp_lag_bound_ns(vtime_ns: u64, min_vtime_ns: u64, limit_ns: u64) -> u64;
    safe fn ekp_rate_ns(passed_ns: u64, while_ns: u64) -> u64;
    safe fn ekp_rate_above_ns(rate_ns: u64) -> u64;

    // References: valid for the call; C keeps none of them, and every bit pattern of the
    // structs is a value.
    safe fn ekp_anchor_clock_ns(anchor: &Anchor, vtime_ns: u64) -> u64;
    safe fn ekp_anchor_bound_ns(
        anchor: &mut Anchor,
        vtime_ns: u64,
        now_clock_ns: u64,
        limit_ns: u64,
    ) -> u64;
}
