//! `{:?}` prints only the name of these types: tasks may be writing their data, or their fields are
//! internal.

use std::fmt;

use crate::internal::{Parker, Pause, Queued, Runner, Task, Team, Worker};
use crate::{
    Commutative, Concurrent, ConcurrentOf, Data, Event, InOut, InOutOf, Input, InputOf, Resume,
    Runtime, Scope, TaskBuilder, WeakInOut, WeakInput,
};

macro_rules! say_their_name {
    ($([$($parameters:tt)*] $type:ty, $name:literal;)*) => {$(
        impl<$($parameters)*> fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct($name).finish_non_exhaustive()
            }
        }
    )*};
}

say_their_name! {
    [T: ?Sized] Data<T>, "Data";
    [T] Input<T>, "Input";
    [T] InputOf<T>, "InputOf";
    [T] InOut<T>, "InOut";
    [T] InOutOf<T>, "InOutOf";
    [T] Commutative<T>, "Commutative";
    [T] Concurrent<T>, "Concurrent";
    [T] ConcurrentOf<T>, "ConcurrentOf";
    [T] WeakInput<'_, T>, "WeakInput";
    [T] WeakInOut<'_, T>, "WeakInOut";
    [A] TaskBuilder<'_, '_, A>, "TaskBuilder";
    [] Scope<'_>, "Scope";
    [] Event, "Event";
    [] Resume, "Resume";
    [] Parker, "Parker";
    [] Pause, "Pause";
    [] Queued, "Queued";
    [] Runner<'_>, "Runner";
    [] Task, "Task";
    [] Team, "Team";
    [] Worker, "Worker";
}

#[cfg(evenkeel_model)]
say_their_name! {
    [] crate::internal::virtual_workers::Workers, "Workers";
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("workers", &self.workers()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn a_struct_of_public_types_can_derive_debug() {
        #[derive(Debug)]
        struct Own {
            _data: Data<Vec<u8>>,
            runtime: Runtime,
        }
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let own = Own { _data: Data::new(vec![1]), runtime };
        let text = format!("{own:?}");
        assert!(text.contains("Data { .. }") && text.contains("workers: 2"), "{text}");
        own.runtime.scope(|s| assert_eq!(format!("{s:?}"), "Scope { .. }"));
    }
}
