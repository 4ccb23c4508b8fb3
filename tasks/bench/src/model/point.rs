//! One run of the model, and its result.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

/// A central queue runs one task of this many.
const CENTRAL_PART: u64 = 20;

/// The program, scheduler and sizes of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub program: String,
    pub rules: String,
    pub workers: u64,
    /// Tasks, at least.
    tasks: u64,
    pub task_ns: u64,
}

/// A line of code whose steps waited.
#[derive(Clone, Debug)]
pub struct Site {
    pub place: String,
    pub misses: u64,
    pub moved_ps: u64,
    pub queued_ps: u64,
    pub locked_ps: u64,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Point {
    pub plan: Plan,
    pub tasks: u64,
    pub makespan_ps: u64,
    pub bodies: u64,
    /// Workers' time by activity.
    pub spent: Vec<(String, u64)>,
    pub sites: Vec<Site>,
}

/// An error, with the model's message, if the model does not know these rules.
pub fn check_rules(model: &Path, rules: &str) -> Result<()> {
    let output =
        Command::new(model).args(["--check", rules]).output().context("starting the model")?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "--rules: {}", told.trim_end());
    Ok(())
}

impl Plan {
    pub fn new(program: &str, rules: &str, workers: u64, tasks_each: u64, task_ns: u64) -> Self {
        let part = if rules.starts_with("central") { CENTRAL_PART } else { 1 };
        let tasks = (workers * tasks_each / part).max(1);
        Self { program: program.into(), rules: rules.into(), workers, tasks, task_ns }
    }

    /// Runs the program once, warmed up.
    pub fn run(&self, model: &Path) -> Result<Point> {
        let numbers = [self.workers, self.tasks, self.task_ns, 1].map(|number| number.to_string());
        let output = Command::new(model)
            .args([&self.program, &self.rules])
            .args(numbers)
            .output()
            .context("starting the model")?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            let Self { program, rules, workers, .. } = self;
            bail!(
                "{program} with {rules} on {workers} workers ended with {}: {told}",
                output.status
            );
        }
        let text = String::from_utf8(output.stdout).context("reading what the model says")?;
        self.read(&text).with_context(|| format!("reading what the model says:\n{text}"))
    }

    fn read(&self, text: &str) -> Option<Point> {
        let mut point = Point {
            plan: self.clone(),
            tasks: 0,
            makespan_ps: 0,
            bodies: 0,
            spent: Vec::new(),
            sites: Vec::new(),
        };
        for line in text.lines() {
            let words: Vec<&str> = line.split(',').collect();
            let number = |place: usize| words.get(place)?.parse::<u64>().ok();
            match words[0] {
                "tasks" => point.tasks = number(1)?,
                "bodies" => point.bodies = number(1)?,
                "makespan_ps" => point.makespan_ps = number(1)?,
                "spent" => point.spent.push((words.get(1)?.to_string(), number(2)?)),
                "site" => point.sites.push(Site {
                    place: words.get(1)?.to_string(),
                    misses: number(2)?,
                    moved_ps: number(3)?,
                    queued_ps: number(4)?,
                    locked_ps: number(5)?,
                }),
                _ => return None,
            }
        }
        (point.tasks > 0 && point.makespan_ps > 0).then_some(point)
    }
}

impl Point {
    fn all_ns(&self) -> f64 {
        (self.plan.workers * self.makespan_ps) as f64 / 1000.0
    }

    fn body_ns(&self) -> f64 {
        (self.bodies * self.plan.task_ns) as f64
    }

    /// All workers' time outside bodies, per task.
    pub fn cost_ns(&self) -> f64 {
        (self.all_ns() - self.body_ns()) / self.tasks as f64
    }

    /// Which part of all workers' time bodies have.
    pub fn efficiency(&self) -> f64 {
        self.body_ns() / self.all_ns()
    }

    /// For each task.
    pub fn each_ns(&self, time_ps: u64) -> f64 {
        time_ps as f64 / 1000.0 / self.tasks as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_task_is_the_time_of_all_workers_without_the_bodies() {
        let text = "tasks,4\nbodies,2\nmakespan_ps,600000\nspent,body,1000\nsite,a.rs:1,1,2,3,4\n";
        let point = Plan::new("chain", "tree", 2, 2, 500).read(text).unwrap();
        assert!((point.cost_ns() - 50.0).abs() < 1e-9);
        assert!((point.efficiency() - 1000.0 / 1200.0).abs() < 1e-9);
    }

    #[test]
    fn output_that_is_cut_short_is_refused() {
        assert!(Plan::new("chain", "tree", 2, 2, 500).read("tasks,4\nbodi").is_none());
    }
}
