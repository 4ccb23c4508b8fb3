//! The functions of a recording, and their names.
//!
//! A function is identified by an address: of the code that runs its tasks. The name that the
//! creating call knows (a type, a line of the source) is kept; else the program's own symbols are
//! read, once, when a reader asks for the name.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use cpp_demangle::{DemangleOptions, Symbol};

use super::strip::{SLOT_OTHERS, SLOT_TASKS};
use crate::symbols;
use crate::sync::lock_std;

/// Functions with a number of their own; all later ones share a number.
const KINDS_MAX: usize = 4000;
/// The shared number.
const OTHERS: u32 = 0;

/// The use of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A task.
    Task,
    /// Code that creates tasks and is none: a scope's code, a thread's part of a parallel region.
    Code,
}

/// The name of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    /// File and line.
    pub(crate) place: Option<(String, u32)>,
}

impl Name {
    fn of_symbol(address: usize) -> Self {
        let symbols::Symbol { text, place } = symbols::at(address);
        Self { text, place }
    }

    /// The file, without its folders.
    pub(super) fn file(&self) -> Option<&str> {
        let (file, _) = self.place.as_ref()?;
        file.rsplit('/').next()
    }

    /// The part that distinguishes a function from the other ones of its file: clang names tasks
    /// after the function that creates them.
    pub(super) fn short(&self) -> String {
        match &self.place {
            Some((_, line)) => format!("{}, line {line}", self.text),
            None => self.text.clone(),
        }
    }

    /// The whole name in a line.
    pub(super) fn title(&self) -> String {
        match self.file() {
            Some(file) => format!("{} of {file}", self.short()),
            None => self.short(),
        }
    }
}

/// A function.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    key: usize,
    pub(super) role: Role,
    name: Option<Name>,
    pub(super) slot: usize,
}

#[derive(Default)]
struct Known {
    all: Vec<Kind>,
    by_key: HashMap<(usize, bool), u32>,
    tasks: usize,
}

/// All functions that were seen, in the order of their first run.
pub(super) struct Kinds(Mutex<Known>);

impl Kinds {
    pub(super) fn new() -> Self {
        let name = Some(Name { text: "others".to_owned(), place: None });
        let others = Kind { key: 0, role: Role::Task, name, slot: SLOT_OTHERS };
        Self(Mutex::new(Known { all: vec![others], ..Known::default() }))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        lock_std(&self.0)
    }

    /// The number of a function, and where its time goes.
    pub(super) fn number(&self, key: usize, role: Role) -> (u32, usize) {
        let mut known = self.known();
        let found = known.by_key.get(&(key, role == Role::Task)).copied();
        let number = found.unwrap_or_else(|| {
            if known.all.len() == KINDS_MAX {
                return OTHERS;
            }
            let slot = match role {
                Role::Code => super::strip::SLOT_CODE,
                Role::Task => (SLOT_TASKS + known.tasks).min(SLOT_OTHERS),
            };
            known.tasks += usize::from(role == Role::Task);
            known.all.push(Kind { key, role, name: None, slot });
            let number = known.all.len() as u32 - 1;
            known.by_key.insert((key, role == Role::Task), number);
            number
        });
        (number, known.all[number as usize].slot)
    }

    /// Names a function, unless the function has a name.
    pub(super) fn name(&self, number: u32, name: impl FnOnce() -> Name) {
        let mut known = self.known();
        let kind = &mut known.all[number as usize];
        if kind.name.is_none() {
            kind.name = Some(name());
        }
    }

    /// All of them, with names.
    pub(super) fn named(&self) -> Vec<(Kind, Name)> {
        let all = self.known().all.clone();
        all.into_iter()
            .map(|kind| {
                let mut name = kind.name.clone().unwrap_or_else(|| Name::of_symbol(kind.key));
                name.text = plain(name.text);
                (kind, name)
            })
            .collect()
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

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[inline(never)]
    fn somebody_knows_me() -> u32 {
        std::hint::black_box(7)
    }

    #[test]
    fn a_function_is_called_what_its_way_in_says_and_else_what_its_symbol_is() {
        let kinds = Kinds::new();
        let key = somebody_knows_me as *const () as usize;
        let (said, _) = kinds.number(1, Role::Task);
        kinds.name(said, || Name { text: "said".to_owned(), place: None });
        kinds.name(said, || unreachable!("it has a name"));
        kinds.number(key, Role::Task);
        let named = kinds.named();
        assert_eq!(named[1].1.text, "said");
        assert!(named[2].1.text.ends_with("somebody_knows_me"), "{}", named[2].1.text);
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
        let name = |place| Name { text: "main".to_owned(), place };
        let known = name(Some(("/src/a/fib.c".to_owned(), 12)));
        assert_eq!(known.short(), "main, line 12");
        assert_eq!(known.title(), "main, line 12 of fib.c");
        assert_eq!(name(None).title(), "main");
    }

    #[test]
    fn the_same_code_as_a_task_and_around_tasks_is_two() {
        let kinds = Kinds::new();
        let (task, slot) = kinds.number(1, Role::Task);
        let (code, other) = kinds.number(1, Role::Code);
        assert!(task != code && slot != other);
        assert_eq!(kinds.number(1, Role::Task), (task, slot));
    }

    #[test]
    fn too_many_functions_are_counted_as_one() {
        let kinds = Kinds::new();
        let last = (1..=KINDS_MAX).map(|key| kinds.number(key, Role::Task).0).last();
        assert_eq!(last, Some(OTHERS));
        assert_eq!(kinds.number(1, Role::Task).0, 1);
    }
}
