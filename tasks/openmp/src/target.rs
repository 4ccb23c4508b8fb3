//! gcc's `target` regions, which the host runs, the only device.
//!
//! The host's memory is the device's, so nothing is mapped; only `firstprivate` variables are
//! copied. A region is the first one of its thread, as on a device: levels and leagues begin
//! inside.

use std::ffi::{c_int, c_uint, c_void};
use std::slice;

use evenkeel_runtime::internal::Access;

use crate::data_environment;
use crate::environment::Offload;
use crate::icv::Icvs;
use crate::region::Member;
use crate::region::alone::{enter_target, leave_serial};
use crate::region::league::League;
use crate::registration::{current_thread, member};
use crate::settings::settings;
use crate::task::header::{Code, OmpTask};
use crate::task::{Dependences, Plan, When, depend};
use crate::unsupported::abort_with;

/// gcc's number of the default device (`GOMP_DEVICE_ICV`).
const BY_DEFAULT: c_int = -1;
/// The host, asked for (`GOMP_DEVICE_HOST_FALLBACK`).
const HOST: c_int = -2;
/// `GOMP_TARGET_FLAG_NOWAIT`.
const NOWAIT: c_uint = 1;
/// `GOMP_MAP_FIRSTPRIVATE`, in the low bits of a kind; above is the logarithm of an alignment.
const FIRSTPRIVATE: u16 = 0b1100;

/// In an argument of a region: the devices that use the argument.
const FOR_DEVICE: usize = 0x7f;
/// In an argument of a region: the value is the next word, not the upper half of this one.
const VALUE_FOLLOWS: usize = 0x80;
/// In an argument of a region: the number of the argument.
const WHICH: usize = 0xff00;
/// `GOMP_TARGET_ARG_THREAD_LIMIT`.
const THREAD_LIMIT: usize = 0x200;
/// Bits below a value in an argument.
const VALUE_SHIFT: u32 = 16;

/// The code of a region, as gcc compiles one.
type Function = unsafe extern "C" fn(*mut *mut c_void);

/// Ends the program if `OMP_TARGET_OFFLOAD` demands a device, unless the host was named.
fn check(device: c_int) {
    let device =
        if device == BY_DEFAULT { data_environment::icvs().default_device } else { device };
    if settings().offload == Offload::Mandatory && !matches!(device, HOST | 0) {
        abort_with(b"evenkeel: OMP_TARGET_OFFLOAD is mandatory, and there is no device\n");
    }
}

/// The mapped variables of a construct, as gcc passes them.
#[derive(Clone, Copy)]
struct Maps<'a> {
    bytes: &'a [usize],
    kinds: &'a [u16],
}

impl Maps<'_> {
    /// # Safety
    /// `bytes` and `kinds` have `number` entries.
    unsafe fn new(number: usize, bytes: *const usize, kinds: *const u16) -> Self {
        if number == 0 {
            return Self { bytes: &[], kinds: &[] };
        }
        // SAFETY: `bytes` and `kinds` have `number` entries.
        unsafe {
            let (bytes, kinds) = (slice::from_raw_parts(bytes, number), kinds);
            Self { bytes, kinds: slice::from_raw_parts(kinds, number) }
        }
    }

    /// The `firstprivate` variables of these addresses: index, bytes and alignment.
    fn copied(self, from: &[*mut c_void]) -> impl Iterator<Item = (usize, usize, usize)> {
        let all = self.bytes.iter().zip(self.kinds).zip(from).enumerate();
        let copied =
            all.filter(|(_, ((_, kind), from))| **kind & 0xff == FIRSTPRIVATE && !from.is_null());
        copied.map(|(index, ((&bytes, &kind), _))| (index, bytes, 1 << (kind >> 8)))
    }

    /// Bytes that suffice for the copies wherever they begin.
    fn room(self, from: &[*mut c_void]) -> usize {
        self.copied(from).map(|(_, bytes, alignment)| bytes + alignment).sum()
    }

    /// Copies, and makes the addresses those of the copies.
    ///
    /// # Safety
    /// `room` has [`Maps::room`] bytes; the addresses lead to variables of these sizes.
    unsafe fn copy(self, addresses: &mut [*mut c_void], mut room: *mut c_void) {
        let copied: Vec<_> = self.copied(addresses).collect();
        for (index, bytes, alignment) in copied {
            // SAFETY: `room` has `Maps::room` bytes; the addresses lead to variables of these
            // sizes.
            unsafe {
                let place = room.byte_add(room.align_offset(alignment));
                place.copy_from_nonoverlapping(addresses[index], bytes);
                addresses[index] = place;
                room = place.byte_add(bytes);
            }
        }
    }
}

/// The words of a region's arguments; a zero ends them.
///
/// # Safety
/// `arguments` is null, or gcc's list of arguments.
unsafe fn words<'a>(arguments: *const usize) -> &'a [usize] {
    if arguments.is_null() {
        return &[];
    }
    let mut number = 0;
    // SAFETY: `arguments` is null, or gcc's list of arguments. A value behind an argument may be
    // zero.
    unsafe {
        while *arguments.add(number) != 0 {
            number += if *arguments.add(number) & VALUE_FOLLOWS == 0 { 1 } else { 2 };
        }
        slice::from_raw_parts(arguments, number)
    }
}

/// Threads that a region has at most, if its arguments say so.
fn threads_max(words: &[usize]) -> Option<u32> {
    let mut words = words.iter();
    let mut found = None;
    while let Some(&word) = words.next() {
        let value = if word & VALUE_FOLLOWS == 0 {
            word as isize >> VALUE_SHIFT
        } else {
            words.next().map_or(0, |&value| value as isize)
        };
        if word & FOR_DEVICE == 0 && word & WHICH == THREAD_LIMIT && value > 0 {
            found = Some(u32::try_from(value).unwrap_or(u32::MAX));
        }
    }
    found
}

/// A region that is to be run.
#[derive(Clone, Copy)]
struct Target {
    function: Function,
    addresses: *mut *mut c_void,
    threads_max: Option<u32>,
}

impl Target {
    /// # Safety
    /// The function takes the addresses.
    unsafe fn run(self) {
        let thread = current_thread();
        let member = enter_target(thread, Icvs::initial(), self.threads_max);
        // SAFETY: the function takes the addresses.
        unsafe { (self.function)(self.addresses) };
        leave_serial(member);
    }

    /// Adds the region as a task, which takes addresses and copies along.
    ///
    /// # Safety
    /// The function takes the addresses; the maps are those of the addresses.
    unsafe fn submit(mut self, member: &Member, maps: Maps, dependences: &[Access]) {
        let number = maps.bytes.len();
        let addresses = if number == 0 {
            &[]
        } else {
            // SAFETY: the function takes the addresses; the maps are those of the addresses.
            unsafe { slice::from_raw_parts(self.addresses, number) }
        };
        let fixed = size_of::<Self>() + size_of_val(addresses);
        let plan = Plan { bytes: fixed + maps.room(addresses), is_final: false };
        let task = OmpTask::create(member, &plan);
        // SAFETY: the block has room for all of them, behind a header of stricter alignment.
        unsafe {
            let place = task.add(1).cast::<Self>();
            let taken = place.add(1).cast::<*mut c_void>();
            taken.copy_from_nonoverlapping(addresses.as_ptr(), number);
            let room = taken.add(number).cast();
            maps.copy(slice::from_raw_parts_mut(taken, number), room);
            self.addresses = taken;
            place.write(self);
            (*task).code.set(Code::Gomp(run_target, place.cast()));
            OmpTask::submit(task, member, Dependences::apart(dependences), When::Any);
        }
    }
}

unsafe extern "C" fn run_target(target: *mut c_void) {
    // SAFETY: a task's, which is whole.
    unsafe { target.cast::<Target>().read().run() };
}

/// gcc 4.9: runs a region.
///
/// # Safety
/// `function` takes `addresses`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_target(
    device: c_int,
    function: Function,
    _unused: *const c_void,
    _number: usize,
    addresses: *mut *mut c_void,
    _bytes: *const usize,
    _kinds: *const u8,
) {
    check(device);
    // SAFETY: `function` takes `addresses`.
    unsafe { Target { function, addresses, threads_max: None }.run() };
}

/// gcc: runs a region, or adds the region as a task.
///
/// # Safety
/// `function` takes `addresses`; that list, the sizes and the kinds have `number` entries; the
/// other arguments are those that gcc passes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_target_ext(
    device: c_int,
    function: Function,
    number: usize,
    addresses: *mut *mut c_void,
    bytes: *const usize,
    kinds: *const u16,
    flags: c_uint,
    depend: *const *mut c_void,
    arguments: *const usize,
) {
    check(device);
    let member = member();
    // SAFETY: the lists have `number` entries, and `function` takes the addresses.
    unsafe {
        let maps = Maps::new(number, bytes, kinds);
        let threads_max = threads_max(words(arguments));
        let target = Target { function, addresses, threads_max };
        let dependences = dependences(member, depend);
        if flags & NOWAIT != 0 && !member.task().is_final.get() && member.team().is_some() {
            return target.submit(member, maps, &dependences);
        }
        // Other tasks may write the variables during the wait: the copies are made before.
        let mut room = Vec::<u8>::new();
        if number > 0 {
            let addresses = slice::from_raw_parts_mut(addresses, number);
            room.reserve_exact(maps.room(addresses));
            maps.copy(addresses, room.as_mut_ptr().cast());
        }
        depend::wait(member, &dependences);
        target.run();
    }
}

/// # Safety
/// `depend` is null, or gcc's list of dependences.
unsafe fn dependences(member: &Member, list: *const *mut c_void) -> depend::List {
    if list.is_null() {
        return depend::List::new();
    }
    // SAFETY: `depend` is null, or gcc's list of dependences.
    unsafe { depend::of_gomp(member, list) }
}

/// A construct that would only move data: only its order among tasks remains.
///
/// # Safety
/// `depend` is null, or gcc's list of dependences.
unsafe fn nothing_to_move(device: c_int, flags: c_uint, depend: *const *mut c_void) {
    check(device);
    // SAFETY: `depend` is null, or gcc's list of dependences.
    let dependences = unsafe { dependences(member(), depend) };
    if dependences.is_empty() {
        return;
    }
    if flags & NOWAIT != 0 {
        depend::add_nothing(member(), &dependences);
    } else {
        depend::wait(member(), &dependences);
    }
}

/// gcc 4.9: data is mapped from here on.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_target_data(
    device: c_int,
    _unused: *const c_void,
    _number: usize,
    _addresses: *mut *mut c_void,
    _bytes: *const usize,
    _kinds: *const u8,
) {
    check(device);
}

/// gcc: the same.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_target_data_ext(
    device: c_int,
    _number: usize,
    _addresses: *mut *mut c_void,
    _bytes: *const usize,
    _kinds: *const u16,
) {
    check(device);
}

/// The `target data` region ends.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_target_end_data() {}

/// gcc 4.9: data is copied.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_target_update(
    device: c_int,
    _unused: *const c_void,
    _number: usize,
    _addresses: *mut *mut c_void,
    _bytes: *const usize,
    _kinds: *const u8,
) {
    check(device);
}

/// gcc: the same.
///
/// # Safety
/// `depend` is null, or gcc's list of dependences.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_target_update_ext(
    device: c_int,
    _number: usize,
    _addresses: *mut *mut c_void,
    _bytes: *const usize,
    _kinds: *const u16,
    flags: c_uint,
    depend: *const *mut c_void,
) {
    // SAFETY: `depend` is null, or gcc's list of dependences.
    unsafe { nothing_to_move(device, flags, depend) };
}

/// gcc: data is mapped, or is not any more.
///
/// # Safety
/// `depend` is null, or gcc's list of dependences.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_target_enter_exit_data(
    device: c_int,
    _number: usize,
    _addresses: *mut *mut c_void,
    _bytes: *const usize,
    _kinds: *const u16,
    flags: c_uint,
    depend: *const *mut c_void,
) {
    // SAFETY: `depend` is null, or gcc's list of dependences.
    unsafe { nothing_to_move(device, flags, depend) };
}

/// gcc 14: the device's address of a function.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_target_map_indirect_ptr(function: *mut c_void) -> *mut c_void {
    function
}

/// gcc, before 12: a league in a region, of one team.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_teams(_teams: c_uint, threads: c_uint) {
    League::begin(member(), 1, threads);
}

/// gcc: the next team of a league in a region. Returns whether the league has one.
#[unsafe(no_mangle)]
pub extern "C" fn GOMP_teams4(
    least: c_uint,
    _most: c_uint,
    threads: c_uint,
    is_first: crate::flag::Flag,
) -> bool {
    if is_first.is_set() {
        League::begin(member(), least.max(1), threads);
        return true;
    }
    League::next(member())
}

/// clang's library for devices asks for `OMP_TARGET_OFFLOAD`.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_get_target_offload() -> c_int {
    settings().offload as c_int
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_firstprivate_is_copied_each_at_its_alignment() {
        let (byte, number, mapped) = (7_u8, 8_u64, 9_u64);
        let mut addresses = [
            (&raw const byte).cast_mut().cast::<c_void>(),
            (&raw const number).cast_mut().cast(),
            (&raw const mapped).cast_mut().cast(),
            std::ptr::null_mut(),
        ];
        let before = addresses;
        let kinds = [FIRSTPRIVATE, 3 << 8 | FIRSTPRIVATE, 3 << 8 | 3, FIRSTPRIVATE];
        let maps = Maps { bytes: &[1, 8, 8, 4], kinds: &kinds };
        let mut room = vec![0_u8; maps.room(&addresses)];
        // SAFETY: the block has room; the addresses are those of the variables.
        unsafe {
            maps.copy(&mut addresses, room.as_mut_ptr().cast());
            assert_eq!((*addresses[0].cast::<u8>(), *addresses[1].cast::<u64>()), (7, 8));
        }
        assert!(addresses[0] != before[0] && addresses[1] != before[1]);
        assert_eq!(addresses[2..], before[2..]);
    }

    #[test]
    fn a_limit_is_found_among_arguments_of_either_form() {
        assert_eq!(threads_max(&[0x100 | 7 << 16, THREAD_LIMIT | 3 << 16]), Some(3));
        assert_eq!(threads_max(&[THREAD_LIMIT | VALUE_FOLLOWS, 70_000]), Some(70_000));
        assert_eq!(threads_max(&[THREAD_LIMIT | 5, 0x100]), None);
        let arguments = [0x100 | VALUE_FOLLOWS, 0, THREAD_LIMIT | 2 << 16, 0, 9];
        // SAFETY: a zero ends them.
        assert_eq!(unsafe { words(arguments.as_ptr()) }, &arguments[..3]);
    }
}
