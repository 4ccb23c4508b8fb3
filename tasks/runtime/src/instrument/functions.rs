//! The functions of a recording.
//!
//! A function is identified by an address: of the code that runs its tasks. The name that the
//! creating call knows (a type, a line of the source) is kept; other functions have no name here,
//! and a crate that writes recordings reads the program's symbols.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use super::strip::{SLOT_CODE, SLOT_OTHERS, SLOT_TASKS};
use crate::sync::lock_std;

/// Functions with a number of their own; all later ones share a number.
const FUNCTIONS_MAX: usize = 4000;
/// The shared number.
const OTHERS: u32 = 0;

/// The use of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A task.
    Task,
    /// Code that creates tasks and is none: a scope's code, a thread's part of a parallel region.
    Code,
}

/// The name of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// The type of a closure, or a function of the source.
    pub text: String,
    /// File and line.
    pub location: Option<(String, u32)>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// The address of its code.
    pub address: usize,
    /// Its use.
    pub role: Role,
    /// The name that the creating call gave.
    pub name: Option<Name>,
    /// Where its time goes in a [`Strip`](super::Strip).
    pub slot: usize,
}

#[derive(Default)]
struct Known {
    all: Vec<Function>,
    by_key: HashMap<(usize, bool), u32>,
    tasks: usize,
}

/// All functions that were seen, in the order of their first run.
pub(super) struct Functions(Mutex<Known>);

impl Functions {
    pub(super) fn new() -> Self {
        let name = Some(Name { text: "others".to_owned(), location: None });
        let others = Function { address: 0, role: Role::Task, name, slot: SLOT_OTHERS };
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
            if known.all.len() == FUNCTIONS_MAX {
                return OTHERS;
            }
            let slot = match role {
                Role::Code => SLOT_CODE,
                Role::Task => (SLOT_TASKS + known.tasks).min(SLOT_OTHERS),
            };
            known.tasks += usize::from(role == Role::Task);
            known.all.push(Function { address: key, role, name: None, slot });
            let number = known.all.len() as u32 - 1;
            known.by_key.insert((key, role == Role::Task), number);
            number
        });
        (number, known.all[number as usize].slot)
    }

    /// Names a function, unless the function has a name.
    pub(super) fn name(&self, number: u32, name: impl FnOnce() -> Name) {
        let mut known = self.known();
        let function = &mut known.all[number as usize];
        if function.name.is_none() {
            function.name = Some(name());
        }
    }

    /// All of them, by number.
    pub(super) fn all(&self) -> Vec<Function> {
        self.known().all.clone()
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_called_what_the_first_creating_call_says() {
        let functions = Functions::new();
        let (said, _) = functions.number(1, Role::Task);
        functions.name(said, || Name { text: "said".to_owned(), location: None });
        functions.name(said, || unreachable!("it has a name"));
        functions.number(2, Role::Task);
        let all = functions.all();
        assert_eq!(all[1].name.as_ref().map(|name| name.text.as_str()), Some("said"));
        assert_eq!((all[2].address, &all[2].name), (2, &None));
    }

    #[test]
    fn the_same_code_as_a_task_and_around_tasks_is_two() {
        let functions = Functions::new();
        let (task, slot) = functions.number(1, Role::Task);
        let (code, other) = functions.number(1, Role::Code);
        assert!(task != code && slot != other);
        assert_eq!(functions.number(1, Role::Task), (task, slot));
    }

    #[test]
    fn too_many_functions_are_counted_as_one() {
        let functions = Functions::new();
        let last = (1..=FUNCTIONS_MAX).map(|key| functions.number(key, Role::Task).0).last();
        assert_eq!(last, Some(OTHERS));
        assert_eq!(functions.number(1, Role::Task).0, 1);
    }
}
