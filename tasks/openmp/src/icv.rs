//! Internal control variables, from the environment and the program.
//!
//! A data environment points to a set of variables, which never changes: to set a variable is to
//! point to another set. A program has few different sets, and they are never freed.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, OnceLock};

use evenkeel_runtime::internal::lock_std;

use crate::allocate::handle;
use crate::environment::{Bind, Schedule, Settings};
use crate::settings::{settings, stack_bytes};
use crate::{place, processors};

/// The limit of nested active regions, for `omp_get_supported_active_levels`.
pub(crate) const ACTIVE_LEVELS_MAX: i32 = i32::MAX;

/// The variables of a data environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Icvs {
    /// Threads of the next team.
    pub num_threads: u32,
    pub dynamic: bool,
    pub schedule: Schedule,
    pub max_active_levels: i32,
    pub default_device: i32,
    /// Of the threads of the next team.
    pub bind: Bind,
    /// The allocator of calls that name none.
    pub allocator: usize,
}

impl Icvs {
    /// Of threads outside of all regions.
    pub(crate) fn initial() -> &'static Self {
        static INITIAL: OnceLock<&'static Icvs> = OnceLock::new();
        INITIAL.get_or_init(|| Self::from(settings()).kept())
    }

    fn from(settings: &Settings) -> Self {
        let cpus = processors::at_once();
        let limit = settings.thread_limit.unwrap_or(u32::MAX);
        // A list says that teams are to nest (OpenMP 5.2, 21.1.4).
        let lists = settings.num_threads.len() > 1 || settings.proc_bind.len() > 1;
        let levels = settings.max_active_levels.unwrap_or(if lists { u32::MAX } else { 1 });
        Self {
            num_threads: settings.num_threads.first().copied().unwrap_or(cpus).clamp(1, limit),
            dynamic: settings.dynamic,
            schedule: settings.schedule,
            max_active_levels: i32::try_from(levels).unwrap_or(ACTIVE_LEVELS_MAX),
            default_device: settings.default_device,
            allocator: settings.allocator.as_ref().map_or(handle::DEFAULT, handle::of_words),
            bind: if place::are_there() {
                settings.proc_bind.first().copied().unwrap_or(Bind::False)
            } else {
                Bind::False
            },
        }
    }

    /// The ICVs of the implicit tasks of a region of nesting level `level`. The task that begins
    /// the region has `outer`; `clause` is that of `proc_bind`, if the region has one.
    pub(crate) fn inside(outer: &'static Self, level: i32, clause: Option<Bind>) -> &'static Self {
        let level = usize::try_from(level).unwrap_or(usize::MAX);
        let Settings { num_threads, proc_bind, .. } = settings();
        let has_list = num_threads.len() > level || proc_bind.len() > level;
        let clause = clause.filter(|&clause| outer.bind != Bind::False && clause != outer.bind);
        if !has_list && clause.is_none() {
            return outer;
        }
        let num_threads = num_threads.get(level).copied().unwrap_or(outer.num_threads);
        let bind = proc_bind.get(level).copied().filter(|_| place::are_there()).or(clause);
        Self { num_threads, bind: bind.unwrap_or(outer.bind), ..*outer }.kept()
    }

    /// The one kept set of these variables, which is never freed.
    pub(crate) fn kept(self) -> &'static Self {
        let mut all = all();
        let all = all.get_or_insert_default();
        if let Some(&known) = all.get(&self) {
            return known;
        }
        let kept: &'static Self = Box::leak(Box::new(self));
        all.insert(kept);
        kept
    }
}

static ALL: Mutex<Option<HashSet<&'static Icvs>>> = Mutex::new(None);

/// All that are kept.
pub(crate) fn all() -> MutexGuard<'static, Option<HashSet<&'static Icvs>>> {
    lock_std(&ALL)
}

/// The settings at the begin with all defaults filled in, for `OMP_DISPLAY_ENV`.
pub(crate) fn effective() -> Settings {
    let (mut settings, initial) = (settings().clone(), Icvs::initial());
    if settings.num_threads.is_empty() {
        settings.num_threads = vec![initial.num_threads];
    }
    if settings.proc_bind.is_empty() {
        settings.proc_bind = vec![initial.bind];
    }
    settings.stack_bytes.get_or_insert_with(stack_bytes);
    settings.thread_limit.get_or_insert(u32::MAX);
    settings.max_active_levels.get_or_insert(initial.max_active_levels.unsigned_abs());
    settings
}
