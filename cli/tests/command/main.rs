//! The command as its users meet the program: prints, files, refusals, and files left alone.

mod advise;
mod bad_cpu_tables;
mod bad_flags;
mod bad_recordings;
mod bad_scenarios;
mod characterize;
mod claims;
mod doctor;
mod dvfs;
mod evaluate;
mod golden;
mod harness;
#[cfg(feature = "record")]
mod live_profile;
mod mixes;
mod own_scheduler;
mod pipes;
mod placebo;
mod profile;
mod profile_groups;
#[cfg(feature = "record")]
mod recorder;
mod recording;
mod repeatable;
mod reproduce;
mod results;
mod sweep;
#[cfg(feature = "record")]
mod top;
mod trial;
