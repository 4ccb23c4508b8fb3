//! Leagues of teams: several teams run the same, one after another.

use std::ptr;

use super::{Member, Region};
use crate::ompt;
use crate::thread::Thread;

/// Where in a league of teams one is. Outside of leagues there is one team.
#[derive(Clone, Copy)]
pub(crate) struct League {
    pub teams: u32,
    /// Which of them this is.
    pub number: u32,
    /// Threads of a team at most.
    pub threads_max: u32,
    /// How many the program is told, where that is not the same.
    pub limit: Option<u32>,
}

impl League {
    /// Outside of all.
    pub(crate) const NONE: Self = Self { teams: 1, number: 0, threads_max: u32::MAX, limit: None };

    /// Calls `run` as each of its teams, whose first thread is the caller.
    pub(crate) fn run(self, thread: &Thread, run: impl Fn(&Member)) {
        let told = ompt::is_on().then(|| ompt::league_begins(self.teams));
        for number in 0..self.teams {
            let around = thread.member();
            let mut region = Region::inside(around, 1, ptr::null());
            // A team is no region in that of its league: levels begin in it.
            region.level -= 1;
            region.group = ptr::null();
            region.league.set(Self { number, ..self });
            if let Some(told) = told {
                // SAFETY: the league ends below.
                region.tool.set(unsafe { ompt::team_begins(told, number) });
            }
            let tool = region.tool.get();
            let icvs = around.task().icvs.get();
            let member = Member::enter_alone(thread, region, icvs);
            run(member);
            member.leave_serial();
            if !tool.is_null() {
                // SAFETY: it began above.
                unsafe { ompt::team_ends(tool) };
            }
        }
        if let Some(told) = told.filter(|told| !told.is_null()) {
            // SAFETY: it began above.
            unsafe { ompt::league_ends(told) };
        }
    }

    /// The innermost region is the first of so many teams, of at most so many threads each unless
    /// that is 0.
    pub(crate) fn begin(member: &Member, teams: u32, threads: u32) {
        let league = &member.region().league;
        let threads_max = if threads > 0 { threads } else { league.get().threads_max };
        league.set(Self { teams, threads_max, ..Self::NONE });
    }

    /// It becomes the next team. Returns whether there is one.
    pub(crate) fn next(member: &Member) -> bool {
        let league = member.region().league.get();
        let number = league.number + 1;
        if number < league.teams {
            member.region().league.set(Self { number, ..league });
        }
        number < league.teams
    }
}
