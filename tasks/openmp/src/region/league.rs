//! A region's place in a league of teams, which run one after another.

use super::Member;

/// Which team of which league a region is in. Outside of leagues there is one team.
#[derive(Clone, Copy)]
pub(crate) struct League {
    /// Teams of the league.
    pub teams: u32,
    /// The number of this team.
    pub number: u32,
    /// Threads of a team at most.
    pub threads_max: u32,
    /// The limit that the program is told, where it differs from `threads_max`.
    pub limit: Option<u32>,
}

impl League {
    /// Outside of all leagues.
    pub(crate) const NONE: Self = Self { teams: 1, number: 0, threads_max: u32::MAX, limit: None };

    /// The innermost region becomes the first of `teams` teams, of at most `threads` threads each
    /// unless that is 0.
    pub(crate) fn begin(member: &Member, teams: u32, threads: u32) {
        let league = &member.region().league;
        let threads_max = if threads > 0 { threads } else { league.get().threads_max };
        league.set(Self { teams, threads_max, ..Self::NONE });
    }

    /// The innermost region becomes the next team. Returns whether the league has one.
    pub(crate) fn next(member: &Member) -> bool {
        let league = member.region().league.get();
        let number = league.number + 1;
        if number < league.teams {
            member.region().league.set(Self { number, ..league });
        }
        number < league.teams
    }
}
