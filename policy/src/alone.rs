//! Tasks that are alone on their cores more often than other tasks: `evenkeel/alone.h`.

use crate::deficit::Deficit;

/// The tasks of a cache: for how long they ran, and for how much of that each was alone on its
/// core: `struct ek_alone`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alone {
    /// CPU time alone on a core, in ns.
    pub alone_ns: u64,
    /// CPU time, in ns; it halves, as `alone_ns` does, when it exceeds 0.5 s.
    pub ran_ns: u64,
}

const _: () = assert!(size_of::<Alone>() == 16);

impl Alone {
    /// Adds a slice of `ran_ns`.
    pub fn add(&mut self, alone_ns: u64, ran_ns: u64) {
        ekp_alone_add(self, alone_ns, ran_ns);
    }
}

impl Deficit {
    /// The task ran for `ran_ns` and was alone on its core for `alone_ns` of that, which made it
    /// faster by the gain. Its lead grows by what that is more than for the mean task of `all`.
    pub fn ran(&mut self, all: &Alone, alone_ns: u64, ran_ns: u64, gain_permille: u32) {
        ekp_alone_ran(self, all, alone_ns, ran_ns, gain_permille);
    }

    /// Whether the task leads by so much that a mix of levels that costs its speed is not avoided.
    #[must_use]
    pub fn leads(&self) -> bool {
        ekp_alone_leads(self) != 0
    }
}

unsafe extern "C" {
    // References: valid for the call; C keeps none of them, and every bit pattern of the
    // structs is a value.
    safe fn ekp_alone_add(all: &mut Alone, alone_ns: u64, ran_ns: u64);
    safe fn ekp_alone_ran(
        deficit: &mut Deficit,
        all: &Alone,
        alone_ns: u64,
        ran_ns: u64,
        gain_permille: u32,
    );
    safe fn ekp_alone_leads(deficit: &Deficit) -> u32;
}
