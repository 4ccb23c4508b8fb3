//! The settings of the process: read from the environment once, before the first region.

use std::sync::OnceLock;
use std::time::Duration;

use evenkeel_runtime::internal::{Patience, tell_unknown};
use evenkeel_runtime::{Placement, Topology, Watch};

use crate::environment::{self, Settings, Wait};
use crate::processors;
use crate::unsupported::say;
use crate::wait::crowd::crowd;

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

/// The machine as this process may use it, or as it was declared.
pub(crate) fn machine() -> &'static Topology {
    static MACHINE: OnceLock<Topology> = OnceLock::new();
    MACHINE.get_or_init(|| {
        processors::available();
        settings().topology.clone().unwrap_or_else(Topology::of_machine)
    })
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
