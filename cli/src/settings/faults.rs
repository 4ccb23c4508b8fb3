//! Settings of errors in sensors, and in the values that the policy believes.

use clap::{ArgAction, Args};
use simulator::SensorFaults;

/// Errors of sensors and of the policy's values; none by default.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What the policy gets wrong")]
pub struct FaultOptions {
    /// How far each counter of a slice may be off, in permille of its value (sensors d7)
    #[arg(
        long,
        default_value_t = 0,
        value_name = "PERMILLE",
        value_parser = clap::value_parser!(u32).range(0..=1000)
    )]
    counter_noise: u32,

    /// How far all counts of stall cycles are off, in permille of their values (sensors d7)
    #[arg(
        long,
        default_value_t = 0,
        value_name = "PERMILLE",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(-1000..=1000)
    )]
    stall_error: i32,

    /// How far the frequencies that the policy knows of levels above 0 are off, in permille; none
    /// is above that of level 0
    #[arg(
        long,
        default_value_t = 0,
        value_name = "PERMILLE",
        allow_negative_numbers = true,
        value_parser = clap::value_parser!(i32).range(-500..=1000)
    )]
    table_error: i32,

    /// Share of detections that name a wrong level, in permille; above 0 every detection comes a
    /// slice late (sensors d7, xinuse, fp-retired; not scx:…)
    #[arg(
        long,
        default_value_t = 0,
        value_name = "PERMILLE",
        value_parser = clap::value_parser!(u32).range(0..=1000)
    )]
    false_detections: u32,

    /// Share of the cores whose CPUs have no sensor, in permille (not scx:…)
    #[arg(
        long,
        default_value_t = 0,
        value_name = "PERMILLE",
        value_parser = clap::value_parser!(u32).range(0..=1000)
    )]
    deaf_cpus: u32,

    /// String functions of the C library use EVEX registers and trap in every slice of every
    /// task (sensors d7), as glibc's do unless told otherwise
    #[arg(long, default_value_t = false, action = ArgAction::Set, value_name = "BOOL")]
    evex_strings: bool,

    /// The dynamic linker binds functions at their first call: wide code of a thread is not seen
    /// until the thread first leaves its CPU (specialize and fair-specialize)
    #[arg(long, default_value_t = false, action = ArgAction::Set, value_name = "BOOL")]
    lazy_binding: bool,
}

impl FaultOptions {
    /// For a run.
    pub fn faults(&self) -> SensorFaults {
        SensorFaults {
            counter_noise_permille: self.counter_noise,
            evex_strings: self.evex_strings,
            lazy_binding: self.lazy_binding,
            table_error_permille: self.table_error,
            stall_error_permille: self.stall_error,
            false_detections_permille: self.false_detections,
            deaf_cores_permille: self.deaf_cpus,
        }
    }

    /// Errors that are not 0, as names and values.
    pub fn parameters(&self) -> impl Iterator<Item = (String, String)> {
        let shares = [
            ("counter noise", i64::from(self.counter_noise)),
            ("stall error", i64::from(self.stall_error)),
            ("table error", i64::from(self.table_error)),
            ("false detections", i64::from(self.false_detections)),
            ("cores without sensors", i64::from(self.deaf_cpus)),
        ];
        let stated = |(name, permille): (&str, i64)| {
            (permille != 0).then(|| (name.to_owned(), format!("{permille} permille")))
        };
        let traps = ("EVEX string functions".to_owned(), "trap".to_owned());
        let binding = ("lazy binding".to_owned(), "hides the first stretch on a CPU".to_owned());
        let states = [self.evex_strings.then_some(traps), self.lazy_binding.then_some(binding)];
        shares.into_iter().filter_map(stated).chain(states.into_iter().flatten())
    }
}
