//! Figures from samples: best, median and spread, and the ratio to the best peer.

use super::plan::Work;
use super::runtimes::Runtime;
use super::sample::{Numbers, Outcome, Sample};

/// All runtimes on the same work.
pub struct Group {
    pub work: Work,
    /// Sorted by the best time a task; runtimes without a time come last.
    pub rows: Vec<Row>,
}

/// One runtime on one work.
pub struct Row {
    pub runtime: String,
    pub is_ours: bool,
    /// None where every run failed.
    pub figures: Option<Figures>,
    /// Each way in which runs failed, and how many did.
    pub failures: Vec<(String, usize)>,
    /// Best time, and best CPU time, relative to those of the best peer.
    pub wall_ratio: Option<f64>,
    pub cpu_ratio: Option<f64>,
}

/// Figures of the runs that did not fail.
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

impl Figures {
    /// Seconds of the whole run, from a time per task in ns.
    pub fn seconds(&self, ns_a_task: f64) -> f64 {
        ns_a_task * self.tasks as f64 / 1e9
    }
}

/// How often a library under test is ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Works that the library and a peer did.
    pub works: usize,
    /// Works where the library's best time is less than any peer's.
    pub ahead: usize,
    /// Works where the library's best CPU time is less than any peer's.
    pub ahead_in_cpu: usize,
}

/// In how many works a library under test leads; a work where one of its runs failed is no lead.
pub fn standing(groups: &[Group], runtime: &str) -> Standing {
    let rows = || groups.iter().flat_map(|group| &group.rows).filter(|row| row.runtime == runtime);
    let ahead = |ratio: fn(&Row) -> Option<f64>| {
        let is_ahead = |row: &&Row| row.failures.is_empty() && ratio(row).is_some_and(|r| r < 1.0);
        rows().filter(is_ahead).count()
    };
    Standing {
        works: rows().filter(|row| row.wall_ratio.is_some() || row.figures.is_none()).count(),
        ahead: ahead(|row| row.wall_ratio),
        ahead_in_cpu: ahead(|row| row.cpu_ratio),
    }
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
    /// Needs at least one number, and none below 0.
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

/// Samples by work and by runtime; works without samples are left out.
pub fn groups(samples: &[Sample], works: &[Work], runtimes: &[Runtime]) -> Vec<Group> {
    let groups = works.iter().map(|work| group(work, samples, runtimes));
    groups.filter(|group| !group.rows.is_empty()).collect()
}

fn group(work: &Work, samples: &[Sample], runtimes: &[Runtime]) -> Group {
    let of_work: Vec<&Sample> = samples.iter().filter(|sample| sample.work == *work).collect();
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
    Group { work: work.clone(), rows }
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
        Runtime::new(name, Model::OpenmpGcc, is_ours)
    }

    fn sample(runtime: &str, wall_ns: u64) -> Sample {
        let numbers = Numbers { tasks: 10, wall_ns, cpu_ns: 2 * wall_ns, rss_kb: wall_ns };
        Sample {
            round: 1,
            work: Work::new("chain", &[]),
            runtime: runtime.to_string(),
            outcome: Outcome::Ok(numbers),
        }
    }

    fn crash(runtime: &str) -> Sample {
        Sample { outcome: Outcome::Failed("crashed".to_string()), ..sample(runtime, 1) }
    }

    fn only(samples: &[Sample]) -> Group {
        let runtimes = [runtime("a", false), runtime("b", false), runtime("ours", true)];
        let works = [Work::new("tree", &[]), Work::new("chain", &[])];
        let mut groups = groups(samples, &works, &runtimes);
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
    fn a_lead_is_counted_and_a_failure_is_none() {
        let ahead = only(&[sample("a", 200), sample("ours", 100)]);
        let behind = only(&[sample("a", 200), sample("ours", 300)]);
        let failed = only(&[sample("a", 200), sample("ours", 100), crash("ours")]);
        let standing = standing(&[ahead, behind, failed], "ours");
        assert_eq!(standing, Standing { works: 3, ahead: 1, ahead_in_cpu: 1 });
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
