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
