//! The name that the program's own symbols give an address of its code.

use std::ffi::{CStr, c_void};

/// A function, as `nm` shows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbol {
    pub(crate) text: String,
    /// File and line.
    pub(crate) place: Option<(String, u32)>,
}

/// The symbol that covers an address; else the file around the address; else the number.
pub(crate) fn at(address: usize) -> Symbol {
    let mut found = Symbol::default();
    // The library expects return addresses, and looks right before them. A function that was
    // inlined at the very beginning is reported before the one around.
    let after = std::ptr::without_provenance_mut::<c_void>(address.wrapping_add(1));
    backtrace::resolve(after, |symbol| {
        if let Some(text) = symbol.name() {
            found.text = format!("{text:#}");
        }
        if let (Some(file), Some(line)) = (symbol.filename(), symbol.lineno()) {
            found.place = Some((file.display().to_string(), line));
        }
    });
    if found.text.is_empty() {
        found.text = in_file(address).unwrap_or_else(|| format!("{address:#x}"));
    }
    found
}

/// The text for an address that no symbol covers, as in a stripped program: the file of the code,
/// and the distance from its begin, as `addr2line` and `objdump` count.
fn in_file(address: usize) -> Option<String> {
    // SAFETY: `found` may be all zeros, and is written if the call returns so; names inside are
    // terminated and stay while the file is loaded, which is the case, since its code has run.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        let at = std::ptr::without_provenance(address);
        if libc::dladdr(at, &raw mut found) == 0 || found.dli_fname.is_null() {
            return None;
        }
        // Stripped libraries still have the symbols that they export.
        if found.dli_saddr.addr() == address && !found.dli_sname.is_null() {
            return Some(CStr::from_ptr(found.dli_sname).to_string_lossy().into_owned());
        }
        let path = CStr::from_ptr(found.dli_fname).to_string_lossy();
        let file = path.rsplit('/').next().filter(|file| !file.is_empty())?;
        Some(format!("{file}+{:#x}", address.wrapping_sub(found.dli_fbase.addr())))
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[inline(never)]
    fn somebody_knows_me() -> u32 {
        std::hint::black_box(7)
    }

    #[test]
    fn an_address_without_a_symbol_is_told_by_its_file() {
        let key = somebody_knows_me as *const () as usize;
        let told = in_file(key).expect("it is in this program");
        let (file, place) = told.split_once("+0x").expect("a file and a place");
        assert!(!file.is_empty() && !file.contains('/'), "{told}");
        let begin = key - usize::from_str_radix(place, 16).unwrap();
        assert_eq!(in_file(begin + 16), Some(format!("{file}+0x10")));
        assert_eq!(at(8).text, "0x8");
    }
}
