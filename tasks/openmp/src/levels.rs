//! Where in which regions is the calling thread?

use std::ffi::c_int;
use std::iter::successors;

use crate::region::Member;
use crate::registration::member;

/// The part in the region of a level, of the calling thread or of the thread that began the region
/// inside.
fn at(level: c_int) -> Option<&'static Member> {
    // SAFETY: the primary thread stays in the region around until the inner region ends.
    let around = |member: &&'static Member| unsafe { member.region().around.as_ref() };
    // Levels begin anew in a target region: the regions around have higher ones.
    let inside = (level <= member().region().level).then(member);
    successors(inside, around).find(|member| member.region().level == level)
}

/// Which thread of its region this is.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_thread_num() -> c_int {
    member().number as c_int
}

/// Threads of its region.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_threads() -> c_int {
    member().region().size as c_int
}

/// Whether the thread is in a region of more than one thread.
#[unsafe(no_mangle)]
pub extern "C" fn omp_in_parallel() -> c_int {
    (member().region().active_level > 0).into()
}

/// The number of `parallel` regions around.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_level() -> c_int {
    member().region().level
}

/// Those of them that have more than one thread.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_active_level() -> c_int {
    member().region().active_level
}

/// The thread's number in the region of a level; -1 for a level that no region has.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_ancestor_thread_num(level: c_int) -> c_int {
    at(level).map_or(-1, |member| member.number as c_int)
}

/// Threads of the region of a level; -1 for a level that no region has.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_team_size(level: c_int) -> c_int {
    at(level).map_or(-1, |member| member.region().size as c_int)
}

/// Whether the running task is final.
#[unsafe(no_mangle)]
pub extern "C" fn omp_in_final() -> c_int {
    member().task().is_final.get().into()
}

/// Whether the running task is one that the program made.
#[unsafe(no_mangle)]
pub extern "C" fn omp_in_explicit_task() -> c_int {
    let member = member();
    (!std::ptr::eq(member.task(), member.implicit())).into()
}

/// clang: the same as `omp_get_thread_num`.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_bound_thread_num(_where: *mut crate::ident::Ident) -> c_int {
    omp_get_thread_num()
}

/// clang: the same as `omp_get_num_threads`.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_bound_num_threads(_where: *mut crate::ident::Ident) -> c_int {
    omp_get_num_threads()
}

/// clang: the same as `omp_in_parallel`.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_in_parallel(_where: *mut crate::ident::Ident) -> c_int {
    omp_in_parallel()
}
