//! The results as text.

use super::{PolicyResult, Report};

/// A table of programs and policies, and what the figures are.
pub fn text(report: &Report) -> String {
    let mut lines = vec![head(report), String::new()];
    let names: Vec<&String> =
        report.policies.first().map(|it| it.overhead_pct.keys().collect()).unwrap_or_default();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(24);
    let row = |name: &str, cell: &dyn Fn(&PolicyResult) -> String| {
        let cells: String =
            report.policies.iter().map(|policy| format!("{:>15}", cell(policy))).collect();
        format!("{name:width$}{cells}")
    };
    lines.push(row("CPU time beyond, in %", &|it| it.policy.clone()));
    for name in &names {
        lines.push(row(name, &|it| percent(it.overhead_pct.get(*name).copied())));
    }
    if names.len() > 1 {
        lines.push(row("mean", &|it| percent(Some(it.mean_overhead_pct))));
    }
    lines.push(String::new());
    lines.push(row("delays of changes, %", &|it| format!("{:.2}", it.delays_pct)));
    lines.push(row("rises, 1/s of a core", &|it| format!("{:.0}", it.rises_per_s)));
    lines.push(row("time lost, by oracle's", &|it| format!("{:.2}", it.competitive_ratio)));
    lines.push(row("largest of a core", &|it| format!("{:.2}", it.worst_ratio)));
    lines.push(String::new());
    lines.push(break_even(report));
    lines.push(
        "CPU time beyond that at the clock of level 0 without any change; a program with wide \
         instructions of its own needs more under every policy."
            .to_owned(),
    );
    lines.extend(report.notes.iter().cloned());
    lines.join("\n") + "\n"
}

fn percent(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1}"))
}

fn head(report: &Report) -> String {
    let by = match &report.scheduler {
        Some(scheduler) => format!(", scheduled by {scheduler}"),
        None => String::new(),
    };
    format!(
        "Other frequency policies: {}{by}, on {} with {} active cores ({} MHz)",
        report.work,
        report.cpu,
        report.active_cores,
        report.mhz.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
    )
}

fn break_even(report: &Report) -> String {
    let level = |(index, us): (usize, &Option<f64>)| match us {
        Some(us) => format!("level {} {us:.0} us", index + 1),
        None => format!("level {} never", index + 1),
    };
    let levels: Vec<String> = report.break_even_us.iter().enumerate().map(level).collect();
    format!("Break-even times: {}.", levels.join(", "))
}
