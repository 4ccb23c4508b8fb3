//! The results as text.

use std::fmt::Write;

use super::metg::{Grain, Metg};
use super::plan::PATTERNS;
use super::summary::{Group, Row};

/// A table for each work.
pub fn groups(groups: &[Group]) -> String {
    let mut text = String::new();
    for group in groups {
        let _ = writeln!(text, "{}", title(group));
        let _ = writeln!(
            text,
            "  {:<14} {:>10} {:>10} {:>7} {:>10} {:>8} {:>9} {:>9}",
            "", "best ns", "median", "spread", "cpu ns", "RSS MB", "x best", "x cpu"
        );
        for row in &group.rows {
            let _ = writeln!(text, "  {}", line(row));
        }
        text += "\n";
    }
    text
}

/// A group's program, parameters and tasks.
pub fn title(group: &Group) -> String {
    let mut title = group.program.clone();
    for (name, value) in &group.parameters {
        match (name.as_str(), PATTERNS.get(*value as usize)) {
            ("pattern", Some(pattern)) => title += &format!(" {pattern}"),
            _ => title += &format!(" {name}={value}"),
        }
    }
    let tasks = group.rows.iter().find_map(|row| row.figures).map(|figures| figures.tasks);
    title + &tasks.map_or(String::new(), |tasks| format!(" ({} tasks)", grouped(tasks)))
}

fn line(row: &Row) -> String {
    let failures = failures(row);
    let Some(figures) = row.figures else {
        return format!("{:<14} {failures}", row.runtime);
    };
    let line = format!(
        "{:<14} {:>10} {:>10} {:>6.0}% {:>10} {:>8} {:>9} {:>9}  {failures}",
        row.runtime,
        ns(figures.wall.best),
        ns(figures.wall.median),
        100.0 * figures.wall.width,
        ns(figures.cpu.median),
        megabytes(figures.rss_kb),
        ratio(row.wall_ratio),
        ratio(row.cpu_ratio),
    );
    line.trim_end().to_string()
}

/// Every way in which runs failed, with how many did; nothing where none did.
pub fn failures(row: &Row) -> String {
    let each = row.failures.iter().map(|(why, count)| match count {
        1 => why.clone(),
        many => format!("{many} times {why}"),
    });
    each.collect::<Vec<_>>().join("; ")
}

/// METG, a column for each pattern.
pub fn grains(grains: &[Grain]) -> String {
    if grains.is_empty() {
        return String::new();
    }
    let mut text = "METG(50 %) in ns\n".to_string();
    let _ = write!(text, "  {:<14}", "");
    for pattern in PATTERNS {
        let _ = write!(text, " {pattern:>10}");
    }
    text += "\n";
    for (runtime, cells) in grain_rows(grains) {
        let _ = write!(text, "  {runtime:<14}");
        for cell in cells {
            let _ = write!(text, " {cell:>10}");
        }
        text += "\n";
    }
    text + "\n"
}

/// METG by runtime, in the order of the patterns.
pub fn grain_rows(grains: &[Grain]) -> Vec<(String, Vec<String>)> {
    let mut runtimes: Vec<&str> = grains.iter().map(|grain| grain.runtime.as_str()).collect();
    runtimes.sort_unstable();
    runtimes.dedup();
    let cell = |runtime: &str, pattern: &str| {
        let grain = grains.iter().find(|g| g.runtime == runtime && g.pattern == pattern);
        grain.map_or("-".to_string(), |grain| match grain.metg {
            Metg::At(at) => ns(at),
            Metg::Below(bound) => format!("< {}", ns(bound)),
            Metg::Above(bound) => format!("> {}", ns(bound)),
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
pub fn megabytes(kb: u64) -> String {
    ns(kb as f64 / 1024.0)
}

/// How many times as much.
pub fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or("-".to_string(), |ratio| format!("{ratio:.2}"))
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
    use super::*;

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
    fn a_run_that_failed_is_in_the_table_with_why() {
        let row = Row {
            runtime: "a".to_string(),
            is_ours: false,
            figures: None,
            failures: vec![("timed out".to_string(), 2), ("crashed: signal 6".to_string(), 1)],
            wall_ratio: None,
            cpu_ratio: None,
        };
        assert_eq!(line(&row), "a              2 times timed out; crashed: signal 6");
    }

    #[test]
    fn a_bound_is_told_as_one() {
        let grain = |pattern, metg| Grain { pattern, runtime: "a".to_string(), metg };
        let text = grains(&[
            grain("trivial", Metg::Below(40.0)),
            grain("fft", Metg::Above(9000.0)),
            grain("tree", Metg::At(700.4)),
        ]);
        let row = text.lines().nth(2).unwrap();
        let cells: Vec<&str> = row.split("  ").filter(|cell| !cell.is_empty()).collect();
        assert_eq!(cells.join("|").replace(' ', ""), "a|<40.0|-|>9,000|700|-");
    }
}
