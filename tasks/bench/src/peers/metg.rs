//! How short may tasks be before half of the machine is lost? METG(50 %), the metric of Task Bench
//! (Slaughter et al., SC 2020).
//!
//! A run's efficiency is its work per second, divided by that of the best run of any runtime with
//! as many threads; its granularity is the time that a task has on one thread. METG is the
//! granularity at which efficiency falls to one half.

use super::plan::PATTERNS;
use super::runtimes::Runtime;
use super::sample::{Outcome, Sample};

const HALF: f64 = 0.5;

/// METG of a runtime on a pattern.
pub struct Grain {
    pub pattern: &'static str,
    pub runtime: String,
    pub metg: Metg,
}

/// A granularity in ns, or the bound that the runs give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metg {
    At(f64),
    /// Even the shortest tasks that were tried were efficient.
    Below(f64),
    /// Not even the longest tasks were efficient.
    Above(f64),
    /// A run of the pattern failed.
    Failed,
}

/// One length of work.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    granularity_ns: f64,
    efficiency: f64,
}

/// All of them, by pattern and then in the order of the runtimes.
pub fn of(samples: &[Sample], runtimes: &[Runtime], threads: u32) -> Vec<Grain> {
    let peak = samples.iter().filter_map(work_per_ns).max_by(f64::total_cmp);
    let mut grains = Vec::new();
    for (number, &pattern) in PATTERNS.iter().enumerate() {
        for runtime in runtimes {
            let own: Vec<&Sample> = samples
                .iter()
                .filter(|s| {
                    s.runtime == runtime.name && s.work.parameter("pattern") == Some(number as i64)
                })
                .collect();
            let points = peak.map_or(Vec::new(), |peak| points(&own, threads, peak));
            let metg = match own.iter().all(|sample| sample.is_ok()) {
                true => metg(&points),
                false => Some(Metg::Failed),
            };
            if let Some(metg) = metg {
                grains.push(Grain { pattern, runtime: runtime.name.clone(), metg });
            }
        }
    }
    grains
}

/// Iterations of the kernel a nanosecond, of all threads together.
fn work_per_ns(sample: &Sample) -> Option<f64> {
    let (Outcome::Ok(numbers), Some(iterations)) =
        (&sample.outcome, sample.work.parameter("iterations").filter(|_| is_grid(sample)))
    else {
        return None;
    };
    Some(iterations as f64 * numbers.tasks as f64 / numbers.wall_ns as f64)
}

fn is_grid(sample: &Sample) -> bool {
    sample.work.program == "taskbench"
}

/// The best run of each length, from the longest work on.
fn points(samples: &[&Sample], threads: u32, peak: f64) -> Vec<Point> {
    let mut lengths: Vec<i64> =
        samples.iter().filter_map(|sample| sample.work.parameter("iterations")).collect();
    lengths.sort_unstable_by(|a, b| b.cmp(a));
    lengths.dedup();
    let best = |length: i64| {
        let of_length = samples.iter().filter(|s| s.work.parameter("iterations") == Some(length));
        let work = of_length.filter_map(|sample| work_per_ns(sample)).max_by(f64::total_cmp)?;
        let granularity_ns = length as f64 * f64::from(threads) / work;
        Some(Point { granularity_ns, efficiency: work / peak })
    };
    lengths.into_iter().filter_map(best).collect()
}

/// Where efficiency falls below one half for the first time, between two points in proportion to
/// the logarithm of their granularity. None without points.
fn metg(points: &[Point]) -> Option<Metg> {
    let (first, last) = (points.first()?, points.last()?);
    if first.efficiency < HALF {
        return Some(Metg::Above(first.granularity_ns));
    }
    let crossing = points.windows(2).find(|pair| pair[1].efficiency < HALF);
    let Some(&[long, short]) = crossing else {
        return Some(Metg::Below(last.granularity_ns));
    };
    let share = (long.efficiency - HALF) / (long.efficiency - short.efficiency);
    let (from, to) = (long.granularity_ns.ln(), short.granularity_ns.ln());
    Some(Metg::At((from + share * (to - from)).exp()))
}

#[cfg(test)]
mod tests {
    use super::super::plan::Work;
    use super::super::runtimes::Model;
    use super::super::sample::Numbers;
    use super::*;

    fn runtime() -> Runtime {
        Runtime::new("a", Model::Tbb, false)
    }

    fn point(granularity_ns: f64, efficiency: f64) -> Point {
        Point { granularity_ns, efficiency }
    }

    fn sample(iterations: i64, wall_ns: u64) -> Sample {
        let numbers = Numbers { tasks: 100, wall_ns, cpu_ns: 0, rss_kb: 0 };
        Sample {
            round: 1,
            work: Work::new("taskbench", &[("pattern", 1), ("iterations", iterations)]),
            runtime: "a".to_string(),
            outcome: Outcome::Ok(numbers),
        }
    }

    #[test]
    fn metg_is_where_efficiency_falls_to_one_half() {
        let points = [point(8000.0, 1.0), point(1000.0, 0.5), point(500.0, 0.2)];
        assert!(matches!(metg(&points), Some(Metg::At(at)) if (at - 1000.0).abs() < 1e-6));
    }

    #[test]
    fn between_two_points_it_is_interpolated_on_the_logarithm() {
        let points = [point(1600.0, 0.75), point(100.0, 0.25)];
        assert!(matches!(metg(&points), Some(Metg::At(at)) if (at - 400.0).abs() < 1e-6));
    }

    #[test]
    fn a_metg_beyond_the_runs_is_a_bound() {
        assert_eq!(metg(&[point(800.0, 0.4)]), Some(Metg::Above(800.0)));
        assert_eq!(metg(&[point(800.0, 0.9), point(90.0, 0.6)]), Some(Metg::Below(90.0)));
        assert_eq!(metg(&[]), None);
    }

    #[test]
    fn a_pattern_that_failed_once_has_no_metg() {
        let why = Outcome::Failed("crashed".to_string());
        let samples = [sample(1000, 1000), Sample { outcome: why, ..sample(1000, 1) }];
        assert_eq!(of(&samples, &[runtime()], 2)[0].metg, Metg::Failed);
    }

    #[test]
    fn a_constant_cost_a_task_gives_twice_that_cost() {
        // 100 tasks, 2 threads, an iteration a ns, and 500 ns of runtime a task.
        let wall = |iterations: i64| (iterations as u64 + 500) * 100 / 2;
        let lengths = [1 << 20, 2000, 1000, 500, 250, 125];
        let samples: Vec<Sample> = lengths.iter().map(|&l| sample(l, wall(l))).collect();
        let grains = of(&samples, &[runtime()], 2);
        assert_eq!(grains.len(), 1);
        assert_eq!(grains[0].pattern, "stencil");
        assert!(matches!(grains[0].metg, Metg::At(at) if (at - 1000.0).abs() < 5.0));
    }
}
