//! Regions of one thread: the initial region, serialized regions, teams of a league, target
//! regions.

use std::ptr;
use std::time::Duration;

use evenkeel_runtime::Config;
use evenkeel_runtime::internal::{self, Patience, Until, Worker};

use super::league::League;
use super::{Member, Region};
use crate::affinity_format::{self, Style};
use crate::environment::Bind;
use crate::here::here;
use crate::icv::Icvs;
use crate::ompt;
use crate::settings::{machine, settings, watch};
use crate::task::header::OmpTask;
use crate::thread::Thread;

/// A region of one thread, and that thread's part.
#[repr(C)]
struct Alone {
    member: Member,
    region: Region,
    /// The worker of an initial region; all other regions use that of the region around.
    own: Option<Own>,
}

/// A worker of one thread, and the tree of its tasks.
struct Own {
    worker: Box<Worker>,
    tree: Box<internal::Team>,
}

impl Own {
    fn new() -> Self {
        let tree = Box::new(internal::Team::new(
            machine(),
            1,
            Config::default(),
            OmpTask::function_of,
            false,
            (watch(), None),
        ));
        // SAFETY: the tree has one leaf, which gets no other worker.
        let worker = Box::new(unsafe { tree.worker(0) });
        // No other worker adds tasks here.
        worker.set_patience(Patience::of(Duration::ZERO));
        Self { worker, tree }
    }

    fn tree_and_worker(&self) -> (*const internal::Team, *const Worker) {
        (&raw const *self.tree, &raw const *self.worker)
    }
}

impl Alone {
    /// Puts the calling thread into a region of its own.
    fn enter(region: Region, icvs: &'static Icvs, own: Option<Own>) {
        let around = here().member.get().cast::<Member>();
        // SAFETY: `around` is null in the initial region alone, which has a worker of its own.
        let tree_and_worker = own
            .as_ref()
            .map_or_else(|| unsafe { (*around).tree_and_worker() }, Own::tree_and_worker);
        let alone = Box::into_raw(Box::<Self>::new_uninit()).cast::<Self>();
        let partition = region.partition_around();
        // SAFETY: the box is new, and stays until `leave` with its worker and its tree, or longer
        // than the region around, whose worker serves.
        unsafe {
            let region_place = &raw mut (*alone).region;
            region_place.write(region);
            (&raw mut (*alone).own).write(own);
            let member = &raw mut (*alone).member;
            member.write(Member::new(region_place, 0, tree_and_worker, icvs, partition, 0));
            (*member).enter();
        }
    }

    /// Takes the calling thread out of its innermost region.
    ///
    /// # Safety
    /// [`Alone::enter`] began that region, and its tasks have ended.
    unsafe fn leave() {
        let alone = here().member.get().cast::<Self>().cast_mut();
        // SAFETY: `enter` made the box, whose first field is the member; only this thread uses it.
        unsafe {
            (*alone).member.leave();
            drop(Box::from_raw(alone));
        }
    }
}

/// The calling thread's first call puts it into its initial region.
pub(crate) fn enter_initial() {
    let own = Own::new();
    Alone::enter(Region::initial(), Icvs::initial(), Some(own));
}

/// The calling thread ends, outside of all regions but its initial one.
pub(crate) fn leave_initial() {
    // SAFETY: the initial region, of `enter_initial`, is the only one left.
    unsafe { Alone::leave() };
}

/// Begins a `parallel` region of one thread, which ends with [`leave_serial`].
pub(crate) fn enter_serial(thread: &Thread, bind: Option<Bind>, style: Style) -> &'static Member {
    let around = Member::of(thread);
    let region = Region::inside(around, 1, ptr::null());
    let icvs = Icvs::inside(around.task().icvs.get(), region.level, bind);
    if ompt::is_on() {
        region.tool.set(ompt::region_begins(1));
    }
    let level = region.level;
    let member = enter(thread, region, icvs);
    if settings().show_affinity && thread.shows_alone(level) {
        affinity_format::show(style, member);
    }
    member
}

/// Begins a region of one thread as if it was the first of that thread, as on a device. It ends
/// with [`leave_serial`].
pub(crate) fn enter_target(
    thread: &Thread,
    icvs: &'static Icvs,
    threads_max: Option<u32>,
) -> &'static Member {
    let mut region = Region::initial();
    region.around = Member::of(thread);
    if let Some(threads_max) = threads_max {
        region.league.set(League { threads_max, ..League::NONE });
    }
    enter(thread, region, icvs)
}

/// Calls `run` once as each team of a league, whose primary thread is the caller.
pub(crate) fn run_league(league: League, thread: &Thread, run: impl Fn(&Member)) {
    let record = ompt::is_on().then(|| ompt::league_begins(league.teams));
    for number in 0..league.teams {
        let around = Member::of(thread);
        let mut region = Region::inside(around, 1, ptr::null());
        // Levels begin anew in a team, as in an initial region.
        region.level -= 1;
        region.group = ptr::null();
        region.league.set(League { number, ..league });
        if let Some(record) = record {
            // SAFETY: the league ends below.
            region.tool.set(unsafe { ompt::team_begins(record, number) });
        }
        let tool = region.tool.get();
        let icvs = around.task().icvs.get();
        let member = enter(thread, region, icvs);
        run(member);
        leave_serial(member);
        if !tool.is_null() {
            // SAFETY: the team's record was made above.
            unsafe { ompt::team_ends(tool) };
        }
    }
    if let Some(record) = record.filter(|record| !record.is_null()) {
        // SAFETY: the league's record was made above.
        unsafe { ompt::league_ends(record) };
    }
}

fn enter(thread: &Thread, region: Region, icvs: &'static Icvs) -> &'static Member {
    Alone::enter(region, icvs, None);
    Member::of(thread)
}

/// Ends the region of one thread that the calling thread has begun last.
pub(crate) fn leave_serial(member: &Member) {
    member.leave_constructs();
    member.worker().wait_tied(member.implicit.raw(), Until::Descendants);
    // SAFETY: the region was begun by `enter`, and regions end in the reverse order.
    unsafe { Alone::leave() };
}
