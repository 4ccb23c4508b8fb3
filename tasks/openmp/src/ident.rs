//! Where in the program a call is: `ident_t`, which clang passes with each call.

use std::ffi::{CStr, c_char};

use evenkeel_runtime::internal::Called;

/// `ident_t` of clang: where in the program's source a call is.
#[repr(C)]
pub struct Ident {
    _reserved: i32,
    flags: i32,
    _more: [i32; 2],
    /// `;file;function;line;column;;`, or null.
    place: *const c_char,
}

/// The flags of a place, which name the construct; 0 for the null pointer.
///
/// # Safety
/// `place` is null, or points to clang's constant.
pub(crate) unsafe fn flags(place: *const Ident) -> i32 {
    // SAFETY: `place` is null, or points to clang's constant.
    unsafe { place.as_ref() }.map_or(0, |place| place.flags)
}

/// The function, the file and the line of a place, if clang was asked to keep them (`-g`).
///
/// # Safety
/// `place` is null, or points to clang's constant.
pub(crate) unsafe fn called(place: *const Ident) -> Option<Called> {
    // SAFETY: `place` is null or points to clang's constant, whose text is null or a C string.
    let text = unsafe {
        let text = place.as_ref()?.place;
        if text.is_null() {
            return None;
        }
        CStr::from_ptr(text).to_str().ok()?
    };
    parse(text)
}

fn parse(text: &str) -> Option<Called> {
    let parts: Vec<&str> = text.split(';').collect();
    let &["", file, function, line, ..] = &parts[..] else { return None };
    let line: u32 = line.parse().ok().filter(|&line| line > 0)?;
    Some((function.to_owned(), Some((file.to_owned(), line))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clang_says_where_a_call_is_if_it_knows() {
        let place = Some(("a/b.c".to_owned(), 12));
        assert_eq!(parse(";a/b.c;fib;12;9;;"), Some(("fib".to_owned(), place)));
        for nowhere in [";unknown;unknown;0;0;;", "", ";;"] {
            assert_eq!(parse(nowhere), None);
        }
    }
}
