//! CPU time of busy tasks with random affinity masks, nice values and arrivals, beside the
//! weighted max-min fair shares: a line of CSV for each task, and a summary on standard error.
//!
//! `cargo run --release -p scx-host --example shares -- FIRST_SEED CONFIGURATIONS`

#[path = "../tests/shares/configuration.rs"]
mod configuration;
#[path = "../tests/shares/ideal.rs"]
mod ideal;
#[allow(dead_code)]
#[path = "../tests/host/machine.rs"]
mod machine;
#[path = "../tests/shares/on_host.rs"]
mod on_host;
#[path = "../tests/shares/table.rs"]
mod table;

use configuration::Configuration;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|number| number.parse().expect("a number"));
    let first: u64 = arguments.next().unwrap_or(0);
    let count = arguments.next().unwrap_or(1000);
    table::print(first, count, Configuration::run);
}
