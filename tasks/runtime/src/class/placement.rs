//! What a program chooses about wide tasks.

use std::path::PathBuf;
use std::time::Duration;

use crate::topology::CpuList;

/// Which workers prefer wide tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WideCpus {
    /// Those that run on these CPUs, wherever they are when they look.
    Cpus(CpuList),
    /// Those that run on the CPUs in a file, which may change at any time: a list such as `0-3,8`.
    File(PathBuf),
    /// These, wherever they run: each is the number of a leaf.
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

    /// Functions whose tasks are wide, by the names of compilers: for programs that cannot say it.
    #[must_use]
    pub fn functions(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.functions.extend(names);
        self
    }
}
