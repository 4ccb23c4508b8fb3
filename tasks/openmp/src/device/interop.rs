//! Objects for working with another runtime (OpenMP 5.1, `interop`): without devices programs have
//! only `omp_interop_none`, which has no properties.

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// `omp_irc_empty`.
const EMPTY: c_int = -1;

/// Properties that an object has beside those of the standard.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_interop_properties(_object: *mut c_void) -> c_int {
    0
}

/// Functions that give a property.
macro_rules! properties {
    ($($name:ident $fortran:ident -> $result:ty = $nothing:expr;)*) => {$(
        /// A property: always none, with the reason in `why`.
        ///
        /// # Safety
        /// `why` is null, or points to a variable that may be written.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            _object: *mut c_void,
            _property: c_int,
            why: *mut c_int,
        ) -> $result {
            // SAFETY: `why` is null, or points to a variable that may be written.
            if let Some(why) = unsafe { why.as_mut() } {
                *why = EMPTY;
            }
            $nothing
        }

        #[doc = concat!("Fortran's `", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $fortran() -> $result {
            $nothing
        }
    )*};
}

properties! {
    omp_get_interop_int omp_get_interop_int_ -> isize = 0;
    omp_get_interop_ptr omp_get_interop_ptr_ -> *mut c_void = ptr::null_mut();
    omp_get_interop_str omp_get_interop_str_ -> *const c_char = ptr::null();
}

/// Functions that describe something of an object.
macro_rules! descriptions {
    ($($name:ident $fortran:ident)*) => {$(
        /// A description: always none.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(_object: *mut c_void, _number: c_int) -> *const c_char {
            ptr::null()
        }

        #[doc = concat!("Fortran's `", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub extern "C" fn $fortran() -> *const c_char {
            ptr::null()
        }
    )*};
}

descriptions! {
    omp_get_interop_name omp_get_interop_name_
    omp_get_interop_type_desc omp_get_interop_type_desc_
    omp_get_interop_rc_desc omp_get_interop_rc_desc_
}

/// Fortran's `omp_get_num_interop_properties`.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_interop_properties_() -> c_int {
    0
}
