//! The names of functions, as people read them.
//!
//! The name that the creating call gave is kept; else the program's own symbols are read.

use cpp_demangle::{DemangleOptions, Symbol};
use evenkeel_runtime::internal::recording::{self, Function};

use crate::symbols;

/// The name of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    /// File and line.
    pub(crate) location: Option<(String, u32)>,
}

impl Name {
    /// The name of a function of a recording.
    pub(crate) fn of(function: &Function) -> Self {
        let (text, location) = match function.name.clone() {
            Some(recording::Name { text, location }) => (text, location),
            None => {
                let symbols::Symbol { text, location } = symbols::at(function.address);
                (text, location)
            }
        };
        Self { text: plain(text), location }
    }

    /// The file, without its folders.
    pub(crate) fn file(&self) -> Option<&str> {
        let (file, _) = self.location.as_ref()?;
        file.rsplit('/').next()
    }

    /// The part that distinguishes a function from the other ones of its file: clang names tasks
    /// after the function that creates them.
    pub(crate) fn short(&self) -> String {
        match &self.location {
            Some((_, line)) => format!("{}, line {line}", self.text),
            None => self.text.clone(),
        }
    }

    /// The whole name in a line.
    pub(crate) fn title(&self) -> String {
        match self.file() {
            Some(file) => format!("{} of {file}", self.short()),
            None => self.short(),
        }
    }
}

/// A symbol as people write the name, where the symbol is one of C++: `_Z3fibi._omp_fn.0` is
/// `fib(int)._omp_fn.0`. Compilers append the part that distinguishes tasks.
fn plain(symbol: String) -> String {
    let (mangled, added) = symbol.split_at(symbol.find('.').unwrap_or(symbol.len()));
    if !mangled.starts_with("_Z") {
        return symbol;
    }
    let options = DemangleOptions::new().no_return_type();
    let name = Symbol::new(mangled).ok().and_then(|name| name.demangle_with_options(&options).ok());
    name.map(|name| name + added).unwrap_or(symbol)
}

#[cfg(test)]
mod tests {
    use evenkeel_runtime::internal::recording::Role;

    use super::*;

    #[inline(never)]
    fn somebody_knows_me() -> u32 {
        std::hint::black_box(7)
    }

    #[test]
    fn a_function_is_called_what_its_way_in_says_and_else_what_its_symbol_is() {
        let address = somebody_knows_me as *const () as usize;
        let function = |name| Function { address, role: Role::Task, name, slot: 0 };
        let said = recording::Name { text: "said".to_owned(), location: None };
        assert_eq!(Name::of(&function(Some(said))).text, "said");
        let name = Name::of(&function(None));
        assert!(name.text.ends_with("somebody_knows_me"), "{name:?}");
    }

    #[test]
    fn names_of_cpp_are_as_they_are_written_and_others_as_they_are() {
        for (symbol, name) in [
            ("_Z3fibi._omp_fn.0", "fib(int)._omp_fn.0"),
            (
                "_ZN4heat5SolveIdE4stepEPKdPd._omp_fn.12",
                "heat::Solve<double>::step(double const*, double*)._omp_fn.12",
            ),
            (
                "_ZN12_GLOBAL__N_14sortIiEEvPT_l.omp_outlined",
                "(anonymous namespace)::sort<int>(int*, long).omp_outlined",
            ),
            ("_Z3fibi", "fib(int)"),
            ("fib._omp_fn.0", "fib._omp_fn.0"),
            ("_Znonsense.part.0", "_Znonsense.part.0"),
            (".omp_task_entry..3", ".omp_task_entry..3"),
        ] {
            assert_eq!(plain(symbol.to_owned()), name);
        }
    }

    #[test]
    fn tasks_of_one_function_are_told_apart_by_their_lines() {
        let name = |location| Name { text: "main".to_owned(), location };
        let known = name(Some(("/src/a/fib.c".to_owned(), 12)));
        assert_eq!(known.short(), "main, line 12");
        assert_eq!(known.title(), "main, line 12 of fib.c");
        assert_eq!(name(None).title(), "main");
    }
}
