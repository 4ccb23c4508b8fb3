//! Small histories for the tests of this module.

use std::collections::BTreeMap;

use trace::{Event, Header, History, Record, SCHEMA, Source, SwitchState, TaskInfo};

pub(super) fn switch(cpu: u32, prev: u32, state: SwitchState, next: u32) -> Event {
    Event::Switch { cpu, prev, state, next }
}

pub(super) fn wake(task: u32) -> Event {
    Event::Wake { task, by: 0, cpu: 0, on: None, sync: None }
}

/// A recording of tasks 1 and 2 that ends at `end_ns`.
pub(super) fn history(cpus: u32, end_ns: u64, records: Vec<(u64, Event)>) -> History {
    let task = |tid| TaskInfo {
        tid,
        pid: None,
        comm: format!("task{tid}"),
        app: format!("app{tid}"),
        nice: 0,
        kernel: false,
        control_group: None,
    };
    let header = Header {
        schema: SCHEMA,
        source: Source::Recorded,
        cpus,
        start_ns: 0,
        end_ns,
        threads_per_core: None,
        cores_per_package: None,
        cpu: None,
        facts: BTreeMap::new(),
        tasks: vec![task(1), task(2)],
        stacks: Vec::new(),
    };
    let record = |(time_ns, event)| Record { time_ns, event };
    History { header, records: records.into_iter().map(record).collect() }
}
