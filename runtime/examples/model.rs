//! Runs a program on virtual workers; `cargo xtask model` builds and calls it.

fn main() {
    #[cfg(evenkeel_model)]
    model::main();
}

#[cfg(evenkeel_model)]
mod model {
    use std::str::FromStr;

    use evenkeel_runtime::model::{Costs, NAMES, Setting, run};

    const USAGE: &str = "model PROGRAM RULES WORKERS TASKS BODY_NS WARM";

    fn number<T: FromStr>(text: &str) -> Result<T, String> {
        text.parse().map_err(|_| format!("`{text}` is no number that fits"))
    }

    fn setting() -> Result<Setting, String> {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let [program, rules, workers, tasks, body_ns, warm] = &words[..] else {
            return Err(format!("usage: {USAGE}"));
        };
        Ok(Setting {
            program: program.parse()?,
            workers: number(workers)?,
            tasks: number(tasks)?,
            body_ns: number(body_ns)?,
            rules: rules.parse().map_err(|error| format!("{error}"))?,
            costs: Costs::default(),
            warm: number(warm)?,
        })
    }

    pub fn main() {
        let setting = setting().unwrap_or_else(|why| {
            eprintln!("{why}");
            std::process::exit(2);
        });
        let outcome = run(&setting);
        println!("tasks,{}", outcome.tasks);
        println!("bodies,{}", outcome.bodies);
        println!("makespan_ps,{}", outcome.makespan_ps);
        for (name, spent_ps) in NAMES.iter().zip(outcome.ledger.spent_ps) {
            println!("spent,{name},{spent_ps}");
        }
        for site in &outcome.sites {
            println!(
                "site,{},{},{},{},{}",
                site.place, site.misses, site.moved_ps, site.queued_ps, site.locked_ps
            );
        }
    }
}
