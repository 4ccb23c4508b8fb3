//! Which task runs next, and where: the schedulers.
//!
//! A scheduler holds tasks that are ready and decides nothing else: it never runs one. Workers add
//! what became ready and take what they run; each uses the leaf of its CPU as the way in.
//!
//! Of this, programs see what [`crate::Rules`] are made of.

mod central;
mod classes;
mod config;
mod deque;
#[cfg(all(test, loom))]
mod explored;
mod leaf;
mod local;
mod node;
mod scheduler;
mod seek;
mod steps;
mod threshold;
mod tree;
mod urgent;

use central::Central;
pub use config::{Batch, Feed, Form, Limit, Order, Rules, Scheduler};
pub(crate) use leaf::Leaf;
pub(crate) use node::Away;
pub(crate) use scheduler::Ready;
pub(crate) use steps::StepsSum;
pub(crate) use threshold::Threshold;
use tree::Tree;
