//! Refund and bill: `evenkeel/compensate.h`.

use crate::ffi;

/// Not a task; `EK_NOBODY`.
pub const NOBODY: u32 = u32::MAX;

/// What is done about time lost: `enum ek_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Mode {
    /// Nothing.
    #[default]
    None = 0,
    /// The victim gets it back (ATC'21).
    Relative = 1,
    /// The victim gets it back and the culprit pays (D 7.4.3).
    Isolation = 2,
}

/// The two halves of compensation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compensation {
    /// Taken off what the victim is charged for the slice; never exceeds it.
    pub refund_ns: u64,
    /// To be added to what the culprit is charged next.
    pub bill_ns: u64,
    /// Who is billed; [`NOBODY`] where the bill is 0.
    pub culprit: u32,
}

/// Who gets time back for a slice that lost time, and who pays.
///
/// `last_user` used wide instructions last on the victim's core, or is [`NOBODY`].
#[must_use]
pub fn compensate(
    mode: Mode,
    time_ns: u64,
    lost_ns: u64,
    victim: u32,
    last_user: u32,
) -> Compensation {
    let loss = ffi::Loss { time_ns, lost_ns, victim, last_user };
    let mut raw = ffi::RawCompensation::default();
    ffi::ekp_compensate(mode as u32, &loss, &mut raw);
    Compensation { refund_ns: raw.refund_ns, bill_ns: raw.bill_ns, culprit: raw.culprit }
}
