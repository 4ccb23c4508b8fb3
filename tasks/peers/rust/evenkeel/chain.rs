//! Tasks that all change one value: each needs the one before.

use std::process::ExitCode;

use evenkeel_runtime::Data;
use peers::{measure, pool};

fn main() -> ExitCode {
    measure::open("chain", "evenkeel");
    let tasks = measure::parameter("tasks", 1_000_000, 1..=1 << 40);
    let runtime = pool::evenkeel(measure::threads());
    let value = Data::new(0_i64);

    measure::time(|| {
        runtime.scope(|scope| {
            for turn in 0..tasks {
                scope.task().inout(&value).spawn(move |value| {
                    // A task that runs out of its turn leaves the value short.
                    if *value == turn {
                        *value = turn + 1;
                    }
                });
            }
        });
    });

    let steps = value.into_inner() as u64;
    measure::close(tasks as u64, measure::differ("in order", steps, tasks as u64))
}
