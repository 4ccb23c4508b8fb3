//! The results as text.

use std::fmt::Write;

use super::chart::{Sweep, sweeps};
use super::metg::{Grain, Metg};
use super::plan::PATTERNS;
use super::summary::{Figures, Group, Row, Spread};

/// All tables: one for each work, one for each series of works, METG, and the failures in a
/// series.
pub fn text(groups: &[Group], grains: &[Grain]) -> String {
    let mut text = String::new();
    for group in groups.iter().filter(|group| is_alone(group)) {
        text += &work(group);
    }
    for sweep in sweeps() {
        text += &series(sweep, groups);
    }
    text += &metg(grains);
    text + &failed_in_series(groups)
}

/// How runs failed that have no table of their own, each way once.
fn failed_in_series(groups: &[Group]) -> String {
    let mut ways: Vec<(String, usize)> = Vec::new();
    for group in groups.iter().filter(|group| !is_alone(group)) {
        for row in &group.rows {
            for (why, count) in &row.failures {
                let way = format!("{} on {}: {why}", group.work.program, row.runtime);
                match ways.iter_mut().find(|(known, _)| *known == way) {
                    Some((_, known)) => *known += count,
                    None => ways.push((way, *count)),
                }
            }
        }
    }
    ways.into_iter().map(|(way, count)| format!("{way} ({count} runs)\n")).collect()
}

/// Whether a work has a table of its own, as no point of a drawing and no run of METG.
pub fn is_alone(group: &Group) -> bool {
    group.work.program != "taskbench" && sweeps().iter().all(|sweep| sweep.block(group).is_none())
}

fn work(group: &Group) -> String {
    let heads =
        ["best", "median", "spread", "cpu best", "median", "spread", "RSS MB", "x best", "x cpu"];
    let mut text = format!("{}, ns a task, less is better\n  {:<14}", title(group), "");
    for head in heads {
        let _ = write!(text, " {head:>9}");
    }
    text += "\n";
    for row in &group.rows {
        let _ = writeln!(text, "  {}", line(row));
    }
    text + "\n"
}

/// A group's program, parameters and tasks.
pub fn title(group: &Group) -> String {
    format!("{}{}", group.work.program, parameters(group))
}

/// The text after the program's name in a title.
pub fn parameters(group: &Group) -> String {
    let mut text = String::new();
    for &(name, value) in &group.work.parameters {
        text += &match (name, usize::try_from(value).ok().and_then(|at| PATTERNS.get(at))) {
            ("pattern", Some(pattern)) => format!(" {pattern}"),
            _ => format!(" {name}={}", grouped(value.unsigned_abs())),
        };
    }
    let tasks = group.rows.iter().find_map(|row| row.figures).map(|figures| figures.tasks);
    text + &tasks.map_or(String::new(), |tasks| format!(" ({} tasks)", grouped(tasks)))
}

fn line(row: &Row) -> String {
    let mut line = format!("{:<14}", row.runtime);
    for cell in cells(row).unwrap_or_default() {
        let _ = write!(line, " {cell:>9}");
    }
    format!("{line}  {}", failures(row)).trim_end().to_string()
}

/// Time, CPU time, memory and both ratios of a row that has them.
pub fn cells(row: &Row) -> Option<[String; 9]> {
    let Figures { wall, cpu, rss_kb, .. } = row.figures?;
    let percent = |spread: Spread| format!("{:.0}%", 100.0 * spread.width);
    Some([
        ns(wall.best),
        ns(wall.median),
        percent(wall),
        ns(cpu.best),
        ns(cpu.median),
        percent(cpu),
        megabytes(rss_kb),
        ratio(row.wall_ratio),
        ratio(row.cpu_ratio),
    ])
}

/// Every way in which runs failed, with how many did; nothing where none did.
pub fn failures(row: &Row) -> String {
    let each = row.failures.iter().map(|(why, count)| match count {
        1 => why.clone(),
        many => format!("{many} times {why}"),
    });
    each.collect::<Vec<_>>().join("; ")
}

/// Best seconds of a series, a line for each runtime and a column for each size of block.
fn series(sweep: &Sweep, groups: &[Group]) -> String {
    let mut columns: Vec<(i64, &Group)> =
        groups.iter().filter_map(|group| Some((sweep.block(group)?, group))).collect();
    columns.sort_by_key(|column| column.0);
    let mut runtimes: Vec<&str> = Vec::new();
    for row in columns.iter().flat_map(|(_, group)| &group.rows) {
        if !runtimes.contains(&row.runtime.as_str()) {
            runtimes.push(&row.runtime);
        }
    }
    if columns.is_empty() {
        return String::new();
    }
    let mut text = format!("{}, best seconds, less is better\n  {:<14}", sweep.title, "");
    for (block, _) in &columns {
        let _ = write!(text, " {:>9}", grouped(block.unsigned_abs()));
    }
    for runtime in runtimes {
        let _ = write!(text, "\n  {runtime:<14}");
        for (_, group) in &columns {
            let row = group.rows.iter().find(|row| row.runtime == runtime);
            let cell = row.map_or("-".to_string(), |row| match row.figures {
                _ if !row.failures.is_empty() => "failed".to_string(),
                Some(figures) => format!("{:.4}", figures.seconds(figures.wall.best)),
                None => "-".to_string(),
            });
            let _ = write!(text, " {cell:>9}");
        }
    }
    text + "\n\n"
}

/// METG, a column for each pattern.
fn metg(grains: &[Grain]) -> String {
    if grains.is_empty() {
        return String::new();
    }
    let mut text = format!("METG(50 %) in ns, less is better\n  {:<14}", "");
    for pattern in PATTERNS {
        let _ = write!(text, " {pattern:>10}");
    }
    for (runtime, cells) in metg_rows(grains) {
        let _ = write!(text, "\n  {runtime:<14}");
        for cell in cells {
            let _ = write!(text, " {cell:>10}");
        }
    }
    text + "\n\n"
}

/// METG by runtime, in the order of the patterns.
pub fn metg_rows(grains: &[Grain]) -> Vec<(String, Vec<String>)> {
    let mut runtimes: Vec<&str> = Vec::new();
    for grain in grains {
        if !runtimes.contains(&grain.runtime.as_str()) {
            runtimes.push(&grain.runtime);
        }
    }
    let cell = |runtime: &str, pattern: &str| {
        let grain = grains.iter().find(|g| g.runtime == runtime && g.pattern == pattern);
        grain.map_or("-".to_string(), |grain| match grain.metg {
            Metg::At(at) => ns(at),
            Metg::Below(bound) => format!("< {}", ns(bound)),
            Metg::Above(bound) => format!("> {}", ns(bound)),
            Metg::Failed => "failed".to_string(),
        })
    };
    let row = |runtime: &str| PATTERNS.iter().map(|pattern| cell(runtime, pattern)).collect();
    runtimes.into_iter().map(|runtime| (runtime.to_string(), row(runtime))).collect()
}

/// Nanoseconds in three digits or more.
pub fn ns(value: f64) -> String {
    match value {
        v if v < 10.0 => format!("{v:.2}"),
        v if v < 100.0 => format!("{v:.1}"),
        v => grouped(v.round() as u64),
    }
}

/// Memory in MB of 1024 KB.
fn megabytes(kb: u64) -> String {
    ns(kb as f64 / 1024.0)
}

/// How many times as much.
fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or("-".to_string(), |ratio| match ratio {
        ..0.0995 => short(ratio),
        _ => format!("{ratio:.2}"),
    })
}

/// A ratio in about two digits, however small.
pub fn short(ratio: f64) -> String {
    match ratio {
        9.95.. => grouped(ratio.round() as u64),
        0.995.. => format!("{ratio:.1}"),
        0.0.. if ratio > 0.0 => {
            let zeros = (-ratio.log10()).floor() as usize;
            // Rounding up may add a digit on the left.
            let text = format!("{ratio:.*}", zeros + 2);
            let digits = text.trim_start_matches(['0', '.']).len();
            if digits > 2 { format!("{ratio:.*}", zeros + 1) } else { text }
        }
        _ => format!("{ratio:.1}"),
    }
}

/// A number with its thousands apart.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::plan::Work;
    use super::*;

    fn broken(work: Work) -> Group {
        let row = Row {
            runtime: "a".to_string(),
            is_ours: false,
            figures: None,
            failures: vec![("timed out".to_string(), 2), ("crashed: signal 6".to_string(), 1)],
            wall_ratio: None,
            cpu_ratio: None,
        };
        Group { work, rows: vec![row] }
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_048_575), "1,048,575");
    }

    #[test]
    fn small_times_keep_their_digits() {
        assert_eq!([ns(3.456), ns(34.56), ns(345.6), ns(3456.0)], ["3.46", "34.6", "346", "3,456"]);
    }

    #[test]
    fn ratios_have_about_two_digits() {
        let shorts = [1.04, 9.96, 1234.5, 0.43, 0.99, 0.0304, 0.0996, 0.00041, 0.0].map(short);
        assert_eq!(
            shorts,
            ["1.0", "10", "1,235", "0.43", "0.99", "0.030", "0.10", "0.00041", "0.0"]
        );
        let ratios = [Some(3.4), Some(0.1), Some(0.004), None].map(ratio);
        assert_eq!(ratios, ["3.40", "0.10", "0.0040", "-"]);
    }

    #[test]
    fn a_failure_is_printed_in_each_table_that_it_belongs_to() {
        let works = [
            Work::new("chain", &[("tasks", 9)]),
            Work::new("cholesky", &[("blocks", 2), ("size", 8)]),
            Work::new("taskbench", &[("pattern", 1), ("iterations", 64)]),
        ];
        for work in works {
            let text = text(&[broken(work)], &[]);
            assert!(text.contains("timed out") && text.contains("crashed: signal 6"), "{text}");
        }
    }

    #[test]
    fn a_bound_is_printed_as_a_bound() {
        let grain = |pattern, metg| Grain { pattern, runtime: "a".to_string(), metg };
        let text = metg(&[
            grain("trivial", Metg::Below(40.0)),
            grain("fft", Metg::Above(9000.0)),
            grain("tree", Metg::At(700.4)),
        ]);
        let row = text.lines().nth(2).unwrap();
        let cells: Vec<&str> = row.split("  ").filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells.join("|").replace(' ', ""), "a|<40.0|-|>9,000|700|-");
    }
}
