//! The jobs: programs, their parameters, and the runtimes that run them.

use super::build::sources;
use super::runtimes::Runtime;

/// Sizes of the works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Do all programs work? Most take some milliseconds.
    Quick,
    /// Work for two cores for some tenths of a second.
    Full,
}

/// A program and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    pub program: &'static str,
    pub parameters: Vec<(&'static str, i64)>,
    /// Whether the work needs a runtime with dependences between tasks.
    needs_dependences: bool,
}

impl Work {
    pub fn new(program: &'static str, parameters: &[(&'static str, i64)]) -> Self {
        let needs_dependences =
            matches!(program, "chain" | "blocks" | "cholesky") || parameters.contains(&DEPENDENCES);
        Self { program, parameters: parameters.to_vec(), needs_dependences }
    }

    /// A parameter by its name.
    pub fn parameter(&self, name: &str) -> Option<i64> {
        self.parameters.iter().find(|(n, _)| *n == name).map(|&(_, value)| value)
    }
}

const DEPENDENCES: (&str, i64) = ("dependences", 1);

/// Patterns of `taskbench`, by their number in `grid.h`.
pub const PATTERNS: [&str; 5] = ["trivial", "stencil", "fft", "tree", "random"];

/// All works, in the order of the tables.
pub fn works(size: Size) -> Vec<Work> {
    let pick = |full: i64, quick: i64| if size == Size::Full { full } else { quick };
    let mut works = vec![
        Work::new("independent", &[("tasks", pick(1_000_000, 100_000))]),
        Work::new("chain", &[("tasks", pick(1_000_000, 100_000))]),
        Work::new("blocks", &[("blocks", 1024), ("steps", pick(1000, 100))]),
        Work::new("tree", &[("depth", pick(19, 16))]),
        Work::new("fib", &[("n", pick(27, 22))]),
        Work::new("spawn-wait", &[("tasks", pick(200_000, 20_000))]),
        Work::new("fork-join", &[("regions", pick(5000, 1000)), ("size", 0)]),
        Work::new("fork-join", &[("regions", pick(5000, 1000)), ("size", 10_000)]),
        Work::new("nested", &[("times", pick(10_000, 1000)), ("depth", 20)]),
        Work::new("nqueens", &[("size", pick(12, 10))]),
        Work::new("sparselu", &[("blocks", pick(64, 32)), ("size", 8)]),
        Work::new("cholesky", &[("blocks", pick(96, 48)), ("size", 0)]),
    ];
    works.extend(cholesky(size));
    works.extend(multiaxpy_noop(size));
    for (dependences, iterations) in [(0, 1), (0, 10), DEPENDENCES_10] {
        let size_log2 = pick(22, 18) + if iterations == 1 { 2 } else { 0 };
        works.push(Work::new(
            "multiaxpy-recursive",
            &[
                ("size_log2", size_log2),
                ("block_log2", 9),
                ("iterations", iterations),
                ("dependences", dependences),
            ],
        ));
    }
    works.extend(taskbench(size));
    works
}

const DEPENDENCES_10: (i64, i64) = (DEPENDENCES.1, 10);

/// The same matrix in ever smaller tiles.
fn cholesky(size: Size) -> Vec<Work> {
    let (order, sizes): (i64, &[i64]) = match size {
        Size::Full => (1536, &[12, 24, 48, 96, 192, 384]),
        Size::Quick => (384, &[12, 24, 48, 96]),
    };
    let work = |&size: &i64| Work::new("cholesky", &[("blocks", order / size), ("size", size)]);
    sizes.iter().map(work).collect()
}

/// The same total work in ever smaller leaves.
pub fn multiaxpy_noop(size: Size) -> Vec<Work> {
    let (size_log2, blocks) = match size {
        Size::Full => (26, 8..=17),
        Size::Quick => (22, 8..=14),
    };
    let work = |block_log2| {
        let parameters = [("size_log2", size_log2), ("block_log2", block_log2), ("iterations", 10)];
        Work::new("multiaxpy-noop", &parameters)
    };
    blocks.map(work).collect()
}

/// Every pattern with ever longer work, for METG.
fn taskbench(size: Size) -> Vec<Work> {
    let (steps, logarithms): (i64, &[u32]) = match size {
        Size::Full => (250, &[6, 8, 10, 11, 12, 13, 14, 16]),
        Size::Quick => (50, &[6, 10, 12, 14, 16]),
    };
    let work = |pattern: usize, log2: u32| {
        let parameters = [
            ("pattern", pattern as i64),
            ("width", 64),
            ("steps", steps),
            ("iterations", 1 << log2),
        ];
        Work::new("taskbench", &parameters)
    };
    (0..PATTERNS.len()).flat_map(|p| logarithms.iter().map(move |&log2| work(p, log2))).collect()
}

/// A program, with its parameters, on a runtime.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    pub work: &'a Work,
    pub runtime: &'a Runtime,
}

/// All pairs of a work and a runtime with a source of the work's program.
pub fn jobs<'a>(works: &'a [Work], runtimes: &'a [Runtime]) -> Vec<Job<'a>> {
    let sources = sources();
    let has = |job: &Job| {
        let model = job.runtime.model;
        sources.join(model.source(job.work.program)).is_file()
            && (model.has_dependences() || !job.work.needs_dependences)
    };
    let all = works
        .iter()
        .flat_map(|work| runtimes.iter().map(move |runtime| Job { work, runtime }))
        .filter(has);
    all.collect()
}

#[cfg(test)]
mod tests {
    use super::super::runtimes::Model;
    use super::*;

    fn runtime(model: Model) -> Runtime {
        Runtime::new("any", model, false)
    }

    #[test]
    fn every_program_is_there_in_openmp() {
        for work in works(Size::Full) {
            let source = sources().join(Model::OpenmpGcc.source(work.program));
            assert!(source.is_file(), "{}", source.display());
        }
    }

    #[test]
    fn rayon_gets_no_work_that_needs_dependences() {
        let (works, runtimes) = (works(Size::Quick), [runtime(Model::Rayon)]);
        let jobs = jobs(&works, &runtimes);
        assert!(jobs.iter().any(|job| job.work.program == "multiaxpy-recursive"));
        assert!(jobs.iter().all(|job| !job.work.parameters.contains(&DEPENDENCES)));
    }

    #[test]
    fn cholesky_always_factorizes_the_same_matrix() {
        for size in [Size::Quick, Size::Full] {
            let mut orders: Vec<i64> =
                cholesky(size).iter().map(|w| w.parameters[0].1 * w.parameters[1].1).collect();
            orders.dedup();
            assert_eq!(orders.len(), 1);
        }
    }
}
