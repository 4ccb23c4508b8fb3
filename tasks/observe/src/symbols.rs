//! The name that the program's own symbols give an address of its code.

use std::ffi::c_void;

use evenkeel_runtime::internal::recording::name_in_file;

/// A function, as `nm` shows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbol {
    pub(crate) text: String,
    /// File and line.
    pub(crate) location: Option<(String, u32)>,
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
            found.location = Some((file.display().to_string(), line));
        }
    });
    if found.text.is_empty() {
        found.text = name_in_file(address);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls no function: in a release build the first line could be one of an inlined function.
    #[inline(never)]
    fn somebody_knows_me() -> u32 {
        7
    }

    #[test]
    fn a_function_is_named_by_its_symbol_and_an_address_without_one_by_its_number() {
        let symbol = at(somebody_knows_me as *const () as usize);
        assert!(symbol.text.ends_with("somebody_knows_me"), "{symbol:?}");
        assert!(symbol.location.is_some_and(|(file, _)| file.ends_with("symbols.rs")));
        assert_eq!(at(8).text, "0x8");
    }
}
