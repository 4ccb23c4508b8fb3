//! The experiments of D 4.5 and 4.6 beside accuracy, on the simulator, as CSV.
//!
//!     experiments latency       latencies of requests with and without pauses (D 4.5.3)
//!     experiments early         pauses that end early (D 4.6.1)
//!     experiments sources       holds or siblings (D 4.5.4)
//!     experiments together      threads that exceed the rate only together (D 4.5.1)
//!     experiments stalls        models of the clock on an out-of-order core (D 4.3)
//!     experiments perturbation  nginx with and without the profiler (D 4.5.2)
//!
//! `data/measurements/profiler` has the results.

mod causes;
mod clock_models;
mod early;
mod latency;
mod out_of_order;
mod perturbation;
mod requests;
mod sources;
mod stalls;
mod together;
mod work;

use std::process::ExitCode;

fn run(args: &[String]) -> work::Result<()> {
    match args.first().map(String::as_str) {
        Some("latency") => latency::rows(),
        Some("early") => early::rows(),
        Some("sources") => sources::rows(),
        Some("together") => together::rows(),
        Some("stalls") => stalls::rows(),
        Some("perturbation") => perturbation::rows(),
        _ => Err("usage: experiments latency|early|sources|together|stalls|perturbation".into()),
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
