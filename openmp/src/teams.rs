//! What is asked of leagues of teams, and of resources between regions.

use std::cell::Cell;
use std::ffi::{c_int, c_uint, c_void};

use crate::icv;
use crate::parallel::{Function, Ident};
use crate::region::League;
use crate::thread::{Thread, member};

thread_local! {
    static TEAMS: Cell<Option<c_int>> = const { Cell::new(None) };
    static THREADS: Cell<Option<c_int>> = const { Cell::new(None) };
}

/// Asks for so many teams; 0 leaves it to us.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_num_teams(teams: c_int) {
    if teams >= 0 {
        TEAMS.set(Some(teams));
    }
}

/// How many were asked for.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_max_teams() -> c_int {
    TEAMS.get().unwrap_or_else(|| icv::settings().num_teams as c_int)
}

/// Asks for at most so many threads a team; 0 leaves it to us.
#[unsafe(no_mangle)]
pub extern "C" fn omp_set_teams_thread_limit(threads: c_int) {
    if threads >= 0 {
        THREADS.set(Some(threads));
    }
}

/// How many were asked for.
#[unsafe(no_mangle)]
pub extern "C" fn omp_get_teams_thread_limit() -> c_int {
    THREADS.get().unwrap_or_else(|| icv::settings().teams_thread_limit as c_int)
}

/// What the clauses of the next league say, where the program does not pass that: teams and
/// threads of each; 0 where nothing was said.
struct Clauses {
    teams: u32,
    threads: u32,
}

thread_local! {
    static CLAUSES: Cell<Clauses> = const { Cell::new(Clauses { teams: 0, threads: 0 }) };
}

/// How many teams the next league has, and how many threads each has at most, where so many were
/// asked for. More than one team is of no use where they run one after another.
fn league_of(teams: u32, threads: u32) -> (u32, u32) {
    let other = |asked: u32, said: c_int| if asked > 0 { asked } else { said as u32 };
    let threads = other(threads, omp_get_teams_thread_limit());
    let threads_max =
        if threads > 0 { threads } else { member().region().league.get().threads_max };
    (other(teams, omp_get_max_teams()).max(1), threads_max)
}

/// The same as the clauses say, which are heard once.
pub(crate) fn take_asked() -> (u32, u32) {
    let Clauses { teams, threads } = CLAUSES.replace(Clauses { teams: 0, threads: 0 });
    league_of(teams, threads)
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
    // SAFETY: the caller's promise.
    League::run(Thread::current(), teams, threads_max, |_| unsafe { function(data) });
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

/// clang: the same; there may be fewer teams than `teams`, but not than `least`.
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

/// May give back what no region needs. It is kept.
#[unsafe(no_mangle)]
pub extern "C" fn omp_pause_resource(_kind: c_int, _device: c_int) -> c_int {
    0
}

/// The same of all devices.
#[unsafe(no_mangle)]
pub extern "C" fn omp_pause_resource_all(_kind: c_int) -> c_int {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_last_counts_unless_it_is_nonsense() {
        omp_set_num_teams(3);
        omp_set_num_teams(-1);
        omp_set_teams_thread_limit(2);
        assert_eq!((omp_get_max_teams(), omp_get_teams_thread_limit()), (3, 2));
    }
}
