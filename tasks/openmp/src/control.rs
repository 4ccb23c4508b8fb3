//! The functions that read and set internal control variables.

use std::ffi::{c_int, c_void};

use crate::data_environment;
use crate::environment::{Kind, Schedule, display};
use crate::icv::{self, ACTIVE_LEVELS_MAX};
use crate::registration::member;
use crate::settings::settings;
use crate::tool;
use crate::unsupported::say;

/// `omp_sched_monotonic`, beside the kind.
const MONOTONIC: u32 = 0x8000_0000;

/// Asks for `threads` threads in the next teams; less than one counts as one.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_num_threads(threads: c_int) {
    data_environment::change_icvs(|icvs| icvs.num_threads = threads.max(1) as u32);
}

/// Threads that the next team would have.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_max_threads() -> c_int {
    data_environment::icvs().num_threads as c_int
}

/// Lets the runtime choose smaller teams.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_dynamic(dynamic: c_int) {
    data_environment::change_icvs(|icvs| icvs.dynamic = dynamic != 0);
}

/// Whether the runtime may choose smaller teams.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_dynamic() -> c_int {
    data_environment::icvs().dynamic.into()
}

/// Lets teams nest without bound, or not at all.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_nested(nested: c_int) {
    omp_set_max_active_levels(if nested != 0 { ACTIVE_LEVELS_MAX } else { 1 });
}

/// Whether they may.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_nested() -> c_int {
    (data_environment::icvs().max_active_levels > 1).into()
}

/// Lets teams nest so deep.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_max_active_levels(levels: c_int) {
    if levels >= 0 {
        data_environment::change_icvs(|icvs| icvs.max_active_levels = levels);
    }
}

/// How deep they may nest.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_max_active_levels() -> c_int {
    data_environment::icvs().max_active_levels
}

/// How deep they could.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_supported_active_levels() -> c_int {
    ACTIVE_LEVELS_MAX
}

/// Sets the schedule of `schedule(runtime)`. An unknown kind changes nothing.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_schedule(kind: u32, chunk: c_int) {
    if let Some(schedule) = schedule_of(kind, chunk) {
        data_environment::change_icvs(|icvs| icvs.schedule = schedule);
    }
}

fn schedule_of(number: u32, chunk: c_int) -> Option<Schedule> {
    let kind = match number & !MONOTONIC {
        1 => Kind::Static,
        2 => Kind::Dynamic,
        3 => Kind::Guided,
        4 => Kind::Auto,
        _ => return None,
    };
    // Below one, the kind's own chunk is meant.
    let own = if matches!(kind, Kind::Dynamic | Kind::Guided) { 1 } else { 0 };
    let chunk = if kind == Kind::Auto || chunk < 1 { own } else { chunk };
    Some(Schedule { kind, is_monotonic: number & MONOTONIC != 0 || kind == Kind::Static, chunk })
}

/// A schedule as numbers. Static is always monotonic, and has no modifier.
fn numbers_of(schedule: Schedule) -> (u32, c_int) {
    let says_monotonic = schedule.is_monotonic && schedule.kind != Kind::Static;
    (schedule.kind as u32 | if says_monotonic { MONOTONIC } else { 0 }, schedule.chunk)
}

/// The schedule of `schedule(runtime)`.
///
/// # Safety
/// Both pointers lead to variables of the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_get_schedule(kind: *mut u32, chunk: *mut c_int) {
    let numbers = numbers_of(data_environment::icvs().schedule);
    // SAFETY: both pointers lead to variables of the caller.
    unsafe { (*kind, *chunk) = numbers };
}

/// Threads that the program can have at most.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_thread_limit() -> c_int {
    let league = member().region().league.get();
    let limit = league.limit.unwrap_or(league.threads_max);
    let limit = settings().thread_limit.map_or(limit, |most| most.min(limit));
    c_int::try_from(limit).unwrap_or(c_int::MAX)
}

/// Whether `cancel` does anything.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_cancellation() -> c_int {
    settings().cancellation.into()
}

/// The highest priority that tasks can have.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_max_task_priority() -> c_int {
    settings().max_task_priority as c_int
}

/// How the threads of the next team are bound.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_proc_bind() -> c_int {
    data_environment::icvs().bind as c_int
}

/// Shows the environment.
#[unsafe(no_mangle)]
pub extern "C" fn omp_display_env(verbose: c_int) {
    say(display::text(&icv::effective(), verbose != 0).as_bytes());
}

/// Passes a command to the tool, if the process has one.
#[unsafe(no_mangle)]
pub extern "C" fn omp_control_tool(
    command: c_int,
    modifier: c_int,
    argument: *mut c_void,
) -> c_int {
    tool::control(command, modifier, argument)
}

/// Fortran's `omp_control_tool`.
///
/// # Safety
/// Both pointers lead to numbers of the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn omp_control_tool_(
    command: *const c_int,
    modifier: *const c_int,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: both pointers lead to numbers of the caller.
    unsafe { tool::control(*command, *modifier, argument) }
}

/// Sets the device of target regions that name none.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_default_device(device: c_int) {
    data_environment::change_icvs(|icvs| icvs.default_device = device);
}

/// The device of target regions that name none.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_default_device() -> c_int {
    data_environment::icvs().default_device
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_comes_back_as_it_was_set() {
        for (kind, chunk, expected) in [
            (1, 0, (1, 0)),
            (2, 0, (2, 1)),
            (MONOTONIC | 2, 7, (MONOTONIC | 2, 7)),
            (MONOTONIC | 1, 5, (1, 5)),
            (4, 9, (4, 0)),
        ] {
            assert_eq!(numbers_of(schedule_of(kind, chunk).unwrap()), expected, "{kind}");
        }
        assert_eq!(schedule_of(5, 1), None);
    }

    #[test]
    fn a_thread_that_sets_variables_sets_its_own() {
        omp_set_num_threads(7);
        omp_set_nested(1);
        assert_eq!((omp_get_max_threads(), omp_get_nested()), (7, 1));
        omp_set_num_threads(-3);
        omp_set_max_active_levels(-1);
        assert_eq!((omp_get_max_threads(), omp_get_nested()), (1, 1));
        let elsewhere = std::thread::spawn(|| omp_get_nested()).join().unwrap();
        assert_eq!(elsewhere, 0);
    }
}
