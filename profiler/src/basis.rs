//! How far an estimate can be trusted.

/// What the estimate for a group rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Measurements of what its tasks demand themselves.
    Measured,
    /// Too few samples: its tasks are taken to demand no level.
    Assumed,
    /// Its tasks demand a level, and nothing tells when: they are never taken for victims of that
    /// level, so the loss is at least the estimate.
    AtLeast,
}
