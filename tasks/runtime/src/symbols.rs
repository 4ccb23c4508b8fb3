//! The names of functions by the addresses of their code.
//!
//! The system's loader knows the names that a program exports. All others are in the program's
//! tables of symbols, and the crate that reads those registers its function here.

use std::ffi::CStr;
use std::sync::OnceLock;

/// Returns the name that the program's symbols give an address.
pub type Resolve = fn(usize) -> String;

static RESOLVE: OnceLock<Resolve> = OnceLock::new();

/// Has a function read the program's symbols from here on. The first call of a process decides.
pub fn resolve_symbols_by(resolve: Resolve) {
    // A later call changes nothing.
    let _ = RESOLVE.set(resolve);
}

/// The name of the function at an address.
pub(crate) fn name(address: usize) -> String {
    RESOLVE.get().map_or_else(|| name_in_file(address), |resolve| resolve(address))
}

/// The exported name at an address, as the system's loader knows exports; else the file around the
/// address; else the number.
#[must_use]
pub fn name_in_file(address: usize) -> String {
    in_file(address).unwrap_or_else(|| format!("{address:#x}"))
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
        assert_eq!(name_in_file(8), "0x8");
    }
}
