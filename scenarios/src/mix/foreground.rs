//! The judged programs of a mix: scalar, of six structures, as long as they fit into half a second.

use super::phases::{compute, first, others, repeat, sleep, spread, sync, within_pct};
use super::{Application, nice};
use crate::random::Stream;

/// The CPUs and time of the foreground.
pub(super) struct Room {
    /// Logical CPUs of the machine.
    pub(super) cpus: u64,
    /// Permille of a CPU that the background wants in all.
    pub(super) taken_permille: u64,
    /// Whether the programs run together.
    pub(super) together: bool,
}

/// Speed of a thread beside a busy sibling, in permille of the reference frequency: 2.8 of
/// 2.1 GHz (D Table 3.1, 13 to 16 active cores) by an SMT share of 0.625.
const SPEED_PERMILLE: u64 = 833;

#[derive(Clone, Copy)]
enum Structure {
    /// Threads that never meet.
    Loop,
    /// Equal steps with a barrier after each.
    Steps,
    /// A serial section of the first thread, then a parallel phase, in turn.
    Serial,
    /// A part of each round under one lock.
    Locked,
    /// The first thread produces work items, for which all other threads wait.
    Pipeline,
    /// Requests that come by the clock.
    Service,
}
use Structure::{Locked, Loop, Pipeline, Serial, Service, Steps};

impl Structure {
    fn name(self) -> &'static str {
        match self {
            Loop => "loop",
            Steps => "steps",
            Serial => "serial",
            Locked => "locked",
            Pipeline => "pipeline",
            Service => "service",
        }
    }

    fn phases(self, stream: &mut Stream, length: &Length) -> Vec<String> {
        match self {
            Loop => independent(stream, length),
            Steps => steps(stream, length),
            Serial => serial(stream, length),
            Locked => locked(stream, length),
            Pipeline => pipeline(stream, length),
            Service => service(stream, length),
        }
    }
}

/// How long a program is meant to be.
struct Length {
    threads: u64,
    /// Run time, in us.
    run_us: u64,
    /// Work of each thread at the reference frequency that takes about so long, in us.
    work_us: u64,
}

/// Draws the programs of the foreground.
pub(super) fn draw(stream: &mut Stream, room: &Room, programs: u64) -> Vec<Application> {
    let drawn: Vec<(Structure, u64)> = (0..programs)
        .map(|_| {
            let structure = stream.one_of(&[Loop, Steps, Serial, Locked, Pipeline, Service]);
            (structure, threads(stream, room.cpus))
        })
        .collect();
    let all_threads: u64 = drawn.iter().map(|(_, threads)| threads).sum();
    let number = |(index, (structure, threads)): (usize, (Structure, u64))| {
        let wanted = 1000 * if room.together { all_threads } else { threads } + room.taken_permille;
        let run_us = 1000 * stream.between(200, 400);
        let share_permille = (1_000_000 * room.cpus / wanted).min(1000);
        let work_us = run_us * SPEED_PERMILLE / 1000 * share_permille / 1000;
        let phases = structure.phases(stream, &Length { threads, run_us, work_us });
        Application {
            name: format!("{}-{}", structure.name(), index + 1),
            threads,
            instances: 1,
            nice: nice(stream),
            stall_permille: stream.between(0, 500),
            working_set_kib: stream.octaves(16, 8),
            phases,
        }
    };
    drawn.into_iter().enumerate().map(number).collect()
}

/// Half of the programs have a thread for each CPU, half any number from 1 on.
fn threads(stream: &mut Stream, cpus: u64) -> u64 {
    if stream.once_in(2) { cpus } else { stream.between(1, cpus) }
}

/// Pieces of 50 us to 25.6 ms, at least eight.
fn independent(stream: &mut Stream, length: &Length) -> Vec<String> {
    let piece_us = stream.octaves(50, 9).min(length.work_us / 8);
    vec![repeat(length.work_us / piece_us, &[compute(piece_us, &spread(stream))])]
}

/// Steps of 250 us to 16 ms (canneal has 0.5, fluidanimate 1.1), at least eight, whose threads
/// differ by up to 5 to 50 %; half as much work, since each step takes as long as its slowest
/// thread.
fn steps(stream: &mut Stream, length: &Length) -> Vec<String> {
    let step_us = stream.octaves(250, 6).min(length.work_us / 16);
    let uneven = within_pct(stream.between(5, 50));
    let step = [compute(step_us, &uneven), sync("barrier", "step")];
    vec![repeat(length.work_us / 2 / step_us, &step)]
}

/// Rounds of 4 to 32 ms, at least eight, of which the first thread does 5 to 40 % alone.
fn serial(stream: &mut Stream, length: &Length) -> Vec<String> {
    let round_us = stream.octaves(4000, 3).min(length.work_us / 8);
    let alone_us = round_us * stream.between(50, 400) / 1000;
    let uneven = within_pct(stream.between(5, 50));
    let round = [
        first(&[compute(alone_us, &within_pct(20))]),
        sync("barrier", "serial"),
        compute(round_us - alone_us, &uneven),
        sync("barrier", "parallel"),
    ];
    vec![repeat(length.work_us / round_us, &round)]
}

/// Rounds of 100 us to 12.8 ms, at least eight; the lock is held for 10 to 50 % of the time, if all
/// threads run.
fn locked(stream: &mut Stream, length: &Length) -> Vec<String> {
    let round_us = stream.octaves(100, 7).min(length.work_us / 8);
    let held_us = round_us * stream.between(100, 500) / 1000 / length.threads;
    let round = [
        compute(round_us - held_us, &spread(stream)),
        sync("lock", "table"),
        compute(held_us, &within_pct(20)),
        sync("unlock", "table"),
    ];
    vec![repeat(length.work_us / round_us, &round)]
}

/// Items of 100 us to 6.4 ms for each consumer, and a quarter of that for the first thread to
/// produce them. In half of the pipelines the first thread waits for all answers in each round.
fn pipeline(stream: &mut Stream, length: &Length) -> Vec<String> {
    let item_us = stream.octaves(100, 6);
    let times = length.work_us / item_us;
    let mut make = vec![compute(item_us / 4, &within_pct(20)), sync("wake_others", "item")];
    let mut take = vec![sync("wait", "item"), compute(item_us, &spread(stream))];
    if stream.once_in(2) && length.threads > 1 {
        make.push(repeat(length.threads - 1, &[sync("wait", "answer")]));
        take.push(sync("wake", "answer"));
    }
    vec![first(&[repeat(times, &make)]), others(&[repeat(times, &take)])]
}

/// At least eight requests of 50 us to 6.4 ms that keep a thread busy for 5 to 60 % of the time.
fn service(stream: &mut Stream, length: &Length) -> Vec<String> {
    let request_us = stream.octaves(50, 7);
    let period_us = (request_us * 1000 / stream.between(50, 600)).min(length.run_us / 8);
    let between = sleep(period_us - request_us, &spread(stream));
    let round = [between, compute(request_us, &spread(stream))];
    vec![repeat(length.run_us / period_us, &round)]
}
