//! What is only known once every line was read.

use std::io;

use super::{Cpu, Machine};
use crate::import::report::{ImportReport, SILENCE_LONG_NS, TaskTime};
use crate::import::tasks::IDLE;
use crate::{CPUS_MAX, Event, Header, SCHEMA, Sink, Source};

impl<S: Sink> Machine<'_, S> {
    /// Gives out the rest, and the header to the sink.
    pub fn finish(mut self, report: &mut ImportReport) -> io::Result<()> {
        for cpu in 0..self.cpus.len() {
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
        report.cpus = u32::try_from(self.cpus.len()).unwrap_or(CPUS_MAX);
        report.start_ns = self.first_ns.unwrap_or(0);
        report.end_ns = self.last_ns;
        report.wall_ns = report.end_ns - report.start_ns;
        report.times(self.times());
        let mut header = self.header(report);
        if report.interrupts_known {
            header.know_interrupts();
        }
        let (sink, records) = self.output.flush()?;
        report.records = records;
        sink.finish(&header)
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

    fn header(&self, report: &ImportReport) -> Header {
        let mut facts = std::collections::BTreeMap::new();
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
        Header {
            schema: SCHEMA,
            source: Source::Recorded,
            cpus: report.cpus,
            start_ns: report.start_ns,
            end_ns: report.end_ns,
            threads_per_core: None,
            cores_per_package: None,
            cpu: None,
            facts,
            tasks: self.tasks.infos(),
        }
    }
}
