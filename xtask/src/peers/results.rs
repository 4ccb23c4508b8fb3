//! Writes the results: each file whole, or not at all.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result};

use super::sample::{Outcome, Sample};

/// Samples, summary and page.
pub fn write(folder: &Path, samples: &[Sample], summary: &str, page: &str) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    write_file(folder, "samples.csv", &csv(samples)?)?;
    write_file(folder, "summary.txt", summary)?;
    write_file(folder, "page.html", page)
}

/// Drawings by their names.
pub fn write_drawings(folder: &Path, drawings: &[(&str, String)]) -> Result<()> {
    drawings
        .iter()
        .try_for_each(|(name, drawing)| write_file(folder, &format!("{name}.svg"), drawing))
}

fn write_file(folder: &Path, name: &str, text: &str) -> Result<()> {
    let path = folder.join(name);
    let write = || -> Result<()> {
        let mut file = tempfile::Builder::new()
            .prefix(name)
            .permissions(fs::Permissions::from_mode(0o666))
            .tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(&path)?;
        Ok(())
    };
    write().with_context(|| format!("writing {}", path.display()))
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

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        write_file(folder.path(), "a.txt", "long").unwrap();
        write_file(folder.path(), "a.txt", "b").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a.txt")).unwrap(), "b");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
