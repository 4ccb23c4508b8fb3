//! Leagues of teams, and the release of resources between regions.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

use crate::device::is_host;
use crate::ident::Ident;
use crate::microtask::Microtask;
use crate::processors;
use crate::region::alone::run_league;
use crate::region::job::{Function, Job};
use crate::region::league::League;
use crate::registration::{current_thread, member, registered};
use crate::settings::settings;

/// In the place of a number that the program has not set.
const UNSET: c_int = -1;
/// The number of teams that the program has set, of the device and so of all threads.
static TEAMS: AtomicI32 = AtomicI32::new(UNSET);
/// The limit of threads of a team that the program has set.
static THREADS: AtomicI32 = AtomicI32::new(UNSET);

/// The number that the program has set, or else that of the environment.
fn set_or(number: &AtomicI32, of_environment: u32) -> c_int {
    match number.load(Ordering::Relaxed) {
        UNSET => of_environment as c_int,
        set => set,
    }
}

/// Asks for `teams` teams; 0 leaves the number to the runtime.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_num_teams(teams: c_int) {
    if teams >= 0 {
        TEAMS.store(teams, Ordering::Relaxed);
    }
}

/// How many were asked for.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_max_teams() -> c_int {
    set_or(&TEAMS, settings().num_teams)
}

/// Asks for at most `threads` threads a team; 0 leaves the number to the runtime.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_teams_thread_limit(threads: c_int) {
    if threads >= 0 {
        THREADS.store(threads, Ordering::Relaxed);
    }
}

/// How many were asked for.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_teams_thread_limit() -> c_int {
    set_or(&THREADS, settings().teams_thread_limit)
}

/// The clauses of clang's next league: teams, and threads of each; 0 without a clause.
struct Clauses {
    teams: u32,
    threads: u32,
}

thread_local! {
    static CLAUSES: Cell<Clauses> = const { Cell::new(Clauses { teams: 0, threads: 0 }) };
}

/// How many teams the next league has, and how many threads each has at most, where the program
/// asked for `teams` and `threads`. More than one team is of no use where teams run in turn.
fn league_of(teams: u32, threads: u32) -> (u32, u32) {
    let other = |asked: u32, said: c_int| if asked > 0 { asked } else { said as u32 };
    let threads = other(threads, omp_get_teams_thread_limit());
    let threads_max =
        if threads > 0 { threads } else { member().region().league.get().threads_max };
    (other(teams, omp_get_max_teams()).max(1), threads_max)
}

/// The league that clang's clauses ask for; the clauses count once.
fn take_asked() -> League {
    let Clauses { teams, threads } = CLAUSES.replace(Clauses { teams: 0, threads: 0 });
    let (teams, threads_max) = league_of(teams, threads);
    // As with libomp, a team of clang's has at most one thread a CPU, but the program may read a
    // higher limit.
    let cpus = processors::available().len() as u32;
    let limit = Some(threads_max);
    League { teams, threads_max: threads_max.min(cpus), limit, ..League::NONE }
}

/// gcc: runs a league.
///
/// # Safety
/// `function` takes `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn GOMP_teams_reg(
    function: Function,
    data: *mut c_void,
    teams: c_uint,
    threads: c_uint,
    _flags: c_uint,
) {
    let (teams, threads_max) = league_of(teams, threads);
    let league = League { teams, threads_max, ..League::NONE };
    // SAFETY: `function` takes `data`.
    run_league(league, current_thread(), |_| unsafe { function(data) });
}

/// clang: runs a league, for the assembly of `__kmpc_fork_teams`.
///
/// # Safety
/// `argv` has `argc` arguments, which the microtask takes.
#[unsafe(no_mangle)]
unsafe extern "C" fn evenkeel_omp_fork_teams(
    _where: *mut Ident,
    argc: c_int,
    microtask: Microtask,
    argv: *const *mut c_void,
) {
    let league = take_asked();
    let job = Job::of_kmp(microtask, argc, argv);
    // SAFETY: the microtask takes these arguments, which live until the league ends.
    run_league(league, current_thread(), |member| unsafe { job.run(member) });
}

/// clang: the clauses of the next league.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_push_num_teams(
    _where: *mut Ident,
    _thread: i32,
    teams: c_int,
    threads: c_int,
) {
    let asked = |number| u32::try_from(number).unwrap_or_default();
    CLAUSES.set(Clauses { teams: asked(teams), threads: asked(threads) });
}

/// clang: the clauses of the next league, which may have from `least` to `teams` teams.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_push_num_teams_51(
    place: *mut Ident,
    thread: i32,
    least: c_int,
    teams: c_int,
    threads: c_int,
) {
    let teams = if least > 0 { least } else { teams };
    __kmpc_push_num_teams(place, thread, teams, threads);
}

/// clang: threads of each team of the next league at most.
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_set_thread_limit(_where: *mut Ident, _thread: i32, threads: c_int) {
    let Clauses { teams, .. } = CLAUSES.replace(Clauses { teams: 0, threads: 0 });
    CLAUSES.set(Clauses { teams, threads: u32::try_from(threads).unwrap_or_default() });
}

/// Which team of its league this is.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_team_num() -> c_int {
    member().region().league.get().number as c_int
}

/// Teams of its league.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_num_teams() -> c_int {
    member().region().league.get().teams as c_int
}

/// `omp_pause_soft` and `omp_pause_hard`; the latter would forget `threadprivate` variables of
/// other threads, which go with them.
const PAUSES: [c_int; 2] = [1, 2];

/// Ends the threads that help the caller. Fails with -1 in a region, and for a device other than
/// the host.
#[unsafe(no_mangle)]
pub extern "C" fn omp_pause_resource(kind: c_int, device: c_int) -> c_int {
    if is_host(device) { omp_pause_resource_all(kind) } else { -1 }
}

/// Ends the threads that help the caller. Fails with -1 in a region.
#[unsafe(no_mangle)]
pub extern "C" fn omp_pause_resource_all(kind: c_int) -> c_int {
    let registered = registered();
    if !PAUSES.contains(&kind) || registered.thread.begun.get() > 0 || member().region().level > 0 {
        return -1;
    }
    registered.dismiss();
    0
}

/// clang's name of [`omp_pause_resource`].
#[unsafe(no_mangle)]
pub extern "C" fn __kmpc_pause_resource(kind: c_int, device: c_int) -> c_int {
    omp_pause_resource(kind, device)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_valid_request_counts() {
        omp_set_num_teams(3);
        omp_set_num_teams(-1);
        omp_set_teams_thread_limit(2);
        assert_eq!((omp_get_max_teams(), omp_get_teams_thread_limit()), (3, 2));
    }
}
