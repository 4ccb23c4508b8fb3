//! Grids: a work, and what varies.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::{files, scx_source};

/// Version of the file's form.
const SCHEMA: u32 = 1;
/// More points than anyone has hours for.
const POINTS_MAX: usize = 100_000_000;
const STEPS: std::ops::RangeInclusive<u32> = 2..=1_000_000;

/// A grid, as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    compare: Option<String>,
    mixes: Option<u32>,
    schedulers: Vec<String>,
    replicates: Option<u32>,
    #[serde(default)]
    axis: Vec<AxisOfFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AxisOfFile {
    set: String,
    values: Option<Vec<f64>>,
    from: Option<f64>,
    to: Option<f64>,
    steps: Option<u32>,
}

/// A setting or parameter, and its values.
#[derive(Debug)]
pub struct Axis {
    pub set: String,
    pub values: Vec<f64>,
}

/// What a grid varies.
#[derive(Debug)]
pub enum Of {
    /// A work, as the arguments of `evenkeel compare` name it.
    Compare(String),
    /// Random program mixes; the first axis is their seeds.
    Mixes,
}

/// The name of the axis of mixes.
const MIX: &str = "mix";
const MIXES: std::ops::RangeInclusive<u32> = 1..=10_000;

/// A grid.
#[derive(Debug)]
pub struct Grid {
    pub of: Of,
    pub schedulers: Vec<String>,
    pub replicates: Option<u32>,
    pub axes: Vec<Axis>,
    /// Where paths start.
    pub folder: PathBuf,
    digest: u64,
}

impl Grid {
    /// Reads a grid.
    pub fn read(path: &Path) -> Result<Self> {
        let text = files::read_text(path)?;
        let name = path.display().to_string();
        let file: File = toml::from_str(&text).with_context(|| name.clone())?;
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Self::new(file, &text, folder).context(name)
    }

    fn new(file: File, text: &str, folder: PathBuf) -> Result<Self> {
        ensure!(file.schema == SCHEMA, "`schema`: expected {SCHEMA}");
        ensure!(!file.schedulers.is_empty(), "`schedulers`: name at least one");
        let counts = file.replicates.is_none_or(|count| (1..=10_000).contains(&count));
        ensure!(counts, "`replicates`: expected 1 to 10000");
        let mut axes: Vec<Axis> = file.axis.into_iter().map(Axis::new).collect::<Result<_>>()?;
        let of = match (file.compare, file.mixes) {
            (Some(arguments), None) => Of::Compare(arguments),
            (None, Some(mixes)) => {
                ensure!(MIXES.contains(&mixes), "`mixes`: expected 1 to {}", MIXES.end());
                let seeds = (0..mixes).map(|index| scenarios::development_seed(index) as f64);
                axes.insert(0, Axis { set: MIX.to_owned(), values: seeds.collect() });
                Of::Mixes
            }
            _ => bail!("name one of `compare` and `mixes`"),
        };
        for (index, axis) in axes.iter().enumerate() {
            let is_new = axes[..index].iter().all(|other| other.set != axis.set);
            ensure!(is_new, "`axis`: {:?} is named twice", axis.set);
        }
        let arguments = if let Of::Compare(arguments) = &of { arguments } else { "" };
        let digest = digest(text, &files_of(arguments, &file.schedulers, &folder));
        let grid = Self {
            of,
            schedulers: file.schedulers,
            replicates: file.replicates,
            axes,
            folder,
            digest,
        };
        let sizes = grid.axes.iter().map(|axis| axis.values.len());
        let points = sizes.chain([grid.schedulers.len()]).try_fold(1, usize::checked_mul);
        let fits = points.is_some_and(|points| points <= POINTS_MAX);
        ensure!(fits, "more than {POINTS_MAX} points");
        Ok(grid)
    }

    /// Names the grid and the version that runs it.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Number of points.
    pub fn points(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).product::<usize>() * self.schedulers.len()
    }

    /// The value of each axis at a point, and its scheduler, which varies fastest.
    pub fn at(&self, point: usize) -> (Vec<f64>, &str) {
        let scheduler = &self.schedulers[point % self.schedulers.len()];
        let mut rest = point / self.schedulers.len();
        let mut values = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            values.push(axis.values[rest % axis.values.len()]);
            rest /= axis.values.len();
        }
        values.reverse();
        (values, scheduler)
    }
}

/// Names a grid, the files of its work, and the version, all of which may change what a point is.
fn digest(text: &str, files: &[Vec<u8>]) -> u64 {
    let version = concat!(env!("CARGO_PKG_VERSION"), " ", env!("EVENKEEL_COMMIT"));
    let files = files.iter().flatten().copied();
    random::fnv1a(text.bytes().chain(version.bytes()).chain(files))
}

/// The contents of the files that the arguments and schedulers name: scenarios, recordings, CPU
/// tables, marks, sources.
fn files_of(arguments: &str, schedulers: &[String], folder: &Path) -> Vec<Vec<u8>> {
    let words = shlex::split(arguments).unwrap_or_default();
    let values = words.iter().filter_map(|word| word.rsplit('=').next());
    let sources = schedulers.iter().filter_map(|name| scx_source::file_of(name));
    let names = values.chain(sources);
    names.filter_map(|name| std::fs::read(folder.join(name)).ok()).collect()
}

impl Axis {
    fn new(file: AxisOfFile) -> Result<Self> {
        let AxisOfFile { set, values, from, to, steps } = file;
        let is_name = !set.is_empty() && !set.contains(['=', ',', '"']);
        ensure!(is_name, "`axis.set`: expected the name of a setting or of a parameter");
        let values = match (values, from, to, steps) {
            (Some(values), None, None, None) => values,
            (None, Some(from), Some(to), Some(steps)) if STEPS.contains(&steps) => {
                let step = (to - from) / f64::from(steps - 1);
                (0..steps).map(|at| from + f64::from(at) * step).collect()
            }
            _ => anyhow::bail!(
                "`axis` {set:?}: expected `values`, or `from`, `to` and 2 to a million `steps`"
            ),
        };
        let is_ok = !values.is_empty() && values.iter().all(|value| value.is_finite());
        ensure!(is_ok, "`axis` {set:?}: expected finite numbers");
        Ok(Self { set, values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Result<Grid> {
        Grid::new(toml::from_str(text)?, text, PathBuf::new())
    }

    const HEAD: &str = "schema = 1\ncompare = \"x\"\nschedulers = [\"cfs\", \"even\"]\n";

    #[test]
    fn points_are_all_combinations_with_the_scheduler_fastest() {
        let axes = "axis = [{ set = \"a\", values = [1, 2] }, \
                    { set = \"b\", from = 0, to = 1, steps = 3 }]";
        let grid = grid(&format!("{HEAD}{axes}")).unwrap();
        assert_eq!(grid.points(), 12);
        assert_eq!(grid.at(0), (vec![1.0, 0.0], "cfs"));
        assert_eq!(grid.at(3), (vec![1.0, 0.5], "even"));
        assert_eq!(grid.at(11), (vec![2.0, 1.0], "even"));
    }

    #[test]
    fn mistakes_are_named() {
        for (axes, said) in [
            ("axis = [{ set = \"a\" }]", "`values`, or `from`"),
            ("axis = [{ set = \"a\", values = [] }]", "finite numbers"),
            ("axis = [{ set = \"a=b\", values = [1] }]", "the name of a setting"),
            ("axis = [{ set = \"a\", values = [1] }, { set = \"a\", values = [1] }]", "twice"),
            ("replicates = 0", "1 to 10000"),
        ] {
            let error = format!("{:#}", grid(&format!("{HEAD}{axes}")).unwrap_err());
            assert!(error.contains(said), "{axes}: {error}");
        }
        let steps = "axis = [{ set = \"a\", from = 0, to = 1, steps = 4000000000 }]";
        assert!(grid(&format!("{HEAD}{steps}")).is_err());
    }
}
