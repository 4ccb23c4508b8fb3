//! Refund and bill: `evenkeel/compensate.h`.

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

/// A slice that lost time: `struct ek_loss`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// CPU time of the slice.
    pub time_ns: u64,
    /// What it lost of that.
    pub lost_ns: u64,
    /// Whose slice it was.
    pub victim: u32,
    /// Who used wide instructions last on the victim's core, or [`NOBODY`].
    pub last_user: u32,
    /// How much more may be billed to that user.
    pub room_ns: u64,
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

/// Who gets time back for a slice that lost time, and who pays.
#[must_use]
pub fn compensate(mode: Mode, loss: &Loss) -> Compensation {
    let mut raw = RawCompensation::default();
    ekp_compensate(mode as u32, loss, &mut raw);
    Compensation { refund_ns: raw.refund_ns, bill_ns: raw.bill_ns, culprit: raw.culprit }
}

/// Bills that a task owes at one time, at most; `EK_BILL_MAX_NS`.
pub const BILL_MAX_NS: u64 = 100_000_000;

/// How much more may be billed to a task that owes so much.
#[must_use]
pub fn bill_room_ns(owed_ns: u64) -> u64 {
    ekp_bill_room_ns(owed_ns)
}

unsafe extern "C" {
    // Plain integers: the C functions accept every value.
    safe fn ekp_bill_room_ns(owed_ns: u64) -> u64;

    // References: valid for the call; C keeps none of them, and every bit pattern of the
    // structs is a value.
    safe fn ekp_compensate(mode: u32, loss: &Loss, compensation: &mut RawCompensation);
}
