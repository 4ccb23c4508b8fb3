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
    location: *const c_char,
}

/// The flags of a location, which name the construct; 0 for the null pointer.
///
/// # Safety
/// `location` is null, or points to clang's constant.
pub(crate) unsafe fn flags(location: *const Ident) -> i32 {
    // SAFETY: `location` is null, or points to clang's constant.
    unsafe { location.as_ref() }.map_or(0, |location| location.flags)
}

/// The function, the file and the line of a location, if clang was asked to keep them (`-g`).
///
/// # Safety
/// `location` is null, or points to clang's constant.
pub(crate) unsafe fn called(location: *const Ident) -> Option<Called> {
    // SAFETY: `location` is null or points to clang's constant, whose text is null or a C string.
    let text = unsafe {
        let text = location.as_ref()?.location;
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
        let location = Some(("a/b.c".to_owned(), 12));
        assert_eq!(parse(";a/b.c;fib;12;9;;"), Some(("fib".to_owned(), location)));
        for nowhere in [";unknown;unknown;0;0;;", "", ";;"] {
            assert_eq!(parse(nowhere), None);
        }
    }
}
