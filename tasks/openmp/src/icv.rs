//! Internal control variables: what the environment and the program have asked for.
//!
//! A data environment points to its variables, which never change: to set one is to point to
//! others. There are few different ones in a program, and they are kept for ever.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use evenkeel_runtime::internal::{Patience, lock_std, register_barriers, tell_unknown};
use evenkeel_runtime::{Placement, Watch};

use crate::environment::{self, Bind, Schedule, Settings, Show, Wait, display};
use crate::region::{crowd, machine};
use crate::thread::member;
use crate::unsupported::say;
use crate::{allocate, place, processors};

/// How deep teams can nest; what `omp_get_supported_active_levels` says.
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
            allocator: settings.allocator.as_ref().map_or(allocate::DEFAULT, allocate::of_words),
            bind: if place::are_there() {
                settings.proc_bind.first().copied().unwrap_or(Bind::False)
            } else {
                Bind::False
            },
        }
    }

    /// Of the implicit tasks of a region so many levels deep, begun where these hold, with a clause
    /// on binding or without.
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

    /// The same, for ever.
    fn kept(self) -> &'static Self {
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

/// How long a thread keeps its CPU while it waits, where nobody says: long enough for the gap
/// between two regions, and not where another thread of a team might have the CPU.
const PATIENCE: Duration = Duration::from_millis(1);
/// The same where there are more threads than CPUs.
const PATIENCE_CROWDED: Duration = Duration::from_micros(5);
/// `OMP_WAIT_POLICY=active`.
const PATIENCE_ACTIVE: Duration = Duration::from_secs(10);
/// One step of `GOMP_SPINCOUNT`, about.
const SPIN: Duration = Duration::from_nanos(10);

/// How long a thread keeps its CPU while it waits.
pub(crate) fn patience() -> Patience {
    Patience::asked(match settings().wait {
        Some(Wait::Active) => PATIENCE_ACTIVE,
        Some(Wait::Passive) => Duration::ZERO,
        Some(Wait::Spins(spins)) => SPIN.saturating_mul(u32::try_from(spins).unwrap_or(u32::MAX)),
        Some(Wait::For { us }) => Duration::from_micros(us).min(PATIENCE_ACTIVE),
        None if crowd().is_some() => return Patience::of(PATIENCE_CROWDED),
        None => return Patience::of(PATIENCE),
    })
}

/// Bytes of a thread's stack, where the program does not say.
pub(crate) fn stack_bytes() -> usize {
    settings().stack_bytes.unwrap_or_else(|| {
        let mut bytes = 0;
        // SAFETY: the attributes are initialised by the first call and freed by the last.
        unsafe {
            let mut attributes = std::mem::zeroed();
            libc::pthread_attr_init(&raw mut attributes);
            libc::pthread_attr_getstacksize(&raw const attributes, &raw mut bytes);
            libc::pthread_attr_destroy(&raw mut attributes);
        }
        bytes
    })
}

/// What the environment said when it was first asked.
pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let (settings, mistakes) = environment::read(|name| {
            // What is no UTF-8 is no value either, and is told.
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        });
        for mistake in mistakes {
            say(format!("evenkeel: {mistake}\n").as_bytes());
        }
        tell_unknown();
        settings
    })
}

/// What holds at the begin, where nothing was asked for too: what users want to be shown.
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

/// Who watches, if the environment wants anything to be seen.
pub(crate) fn watch() -> Option<&'static Watch> {
    static WATCH: OnceLock<Option<Watch>> = OnceLock::new();
    WATCH.get_or_init(Watch::of_environment).as_ref()
}

/// Where wide tasks run, if the environment says it.
pub(crate) fn placement() -> Option<&'static Placement> {
    static PLACEMENT: OnceLock<Option<Placement>> = OnceLock::new();
    PLACEMENT.get_or_init(Placement::of_environment).as_ref()
}

/// The variables of the calling task.
pub(crate) fn get() -> &'static Icvs {
    member().task().icvs.get()
}

/// Changes them.
pub(crate) fn set(change: impl FnOnce(&mut Icvs)) {
    let icvs = &member().task().icvs;
    let mut changed = *icvs.get();
    change(&mut changed);
    if changed != *icvs.get() {
        icvs.set(changed.kept());
    }
}

/// Looks at the environment when the library is loaded, as libgomp does: a program may change it
/// later, and a mistake shows even if no region is parallel.
extern "C" fn begin() {
    register_barriers();
    if settings().proc_bind.first().is_some_and(|&bind| bind != Bind::False) {
        processors::unbind();
    }
    watch();
    // It names CPUs, of which no thread has been bound to one yet.
    placement();
    let show = settings().show;
    if show != Show::Nothing {
        say(display::text(&effective(), show == Show::Verbose).as_bytes());
    }
    if Icvs::initial().bind != Bind::False {
        // What the machine has is asked before any thread is bound.
        machine();
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
