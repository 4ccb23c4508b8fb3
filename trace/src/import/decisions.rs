//! Decisions of the kernel scheduler become a history: each has the end, the
//! length and the result of a slice, from which the switches follow.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use super::{ImportError, ImportReport, Place, TaskTime, entry};
use crate::decisions::{DecisionsError, Head, Reader, Record as Read, Slice, Task};
use crate::file::{RECORDS_MAX, SCHEMA, TASKS_MAX};
use crate::{Event, Header, Record, Sink, Source, SwitchState, TaskInfo, clean};

/// A CPU that does nothing for less than this is taken to be busy with interrupts, and the task
/// that comes to have come at once; our choice.
const PAUSE_NS: u64 = 20_000;
/// Most slices: each becomes four records at most.
const SLICES_MAX: u64 = RECORDS_MAX / 4;
/// No clock of a kernel gets that far.
const TIME_MAX_NS: u64 = 1 << 62;

/// Reads a file of decisions into `sink`.
///
/// # Errors
/// [`ImportError`], with the number of the record.
pub fn decisions(input: impl BufRead, sink: &mut impl Sink) -> Result<ImportReport, ImportError> {
    let mut reader = Reader::new(input).map_err(|error| malformed(Place::Start, error))?;
    let mut report = ImportReport { cpus: reader.head().cpus, ..ImportReport::default() };
    if entry::cpu(report.cpus.saturating_sub(1)).is_none() || report.cpus == 0 {
        let what = format!("{} CPUs; expected 1 to {}", report.cpus, crate::CPUS_MAX);
        return Err(ImportError::Malformed { place: Place::Start, what });
    }
    let mut slices = Vec::new();
    let mut tasks = BTreeMap::new();
    loop {
        let place = Place::Record(report.lines + 1);
        let wrong = |what: String| ImportError::Malformed { place, what };
        let record = reader.next_record().map_err(|error| malformed(place, error))?;
        match record {
            None => break,
            Some(Read::Slice(slice)) => {
                let is_full = slices.len() as u64 >= SLICES_MAX;
                slices.push(checked(&slice, report.cpus, is_full).map_err(wrong)?);
            }
            Some(Read::Task(task)) => {
                tasks.insert(task.tid, task);
            }
            Some(Read::End { lost, .. }) => report.lost_events = lost,
        }
        report.lines += 1;
        if tasks.len() as u64 > TASKS_MAX {
            return Err(wrong(format!("more than {TASKS_MAX} tasks")));
        }
    }
    report.truncated = !reader.is_ended();
    if slices.is_empty() {
        let expected = "decisions of scx_evenkeel --decisions FILE";
        return Err(ImportError::NoSwitch { read: report.lines, unit: "records", expected });
    }
    report.events.insert("evenkeel", slices.len() as u64);
    slices.sort_by_key(|slice| slice.time_ns);
    let mut lay = Lay::new(report.cpus);
    slices.iter().for_each(|slice| lay.slice(slice));
    let (records, times) = lay.end();
    finish(reader.head(), &records, times, tasks, report, sink)
}

fn malformed(place: Place, error: DecisionsError) -> ImportError {
    match error {
        DecisionsError::Read(source) => ImportError::Read { place, source },
        error => ImportError::Malformed { place, what: error.to_string() },
    }
}

/// The parts of a slice that a history holds.
struct Ran {
    time_ns: u64,
    slice_ns: u64,
    refund_ns: u64,
    bill_ns: u64,
    cpu: u32,
    victim: u32,
    culprit: u32,
    is_runnable: bool,
}

fn checked(slice: &Slice, cpus: u32, is_full: bool) -> Result<Ran, String> {
    if is_full {
        return Err(format!("more than {SLICES_MAX} slices"));
    }
    if slice.cpu >= cpus {
        return Err(format!("CPU {}; expected one of {cpus}", slice.cpu));
    }
    if slice.time_ns > TIME_MAX_NS || slice.slice_ns > slice.time_ns {
        let Slice { time_ns, slice_ns, .. } = slice;
        return Err(format!("a slice of {slice_ns} ns that ends at {time_ns} ns"));
    }
    if slice.victim == 0 {
        return Err("a slice of task 0, which is the idle task".to_owned());
    }
    Ok(Ran {
        time_ns: slice.time_ns,
        slice_ns: slice.slice_ns,
        refund_ns: slice.refund_ns,
        bill_ns: slice.bill_ns,
        cpu: slice.cpu,
        victim: slice.victim,
        culprit: slice.culprit.unwrap_or(0),
        is_runnable: slice.is_runnable,
    })
}

/// The last task of a CPU, and the end of its slice.
#[derive(Clone, Copy, Default)]
struct Last {
    task: u32,
    end_ns: u64,
    is_runnable: bool,
}

/// Lays slices beside each other that come in the order of their ends.
struct Lay {
    cpus: Vec<Last>,
    /// By task: CPU and end of its last slice.
    tasks: HashMap<u32, (u32, u64)>,
    times: BTreeMap<u32, TaskTime>,
    records: Vec<Record>,
}

impl Lay {
    fn new(cpus: u32) -> Self {
        let cpus = vec![Last::default(); cpus as usize];
        Self { cpus, tasks: HashMap::new(), times: BTreeMap::new(), records: Vec::new() }
    }

    /// Clocks of CPUs differ a little: a slice begins when its CPU and its task are free.
    fn slice(&mut self, ran: &Ran) {
        let last = self.cpus[ran.cpu as usize];
        let free_ns = match self.tasks.get(&ran.victim) {
            Some(&(cpu, end_ns)) if cpu == ran.cpu => end_ns,
            Some(&(_, end_ns)) => end_ns + 1,
            None => 0,
        };
        let mut start_ns = (ran.time_ns - ran.slice_ns).max(last.end_ns).max(free_ns);
        if last.task != 0 && start_ns - last.end_ns < PAUSE_NS && free_ns <= last.end_ns {
            start_ns = last.end_ns;
        }
        let end_ns = ran.time_ns.max(start_ns);
        let cpu = ran.cpu;
        if last.task != 0 && start_ns > last.end_ns {
            self.leave(cpu, last, 0);
        }
        if last.task == 0 || start_ns > last.end_ns {
            let state = SwitchState::Blocked;
            self.record(start_ns, Event::Switch { cpu, prev: 0, state, next: ran.victim });
        } else if last.task != ran.victim {
            self.leave(cpu, last, ran.victim);
        }
        self.ends(ran, end_ns);
        let task = ran.victim;
        self.cpus[cpu as usize] = Last { task, end_ns, is_runnable: ran.is_runnable };
        self.tasks.insert(task, (cpu, end_ns));
        let new =
            || TaskTime { tid: task, comm: String::new(), slices: 0, slices_ns: 0, runtime_ns: 0 };
        let time = self.times.entry(task).or_insert_with(new);
        time.slices += 1;
        time.slices_ns = time.slices_ns.saturating_add(end_ns - start_ns);
        time.runtime_ns = time.runtime_ns.saturating_add(ran.slice_ns);
    }

    /// The switch, the refund and the accounted time at the end of a slice.
    fn ends(&mut self, ran: &Ran, end_ns: u64) {
        self.record(end_ns, Event::Runtime { task: ran.victim, ns: ran.slice_ns });
        if ran.refund_ns > 0 {
            let event = Event::Decision {
                cpu: ran.cpu,
                victim: ran.victim,
                culprit: ran.culprit,
                slice_ns: ran.slice_ns,
                refund_ns: ran.refund_ns,
                bill_ns: ran.bill_ns,
            };
            self.record(end_ns, event);
        }
    }

    fn leave(&mut self, cpu: u32, last: Last, next: u32) {
        let Last { task: prev, end_ns, is_runnable } = last;
        let state = if is_runnable { SwitchState::Runnable } else { SwitchState::Blocked };
        self.record(end_ns, Event::Switch { cpu, prev, state, next });
    }

    fn record(&mut self, time_ns: u64, event: Event) {
        self.records.push(Record { time_ns, event });
    }

    /// Everything in order of time, and the two clocks of each task.
    fn end(mut self) -> (Vec<Record>, Vec<TaskTime>) {
        for cpu in 0..self.cpus.len() {
            let last = self.cpus[cpu];
            if last.task != 0 {
                self.leave(cpu as u32, last, 0);
            }
        }
        self.records.sort_by_key(|record| record.time_ns);
        (self.records, self.times.into_values().collect())
    }
}

fn finish(
    head: &Head,
    records: &[Record],
    mut times: Vec<TaskTime>,
    mut tasks: BTreeMap<u32, Task>,
    mut report: ImportReport,
    sink: &mut impl Sink,
) -> Result<ImportReport, ImportError> {
    let write = |source| ImportError::Write { place: Place::Start, source };
    for record in records {
        if let Event::Decision { culprit, .. } = record.event {
            tasks.entry(culprit).or_insert(Task { tid: culprit, ..Task::default() });
        }
        report.switches += u64::from(matches!(record.event, Event::Switch { .. }));
        sink.record(record).map_err(write)?;
    }
    for time in &times {
        tasks.entry(time.tid).or_insert(Task { tid: time.tid, ..Task::default() });
    }
    tasks.remove(&0);
    let infos: Vec<_> = tasks.values().map(info).collect();
    for time in &mut times {
        let found = infos.binary_search_by_key(&time.tid, |info| info.tid);
        time.comm = found.map_or_else(|_| String::new(), |index| infos[index].comm.clone());
    }
    report.records = records.len() as u64;
    report.start_ns = records.first().map_or(0, |record| record.time_ns);
    report.end_ns = records.last().map_or(0, |record| record.time_ns);
    report.wall_ns = report.end_ns - report.start_ns;
    report.silence_ns = silence(records);
    report.times(times);
    let facts = [
        ("scheduler", format!("scx_evenkeel, {}", head.mode)),
        ("sensors", head.sensors.clone()),
        ("kernel", head.kernel.clone()),
    ];
    let header = Header {
        schema: SCHEMA,
        source: Source::Recorded,
        cpus: head.cpus,
        start_ns: report.start_ns,
        end_ns: report.end_ns,
        threads_per_core: head.threads_per_core.filter(|&threads| threads > 0),
        cores_per_package: None,
        cpu: None,
        facts: facts
            .into_iter()
            .filter(|(_, fact)| !fact.is_empty())
            .map(|(name, fact)| (name.to_owned(), clean(fact.as_bytes())))
            .collect(),
        tasks: infos,
        stacks: Vec::new(),
    };
    sink.finish(&header).map_err(write)?;
    Ok(report)
}

fn silence(records: &[Record]) -> u64 {
    let pairs = records.windows(2);
    pairs.map(|pair| pair[1].time_ns - pair[0].time_ns).max().unwrap_or(0)
}

fn info(task: &Task) -> TaskInfo {
    let text = |name: &[u8]| {
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        (end > 0).then(|| clean(&name[..end]))
    };
    let comm = text(&task.name).unwrap_or_else(|| format!("task {}", task.tid));
    TaskInfo {
        tid: task.tid,
        pid: (task.pid > 0).then_some(task.pid),
        app: text(&task.process).unwrap_or_else(|| comm.clone()),
        comm,
        nice: task.nice.clamp(-20, 19) as i8,
        kernel: task.is_kernel,
        control_group: None,
    }
}
