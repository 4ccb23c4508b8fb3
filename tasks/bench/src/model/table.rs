//! The results as text.

use std::fmt::Write;

use anyhow::Result;

use super::point::Point;
use crate::peers::table::grouped;

/// Lines of code that are named in the summary.
const SITES: usize = 4;

/// For each program: the cost of a task by scheduler and workers, the activities that make up this
/// cost, and the lines of code that waited.
pub fn text(points: &[Point], programs: &[String], rules: &[&str], task_ns: u64) -> String {
    let mut text = String::from(
        "Predicted by the model of many workers, not measured: docs/decisions/0024.\n",
    );
    for program in programs {
        let own: Vec<&Point> = points.iter().filter(|p| p.plan.program == *program).collect();
        let _ = write!(
            text,
            "\n{program}, bodies of {task_ns} ns: ns of workers a task beside its body \
             (efficiency)\n"
        );
        text += &costs(&own, rules);
        let _ = writeln!(text, "\nWhere they went, ns a task{}", mean(&own));
        text += &spent(&own);
        text += "\nLines of code that waited longest: ns a task for lines on their way, for others \
                 before, for locks\n";
        text += &sites(&own);
    }
    text + "\n"
}

fn costs(points: &[&Point], rules: &[&str]) -> String {
    let mut workers: Vec<u64> = points.iter().map(|point| point.plan.workers).collect();
    workers.sort_unstable();
    workers.dedup();
    let mut text = format!("  {:<38}", "workers");
    workers.iter().for_each(|workers| _ = write!(text, " {:>18}", grouped(*workers)));
    for rules in rules {
        let _ = write!(text, "\n  {rules:<38}");
        for workers in &workers {
            let is_it = |p: &&&Point| p.plan.rules == *rules && p.plan.workers == *workers;
            let cell = points.iter().find(is_it).map_or(String::new(), |point| {
                format!("{:.0} ({:.0} %)", point.cost_ns(), 100.0 * point.efficiency())
            });
            let _ = write!(text, " {cell:>18}");
        }
    }
    text + "\n"
}

/// Mean length of a body over all tasks, if some tasks only create tasks.
fn mean(points: &[&Point]) -> String {
    let Some(point) = points.iter().max_by_key(|point| point.tasks) else { return String::new() };
    if point.bodies == point.tasks {
        return String::new();
    }
    let share = point.bodies as f64 / point.tasks as f64;
    format!(
        "; {:.0} % of the tasks have a body, of {} ns, and the others create: {:.0} ns in the mean",
        100.0 * share,
        point.plan.task_ns,
        share * point.plan.task_ns as f64
    )
}

fn title(point: &Point) -> String {
    format!("{} on {}", point.plan.rules, grouped(point.plan.workers))
}

fn spent(points: &[&Point]) -> String {
    let mut text = format!("  {:<46}", "");
    if let Some(first) = points.first() {
        first.spent.iter().for_each(|(name, _)| _ = write!(text, " {name:>10}"));
    }
    text += "\n";
    for point in points {
        let _ = write!(text, "  {:<46}", title(point));
        let each = point.spent.iter().map(|(_, time_ps)| point.each_ns(*time_ps));
        each.for_each(|ns| _ = write!(text, " {ns:>10.1}"));
        text += "\n";
    }
    text
}

fn sites(points: &[&Point]) -> String {
    let mut text = String::new();
    for point in points.iter().filter(|point| point.plan.workers > 1) {
        let _ = writeln!(text, "  {}", title(point));
        for site in point.sites.iter().take(SITES) {
            let [moved, queued, locked] =
                [site.moved_ps, site.queued_ps, site.locked_ps].map(|ps| point.each_ns(ps));
            let _ = writeln!(
                text,
                "    {:<26} {moved:>9.1} {queued:>9.1} {locked:>9.1}  {} times",
                site.place,
                grouped(site.misses)
            );
        }
    }
    text
}

/// A row for each run.
pub fn csv(points: &[Point]) -> Result<String> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let mut head = vec!["program", "rules", "workers", "task_ns", "tasks", "makespan_ps"];
    head.extend(points.iter().take(1).flat_map(|p| p.spent.iter().map(|(name, _)| name.as_str())));
    table.write_record(&head)?;
    for point in points {
        let plan = &point.plan;
        let mut row = vec![plan.program.clone(), plan.rules.clone()];
        row.extend(
            [plan.workers, plan.task_ns, point.tasks, point.makespan_ps].map(|n| n.to_string()),
        );
        row.extend(point.spent.iter().map(|(_, time_ps)| time_ps.to_string()));
        table.write_record(&row)?;
    }
    Ok(String::from_utf8(table.into_inner()?)?)
}

#[cfg(test)]
mod tests {
    use super::super::point::Plan;
    use super::*;

    #[test]
    fn the_mean_body_is_printed_where_some_tasks_have_none() {
        let plan = Plan::new("multiaxpy-noop", "tree", 1, 4, 500);
        let of = |bodies| Point {
            plan: plan.clone(),
            tasks: 4,
            makespan_ps: 1,
            bodies,
            spent: Vec::new(),
            sites: Vec::new(),
        };
        let told = mean(&[&of(2)]);
        assert!(told.contains("50 % of the tasks") && told.contains("of 500 ns"), "{told}");
        assert!(told.ends_with("250 ns in the mean"), "{told}");
        assert_eq!(mean(&[&of(4)]), "");
    }
}
