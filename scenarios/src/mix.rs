//! Random program mixes: scenarios that are not tuned to any scheduler.
//!
//! [`mix`] draws the text of a scenario file from a seed, with integers alone. The distribution is
//! our choice throughout; `docs/decisions/0019-random-mixes.md` has its table. The three
//! backgrounds of a mix are one list of applications, with the names `@kernel` and `@lighter` bound
//! to different classes, so that nothing but licenses differs.

mod background;
mod foreground;
mod phases;
mod seeds;

use std::fmt::Write;

use crate::random::Stream;
use foreground::Room;

pub use seeds::{development_seed, held_out_seed};

/// Bindings of the backgrounds of every mix, the control first: name, `@kernel`, `@lighter`.
/// Light 256-bit instructions demand no level and light 512-bit ones level 1 (D 3.2.1).
const BACKGROUNDS: [(&str, &str, &str); 3] = [
    ("sse4", "scalar", "scalar"),
    ("avx2", "avx2-heavy", "avx2-light"),
    ("avx512", "avx512-heavy", "avx512-light"),
];

/// Threads of the background, and later programs of the foreground, arrive at random times within
/// so long, in ms; from 50 ms of warm-up on, no figure moves by more than its interval
/// (`docs/decisions/0034-controls-and-placebos.md`).
const ARRIVAL_WINDOW_MS: u64 = 20;

/// Time that the background runs before the foreground's arrivals begin, in ms.
const WARM_UP_MS: u64 = 100;

/// Simulated time after which a run stops, in s. Runs are meant to take 0.3 to 0.6 s.
const LIMIT_S: u64 = 10;

/// Seeds of each mix: with fewer, chance within a run counts as slowdown.
const REPLICATES: u64 = 8;

/// The text of the scenario file of a random program mix; the same bytes for the same seed.
#[must_use]
pub fn mix(seed: u64) -> String {
    let mut stream = Stream::new(seed);
    let cores = stream.one_of(&[2, 2, 2, 2, 4, 4, 4, 8, 8, 16]);
    let cpus = 2 * cores;
    let background = background::draw(&mut stream, cpus);
    let programs = stream.one_of(&[1, 1, 1, 2, 2, 3]);
    let together = programs > 1 && stream.once_in(2);
    let room = Room { cpus, taken_permille: background.load_permille, together };
    let foreground = foreground::draw(&mut stream, &room, programs);
    let mut text = head(seed, cores, together);
    for application in &foreground {
        text += "\n[[foreground]]\n";
        text += &application.text();
    }
    for (name, kernel, lighter) in BACKGROUNDS {
        let control = if kernel == "scalar" { "control = true\n" } else { "" };
        let _ = write!(
            text,
            "\n[[background]]\nname = \"{name}\"\n{control}\
             classes = {{ kernel = \"{kernel}\", lighter = \"{lighter}\" }}\n"
        );
        if kernel != "scalar" {
            text += "like = \"sse4\"\n";
            continue;
        }
        for application in &background.applications {
            text += "[[background.application]]\n";
            text += &application.text();
        }
    }
    text
}

fn head(seed: u64, cores: u64, together: bool) -> String {
    // The rows of few active cores lower the frequency too little to tell schedulers apart.
    let row = if cores < 16 { "turbo_cores = 16\n" } else { "" };
    let foreground = if together { "together" } else { "each" };
    format!(
        "schema = 1\nname = \"mix-{seed}\"\n\
         description = \"Random program mix {seed} on {cores} cores.\"\n\
         source = \"our choice: drawn from the seed\"\ncpu = \"xeon-gold-6130\"\n\n\
         [machine]\npackages = 1\ncores = {cores}\nthreads_per_core = 2\n{row}\n\
         [run]\nforeground = \"{foreground}\"\nlimit_s = {LIMIT_S}\nreplicates = {REPLICATES}\n\
         arrival_window_ms = {ARRIVAL_WINDOW_MS}\nwarm_up_ms = {WARM_UP_MS}\n"
    )
}

/// An application in the terms of the file.
struct Application {
    name: String,
    threads: u64,
    instances: u64,
    nice: i64,
    /// Share of the time stalled on memory, in permille.
    stall_permille: u64,
    working_set_kib: u64,
    /// Phases in the language of the file, one a line.
    phases: Vec<String>,
}

impl Application {
    fn text(&self) -> String {
        let Self { name, threads, instances, nice, working_set_kib, .. } = self;
        let stall = phases::share(self.stall_permille);
        let mut text = format!("name = \"{name}\"\nthreads = {threads}\n");
        if *instances != 1 {
            let _ = writeln!(text, "instances = {instances}");
        }
        if *nice != 0 {
            let _ = writeln!(text, "nice = {nice}");
        }
        let _ = writeln!(text, "stall = {stall}\nworking_set_kib = {working_set_kib}\nphases = [");
        for phase in &self.phases {
            let _ = writeln!(text, "    {phase},");
        }
        text + "]\n"
    }
}

/// Five of six applications have nice 0, the sixth a little more or less.
fn nice(stream: &mut Stream) -> i64 {
    if stream.once_in(6) { stream.one_of(&[-5, -2, 2, 5]) } else { 0 }
}
