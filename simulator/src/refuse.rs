//! Machines and workloads that a run refuses.

use cpu_model::{CpuModel, LicenseDomain};
use scenarios::Thread;

use crate::config::Config;
use crate::error::SimError;

/// A CPU can run only the classes that its table knows.
pub(crate) fn refuse_unknown_class(model: &CpuModel, thread: &Thread) -> Result<(), SimError> {
    let mut classes = thread.program.iter().filter_map(|step| Some(step.work()?.class));
    let unknown = classes.find(|&class| !model.supports(class));
    match unknown {
        None => Ok(()),
        Some(class) => Err(SimError::Machine(format!(
            "thread {} runs {class} code, which CPU {} does not have",
            thread.name, model.name
        ))),
    }
}

/// Steady cores need a license domain each: with one license a package, no core keeps its clock.
pub(crate) fn refuse_steady_cores(model: &CpuModel, config: &Config) -> Result<(), SimError> {
    if config.steady_cores_permille > 0 && model.license_domain != LicenseDomain::Core {
        return Err(SimError::Machine(format!(
            "no core of CPU {} can keep its clock: its cores share one license",
            model.name
        )));
    }
    Ok(())
}
