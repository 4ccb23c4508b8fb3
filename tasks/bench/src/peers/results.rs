//! Writes the results: each file whole, or not at all.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::sample::{Outcome, Sample};
use commands::whole_file;

/// Samples and summary.
pub fn write(folder: &Path, samples: &[Sample], summary: &str) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    whole_file::write(folder, "samples.csv", &csv(samples)?)?;
    whole_file::write(folder, "summary.txt", summary)
}

/// The page beside them.
pub fn write_page(folder: &Path, page: &str) -> Result<()> {
    whole_file::write(folder, "page.html", page)
}

/// Drawings by their names.
pub fn write_drawings(folder: &Path, drawings: &[(&str, String)]) -> Result<()> {
    drawings
        .iter()
        .try_for_each(|(name, drawing)| whole_file::write(folder, &format!("{name}.svg"), drawing))
}

/// Every run, in the order they were made.
fn csv(samples: &[Sample]) -> Result<String> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record([
        "round",
        "program",
        "parameters",
        "runtime",
        "outcome",
        "tasks",
        "wall_ns",
        "cpu_ns",
        "rss_kb",
    ])?;
    for Sample { round, work, runtime, outcome } in samples {
        let parameters: Vec<String> =
            work.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let (outcome, numbers) = match outcome {
            Outcome::Ok(n) => {
                ("ok", [n.tasks, n.wall_ns, n.cpu_ns, n.rss_kb].map(|n| n.to_string()))
            }
            Outcome::Failed(why) => (why.as_str(), [const { String::new() }; 4]),
        };
        let [tasks, wall_ns, cpu_ns, rss_kb] = &numbers;
        let (round, parameters) = (round.to_string(), parameters.join(" "));
        table.write_record([
            &round,
            work.program,
            &parameters,
            runtime,
            outcome,
            tasks,
            wall_ns,
            cpu_ns,
            rss_kb,
        ])?;
    }
    Ok(String::from_utf8(table.into_inner()?)?)
}

#[cfg(test)]
mod tests {
    use super::super::plan::Work;
    use super::*;

    #[test]
    fn a_failure_with_commas_stays_one_cell() {
        let sample = Sample {
            round: 1,
            work: Work::new("chain", &[("tasks", 9), ("depth", 2)]),
            runtime: "a".to_string(),
            outcome: Outcome::Failed("failed: tasks: 8, not 9".to_string()),
        };
        let text = csv(&[sample]).unwrap();
        let row = text.lines().nth(1).unwrap();
        assert_eq!(row, "1,chain,tasks=9 depth=2,a,\"failed: tasks: 8, not 9\",,,,");
        assert_eq!(row.replace("8, not", "8 not").matches(',').count(), 8);
    }
}
