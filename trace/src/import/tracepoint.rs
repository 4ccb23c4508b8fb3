//! Events as the kernel writes them into its buffers, read by the texts that describe their
//! fields. The texts come from the kernel that recorded, so that the fields of older and
//! newer kernels are where that kernel put them.

mod decode;
mod format;
mod formats;
mod states;

pub use decode::{Decoder, Raw};
pub use formats::{Reader, formats};
pub use states::States;

/// Whether the event happened in an interrupt, by `common_flags`; `None` if they do not tell.
pub fn in_interrupt(flags: u64) -> Option<bool> {
    /// Interrupts of hardware, of software, and those that cannot be masked
    /// (include/linux/trace_events.h, 6.18).
    const IN_INTERRUPT: u64 = 0x08 | 0x10 | 0x40;
    /// `TRACE_FLAG_IRQS_NOSUPPORT` of kernels before 6.13: nothing is known.
    const UNKNOWN: u64 = 0x02;
    (flags & UNKNOWN == 0).then_some(flags & IN_INTERRUPT != 0)
}
