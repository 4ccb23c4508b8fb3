//! `ordered` regions of loops, which run in the order of the iterations.

use crate::parallel::Ident;
use crate::thread::member;

/// gcc: one begins.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_ordered_start() {
    member().begin_ordered();
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_ordered_end() {
    member().end_ordered();
}

/// clang: one begins.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_ordered(_where: *mut Ident, _thread: i32) {
    member().begin_ordered();
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_ordered(_where: *mut Ident, _thread: i32) {
    member().end_ordered();
}
