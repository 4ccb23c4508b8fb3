//! Handles of allocators: numbers that programs pass, predefined or made here.

use super::traits::{Allocator, Trait, Words};

/// `omp_null_allocator`.
pub(super) const NONE: usize = 0;
/// `omp_default_mem_alloc`.
pub(crate) const DEFAULT: usize = 1;
/// Handles up to this one are OpenMP's own; larger ones are of [`make`].
const PREDEFINED_MAX: usize = 1 << 12;

/// Makes an allocator, which lives until [`end`]; [`NONE`] if no allocator can have these traits.
pub(super) fn make(space: usize, traits: &[Trait]) -> usize {
    let made = Allocator::new(space, traits);
    made.map_or(NONE, |made| Box::into_raw(Box::new(made)) as usize)
}

/// The allocator that words describe.
pub(crate) fn of_words(words: &Words) -> usize {
    match words {
        Words::Handle(handle) => *handle,
        Words::Traits { space, traits } => match make(*space, traits) {
            NONE => DEFAULT,
            handle => handle,
        },
    }
}

/// Ends an allocator.
///
/// # Safety
/// [`make`] made the handle, or the handle is predefined; the allocator is used no more.
pub(super) unsafe fn end(handle: usize) {
    if handle > PREDEFINED_MAX {
        // SAFETY: `make` made the box, and the program uses the handle no more.
        drop(unsafe { Box::from_raw(handle as *mut Allocator) });
    }
}

/// The allocator of a handle; `None` for OpenMP's own handles.
pub(super) fn behind<'a>(handle: usize) -> Option<&'a Allocator> {
    // SAFETY: the program promises that its handle is one of `make`.
    (handle > PREDEFINED_MAX).then(|| unsafe { &*(handle as *const Allocator) })
}
