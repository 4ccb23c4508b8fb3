//! What is asked of leagues of teams, and of resources between regions.

use std::cell::Cell;
use std::ffi::c_int;

use crate::icv;

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
