//! A person or program beside a run who switches core specialization off and on.

/// Acts on a run from outside, at times of its choice.
pub trait Operator {
    /// The simulated time of the next action; `None`: no more.
    fn acts_ns(&self) -> Option<u64>;

    /// Acts: `ref_cycles` are the reference cycles that all tasks have done so far. Returns whether
    /// core specialization is on from now on.
    fn act(&mut self, now_ns: u64, ref_cycles: u64) -> bool;
}
