//! `evenkeel top`: who waits for whom on this machine, and who lowers whose clock, as it happens.
//!
//! | Question | Where |
//! |---|---|
//! | How are the sums read, and when are groups forgotten? | `collection.rs` |
//! | By how much did they grow? | `steps.rs` |
//! | What does an interval show? | `view.rs`, as text `text.rs`, on a screen `screen.rs` |
//! | What is shown, written and served, and when? | `live.rs` |
//! | What does a key change? | `keys.rs` |
//! | Which totals are served, and under which labels? | `totals.rs`, `labels.rs`, `metrics.rs` |
//! | How is a scraper answered? | `serve.rs` |
//! | Which CPU table is this machine's? | `cpu_table.rs` |
//! | What do the kernel's files say? | `machine.rs` |

mod collection;
mod cpu_table;
mod keys;
mod labels;
mod live;
mod machine;
mod metrics;
mod names;
mod screen;
mod serve;
mod steps;
mod text;
mod totals;
mod view;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::ValueEnum;

use crate::seconds::seconds;

const EXAMPLES: &str = "\
Examples (as root, or with CAP_BPF and CAP_PERFMON):
  evenkeel top
      who waits for whom, and who lowers whose clock; ? explains the columns
  evenkeel top --once --interval 10
      ten seconds as text
  evenkeel top --by control-group --json - | jq '.pairs[0]'
      one JSON object for each second
  evenkeel top --no-screen --prometheus 127.0.0.1:9777
      metrics for Prometheus at http://127.0.0.1:9777/metrics (docs/prometheus.md)
Every client that can connect to ADDR:PORT can read the names of all programs that run here.";

/// Who waits for whom on this machine, and who lowers whose clock, as it happens.
///
/// The kernel adds up, at each switch, who ran, who waited for whom, and who ran beside whom; with
/// a CPU table also what was lost to the level that 512-bit code demanded. It needs Linux 5.11 and
/// no scheduler of ours.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Seconds between two readings
    #[arg(long, value_name = "S", default_value = "1",
        value_parser = |text: &str| seconds(text, 0.1..=3600.0))]
    interval: Duration,

    /// What is a victim, and a culprit
    #[arg(long, value_enum, value_name = "GROUP", default_value_t = GroupBy::Process)]
    by: GroupBy,

    /// CPU table for the lost clock: a name of `evenkeel cpu list`, or a file of `evenkeel
    /// characterize` [default: the table of this machine's CPU, if there is one]
    #[arg(long, value_name = "NAME|FILE")]
    cpu: Option<String>,

    /// Prints one interval as text, and ends
    #[arg(long, help_heading = "Output")]
    once: bool,

    /// Writes a line of JSON for each interval; - is standard output, then without screen and text
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<PathBuf>,

    /// Serves metrics for Prometheus there, as long as the command runs
    #[arg(long, value_name = "ADDR:PORT", help_heading = "Output", value_parser = address)]
    prometheus: Option<SocketAddr>,

    /// Shows nothing on the terminal
    #[arg(long, help_heading = "Output")]
    no_screen: bool,
}

/// What a group is.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum GroupBy {
    Process,
    ControlGroup,
}

impl GroupBy {
    /// The name on the command line.
    fn name(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::ControlGroup => "control-group",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Process => Self::ControlGroup,
            Self::ControlGroup => Self::Process,
        }
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let expected = "expected a numeric address and a port, such as 127.0.0.1:9777";
    text.parse().map_err(|_| expected.to_owned())
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<()> {
    ensure!(
        !args.no_screen || args.prometheus.is_some() || args.json.is_some(),
        "--no-screen: say where the figures go, by --prometheus or --json"
    );
    live::run(args)
}
