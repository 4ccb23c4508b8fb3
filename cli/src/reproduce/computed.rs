//! Figures that follow from a CPU table.

use anyhow::{Result, bail};
use cpu_model::{Class, CpuModel, TurboMode};
use profiler::Plan;

/// The CPU of the dissertation.
const CPU: &str = "xeon-gold-6130";

/// A frequency in GHz; `how`: active cores, and level.
pub fn ghz(how: &str) -> Result<f64> {
    let [cores, level] = numbers(how)?;
    Ok(khz(&model(TurboMode::On)?, cores, level) / 1e6)
}

/// A value by name.
pub fn value(how: &str) -> Result<f64> {
    let cpu = model(TurboMode::On)?;
    let license = &cpu.license;
    let (name, rest) = how.split_once(' ').unwrap_or((how, ""));
    // Stages of the rise that passes all of them.
    let stages = license.rise[0][2][1].stages();
    let us = |ns: u64| ns as f64 / 1000.0;
    let throttle = |at_rate: u16| stages.iter().find(|stage| stage.rate_permille == at_rate);
    let duration = |at_rate| throttle(at_rate).map_or(0, |stage| stage.duration_ns);
    Ok(match name {
        "base-ghz" => khz(&model(TurboMode::Off)?, 16, 0) / 1e6,
        "reduction" => {
            let [cores] = numbers(rest)?;
            100.0 * (1.0 - khz(&cpu, cores, 2) / khz(&cpu, cores, 0))
        }
        "throttle-a-us" => us(duration(250).into()),
        "throttle-a-few-us" => us(throttle(250).map_or(0, |stage| stage.duration_few_ns).into()),
        "throttle-b-us" => us(duration(500).into()),
        "halt-us" => us(duration(0).into()),
        "fall-us" => us(license.fall_halt_ns.into()),
        "hold-us" => us(license.hold_ns[2]),
        "heavy-rate" => {
            let rules = &cpu.demand[Class::Avx512Heavy as usize];
            let top = rules.iter().find(|rule| rule.level == 2);
            top.map_or(f64::NAN, |rule| f64::from(rule.rate_min_permille) / 1000.0)
        }
        // The first instruction of a width widens the register file, which throttles.
        "first-use-throttles" => f64::from(u8::from(license.widen.duration_ns > 0)),
        "rise" => {
            let words: Vec<&str> = rest.split(' ').collect();
            let [from, to, kind] = words[..] else { bail!("{how}") };
            us(cpu.transition_cost_ns(from.parse()?, to.parse()?, kind == "heavy", false))
        }
        "break-even" => {
            let [cores, level] = numbers(rest)?;
            us(cpu.break_even_ns(cores, level as u8, 0).unwrap_or(0))
        }
        // One of 16 cores pauses for 700 us every 20 ms (D 4.5.3).
        "profiler-pauses-pct" => 100.0 / 16.0 * 0.7 / 20.0,
        "profiler-interval-ms" => {
            let (least_ns, most_ns) = Plan::published(&cpu, 0).interval_ns;
            us(least_ns.midpoint(most_ns)) / 1000.0
        }
        "profiler-pause-us" => us(Plan::published(&cpu, 0).pause_ns),
        "profiler-window-us" => us(Plan::published(&cpu, 0).window_ns),
        _ => bail!("{how:?} is no value"),
    })
}

fn khz(cpu: &CpuModel, active_cores: u32, level: u32) -> f64 {
    cpu.turbo.khz(cpu.turbo.row(active_cores), level as u8).into()
}

fn numbers<const N: usize>(text: &str) -> Result<[u32; N]> {
    let numbers: Vec<u32> = text.split(' ').map(str::parse).collect::<Result<_, _>>()?;
    match numbers.try_into() {
        Ok(numbers) => Ok(numbers),
        Err(_) => bail!("{text:?}: expected {N} numbers"),
    }
}

fn model(turbo: TurboMode) -> Result<CpuModel> {
    crate::machine::model(CPU, turbo == TurboMode::On)
}
