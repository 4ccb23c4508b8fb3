//! The costs of mixing levels on a core: `evenkeel/mix.h`.

use cpu_model::Turbo;

/// State of a core, for a task that could begin on an idle hardware thread of that core:
/// `struct ek_core_state`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreState {
    /// Whether another hardware thread of the core runs a task; not 0 is yes.
    pub is_busy: u32,
    /// The highest level of the tasks on the other hardware threads.
    pub sibling_level: u32,
    /// The level held on the core.
    pub held: u32,
}

const _: () = assert!(size_of::<CoreState>() == 12);

/// How much of its speed the lower of two levels on a core loses to the higher, in permille.
#[must_use]
pub fn mix_loss_permille(turbo: &Turbo, row: usize, a: u8, b: u8) -> u32 {
    ekp_mix_loss_permille(turbo, row as u32, a.into(), b.into())
}

/// Virtual time that a task waits longer, so as not to cause such a loss; 6 ms at most.
#[must_use]
pub fn mix_price_ns(loss_permille: u32) -> u64 {
    ekp_mix_price_ns(loss_permille)
}

/// Cost of beginning on an idle hardware thread, to compare idle threads.
#[must_use]
pub fn mix_idle_cost_permille(
    turbo: &Turbo,
    row: usize,
    level: u8,
    core: &CoreState,
    smt_share_permille: u32,
) -> u32 {
    ekp_mix_idle_cost_permille(turbo, row as u32, level.into(), core, smt_share_permille)
}

/// Until when no task of a core is swapped whose tasks are swapped now.
#[must_use]
pub fn mix_no_swap_until_ns(now_ns: u64) -> u64 {
    ekp_mix_no_swap_until_ns(now_ns)
}

/// Whether a swap of two tasks is worth their migration, by their losses before and after.
#[must_use]
pub fn mix_swaps(before_permille: u32, after_permille: u32) -> bool {
    ekp_mix_swaps(before_permille, after_permille) != 0
}

unsafe extern "C" {
    // Plain integers: the C functions accept every value.
    safe fn ekp_mix_price_ns(loss_permille: u32) -> u64;
    safe fn ekp_mix_swaps(before_permille: u32, after_permille: u32) -> u32;
    safe fn ekp_mix_no_swap_until_ns(now_ns: u64) -> u64;

    // References: valid for the call; C keeps none of them, and every bit pattern of the
    // structs is a value.
    safe fn ekp_mix_loss_permille(turbo: &Turbo, row: u32, a: u32, b: u32) -> u32;
    safe fn ekp_mix_idle_cost_permille(
        turbo: &Turbo,
        row: u32,
        level: u32,
        core: &CoreState,
        smt_share_permille: u32,
    ) -> u32;
}
