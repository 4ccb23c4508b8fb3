//! The background of a mix: applications that never end, some of them innocent.

use super::phases::{compute, forever, repeat, share, sleep, spread, sync, wide, within_pct};
use super::{Application, nice};
use crate::random::Stream;

/// The applications beside which the foreground runs.
pub(super) struct Background {
    pub(super) applications: Vec<Application>,
    /// Permille of a CPU that they want in all.
    pub(super) load_permille: u64,
}

#[derive(Clone, Copy)]
enum Structure {
    /// Always runnable.
    Steady,
    /// Bursts and sleeps.
    Bursts,
    /// Frames with barriers between the threads of an instance, as in x265.
    Frames,
    /// Wide for a while, then scalar for a while.
    Phases,
}
use Structure::{Bursts, Frames, Phases, Steady};

/// A round is at most so long, in us, so that a run sees several.
const ROUND_US_MAX: u64 = 100_000;

/// Draws the background of a machine with so many logical CPUs.
pub(super) fn draw(stream: &mut Stream, cpus: u64) -> Background {
    let threads = cpus * stream.one_of(&[500, 750, 1000, 1000, 1500, 2000]) / 1000;
    let culprits = stream.one_of(&[1, 1, 2]);
    let mut background = Background { applications: Vec::new(), load_permille: 0 };
    for number in 1..=culprits {
        let structure = stream.one_of(&[Steady, Bursts, Frames, Phases]);
        background.add_culprit(stream, structure, number, (threads / culprits).max(1));
    }
    if stream.once_in(3) {
        background.add_innocent(stream, cpus);
    }
    background
}

impl Background {
    fn add_culprit(
        &mut self,
        stream: &mut Stream,
        structure: Structure,
        number: u64,
        threads: u64,
    ) {
        let mut of_instance = threads;
        let (name, phases, duty_permille) = match structure {
            Steady => ("steady", steady(stream), 1000),
            Bursts => {
                let duty_permille = stream.between(300, 800);
                ("bursts", bursts(stream, duty_permille), duty_permille)
            }
            Frames => {
                of_instance = stream.one_of(&[2, 4, 8]).min(threads);
                ("frames", frames(stream), 700)
            }
            Phases => ("phases", phased(stream), 1000),
        };
        self.load_permille += threads * duty_permille;
        self.applications.push(Application {
            name: format!("{name}-{number}"),
            threads: of_instance,
            instances: threads / of_instance,
            nice: nice(stream),
            stall_permille: stream.between(0, 300),
            working_set_kib: stream.octaves(16, 8),
            phases,
        });
    }

    /// A scalar application of up to a thread for each core, that sleeps in one of two cases.
    fn add_innocent(&mut self, stream: &mut Stream, cpus: u64) {
        let threads = stream.between(1, cpus / 2);
        let piece_us = stream.octaves(100, 7);
        let mut body = vec![compute(piece_us, &spread(stream))];
        let mut duty_permille = 1000;
        if stream.once_in(2) {
            duty_permille = stream.between(100, 700);
            body.push(pause(piece_us, duty_permille));
        }
        self.load_permille += threads * duty_permille;
        self.applications.push(Application {
            name: "innocent".to_owned(),
            threads,
            instances: 1,
            nice: nice(stream),
            stall_permille: stream.between(0, 500),
            working_set_kib: stream.octaves(16, 8),
            phases: vec![forever(&body)],
        });
    }
}

/// Work of which a share is wide, in bursts.
struct Wide {
    /// Share of `@kernel`, in permille.
    kernel_permille: u64,
    /// Share of `@lighter`, in permille.
    lighter_permille: u64,
    /// Length of a burst of `@kernel`, in us.
    burst_us: u64,
}

/// A third of the applications are wide throughout, two thirds for 10 to 90 % of their work; in a
/// third of the latter up to a half of the rest is lighter. Bursts are of 100 us to 51.2 ms,
/// shorter where they would come less often than every 100 ms.
fn draw_wide(stream: &mut Stream) -> Wide {
    let kernel_permille = if stream.once_in(3) { 1000 } else { stream.between(100, 900) };
    let lighter = stream.once_in(3);
    let lighter_permille =
        if lighter { stream.between(0, (1000 - kernel_permille) / 2) } else { 0 };
    let burst_us = stream.octaves(100, 9).min(ROUND_US_MAX * kernel_permille / 1000);
    Wide { kernel_permille, lighter_permille, burst_us }
}

impl Wide {
    /// From the beginning of a burst to that of the next, in us.
    fn round_us(&self) -> u64 {
        self.burst_us * 1000 / self.kernel_permille
    }

    fn compute(&self, work_us: u64, spread_pct: u64) -> String {
        let spread = within_pct(spread_pct);
        if self.kernel_permille == 1000 {
            return wide(work_us, &spread);
        }
        let class = |name: &str, permille: u64| {
            format!("{{ class = \"@{name}\", share = {} }}", share(permille))
        };
        let mut mix = class("kernel", self.kernel_permille);
        if self.lighter_permille > 0 {
            mix = format!("{mix}, {}", class("lighter", self.lighter_permille));
        }
        let burst_us = self.burst_us;
        let amount = format!("work_us = {work_us}, {spread}, burst_us = {burst_us}");
        format!("{{ compute = {{ {amount}, mix = [{mix}] }} }}")
    }
}

/// Threads that begin together would stay in step: a first piece of up to a round.
fn offset(round_us: u64) -> String {
    compute(round_us / 2, &within_pct(100))
}

/// A sleep after so much work that a thread is busy for a share of the time.
fn pause(work_us: u64, duty_permille: u64) -> String {
    sleep(work_us * (1000 - duty_permille) / duty_permille, "spread = \"exponential\"")
}

/// One to four bursts in a row.
fn steady(stream: &mut Stream) -> Vec<String> {
    let wide = draw_wide(stream);
    let work_us = wide.round_us() * stream.between(1, 4);
    let body = wide.compute(work_us, stream.between(10, 50));
    vec![offset(wide.round_us()), forever(&[body])]
}

/// Work of 0.5 to 32 ms, then a sleep.
fn bursts(stream: &mut Stream, duty_permille: u64) -> Vec<String> {
    let wide = draw_wide(stream);
    let work_us = stream.octaves(500, 6);
    let body = [wide.compute(work_us, stream.between(10, 50)), pause(work_us, duty_permille)];
    vec![offset(work_us), forever(&body)]
}

/// Frames of 125 us to 16 ms, whose threads differ by up to 20 to 70 %.
fn frames(stream: &mut Stream) -> Vec<String> {
    let wide = draw_wide(stream);
    let frame_us = stream.octaves(125, 7);
    let body = [wide.compute(frame_us, stream.between(20, 70)), sync("barrier", "frame")];
    vec![forever(&body)]
}

/// 5 to 80 ms wide, then 5 to 80 ms scalar, in pieces of 1 to 4 ms.
fn phased(stream: &mut Stream) -> Vec<String> {
    let piece_us = stream.between(1000, 4000);
    let pieces = |us: u64| us / piece_us;
    let (wide_us, scalar_us) = (stream.octaves(5000, 4), stream.octaves(5000, 4));
    let uneven = within_pct(30);
    let body = [
        repeat(pieces(wide_us), &[wide(piece_us, &uneven)]),
        repeat(pieces(scalar_us), &[compute(piece_us, &uneven)]),
    ];
    vec![offset(wide_us + scalar_us), forever(&body)]
}
