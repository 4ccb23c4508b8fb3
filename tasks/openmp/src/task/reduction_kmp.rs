//! The calls of clang's programs around task reductions.

use std::ffi::c_void;
use std::{ptr, slice};

use super::header::Group;
use super::reduction::{Begin, Of1, Of2, Reduced, Variable, begin, find};
use crate::ident::Ident;
use crate::region::Member;
use crate::registration::member;

/// `kmp_task_red_input_t`: the reduction of one variable, before clang 11.
#[repr(C)]
pub struct OldInput {
    shared: *mut c_void,
    bytes: usize,
    begin: Option<Of1>,
    end: Option<Of1>,
    add: Of2,
    flags: u32,
}

/// `kmp_taskred_input_t`: the same since.
#[repr(C)]
pub struct Input {
    shared: *mut c_void,
    original: *mut c_void,
    bytes: usize,
    begin: Option<Of2>,
    end: Option<Of1>,
    add: Of2,
    flags: u32,
}

fn of_old(input: &OldInput, threads: u32) -> Reduced {
    let begin = input.begin.map_or(Begin::Zeros, Begin::Alone);
    (Variable::new(input.bytes, begin, input.end, input.add, threads), input.shared)
}

fn of_new(input: &Input, threads: u32) -> Reduced {
    let original = if input.original.is_null() { input.shared } else { input.original };
    let begin = input.begin.map_or(Begin::Zeros, |begin| Begin::From(begin, original));
    (Variable::new(input.bytes, begin, input.end, input.add, threads), input.shared)
}

/// # Safety
/// `inputs` has `number` entries.
unsafe fn read<I>(
    member: &Member,
    number: i32,
    inputs: *const I,
    of: fn(&I, u32) -> Reduced,
) -> Vec<Reduced> {
    let number = usize::try_from(number).unwrap_or_default();
    // SAFETY: `inputs` has `number` entries.
    let inputs = unsafe { slice::from_raw_parts(inputs, number) };
    inputs.iter().map(|input| of(input, member.region().size)).collect()
}

/// The group that was begun last reduces `number` variables. Returns its name.
///
/// # Safety
/// The arguments are those that the compiler passes for this construct.
unsafe fn init<I>(number: i32, inputs: *const I, of: fn(&I, u32) -> Reduced) -> *const Group {
    let member = member();
    let Some(group) = member.group() else { return ptr::null() };
    if member.region().size > 1 {
        // SAFETY: the arguments are those that the compiler passes.
        begin(member, group, unsafe { read(member, number, inputs, of) }, false);
    }
    group
}

/// Each thread of the team begins a group, and all reduce the same variables.
///
/// # Safety
/// The arguments are those that the compiler passes for this construct.
unsafe fn init_team<I>(number: i32, inputs: *const I, of: fn(&I, u32) -> Reduced) -> *const Group {
    let member = member();
    let group = Group::begin(member, true);
    if member.region().size > 1 {
        // SAFETY: the arguments are those that the compiler passes.
        begin(member, group, unsafe { read(member, number, inputs, of) }, true);
    }
    group
}

/// The group that was begun last reduces `number` variables. Returns its name.
///
/// # Safety
/// The arguments are those that the compiler passes for this construct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_taskred_init(
    _thread: i32,
    number: i32,
    inputs: *const Input,
) -> *const c_void {
    // SAFETY: the arguments are those that the compiler passes.
    unsafe { init(number, inputs, of_new).cast() }
}

/// The group that was begun last reduces `number` variables, before clang 11. Returns its name.
///
/// # Safety
/// The arguments are those that the compiler passes for this construct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_task_reduction_init(
    _thread: i32,
    number: i32,
    inputs: *const OldInput,
) -> *const c_void {
    // SAFETY: the arguments are those that the compiler passes.
    unsafe { init(number, inputs, of_old).cast() }
}

/// Each thread of a team or a loop begins a group, and all reduce the same variables. Returns the
/// group's name.
///
/// # Safety
/// The arguments are those that the compiler passes for this construct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_taskred_modifier_init(
    _where: *mut Ident,
    _thread: i32,
    _is_loop: i32,
    number: i32,
    inputs: *const Input,
) -> *const c_void {
    // SAFETY: the arguments are those that the compiler passes.
    unsafe { init_team(number, inputs, of_new).cast() }
}

/// Each thread of the team begins a group, before clang 11. Returns the group's name.
///
/// # Safety
/// The arguments are those that the compiler passes for this construct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_task_reduction_modifier_init(
    _where: *mut Ident,
    _thread: i32,
    _is_loop: i32,
    number: i32,
    inputs: *const OldInput,
) -> *const c_void {
    // SAFETY: the arguments are those that the compiler passes.
    unsafe { init_team(number, inputs, of_old).cast() }
}

/// That group ends.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_task_reduction_modifier_fini(
    _where: *mut Ident,
    _thread: i32,
    _is_loop: i32,
) {
    Group::end(member());
}

/// The running thread's private copy of a variable that a group or one around reduces.
///
/// # Safety
/// `group` is null, or was returned by an init function of this file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_task_reduction_get_th_data(
    _thread: i32,
    group: *const c_void,
    place: *mut c_void,
) -> *mut c_void {
    let member = member();
    // SAFETY: `group` is null, or was returned by an init function of this file.
    let group = unsafe { group.cast::<Group>().as_ref() }.or_else(|| member.group());
    find(member, group, place)
}
