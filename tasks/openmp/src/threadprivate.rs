//! `threadprivate` variables of clang's programs, where these do not leave them to the linker.
//!
//! The first thread uses the variable itself; every other thread a copy, made by its first use.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard};

use crate::ident::Ident;
use crate::registration::current_thread;
use evenkeel_runtime::internal::lock_std;

/// Makes a variable.
type Make = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
/// Makes one like another.
type MakeLike = unsafe extern "C" fn(*mut c_void, *mut c_void) -> *mut c_void;
/// Ends one.
type End = unsafe extern "C" fn(*mut c_void);

/// The functions that make, copy and end variables: one by one, or an array.
#[derive(Clone, Copy)]
enum Kind {
    Bytes,
    One(Option<Make>, Option<MakeLike>, Option<End>),
    Many(
        Option<unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void>,
        Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void>,
        Option<unsafe extern "C" fn(*mut c_void, usize)>,
        usize,
    ),
}

/// A variable of the program.
pub(crate) struct Variable {
    kind: Kind,
    /// The bytes of the variable at its first use.
    first: Vec<u8>,
}

static VARIABLES: Mutex<Option<HashMap<usize, Variable>>> = Mutex::new(None);

/// Those that the program has asked for.
pub(crate) fn variables() -> MutexGuard<'static, Option<HashMap<usize, Variable>>> {
    lock_std(&VARIABLES)
}

fn register(place: *mut c_void, kind: Kind) {
    let mut variables = variables();
    let new = || Variable { kind, first: Vec::new() };
    variables.get_or_insert_default().entry(place.addr()).or_insert_with(new);
}

/// A thread's copy of a variable.
struct Copy {
    place: *mut c_void,
    kind: Kind,
}

impl Drop for Copy {
    fn drop(&mut self) {
        // SAFETY: the thread ends, which alone used the copy.
        unsafe {
            match self.kind {
                Kind::One(_, _, Some(end)) => end(self.place),
                Kind::Many(_, _, Some(end), number) => end(self.place, number),
                _ => {}
            }
            libc::free(self.place);
        }
    }
}

impl Copy {
    /// # Safety
    /// `original` is a variable of `bytes` bytes and of this kind.
    unsafe fn new(original: *mut c_void, bytes: usize, kind: Kind, first: &[u8]) -> Self {
        // SAFETY: `original` is a variable of `bytes` bytes and of this kind; the bytes are ours.
        unsafe {
            let place = libc::calloc(bytes.max(1).next_multiple_of(16), 1);
            match kind {
                Kind::One(Some(make), ..) => _ = make(place),
                Kind::One(None, Some(like), _) => _ = like(place, original),
                Kind::Many(Some(make), _, _, number) => _ = make(place, number),
                Kind::Many(None, Some(like), _, number) => _ = like(place, original, number),
                _ => place.cast::<u8>().copy_from_nonoverlapping(first.as_ptr(), first.len()),
            }
            Self { place, kind }
        }
    }
}

thread_local! {
    static COPIES: RefCell<HashMap<usize, Copy>> = RefCell::default();
}

/// The calling thread's copy of a variable of `bytes` bytes.
///
/// # Safety
/// `original` is a variable of `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_threadprivate(
    _where: *mut Ident,
    _thread: i32,
    original: *mut c_void,
    bytes: usize,
) -> *mut c_void {
    let known = COPIES.with_borrow(|copies| copies.get(&original.addr()).map(|copy| copy.place));
    if let Some(place) = known {
        return place;
    }
    let (kind, first) = {
        let mut variables = variables();
        let all = variables.get_or_insert_default();
        let new = || Variable { kind: Kind::Bytes, first: Vec::new() };
        let variable = all.entry(original.addr()).or_insert_with(new);
        if variable.first.is_empty() {
            // SAFETY: `original` is a variable of `bytes` bytes.
            let now = unsafe { std::slice::from_raw_parts(original.cast::<u8>(), bytes) };
            variable.first = now.to_vec();
        }
        (variable.kind, variable.first.clone())
    };
    if current_thread().number == 0 {
        return original;
    }
    // SAFETY: `original` is a variable of `bytes` bytes.
    let copy = unsafe { Copy::new(original, bytes, kind, &first) };
    let place = copy.place;
    COPIES.with_borrow_mut(|copies| copies.insert(original.addr(), copy));
    place
}

/// The calling thread's copy; `_cache` could keep its address.
///
/// # Safety
/// `original` is a variable of `bytes` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __kmpc_threadprivate_cached(
    place: *mut Ident,
    thread: i32,
    original: *mut c_void,
    bytes: usize,
    _cache: *mut *mut *mut c_void,
) -> *mut c_void {
    // SAFETY: `original` is a variable of `bytes` bytes.
    unsafe { __kmpc_threadprivate(place, thread, original, bytes) }
}

/// Registers the functions that make, copy and end a variable.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_threadprivate_register(
    _where: *mut Ident,
    original: *mut c_void,
    make: Option<Make>,
    like: Option<MakeLike>,
    end: Option<End>,
) {
    register(original, Kind::One(make, like, end));
}

/// Registers the functions that make, copy and end the elements of an array.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_threadprivate_register_vec(
    _where: *mut Ident,
    original: *mut c_void,
    make: Option<unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void>,
    like: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void>,
    end: Option<unsafe extern "C" fn(*mut c_void, usize)>,
    number: usize,
) {
    register(original, Kind::Many(make, like, end, number));
}
