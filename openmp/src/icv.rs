//! Internal control variables: what the environment and the program have asked for.
//!
//! Those of a data environment are per thread so far. A team of more than one thread hands a copy
//! to each of its tasks.

use std::cell::RefCell;
use std::sync::OnceLock;

use crate::environment::{self, Schedule, Settings, Show, display};
use crate::processors;
use crate::unsupported::say;

/// How deep teams can nest; what `omp_get_supported_active_levels` says.
pub(crate) const ACTIVE_LEVELS_MAX: i32 = i32::MAX;

/// The variables of a data environment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Icvs {
    /// Threads of the next team.
    pub num_threads: u32,
    pub dynamic: bool,
    pub schedule: Schedule,
    pub max_active_levels: i32,
    pub default_device: i32,
}

impl Icvs {
    fn initial(settings: &Settings) -> Self {
        let cpus = processors::available().len() as u32;
        let limit = settings.thread_limit.unwrap_or(u32::MAX);
        let levels = settings.max_active_levels.unwrap_or(1);
        Self {
            num_threads: settings.num_threads.first().copied().unwrap_or(cpus).clamp(1, limit),
            dynamic: settings.dynamic,
            schedule: settings.schedule,
            max_active_levels: i32::try_from(levels).unwrap_or(ACTIVE_LEVELS_MAX),
            default_device: settings.default_device,
        }
    }
}

/// What the environment said when it was first asked.
pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let (settings, mistakes) = environment::read(|name| std::env::var(name).ok());
        for mistake in mistakes {
            say(format!("evenkeel: {mistake}\n").as_bytes());
        }
        settings
    })
}

thread_local! {
    static OF_THREAD: RefCell<Option<Icvs>> = const { RefCell::new(None) };
}

/// Reads or changes the variables of the calling task.
pub(crate) fn with<T>(act: impl FnOnce(&mut Icvs) -> T) -> T {
    OF_THREAD.with_borrow_mut(|icvs| act(icvs.get_or_insert_with(|| Icvs::initial(settings()))))
}

/// Looks at the environment when the library is loaded, as libgomp does: a program may change it
/// later, and a mistake shows even if no region is parallel.
extern "C" fn begin() {
    let settings = settings();
    if settings.show != Show::Nothing {
        let verbose = settings.show == Show::Verbose;
        say(display::text(settings, verbose).as_bytes());
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;
