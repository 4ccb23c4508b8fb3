//! How far an estimate can be trusted.

/// The basis of the estimate for a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The demands of the group's own tasks are measured.
    Measured,
    /// Too few samples: its tasks are taken to demand no level.
    Assumed,
    /// Its tasks demand a level, and nothing tells when: they are never taken for victims of that
    /// level, so the loss is at least the estimate.
    AtLeast,
    /// Too few samples, and nothing else is known.
    Unknown,
    /// Classes or registers say what its tasks demand, and a CPU table what that costs; no clock
    /// was measured.
    Table,
}
