//! Loads the BPF program, attaches its probes and reads its records.

use std::cell::RefCell;
use std::io::Read as _;
use std::os::fd::AsRawFd;
use std::rc::Rc;

use cpu_model::Class;
use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{DataSec, Func, FuncProto, Ptr, Typedef, Var};
use libbpf_rs::{
    ErrorKind, Iter, Link, MapCore, MapFlags, Object, ObjectBuilder, OpenObject, ProgramInput,
    ProgramMut, ReferencesType, RingBuffer, RingBufferBuilder, UprobeOpts,
};

use super::counters::Counters;
use super::follow::{COOKIE_END, COOKIE_NESTS};
use super::record::{COUNTERS_MAX, Kind, Raw, addresses};
use super::stacks::{Stack, Stacks};

/// The program that `build.rs` compiled.
const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/recorder.bpf.o"));
/// Room for records: a tenth of a second at the rate of a machine that does nothing but switch,
/// a million records a second; our choice. A power of two, as the kernel asks.
const BUFFER_MIN: u32 = 16 << 20;
/// Additional room for each CPU of a large machine.
const BUFFER_PER_CPU: u32 = 128 << 10;
/// `BPF_F_TEST_RUN_ON_CPU`, include/uapi/linux/bpf.h.
const ON_CPU: u32 = 1;

/// The newest helper of the kernel that the program calls; from 5.11.
const NEWEST_HELPER: &str = "bpf_get_current_task_btf";

/// Programs of tracepoints that some kernels lack, and the events that are missing then.
const OPTIONAL: [(&str, &str); 2] =
    [("on_registers", "x86_fpu_regs_deactivated"), ("on_frequency", "cpu_frequency")];
/// Programs of functions, which some kernels let no program probe, and what is missing then.
const FUNCTIONS: [(&str, &str); 11] = [
    ("on_wake_begins", "try_to_wake_up"),
    ("on_balance", "sched_exec"),
    ("on_pipe_write", "pipe_write"),
    ("on_pipe_written", "pipe_write"),
    ("on_pipe_read", "pipe_read"),
    ("on_unix_send", "unix_stream_sendmsg"),
    ("on_unix_sent", "unix_stream_sendmsg"),
    ("on_unix_received", "unix_stream_recvmsg"),
    ("on_tcp_send", "tcp_sendmsg"),
    ("on_tcp_sent", "tcp_sendmsg"),
    ("on_tcp_received", "tcp_recvmsg"),
];

/// How the names of the programs begin that record messages between tasks.
const MESSAGES: [&str; 3] = ["on_pipe_", "on_unix_", "on_tcp_"];

/// What a recording has beside switches, wake-ups and registers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Functions that mark classes.
    pub marks: &'a [Mark],
    /// Messages over pipes and sockets, which a replay needs.
    pub messages: bool,
    /// Stacks of tasks that leave with 512-bit registers or tiles in use.
    pub stacks: bool,
    /// Counters that are read at each switch.
    pub counters: Option<&'a Counters>,
}

/// Functions of a library between which a class of instructions runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// File, or a name that the dynamic linker would find.
    pub library: String,
    /// The stretch begins when this function does.
    pub begin: String,
    /// The stretch ends when this function begins; without one, when the first returns.
    pub end: Option<String>,
    /// The class of the instructions within.
    pub class: Class,
}

/// Why nothing can be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Neither root nor the two capabilities.
    #[error("no right to load a BPF program")]
    NoRights(#[source] libbpf_rs::Error),
    /// Probes of functions ask for more.
    #[error("no right to probe functions: --uprobe needs root (CAP_SYS_ADMIN); run it with sudo")]
    NoRightToProbe(#[source] libbpf_rs::Error),
    /// The kernel was built without BTF.
    #[error("this kernel does not describe itself (/sys/kernel/btf/vmlinux)")]
    NoBtf(#[source] libbpf_rs::Error),
    /// A kernel without the helper that names the running task.
    #[error(
        "this kernel is older than 5.11; record with perf and import it (evenkeel trace --help)"
    )]
    TooOld,
    /// A tracepoint that is needed has another form.
    #[error("this kernel's sched_switch has {0} arguments; expected 3 or 4")]
    Switch(usize),
    /// A function that is no function of its library.
    #[error("--uprobe: cannot probe {function} of {library}")]
    Mark {
        /// The library.
        library: String,
        /// The function.
        function: String,
        /// The error of the kernel or of libbpf.
        source: libbpf_rs::Error,
    },
    /// Any other refusal.
    #[error("{doing}")]
    Refused {
        /// The operation.
        doing: &'static str,
        /// The error of the kernel or of libbpf.
        source: libbpf_rs::Error,
    },
}

fn refused(doing: &'static str) -> impl Fn(libbpf_rs::Error) -> RecordError {
    move |source| match source.kind() {
        ErrorKind::PermissionDenied => RecordError::NoRights(source),
        _ => RecordError::Refused { doing, source },
    }
}

/// A running recording. Its probes hang on file descriptors and go with the process.
pub struct Recorder {
    // Dropped in this order: the probes before the buffer to which the probes write.
    links: Vec<Link>,
    buffer: RingBuffer<'static>,
    read: Rc<RefCell<Read>>,
    object: Object,
    online: Vec<u32>,
    /// Events that this kernel does not have.
    pub missing: Vec<&'static str>,
}

impl Recorder {
    /// Begins to record what is wanted on the CPUs that are `online`.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn start(online: &[u32], wanted: &Wanted<'_>) -> Result<Self, RecordError> {
        libbpf_rs::set_print(None);
        let btf = Btf::from_vmlinux().map_err(RecordError::NoBtf)?;
        if btf.type_by_name::<Func>(NEWEST_HELPER).is_none() {
            return Err(RecordError::TooOld);
        }
        let no_function = |name: &str| btf.type_by_name::<Func>(name).is_none();
        let no_event = |name: &str| arguments(&btf, name).is_none();
        let mut missing: Vec<_> = (OPTIONAL.into_iter().filter(|(_, event)| no_event(event)))
            .chain(FUNCTIONS.into_iter().filter(|(_, function)| no_function(function)))
            .collect();
        let object = match load(&btf, online.len(), &missing, wanted) {
            Ok(object) => object,
            // Some kernels let nobody probe functions.
            Err(_) => {
                missing.retain(|missed| !FUNCTIONS.contains(missed));
                missing.extend(FUNCTIONS);
                load(&btf, online.len(), &missing, wanted)?
            }
        };
        if let Some(counters) = wanted.counters {
            give_counters(&object, counters)?;
        }
        let read = Rc::new(RefCell::new(Read::default()));
        let buffer = buffer(&object, Rc::clone(&read))?;
        let mut recorder = Self {
            links: Vec::new(),
            buffer,
            read,
            object,
            online: online.to_vec(),
            missing: missing.into_iter().map(|(_, event)| event).collect(),
        };
        recorder.attach(wanted.marks)?;
        // A function can have two programs.
        recorder.missing.dedup();
        recorder.list_tasks()?;
        recorder.say_running()?;
        Ok(recorder)
    }

    fn attach(&mut self, marks: &[Mark]) -> Result<(), RecordError> {
        let doing = "attaching the recorder's program";
        let mut links = Vec::new();
        for program in self.object.progs_mut() {
            let is_event = program.section().to_string_lossy().starts_with("tp_btf/");
            if is_event && program.autoload() {
                links.push(program.attach_trace().map_err(refused(doing))?);
            }
            let function = FUNCTIONS.iter().find(|(name, _)| program.name() == *name);
            if let Some((_, function)) = function.filter(|_| program.autoload()) {
                match program.attach_trace() {
                    Ok(link) => links.push(link),
                    // A kernel built without the tracer of functions.
                    Err(_) => self.missing.push(*function),
                }
            }
            if program.name() == "on_mark" {
                for mark in marks {
                    attach_mark(&program, mark, &mut links)?;
                }
            }
        }
        self.links = links;
        Ok(())
    }

    /// Lets the kernel go through all tasks.
    fn list_tasks(&self) -> Result<(), RecordError> {
        let refused = refused("listing the tasks");
        let program = self.program("list_task");
        let link = program.attach().map_err(&refused)?;
        let mut tasks = Iter::new(&link).map_err(&refused)?;
        let mut nothing = [0; 64];
        // The program writes to the buffer, not to this file.
        while tasks.read(&mut nothing).map_err(|error| refused(error.into()))? > 0 {}
        Ok(())
    }

    /// Makes every CPU record its running task.
    fn say_running(&self) -> Result<(), RecordError> {
        let program = self.program("say_running");
        for &cpu in &self.online {
            let input = ProgramInput { cpu, flags: ON_CPU, ..ProgramInput::default() };
            match program.test_run(input) {
                // A CPU that went offline runs nothing.
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Other => {}
                Err(error) => return Err(refused("asking what runs on a CPU")(error)),
            }
        }
        Ok(())
    }

    fn program(&self, name: &str) -> ProgramMut<'_> {
        let found = self.object.progs_mut().find(|program| program.name() == name);
        found.expect("the object has this program")
    }

    /// Takes the records since the last call.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn read(&mut self) -> Result<Vec<Raw>, RecordError> {
        self.buffer.consume().map_err(refused("reading records"))?;
        Ok(std::mem::take(&mut self.read.borrow_mut().records))
    }

    /// Takes the stacks that records since the last call named first, by ascending number.
    pub fn take_stacks(&mut self) -> Vec<Stack> {
        self.read.borrow_mut().stacks.take()
    }

    /// Ends the recording: the next [`Self::read`] returns the last records.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn stop(&mut self) -> Result<(), RecordError> {
        self.say_running()?;
        self.links.clear();
        Ok(())
    }

    /// Records that were lost for want of room.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn lost(&self) -> Result<u64, RecordError> {
        let found = self.object.maps().find(|map| map.name().to_string_lossy().ends_with(".bss"));
        let map = found.expect("the object has a .bss");
        let value = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let value = value.map_err(refused("reading the count of lost records"))?;
        let bytes = value.and_then(|value| value.first_chunk::<8>().copied());
        Ok(bytes.map_or(0, u64::from_ne_bytes))
    }
}

/// The loaded program, without the probes that are `missing`.
fn load(
    btf: &Btf<'_>,
    cpus: usize,
    missing: &[(&str, &str)],
    wanted: &Wanted<'_>,
) -> Result<Object, RecordError> {
    let mut object = ObjectBuilder::default()
        .open_memory(OBJECT)
        .map_err(refused("opening the recorder's program"))?;
    prepare(&mut object, btf, cpus, missing, wanted)?;
    object.load().map_err(refused("loading the recorder's program"))
}

/// Gives the program the files of counters, which it keeps open.
fn give_counters(object: &Object, counters: &Counters) -> Result<(), RecordError> {
    let found = object.maps().find(|map| map.name() == "counters");
    let map = found.expect("the object has this map");
    for (cpu, position, file) in counters.files() {
        let key = cpu * COUNTERS_MAX as u32 + position as u32;
        map.update(&key.to_ne_bytes(), &file.as_raw_fd().to_ne_bytes(), MapFlags::ANY)
            .map_err(refused("handing counters to the recorder's program"))?;
    }
    Ok(())
}

/// Gives the program the constants of this kernel, and leaves out probes that the kernel lacks.
fn prepare(
    object: &mut OpenObject,
    btf: &Btf<'_>,
    cpus: usize,
    missing: &[(&str, &str)],
    wanted: &Wanted<'_>,
) -> Result<(), RecordError> {
    for mut program in object.progs_mut() {
        let name = program.name().to_string_lossy().into_owned();
        let is_message = MESSAGES.iter().any(|begin| name.starts_with(begin));
        let is_missing = missing.iter().any(|(missed, _)| name == *missed);
        if is_missing || (is_message && !wanted.messages) {
            program.set_autoload(false);
        }
    }
    let state_given = match arguments(btf, "sched_switch") {
        Some(3) => 0,
        Some(4) => 1,
        found => return Err(RecordError::Switch(found.unwrap_or(0))),
    };
    let cpus = u32::try_from(cpus).unwrap_or(u32::MAX);
    let room = BUFFER_MIN.max(BUFFER_PER_CPU.saturating_mul(cpus)).min(1 << 30);
    let open = || wanted.counters.map(Counters::files).into_iter().flatten();
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if name == "records" {
            let refused = refused("making room for records");
            map.set_max_entries(room.next_power_of_two()).map_err(refused)?;
        } else if name == "counters" {
            let last = open().map(|(cpu, ..)| cpu).max().unwrap_or(0);
            map.set_max_entries((last + 1) * COUNTERS_MAX as u32)
                .map_err(refused("making room for counters"))?;
        } else if name.ends_with(".rodata") {
            // `struct kernel` of the program.
            let values = map.initial_value_mut().expect("constants have values");
            values[..8].copy_from_slice(&preempt_count(btf).unwrap_or(0).to_ne_bytes());
            values[8] = state_given;
            values[9] = u8::from(wanted.stacks);
            values[10] = open().fold(0, |open, (_, position, _)| open | 1 << position);
        }
    }
    Ok(())
}

/// Arguments of a tracepoint of the kernel.
fn arguments(btf: &Btf<'_>, event: &str) -> Option<usize> {
    let name = format!("btf_trace_{event}");
    let pointer: Ptr = btf.type_by_name::<Typedef>(&name)?.referenced_type().try_into().ok()?;
    let function: FuncProto = pointer.referenced_type().try_into().ok()?;
    // The first is the probe's own.
    Some(function.len().saturating_sub(1))
}

/// From a CPU's `runqueues` to its preempt count: a variable of its own, or, from 6.2 to 6.14, a
/// field of `pcpu_hot` (commits 64701838bf05 and 46e8fff6d45f).
fn preempt_count(btf: &Btf<'_>) -> Option<i64> {
    let runqueues = per_cpu(btf, "runqueues")?;
    let count = per_cpu(btf, "__preempt_count").or_else(|| {
        // The variable follows a pointer (arch/x86/include/asm/current.h, 6.12).
        Some(per_cpu(btf, "pcpu_hot")? + 8)
    })?;
    Some(count - runqueues)
}

/// Bytes from the start of the per-CPU variables to one of them.
fn per_cpu(btf: &Btf<'_>, name: &str) -> Option<i64> {
    let section = btf.type_by_name::<DataSec>(".data..percpu")?;
    section.iter().find_map(|info| {
        let variable: Var = btf.type_by_id(info.ty)?;
        (variable.name()? == name).then_some(i64::from(info.offset))
    })
}

/// What was read and not taken yet.
#[derive(Default)]
struct Read {
    records: Vec<Raw>,
    stacks: Stacks,
}

impl Read {
    fn record(&mut self, bytes: &[u8]) {
        let Some(raw) = Raw::parse(bytes) else { return };
        if raw.kind != Kind::Stack {
            return self.records.push(raw);
        }
        // An empty stack is one of a process that walks none.
        let Some(addresses) = addresses(bytes).filter(|addresses| !addresses.is_empty()) else {
            return;
        };
        if let Some(number) = self.stacks.number(raw.pid, addresses) {
            self.records.push(Raw { value: number.into(), ..raw });
        }
    }
}

fn buffer(object: &Object, read: Rc<RefCell<Read>>) -> Result<RingBuffer<'static>, RecordError> {
    let refused = refused("opening the buffer");
    let map = object.maps().find(|map| map.name() == "records").expect("the object has this map");
    let mut builder = RingBufferBuilder::new();
    let take = move |bytes: &[u8]| {
        read.borrow_mut().record(bytes);
        0
    };
    builder.add(&map, take).map_err(&refused)?;
    builder.build().map_err(refused)
}

/// Probes the functions of a mark, in every process that runs them.
fn attach_mark(
    program: &ProgramMut<'_>,
    mark: &Mark,
    links: &mut Vec<Link>,
) -> Result<(), RecordError> {
    const EVERY_PROCESS: i32 = -1;
    let nests = if mark.end.is_none() { COOKIE_NESTS } else { 0 };
    let class = mark.class as u64 | nests;
    let (end, retprobe) = match &mark.end {
        Some(end) => (end, false),
        None => (&mark.begin, true),
    };
    for (function, retprobe, cookie) in
        [(&mark.begin, false, class), (end, retprobe, class | COOKIE_END)]
    {
        let func_name = Some(function.clone());
        let options = UprobeOpts { func_name, retprobe, cookie, ..UprobeOpts::default() };
        let link = program
            .attach_uprobe_with_opts(EVERY_PROCESS, &mark.library, 0, options)
            .map_err(|source| match source.kind() {
                ErrorKind::PermissionDenied => RecordError::NoRightToProbe(source),
                _ => {
                    let (library, function) = (mark.library.clone(), function.clone());
                    RecordError::Mark { library, function, source }
                }
            })?;
        links.push(link);
    }
    Ok(())
}
