//! Runs a program on virtual workers; `cargo model` builds and calls it.

fn main() {
    #[cfg(evenkeel_model)]
    command::main();
}

#[cfg(evenkeel_model)]
mod command {
    use std::str::FromStr;

    use evenkeel_runtime::Config;
    use model::{Costs, NAMES, Setting, run};

    const USAGE: &str = "model PROGRAM RULES WORKERS TASKS BODY_NS WARM, or model --check RULES";

    fn number<T: FromStr>(text: &str) -> Result<T, String> {
        text.parse().map_err(|_| format!("`{text}` is no number that fits"))
    }

    /// The run that the command line asks for; `None` where only the text of the rules is checked.
    fn setting() -> Result<Option<Setting>, String> {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let read = |rules: &str| rules.parse::<Config>().map_err(|error| error.to_string());
        if let [check, rules] = &words[..]
            && check == "--check"
        {
            return read(rules).map(|_| None);
        }
        let [program, rules, workers, tasks, body_ns, warm] = &words[..] else {
            return Err(format!("usage: {USAGE}"));
        };
        let workers = number(workers)?;
        if workers == 0 {
            return Err("WORKERS is 0; expected at least 1".to_owned());
        }
        Ok(Some(Setting {
            program: program.parse()?,
            workers,
            tasks: number(tasks)?,
            body_ns: number(body_ns)?,
            config: read(rules)?,
            costs: Costs::default(),
            warm: number(warm)?,
        }))
    }

    pub fn main() {
        let setting = setting().unwrap_or_else(|why| {
            eprintln!("{why}");
            std::process::exit(2);
        });
        let Some(setting) = setting else { return };
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
