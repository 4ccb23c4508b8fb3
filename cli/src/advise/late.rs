//! Which programs of a recording begin late?

use std::collections::BTreeSet;

use trace::{Event, History};

/// Names of the applications of which no task ran within the first `early_ns` of a recording.
pub fn late(history: &History, early_ns: u64) -> BTreeSet<String> {
    let tasks = &history.header.tasks;
    let until_ns = history.header.start_ns.saturating_add(early_ns);
    let (mut has_come, mut ran_early) = (BTreeSet::new(), BTreeSet::new());
    for record in &history.records {
        let Event::Switch { prev, next, .. } = record.event else { continue };
        // A task that leaves and did not come ran since before the recording.
        if !has_come.contains(&prev) || record.time_ns <= until_ns {
            ran_early.insert(prev);
        }
        if record.time_ns <= until_ns {
            ran_early.insert(next);
        }
        has_come.insert(next);
    }
    let is_early = |tid: &u32| ran_early.contains(tid);
    let early: BTreeSet<&str> =
        tasks.iter().filter(|task| is_early(&task.tid)).map(|task| task.app.as_str()).collect();
    let names = tasks.iter().map(|task| task.app.as_str());
    names.filter(|name| !early.contains(name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use trace::{Header, Record, Source, SwitchState, TaskInfo};

    use super::*;

    #[test]
    fn a_program_is_late_if_none_of_its_tasks_ran_early() {
        let switch = |time_ns, cpu, prev, next| {
            let state = SwitchState::Runnable;
            Record { time_ns, event: Event::Switch { cpu, prev, state, next } }
        };
        let task = |tid, app: &str| TaskInfo {
            tid,
            pid: None,
            comm: app.to_owned(),
            app: app.to_owned(),
            nice: 0,
            kernel: false,
            control_group: None,
        };
        let history = History {
            header: Header {
                schema: trace::SCHEMA,
                source: Source::Recorded,
                cpus: 2,
                start_ns: 1000,
                end_ns: 2000,
                threads_per_core: None,
                cores_per_package: None,
                cpu: None,
                facts: [].into(),
                tasks: vec![
                    task(1, "make"),
                    task(2, "early"),
                    task(3, "late"),
                    task(4, "early"),
                    task(5, "always"),
                ],
                stacks: Vec::new(),
            },
            records: vec![
                switch(1050, 0, 1, 2),
                switch(1500, 0, 2, 3),
                switch(1600, 0, 3, 4),
                switch(1900, 1, 5, 3),
            ],
        };
        assert_eq!(late(&history, 100), ["late".to_owned()].into());
    }
}
