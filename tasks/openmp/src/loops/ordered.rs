//! `ordered` regions of loops, which run in the order of the iterations.

use crate::ident::Ident;
use crate::ompt::{self, Mutex};
use crate::region::Member;
use crate::thread::member;

/// Waits for those before.
fn begin(member: &Member) {
    ompt::taken(Mutex::Ordered, member.ordered_id(), || member.begin_ordered());
}

/// Lets the next come.
fn end(member: &Member) {
    ompt::given(Mutex::Ordered, member.ordered_id(), || member.end_ordered());
}

/// gcc: one begins.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_ordered_start() {
    begin(member());
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_ordered_end() {
    end(member());
}

/// clang: one begins.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_ordered(_where: *mut Ident, _thread: i32) {
    begin(member());
}

/// It ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_end_ordered(_where: *mut Ident, _thread: i32) {
    end(member());
}
