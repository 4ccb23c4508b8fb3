//! The operations of a scheduler.

use std::fmt;

use crate::btf::Btf;
use crate::image::Image;
use crate::object::{Object, ObjectError};

/// An operation, or another place where a scheduler's code runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    SelectCpu,
    Enqueue,
    Dequeue,
    Dispatch,
    Tick,
    Runnable,
    Running,
    Stopping,
    Quiescent,
    Yield,
    SetWeight,
    SetCpumask,
    UpdateIdle,
    CpuOnline,
    CpuOffline,
    InitTask,
    ExitTask,
    Enable,
    Disable,
    Dump,
    DumpCpu,
    DumpTask,
    Init,
    Exit,
    /// The callback of a timer.
    Timer,
    /// A program on a tracepoint.
    Tracepoint,
}

/// As the kernel names it.
impl fmt::Display for Op {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.get(*self as usize) {
            Some(name) => write!(out, "ops.{name}()"),
            None if *self == Self::Timer => out.write_str("the callback of a timer"),
            None => out.write_str("the program of a tracepoint"),
        }
    }
}

impl Op {
    /// Whether the host calls the operation after the scheduler has ended.
    pub(crate) fn is_of_the_end(self) -> bool {
        use Op::{Disable, Dump, DumpCpu, DumpTask, Exit, ExitTask};
        matches!(self, Dump | DumpCpu | DumpTask | ExitTask | Disable | Exit)
    }
}

/// By operation: its name in `struct sched_ext_ops`.
const NAMES: [&str; 24] = [
    "select_cpu",
    "enqueue",
    "dequeue",
    "dispatch",
    "tick",
    "runnable",
    "running",
    "stopping",
    "quiescent",
    "yield",
    "set_weight",
    "set_cpumask",
    "update_idle",
    "cpu_online",
    "cpu_offline",
    "init_task",
    "exit_task",
    "enable",
    "disable",
    "dump",
    "dump_cpu",
    "dump_task",
    "init",
    "exit",
];

/// Operations that schedulers may have and the host never calls, which changes nothing for them.
const NEVER_CALLED: [&str; 4] = ["cpu_acquire", "cpu_release", "core_sched_before", "name"];

/// A program, which takes its arguments from an array of 64-bit values.
pub(crate) type Program = unsafe extern "C" fn(*const u64) -> u64;

/// The operations of a loaded copy.
pub(crate) struct Ops {
    programs: [Option<Program>; NAMES.len()],
    pub flags: u64,
    pub timeout_ms: u32,
}

impl Ops {
    pub(crate) fn new(object: &Object, image: &Image) -> Result<Self, ObjectError> {
        let (name, id) = object.operations()?;
        let symbol = object.symbols.get(name).ok_or(ObjectError::NoOperations)?;
        let read = |field: &str| {
            let (offset, of) = object.btf.path(id, field)?;
            let at = image.at(symbol.address + offset as u64);
            let mut bytes = [0; 8];
            let size = object.btf.size(of).min(8);
            // SAFETY: `at` is the address of the operations in the image plus the field's offset by
            // BTF, where at least `size` bytes are.
            unsafe { at.copy_to_nonoverlapping(bytes.as_mut_ptr(), size) };
            Some(u64::from_le_bytes(bytes))
        };
        let mut programs = [None; NAMES.len()];
        for (program, name) in programs.iter_mut().zip(NAMES) {
            let address = read(name).filter(|&address| address != 0);
            let address = address.filter(|_| !object.without.contains(name));
            *program = address.map(program_at);
        }
        for member in object.btf.members(id) {
            let known = NAMES.iter().chain(&NEVER_CALLED).any(|name| *name == member.name);
            if !known && is_function(&object.btf, member.of) && read(&member.name) != Some(0) {
                return Err(ObjectError::Missing(format!(
                    "host for the operation {}",
                    member.name
                )));
            }
        }
        Ok(Self {
            programs,
            flags: read("flags").unwrap_or(0),
            timeout_ms: read("timeout_ms").unwrap_or(0) as u32,
        })
    }

    pub(crate) fn get(&self, op: Op) -> Option<Program> {
        self.programs.get(op as usize).copied().flatten()
    }

    pub(crate) fn has(&self, op: Op) -> bool {
        self.get(op).is_some()
    }
}

fn is_function(btf: &Btf, id: crate::btf::Id) -> bool {
    btf.is_function(btf.pointed(id))
}

/// A function of the image.
pub(crate) fn program_at(address: u64) -> Program {
    // SAFETY: `address` comes from the relocated operations of the image, from the symbol of a
    // program, or from the scheduler's call of `bpf_timer_set_callback`, so a function is there.
    // Callbacks of timers take three arguments, which `Guard::run` passes to every program.
    unsafe {
        std::mem::transmute::<*const (), Program>(std::ptr::with_exposed_provenance(
            address as usize,
        ))
    }
}
