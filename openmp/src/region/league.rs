//! Leagues of teams: several teams run the same, one after another.

use std::ptr;

use super::{Member, Region};
use crate::icv::Icvs;
use crate::thread::Thread;

/// Where in a league of teams one is. Outside of leagues there is one team.
#[derive(Clone, Copy)]
pub(crate) struct League {
    pub teams: u32,
    /// Which of them this is.
    pub number: u32,
    /// Threads of a team at most.
    pub threads_max: u32,
}

impl League {
    /// Outside of all.
    pub(super) const NONE: Self = Self { teams: 1, number: 0, threads_max: u32::MAX };

    /// Calls `run` as each of so many teams, whose first thread is the caller.
    pub(crate) fn run(thread: &Thread, teams: u32, threads_max: u32, run: impl Fn(&Member)) {
        for number in 0..teams {
            let around = thread.member();
            let mut region = Region::inside(around, 1, ptr::null());
            // A team is no region in that of its league: levels begin in it.
            region.level -= 1;
            region.league = Self { teams, number, threads_max };
            let icvs = Icvs::inside(around.task().icvs.get(), region.level);
            let member = Member::enter_alone(thread, region, icvs);
            run(member);
            member.leave_serial(thread);
        }
    }
}
