//! Machines and workloads that a run refuses.

use cpu_model::{CpuModel, LicenseDomain};
use scenarios::{Step, Thread};

use crate::config::Config;
use crate::error::SimError;

/// A CPU can run only the classes that its table knows.
pub(crate) fn refuse_unknown_class(model: &CpuModel, thread: &Thread) -> Result<(), SimError> {
    let unknown = thread.program.iter().find_map(|step| match step {
        Step::Compute(work) if !model.supports(work.class) => Some(work.class),
        _ => None,
    });
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
