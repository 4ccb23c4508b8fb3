//! The profiler on simulated machines, against their truth, and what its experiments compute.

mod build;
#[path = "../../examples/experiments/causes.rs"]
mod causes;
mod counters;
mod estimates;
mod experiments;
mod moments;
mod recordings;
#[path = "../../examples/experiments/requests.rs"]
mod requests;
mod steps;
