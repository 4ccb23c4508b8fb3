//! The profiler on simulated machines, against their truth.

mod build;
mod estimates;
mod moments;
mod recordings;
mod steps;
