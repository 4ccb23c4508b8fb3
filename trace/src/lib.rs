//! Histories of scheduling: who ran where and when, on a real machine or a simulated one.

mod history;

pub use history::{Event, Header, History, Record, Source, SwitchState, TaskInfo};
