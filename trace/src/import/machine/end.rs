//! The header: facts that are known only after the last line.

use std::collections::BTreeMap;
use std::io;

use super::{Cpu, Machine};
use crate::import::report::{ImportReport, SILENCE_LONG_NS, TaskTime};
use crate::import::tasks::IDLE;
use crate::{CPUS_MAX, Event, Header, SCHEMA, Sink, Source, TaskInfo};

impl<S: Sink> Machine<'_, S> {
    /// Gives out the rest, and the header to the sink.
    pub fn finish(mut self, report: &mut ImportReport) -> io::Result<()> {
        for cpu in 0..self.cpus.len() {
            self.settle(cpu as u32, None, self.last_ns, report)?;
            let Cpu { current, since_ns, .. } = self.cpus[cpu];
            if current == IDLE {
                continue;
            }
            let task = self.tasks.get(current);
            let open_ns = self.last_ns.saturating_sub(since_ns);
            task.slices_ns = task.slices_ns.saturating_add(open_ns);
            let (task, ns) = (task.id, std::mem::take(&mut task.pending_ns));
            if ns > 0 {
                self.output.push(self.last_ns, Event::Runtime { task, ns })?;
            }
        }
        report.interrupts_known = self.interrupts.known();
        report.namespaced = self.disagreeing > 0;
        report.times(self.times());
        let header = match self.header.take() {
            Some(ours) => self.again(ours, report),
            None => self.first(report),
        };
        report.cpus = header.cpus;
        report.start_ns = header.start_ns;
        report.end_ns = header.end_ns;
        report.wall_ns = report.end_ns.saturating_sub(report.start_ns);
        let (sink, records) = self.output.flush()?;
        report.records = records;
        sink.finish(&header)
    }

    /// Notes something about the recording.
    pub fn fact(&mut self, name: &str, value: String) {
        self.facts.insert(name.to_owned(), value);
    }

    /// Sets the process of a thread, and its name if no event had one.
    pub fn tell_process(&mut self, tid: u32, process: u32, name: &[u8]) {
        if let Some(index) = self.tasks.known(tid).filter(|&index| index != IDLE) {
            self.tasks.get(index).tell(process, name);
        }
    }

    /// Takes over the header of a history that we exported.
    pub fn adopt(&mut self, header: Header) {
        self.header = Some(header);
    }

    /// Whether a header was taken over.
    pub fn has_header(&self) -> bool {
        self.header.is_some()
    }

    fn cpu_count(&self) -> u32 {
        u32::try_from(self.cpus.len()).unwrap_or(CPUS_MAX)
    }

    fn times(&self) -> Vec<TaskTime> {
        let accounted = self.tasks.iter().filter(|task| task.runtime_ns > 0 && task.slices > 0);
        let time = accounted.map(|task| TaskTime {
            tid: task.id,
            comm: task.comm(),
            slices: task.slices,
            slices_ns: task.slices_ns,
            runtime_ns: task.runtime_ns,
        });
        time.collect()
    }

    /// The header of a recording.
    fn first(&self, report: &ImportReport) -> Header {
        let mut facts = self.facts.clone();
        let counts = [
            ("repaired_switches", Some(report.repaired_switches)),
            ("lost_events", Some(report.lost_events)),
            ("silence_ns", (report.silence_ns >= SILENCE_LONG_NS).then_some(report.silence_ns)),
            ("runtime_per_wall_permille", report.runtime_per_wall_permille),
        ];
        if report.coarse_time {
            facts.insert("times".to_owned(), "microseconds".to_owned());
        }
        for (name, count) in counts {
            if let Some(count) = count {
                facts.insert(name.to_owned(), count.to_string());
            }
        }
        let mut header = Header {
            schema: SCHEMA,
            source: Source::Recorded,
            cpus: self.cpu_count(),
            start_ns: self.first_ns.unwrap_or(0),
            end_ns: self.last_ns,
            threads_per_core: None,
            cores_per_package: None,
            cpu: None,
            facts,
            tasks: self.tasks.infos(),
            stacks: Vec::new(),
        };
        if report.interrupts_known {
            header.know_interrupts();
        }
        header
    }

    /// The header that our export had, made to hold what its events say beyond it: nothing, unless
    /// somebody changed the file.
    fn again(&self, ours: Header, report: &ImportReport) -> Header {
        let mut facts = ours.facts;
        for (name, count) in
            [("repaired_switches", report.repaired_switches), ("lost_events", report.lost_events)]
        {
            if count > 0 {
                facts.insert(name.to_owned(), count.to_string());
            }
        }
        let of_events = self.tasks.infos().into_iter().map(|task| (task.tid, task));
        let mut tasks: BTreeMap<u32, TaskInfo> = of_events.collect();
        tasks.extend(ours.tasks.into_iter().map(|task| (task.tid, task)));
        Header {
            cpus: ours.cpus.max(self.cpu_count()),
            start_ns: self.first_ns.map_or(ours.start_ns, |first_ns| ours.start_ns.min(first_ns)),
            end_ns: ours.end_ns.max(self.last_ns),
            facts,
            tasks: tasks.into_values().collect(),
            ..ours
        }
    }
}
