//! A program's choices about wide tasks.

use std::path::PathBuf;
use std::time::Duration;

use crate::topology::CpuList;

/// Which workers prefer wide tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WideCpus {
    /// Workers that run on these CPUs at the time of their look.
    Cpus(CpuList),
    /// Workers that run on the CPUs of a file with a list such as `0-3,8`, which may change at any
    /// time.
    File(PathBuf),
    /// These workers, on any CPU: each number is that of a leaf.
    Workers(Vec<usize>),
}

/// Where wide tasks are to run.
///
/// ```
/// use evenkeel_runtime::{Placement, Runtime, WideCpus};
///
/// let placement = Placement::on(WideCpus::Cpus("0-3".parse().unwrap()));
/// let runtime = Runtime::builder().workers(2).placement(placement).build().unwrap();
/// runtime.scope(|s| s.task().wide().spawn(|| ()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    pub(crate) cpus: WideCpus,
    pub(crate) functions: Vec<String>,
    /// How long a wide task waits for a worker that prefers it.
    pub(super) wait: Duration,
}

/// Longer than a core that was lent keeps its low clock (some 0.7 ms on Skylake); our choice.
const WAIT: Duration = Duration::from_millis(1);

impl Placement {
    /// Where wide tasks are preferred.
    #[must_use]
    pub fn on(cpus: WideCpus) -> Self {
        Self { cpus, functions: Vec::new(), wait: WAIT }
    }

    /// Functions whose tasks are wide, by their symbols: for programs that cannot declare tasks.
    #[must_use]
    pub fn functions(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.functions.extend(names);
        self
    }
}
