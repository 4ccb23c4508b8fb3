//! The caller of the library: the program's code, and its frame.
//!
//! Rust knows no return addresses. So the stack is unwound, from here to the first frame that is
//! not of this library; that takes a microsecond, and happens only with a tool.

use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;

/// The call of the program's that the calling thread is in.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    /// The address to which it returns; null if no frame of the program was found.
    pub code: *const c_void,
    /// The canonical frame address of the library's first frame.
    pub frame: *mut c_void,
    /// The program's frame, if it keeps a frame pointer; else the same as `frame`.
    pub own_frame: *mut c_void,
}

/// `_Unwind_Context`.
#[repr(C)]
struct Context {
    _opaque: [u8; 0],
}

/// `_URC_NO_REASON`, and a code that ends a walk.
const GO_ON: c_int = 0;
const STOP: c_int = 4;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        visit: extern "C" fn(*mut Context, *mut c_void) -> c_int,
        data: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
    fn _Unwind_GetCFA(context: *mut Context) -> usize;
    fn _Unwind_GetGR(context: *mut Context, register: c_int) -> usize;
}

/// The number of the frame pointer in unwinding tables.
#[cfg(target_arch = "x86_64")]
const FRAME_POINTER: c_int = 6;
/// The number of the frame pointer in unwinding tables.
#[cfg(target_arch = "aarch64")]
const FRAME_POINTER: c_int = 29;

/// No frame is larger: code whose register is farther away keeps no frame pointer.
const FRAME_BYTES_MAX: usize = 1 << 20;

impl Caller {
    /// No caller.
    pub(crate) const NONE: Self =
        Self { code: ptr::null(), frame: ptr::null_mut(), own_frame: ptr::null_mut() };

    /// Finds the caller of the library.
    #[inline(never)]
    pub(crate) fn find() -> Self {
        let mut found = Self::NONE;
        // SAFETY: `visit` takes a pointer to a `Caller`.
        unsafe { _Unwind_Backtrace(visit, (&raw mut found).cast()) };
        found
    }
}

extern "C" fn visit(context: *mut Context, found: *mut c_void) -> c_int {
    // SAFETY: the unwinder passes its own context, and the pointer of `find`.
    unsafe {
        let code = _Unwind_GetIP(context);
        // A call may be the last instruction of a function.
        if own_code().contains(&code.wrapping_sub(1)) {
            return GO_ON;
        }
        let frame = _Unwind_GetCFA(context);
        let own_frame = Some(_Unwind_GetGR(context, FRAME_POINTER))
            .filter(|&at| (frame..frame.saturating_add(FRAME_BYTES_MAX)).contains(&at));
        *found.cast::<Caller>() = Caller {
            code: ptr::with_exposed_provenance(code),
            frame: ptr::with_exposed_provenance_mut(frame),
            own_frame: ptr::with_exposed_provenance_mut(own_frame.unwrap_or(frame)),
        };
    }
    STOP
}

/// Whether something is in this library.
pub(crate) fn is_own(address: *const c_void) -> bool {
    own_code().contains(&address.addr())
}

/// Where this library's code is.
fn own_code() -> &'static Range<usize> {
    static CODE: OnceLock<Range<usize>> = OnceLock::new();
    CODE.get_or_init(|| {
        let mut code = 0..0;
        // SAFETY: `segments` takes a pointer to a range.
        unsafe { libc::dl_iterate_phdr(Some(segments), (&raw mut code).cast()) };
        code
    })
}

/// Looks for the segment that this function is in.
unsafe extern "C" fn segments(
    library: *mut libc::dl_phdr_info,
    _bytes: usize,
    found: *mut c_void,
) -> c_int {
    let here = segments as *const () as usize;
    // SAFETY: the loader passes a library's headers and their number.
    unsafe {
        let library = &*library;
        let headers = std::slice::from_raw_parts(library.dlpi_phdr, library.dlpi_phnum.into());
        for header in headers.iter().filter(|header| header.p_type == libc::PT_LOAD) {
            let begin = library.dlpi_addr.wrapping_add(header.p_vaddr) as usize;
            let segment = begin..begin.saturating_add(header.p_memsz as usize);
            if segment.contains(&here) {
                *found.cast::<Range<usize>>() = segment;
                return 1;
            }
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_code_is_in_the_segment_that_was_found() {
        assert!(own_code().contains(&(Caller::find as *const () as usize)));
        assert!(!own_code().contains(&(libc::malloc as *const () as usize)));
    }

    #[test]
    fn the_first_foreign_frame_is_found() {
        // All of a test program is one segment: its caller is the C library's thread.
        let caller = Caller::find();
        assert!(!caller.code.is_null() && !caller.frame.is_null());
        assert!(!own_code().contains(&caller.code.addr()));
    }
}
