//! What other frequency policies of the hardware would have given, on a history (D ch. 5).
//!
//! A history at a constant clock becomes a [`Timeline`] for each license domain. A [`Policy`] says
//! when the clock rises after the last wide instruction; [`study()`] stretches the timelines by the
//! clocks that each policy sets, and inserts a delay for each change. The schedule does not react.
//!
//! `docs/decisions/0042-other-frequency-policies.md` has the method and what it leaves out.

mod oracle;
mod policy;
mod study;
mod timeline;
mod walk;

pub use policy::{ParsePolicyError, Policy, TWO_COMPETITIVE_NS};
pub use study::{Domains, Outcome, Study, StudyError, study, walked};
pub use timeline::{Stretch, Timeline, timelines};
pub use walk::{Clock, Walked};
