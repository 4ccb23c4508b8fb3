//! Whether the program has ever cancelled anything. Most programs never do, and skip the checks.

use std::sync::atomic::{AtomicBool, Ordering};

static ANY: AtomicBool = AtomicBool::new(false);

/// Whether any region, loop or taskgroup was ever cancelled.
#[inline]
pub(crate) fn is_used() -> bool {
    ANY.load(Ordering::Relaxed)
}

/// A region, loop or taskgroup is about to be cancelled.
pub(crate) fn uses() {
    ANY.store(true, Ordering::Relaxed);
}
