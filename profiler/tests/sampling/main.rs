//! The profiler on simulated machines, against their truth, and what its experiments compute.

mod build;
#[path = "../../examples/experiments/causes.rs"]
mod causes;
#[path = "../../examples/experiments/clock_models.rs"]
mod clock_models;
mod counters;
mod estimates;
mod experiments;
mod moments;
mod other_clocks;
#[path = "../../examples/experiments/out_of_order.rs"]
mod out_of_order;
mod recordings;
#[path = "../../examples/experiments/requests.rs"]
mod requests;
mod steps;
