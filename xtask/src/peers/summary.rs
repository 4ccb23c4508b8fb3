//! From samples to what is compared: best, median and spread, and the ratio to the best peer.

use super::runtimes::Runtime;
use super::sample::{Numbers, Outcome, Sample};

/// All runtimes on the same work.
pub struct Group {
    pub program: String,
    pub parameters: Vec<(String, i64)>,
    /// By the best time a task; those without one come last.
    pub rows: Vec<Row>,
}

impl Group {
    /// A parameter by its name.
    pub fn parameter(&self, name: &str) -> Option<i64> {
        self.parameters.iter().find(|(n, _)| n == name).map(|&(_, value)| value)
    }
}

/// One runtime on one work.
pub struct Row {
    pub runtime: String,
    pub is_ours: bool,
    /// None where every run failed.
    pub figures: Option<Figures>,
    /// Each way in which runs failed, and how many did.
    pub failures: Vec<(String, usize)>,
    /// Best time, and best CPU time, in those of the best peer.
    pub wall_ratio: Option<f64>,
    pub cpu_ratio: Option<f64>,
}

/// What the runs that went well say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    pub tasks: u64,
    /// ns a task.
    pub wall: Spread,
    /// ns a task, of the whole process.
    pub cpu: Spread,
    /// The most of any run.
    pub rss_kb: u64,
}

/// Some numbers in short.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub best: f64,
    pub median: f64,
    /// From the best to the worst, in medians.
    pub width: f64,
}

impl Spread {
    /// Of at least one number, none of them below 0.
    fn of(mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        let (best, worst) = (*numbers.first()?, *numbers.last()?);
        let middle = numbers.len() / 2;
        let median = if numbers.len() % 2 == 1 {
            numbers[middle]
        } else {
            (numbers[middle - 1] + numbers[middle]) / 2.0
        };
        let width = if median > 0.0 { (worst - best) / median } else { 0.0 };
        Some(Self { best, median, width })
    }
}

/// Samples by work, in the order of the works' first samples by name, and by runtime.
pub fn groups(samples: &[Sample], runtimes: &[Runtime]) -> Vec<Group> {
    let mut works: Vec<(&str, &[(String, i64)])> = Vec::new();
    for sample in samples {
        let work = (sample.program.as_str(), sample.parameters.as_slice());
        if !works.contains(&work) {
            works.push(work);
        }
    }
    works.sort();
    works.into_iter().map(|work| group(work, samples, runtimes)).collect()
}

fn group(
    (program, parameters): (&str, &[(String, i64)]),
    samples: &[Sample],
    runtimes: &[Runtime],
) -> Group {
    let of_work: Vec<&Sample> =
        samples.iter().filter(|s| s.program == program && s.parameters == parameters).collect();
    let mut rows: Vec<Row> = runtimes
        .iter()
        .filter_map(|runtime| {
            let own: Vec<&Sample> =
                of_work.iter().copied().filter(|s| s.runtime == runtime.name).collect();
            (!own.is_empty()).then(|| row(runtime, &own))
        })
        .collect();
    compare(&mut rows);
    let best = |row: &Row| row.figures.map_or(f64::INFINITY, |figures| figures.wall.best);
    rows.sort_by(|a, b| best(a).total_cmp(&best(b)));
    Group { program: program.to_string(), parameters: parameters.to_vec(), rows }
}

fn row(runtime: &Runtime, samples: &[&Sample]) -> Row {
    let mut good: Vec<Numbers> = Vec::new();
    let mut failures: Vec<(String, usize)> = Vec::new();
    for sample in samples {
        match &sample.outcome {
            Outcome::Ok(numbers) => good.push(*numbers),
            Outcome::Failed(why) => match failures.iter_mut().find(|(known, _)| known == why) {
                Some((_, count)) => *count += 1,
                None => failures.push((why.clone(), 1)),
            },
        }
    }
    Row {
        runtime: runtime.name.clone(),
        is_ours: runtime.is_ours,
        figures: figures(&good),
        failures,
        wall_ratio: None,
        cpu_ratio: None,
    }
}

fn figures(good: &[Numbers]) -> Option<Figures> {
    let a_task = |ns: fn(&Numbers) -> u64| {
        Spread::of(good.iter().map(|n| ns(n) as f64 / n.tasks as f64).collect())
    };
    Some(Figures {
        tasks: good.first()?.tasks,
        wall: a_task(|numbers| numbers.wall_ns)?,
        cpu: a_task(|numbers| numbers.cpu_ns)?,
        rss_kb: good.iter().map(|numbers| numbers.rss_kb).max()?,
    })
}

/// Fills in the ratios. A row with failures is no yardstick.
fn compare(rows: &mut [Row]) {
    let best = |value: fn(&Figures) -> f64| {
        rows.iter()
            .filter(|row| !row.is_ours && row.failures.is_empty())
            .filter_map(|row| row.figures.as_ref().map(value))
            .min_by(f64::total_cmp)
            .filter(|&best| best > 0.0)
    };
    let (wall, cpu) = (best(|figures| figures.wall.best), best(|figures| figures.cpu.best));
    for row in rows {
        row.wall_ratio = row.figures.zip(wall).map(|(figures, best)| figures.wall.best / best);
        row.cpu_ratio = row.figures.zip(cpu).map(|(figures, best)| figures.cpu.best / best);
    }
}

#[cfg(test)]
mod tests {
    use super::super::runtimes::Model;
    use super::*;

    fn runtime(name: &str, is_ours: bool) -> Runtime {
        Runtime { name: name.to_string(), model: Model::OpenmpGcc, library: None, is_ours }
    }

    fn sample(runtime: &str, wall_ns: u64) -> Sample {
        let numbers = Numbers { tasks: 10, wall_ns, cpu_ns: 2 * wall_ns, rss_kb: wall_ns };
        Sample {
            round: 1,
            program: "chain".to_string(),
            parameters: Vec::new(),
            runtime: runtime.to_string(),
            outcome: Outcome::Ok(numbers),
        }
    }

    fn crash(runtime: &str) -> Sample {
        Sample { outcome: Outcome::Failed("crashed".to_string()), ..sample(runtime, 1) }
    }

    fn only(samples: &[Sample]) -> Group {
        let runtimes = [runtime("a", false), runtime("b", false), runtime("ours", true)];
        let mut groups = groups(samples, &runtimes);
        assert_eq!(groups.len(), 1);
        groups.remove(0)
    }

    #[test]
    fn figures_are_times_a_task() {
        let group = only(&[sample("a", 300), sample("a", 100), sample("a", 200)]);
        let figures = group.rows[0].figures.unwrap();
        assert_eq!(figures.wall, Spread { best: 10.0, median: 20.0, width: 1.0 });
        assert_eq!((figures.cpu.best, figures.rss_kb), (20.0, 300));
    }

    #[test]
    fn the_median_of_two_is_between_them() {
        assert_eq!(Spread::of(vec![4.0, 2.0]).unwrap().median, 3.0);
        assert_eq!(Spread::of(Vec::new()), None);
    }

    #[test]
    fn ours_is_compared_with_the_best_peer_and_is_none() {
        let group = only(&[sample("a", 200), sample("b", 400), sample("ours", 100)]);
        let ratios: Vec<_> = group.rows.iter().map(|r| (&*r.runtime, r.wall_ratio)).collect();
        assert_eq!(ratios, [("ours", Some(0.5)), ("a", Some(1.0)), ("b", Some(2.0))]);
    }

    #[test]
    fn a_runtime_that_fails_stays_in_the_table_and_is_no_yardstick() {
        let group = only(&[sample("a", 100), crash("a"), sample("b", 400), crash("ours")]);
        let ratios: Vec<_> = group.rows.iter().map(|r| (&*r.runtime, r.wall_ratio)).collect();
        assert_eq!(ratios, [("a", Some(0.25)), ("b", Some(1.0)), ("ours", None)]);
        assert_eq!(group.rows[0].failures, [("crashed".to_string(), 1)]);
        assert!(group.rows[2].figures.is_none());
    }
}
