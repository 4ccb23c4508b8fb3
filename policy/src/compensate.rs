//! Refund and bill: `evenkeel/compensate.h`.

/// Not a task; `EK_NO_TASK`.
pub const NO_TASK: u32 = u32::MAX;

/// The compensation of time lost: `enum ek_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Mode {
    /// No compensation.
    #[default]
    None = 0,
    /// The time lost is refunded to the victim (ATC'21).
    Relative = 1,
    /// The time lost is refunded to the victim and billed to the culprit (D 7.4.3).
    Isolation = 2,
}

/// A slice that lost time: `struct ek_loss`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// CPU time of the slice.
    pub time_ns: u64,
    /// Time lost, at most the CPU time.
    pub lost_ns: u64,
    /// The task of the slice.
    pub victim: u32,
    /// The last task with wide instructions on the victim's core, or [`NO_TASK`].
    pub last_user: u32,
    /// How much more may be billed to that user.
    pub room_ns: u64,
}

/// The two halves of compensation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compensation {
    /// Deduction from the victim's charge for the slice; at most that charge.
    pub refund_ns: u64,
    /// Addition to the culprit's next charge.
    pub bill_ns: u64,
    /// The billed task; [`NO_TASK`] where the bill is 0.
    pub culprit: u32,
}

/// `struct ek_compensation`.
#[repr(C)]
#[derive(Default)]
struct RawCompensation {
    refund_ns: u64,
    bill_ns: u64,
    culprit: u32,
    pad: u32,
}

const _: () = assert!(size_of::<Loss>() == 32 && size_of::<RawCompensation>() == 24);

/// Refund and bill for a slice that lost time.
#[must_use]
pub fn compensate(mode: Mode, loss: &Loss) -> Compensation {
    let mut raw = RawCompensation::default();
    ekp_compensate(mode as u32, loss, &mut raw);
    Compensation { refund_ns: raw.refund_ns, bill_ns: raw.bill_ns, culprit: raw.culprit }
}

/// Largest sum of unpaid bills of a task, in ns; `EK_BILL_MAX_NS`.
pub const BILL_MAX_NS: u64 = 100_000_000;

/// Further bills that a task with `bill_ns` of unpaid ones can take, in ns.
#[must_use]
pub fn bill_room_ns(bill_ns: u64) -> u64 {
    ekp_bill_room_ns(bill_ns)
}

unsafe extern "C" {
    // Plain integers: the C functions accept every value.
    safe fn ekp_bill_room_ns(bill_ns: u64) -> u64;

    // References: valid for the call; C keeps none of them, and every bit pattern of the
    // structs is a value.
    safe fn ekp_compensate(mode: u32, loss: &Loss, compensation: &mut RawCompensation);
}
