//! Settings of the replay of a recording.

use std::path::PathBuf;

use clap::Args;

/// The heading of these settings.
pub const GROUP: &str = "Replay of a recording (compare --trace)";

/// How a recording is replayed.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = GROUP)]
pub struct Replay {
    /// Classes by time, beside those of --class: CSV lines `begin_ns,end_ns,tid,class[,rate]` or
    /// `time_ns,tid,level`
    #[arg(long, value_name = "FILE")]
    pub marks: Option<PathBuf>,

    /// Replays on this many CPUs [default: as many as recorded]
    #[arg(long, value_name = "N")]
    pub cpus: Option<u32>,

    /// Hardware threads of a core, where the recording does not say
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=2))]
    pub threads_per_core: u32,

    /// Active cores that decide the turbo row, where the recording shows a part of a package only,
    /// as that of a virtual machine does [default: those that are active in the replay]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub turbo_cores: Option<u32>,

    /// Frequency of the recorded machine, where the recording has no cpu_frequency events
    /// [default: 2800]
    #[arg(long, value_name = "MHZ", value_parser = clap::value_parser!(u32).range(100..=10_000))]
    pub recorded_mhz: Option<u32>,
}
