//! `ordered` regions of loops, which run in the order of the iterations.

use crate::ident::Ident;
use crate::region::Member;
use crate::registration::member;
use crate::tool::mutexes::{self, Mutex};

/// Waits for those before.
fn begin(member: &Member) {
    mutexes::taken(Mutex::Ordered, member.ordered_id(), || member.begin_ordered());
}

/// Lets the next come.
fn end(member: &Member) {
    mutexes::given(Mutex::Ordered, member.ordered_id(), || member.end_ordered());
}

/// gcc: one begins.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_ordered_start() {
    begin(member());
}

/// gcc: an `ordered` region ends.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_ordered_end() {
    end(member());
}

/// clang: one begins.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_ordered(_where: *mut Ident, _thread: i32) {
    begin(member());
}

/// clang: an `ordered` region ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_ordered(_where: *mut Ident, _thread: i32) {
    end(member());
}
