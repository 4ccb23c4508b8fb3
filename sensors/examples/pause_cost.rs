//! Takes samples with pauses for a while and prints each as CSV: what they cost, how accurate the
//! clock is, how long the pauses were.
//!
//!     pause_cost SECONDS SAMPLES_A_SECOND RAISE_DELAY_US CPU[,CPU…] [CPU[,CPU…]…]
//!
//! Each list of CPUs is a core. One CPU after another is sampled, at random intervals between half
//! and one and a half times the mean (D 4.2.1). Ends earlier when its input ends.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use sensors::pauses::{Pauser, Wish};

const COLUMNS: &str = "asked_ms,cpu,outcome,first_hz,last_hz,again_hz,block_rel_sd,paused_ns,\
                       core_paused_ns,took_ns";

/// What to do, from the command line.
struct Wanted {
    seconds: f64,
    samples_a_second: f64,
    wish: Wish,
    cores: Vec<Vec<u32>>,
}

fn wanted() -> Option<Wanted> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [seconds, rate, raise_delay_us, cores @ ..] = arguments.as_slice() else { return None };
    let core = |text: &String| text.split(',').map(|cpu| cpu.parse().ok()).collect();
    Some(Wanted {
        seconds: seconds.parse().ok()?,
        samples_a_second: rate.parse().ok()?,
        wish: Wish {
            raise_delay_ns: raise_delay_us.parse::<u64>().ok()?.checked_mul(1000)?,
            look_again: true,
            starts_in: Duration::ZERO,
        },
        cores: cores.iter().map(core).collect::<Option<_>>()?,
    })
}

/// Uniform numbers from 0 to 1 (xorshift64, Marsaglia 2003): the times of samples only.
fn uniform(state: &mut u64) -> f64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    (*state >> 11) as f64 / (1_u64 << 53) as f64
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pause_cost: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let wanted = wanted()
        .ok_or("expected SECONDS SAMPLES_A_SECOND RAISE_DELAY_US CPU[,CPU...] [CPU[,CPU...]...]")?;
    let mut pauser = Pauser::start(&wanted.cores)?;
    // A driver stops this program by closing its input, after the program that it measures.
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let list = |core: usize| wanted.cores[core].iter().map(move |&cpu| (core, cpu));
    let cpus: Vec<(usize, u32)> = (0..wanted.cores.len()).flat_map(list).collect();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{COLUMNS}")?;
    let mut state = 0x9e37_79b9_7f4a_7c15;
    let began = Instant::now();
    for &(core, cpu) in cpus.iter().cycle() {
        if began.elapsed().as_secs_f64() >= wanted.seconds {
            break;
        }
        let share = 0.5 + uniform(&mut state);
        std::thread::sleep(Duration::from_secs_f64(share / wanted.samples_a_second));
        let asked = Instant::now();
        let result = pauser.sample(core, cpu, &wanted.wish);
        let took_ns = asked.elapsed().as_nanos();
        let asked_ms = (asked - began).as_millis();
        match result {
            Ok(look) => writeln!(
                out,
                "{asked_ms},{cpu},taken,{:.0},{:.0},{:.0},{:.5},{},{},{took_ns}",
                look.first_hz,
                look.last_hz,
                look.again_hz.unwrap_or(f64::NAN),
                look.block_rel_sd,
                look.paused_ns,
                look.core_paused_ns,
            )?,
            Err(missed) => {
                writeln!(
                    out,
                    "{asked_ms},{cpu},{:?},,,,,{},,{took_ns}",
                    missed.why, missed.paused_ns
                )?;
            }
        }
        out.flush()?;
    }
    Ok(())
}
