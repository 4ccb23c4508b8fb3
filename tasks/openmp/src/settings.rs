//! The settings of the process: read from the environment once, before the first region.

use std::sync::OnceLock;
use std::time::Duration;

use evenkeel_runtime::internal::{Patience, tell_unknown};
use evenkeel_runtime::{Placement, Topology, Watch};

use crate::environment::{self, Settings, Wait};
use crate::processors;
use crate::unsupported::say;
use crate::wait::oversubscription::oversubscribed;

/// The default time for which a waiting thread keeps its CPU: longer than the gap between two
/// regions.
const PATIENCE: Duration = Duration::from_millis(1);
/// The default time where more threads want a CPU than the machine has.
const PATIENCE_OVERSUBSCRIBED: Duration = Duration::from_micros(5);
/// `OMP_WAIT_POLICY=active`.
const PATIENCE_ACTIVE: Duration = Duration::from_secs(10);
/// One step of `GOMP_SPINCOUNT`, about.
const SPIN: Duration = Duration::from_nanos(10);

/// The time for which a waiting thread keeps its CPU.
pub(crate) fn patience() -> Patience {
    Patience::asked(match settings().wait {
        Some(Wait::Active) => PATIENCE_ACTIVE,
        Some(Wait::Passive) => Duration::ZERO,
        Some(Wait::Spins(spins)) => SPIN.saturating_mul(u32::try_from(spins).unwrap_or(u32::MAX)),
        Some(Wait::For { us }) => Duration::from_micros(us).min(PATIENCE_ACTIVE),
        None if oversubscribed().is_some() => return Patience::of(PATIENCE_OVERSUBSCRIBED),
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

/// The settings from the environment, read by the first call.
pub(crate) fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let (settings, mistakes) = environment::read(|name| {
            // Text that is no UTF-8 is a mistake, too.
            std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
        });
        for mistake in mistakes {
            say(format!("evenkeel: {mistake}\n").as_bytes());
        }
        tell_unknown();
        settings
    })
}

/// The machine: that of `EVENKEEL_TOPOLOGY`, or the part that this process may use.
pub(crate) fn machine() -> &'static Topology {
    static MACHINE: OnceLock<Topology> = OnceLock::new();
    MACHINE.get_or_init(|| {
        processors::available();
        settings().topology.clone().unwrap_or_else(Topology::of_machine)
    })
}

/// The instrumentation that the environment asks for.
pub(crate) fn watch() -> Option<&'static Watch> {
    static WATCH: OnceLock<Option<Watch>> = OnceLock::new();
    WATCH.get_or_init(evenkeel_observe::of_environment).as_ref()
}

/// Where wide tasks run, if the environment says so.
pub(crate) fn placement() -> Option<&'static Placement> {
    static PLACEMENT: OnceLock<Option<Placement>> = OnceLock::new();
    PLACEMENT.get_or_init(Placement::of_environment).as_ref()
}
