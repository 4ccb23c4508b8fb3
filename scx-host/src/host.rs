//! An instance: a loaded scheduler with its tasks and CPUs.

use std::cell::{RefCell, RefMut};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use thiserror::Error;

use crate::abi;
use crate::cpus::{CPUS_MAX, CpuMask};
use crate::exit::{Exit, ExitKind};
use crate::faults::{Chance, Faults};
use crate::guard::{self, Guard};
use crate::image::Image;
use crate::kfuncs;
use crate::layout::{Field, Layout, TaskMemory};
use crate::maps::{Counted, MapError, Maps};
use crate::object::{Object, ObjectError, Symbol};
use crate::ops::{Op, Ops, Program, program_at};
use crate::state::{Context, Custody, Life, Parts, State, Task};
use crate::topology::Topology;

/// Why a scheduler cannot be loaded or attached.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The object is no scheduler that the host can run.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// A map cannot be made, or has no such entry.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The process cannot load a copy of the code.
    #[error("loading the scheduler's code: {0}")]
    Image(#[from] io::Error),
    /// A number of CPUs that no kernel supports.
    #[error("{0} CPUs: expected 1 to {CPUS_MAX}")]
    Cpus(usize),
    /// The scheduler's `init` failed.
    #[error("the scheduler's init returned {0}")]
    Init(i32),
    /// The scheduler ended during `init`.
    #[error("{0}")]
    Ended(Exit),
}

/// The properties of a new task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskSpec {
    /// Its name (`comm`).
    pub name: String,
    /// -20 to 19.
    pub nice: i8,
    /// Of the policy `SCHED_IDLE`.
    pub is_idle_policy: bool,
    /// CPUs that the task may use; all if empty.
    pub cpus: Vec<usize>,
    /// A thread of the kernel.
    pub is_kernel: bool,
    /// The CPU of the task before its first run.
    pub cpu: usize,
    /// A task of the process of which the new task is a further thread; `None` for the first task
    /// of a process.
    pub process: Option<usize>,
}

/// A scheduler with its tasks, on one machine.
pub struct Host {
    pub(crate) state: RefCell<State>,
    pub(crate) ops: Ops,
    instance: *mut *const RefCell<State>,
    map_addresses: Vec<u64>,
    /// Where the scheduler's symbols are.
    symbols: Arc<BTreeMap<String, Symbol>>,
    exit_layout: ExitLayout,
    is_attached: bool,
    pub(crate) guard: Guard,
    // Last, and so dropped last: the fields above point into the image.
    image: Image,
}

// SAFETY: the pointers of an instance lead to memory that the instance owns, and `Host` is not
// `Sync`, so one thread at a time uses that memory.
unsafe impl Send for Host {}

/// `scx.weight` of a nice value (`sched_weight_to_cgroup`): 100 is nice 0.
pub(crate) fn weight(nice: i8) -> u64 {
    ((u64::from(policy::weight(nice)) * 100 + 512) / 1024).clamp(1, 10_000)
}

/// Offsets of the members of `struct scx_exit_info`, and its size, in bytes.
struct ExitLayout {
    kind: Option<usize>,
    code: Option<usize>,
    reason: Option<usize>,
    message: Option<usize>,
    dump: Option<usize>,
    bytes: usize,
}

impl ExitLayout {
    fn new(object: &Object) -> Self {
        let info = object.btf.structure("scx_exit_info");
        let place = |name| info.and_then(|info| object.btf.path(info, name)).map(|(at, _)| at);
        Self {
            kind: place("kind"),
            code: place("exit_code"),
            reason: place("reason"),
            message: place("msg"),
            dump: place("dump"),
            bytes: info.map_or(0, |info| object.btf.size(info)),
        }
    }
}

impl Host {
    /// Loads a copy of a scheduler, which runs after [`Host::attach`].
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn load(object: &Object, topology: Topology, faults: Faults) -> Result<Self, LoadError> {
        let cpus = topology.cpus();
        if !(1..=CPUS_MAX).contains(&cpus) {
            return Err(LoadError::Cpus(cpus));
        }
        let symbol = |name: &str| {
            let found = object.symbols.get(name);
            found.map(|symbol| symbol.address).ok_or_else(|| ObjectError::Missing(name.to_owned()))
        };
        let image = Image::load(object.native(), symbol("scx_host_anchor")?)?;
        for (name, function) in kfuncs::all() {
            let pointer = image.at(symbol(&format!("scx_host_call_{name}"))?);
            // SAFETY: native/functions.c defines this symbol as a pointer to a function of this
            // type.
            unsafe { pointer.cast::<*const ()>().write(function) };
        }
        let maps = Maps::new(&object.btf, &object.max_entries, cpus)?;
        let mut map_addresses = Vec::new();
        for (index, name) in maps.names().enumerate() {
            let at = image.at(symbol(name)?);
            // SAFETY: the symbol is a map's declaration, a structure of pointers that no code
            // dereferences: its first word can hold the map's number.
            unsafe { at.cast::<u64>().write(index as u64) };
            map_addresses.push(at as u64);
        }
        let ops = Ops::new(object, &image)?;
        let [enter, signalled] = ["scx_host_enter", "scx_host_signalled"].map(symbol);
        // SAFETY: native/functions.c defines both, and the host keeps the image as long as itself.
        let guard = unsafe { Guard::new(image.at(enter?), image.at(signalled?)) };
        if object.is_guarded {
            guard::catch_signals();
        }
        let instance = image.at(symbol("scx_host_instance")?).cast();
        let keeps = ops.flags & abi::OPS_KEEP_BUILTIN_IDLE != 0;
        let state = State::new(Parts {
            topology,
            layout: Layout::new(&object.btf),
            maps,
            ops_flags: ops.flags,
            has_own_idle: ops.has(Op::UpdateIdle) && !keeps,
            chance: Chance::new(faults),
        });
        Ok(Self {
            state: RefCell::new(state),
            ops,
            instance,
            map_addresses,
            symbols: Arc::clone(&object.symbols),
            exit_layout: ExitLayout::new(object),
            is_attached: false,
            guard,
            image,
        })
    }

    /// Calls the scheduler's `init`; from then on the scheduler schedules all tasks.
    ///
    /// # Errors
    /// [`LoadError`].
    pub fn attach(&mut self) -> Result<(), LoadError> {
        let returned = self.call(Op::Init, 0, None, &[]).unwrap_or(0) as i32;
        self.settle();
        if let Some(exit) = self.exit() {
            return Err(LoadError::Ended(exit));
        }
        if returned != 0 {
            return Err(LoadError::Init(returned));
        }
        self.is_attached = true;
        Ok(())
    }

    // --- Calling the scheduler ---

    /// Calls an operation, if the scheduler defines the operation and has not ended.
    pub(crate) fn call(
        &self,
        op: Op,
        cpu: usize,
        subject: Option<usize>,
        arguments: &[u64],
    ) -> Option<u64> {
        let program = self.ops.get(op)?;
        if self.state().exit.is_some() && !op.is_of_the_end() {
            return None;
        }
        Some(self.run(program, op, cpu, subject, arguments))
    }

    pub(crate) fn run(
        &self,
        program: Program,
        op: Op,
        cpu: usize,
        subject: Option<usize>,
        arguments: &[u64],
    ) -> u64 {
        let mut context = [0; 8];
        context[..arguments.len()].copy_from_slice(arguments);
        self.state().enter(Context::new(op, cpu, subject));
        // SAFETY: `instance` is the address of the variable `scx_host_instance` of the loaded
        // image.
        unsafe { self.instance.write(&raw const self.state) };
        // SAFETY: the program is an operation of the image and takes an array of values. Its calls
        // into the host, by the pointers that `load` set, each borrow the state, and no borrow is
        // held while the program runs.
        let returned = unsafe { self.guard.run(program, [context.as_ptr() as u64, 0, 0]) };
        self.state().returned(op, returned)
    }

    pub(crate) fn state(&self) -> RefMut<'_, State> {
        self.state.borrow_mut()
    }

    pub(crate) fn pointer(&self, task: usize) -> u64 {
        self.state().tasks[task].memory.pointer()
    }

    /// Carries out the work that the kernel defers until interrupts are enabled again.
    pub(crate) fn settle(&self) {
        self.reenqueue_local();
        let mut state = self.state();
        state.finish_deferred();
        state.finish_kicks();
    }

    /// `reenq_local`: enqueues the tasks of a local queue again, as the scheduler requested.
    fn reenqueue_local(&self) {
        let emptied = std::mem::take(&mut self.state().emptied);
        for cpu in emptied {
            let tasks: Vec<usize> = self.state().dsq(cpu).tasks().collect();
            for task in tasks {
                self.state().unlink(task);
                self.offer(task, abi::ENQ_REENQ, cpu);
            }
        }
    }

    // --- Tasks come and go ---

    /// Adds a task that the current task of a CPU forks, or one that no task of this machine forks:
    /// it existed before the scheduler. `None` if the scheduler's `init_task` refuses the task,
    /// which makes a fork fail.
    pub fn add_task(&mut self, spec: &TaskSpec, forked_on: Option<usize>) -> Option<usize> {
        let task = self.enter(spec);
        let pointer = self.pointer(task);
        let arguments =
            [u8::from(forked_on.is_some()), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let cpu = spec.cpu;
        let given = [pointer, arguments.as_ptr() as u64];
        if self.call(Op::InitTask, forked_on.unwrap_or(cpu), None, &given).unwrap_or(0) as i32 != 0
        {
            let mut state = self.state();
            state.tasks[task].life = Life::Gone;
            state.forget_gone(task);
            return None;
        }
        self.call(Op::Enable, cpu, None, &[pointer]);
        let weight = self.state().get(task, Field::Weight);
        self.call(Op::SetWeight, cpu, None, &[pointer, weight]);
        self.settle();
        Some(task)
    }

    fn enter(&self, spec: &TaskSpec) -> usize {
        let mut state = self.state();
        let number = state.tasks.len();
        let memory = TaskMemory::new(&state.layout, number, &spec.name);
        let cpus = state.cpus.len();
        let allowed = if spec.cpus.is_empty() {
            CpuMask::of(0..cpus)
        } else {
            CpuMask::of(spec.cpus.iter().copied().filter(|&cpu| cpu < cpus))
        };
        let (address, mask) = (allowed.address() as u64, allowed.words().to_vec());
        let process = spec.process.map_or(number, |thread| state.tasks[thread].process);
        let first = state.tasks.get(process).map(|first| first.memory.pointer());
        let leader = first.unwrap_or_else(|| memory.pointer());
        state.tasks.push(Task {
            memory,
            name: spec.name.clone(),
            process,
            allowed,
            cpu: spec.cpu.min(cpus - 1),
            is_queued: false,
            custody: Custody::None,
            enqueues: 0,
            dsq: None,
            direct: None,
            runnable_since_ns: 0,
            has_run: true,
            life: Life::Enabled,
        });
        // Numbers of processes begin with 1.
        let pid_of = |task: usize| task as u64 + 1;
        let flags = if spec.is_kernel { abi::PF_KTHREAD } else { 0 };
        let prio = abi::DEFAULT_PRIO + i64::from(spec.nice);
        for (field, value) in [
            (Field::Pid, pid_of(number)),
            (Field::Tgid, pid_of(process)),
            (Field::Flags, flags),
            (Field::StaticPrio, prio.cast_unsigned()),
            (Field::Cpus, address),
            (Field::GroupLeader, leader),
            (Field::Slice, abi::SLICE_DFL),
            (Field::Policy, if spec.is_idle_policy { abi::SCHED_IDLE } else { 0 }),
            (Field::Weight, if spec.is_idle_policy { abi::WEIGHT_IDLE } else { weight(spec.nice) }),
        ] {
            state.set(number, field, value);
        }
        state.set_affinity(number, &mask);
        number
    }

    /// Takes a task from the scheduler: a sleeping one that ends, or any one at unloading.
    pub fn remove_task(&mut self, task: usize) {
        if self.state().tasks[task].life == Life::Gone {
            return;
        }
        let (pointer, cpu) = (self.pointer(task), self.state().tasks[task].cpu);
        let cancelled = [0u64; 1];
        self.call(Op::Disable, cpu, None, &[pointer]);
        self.call(Op::ExitTask, cpu, None, &[pointer, cancelled.as_ptr() as u64]);
        let mut state = self.state();
        state.tasks[task].life = Life::Gone;
        state.forget_gone(task);
    }

    // --- Time ---

    /// Sets the clock, which never goes back.
    pub fn set_now(&mut self, now_ns: u64) {
        let mut state = self.state();
        state.now_ns = state.now_ns.max(now_ns);
    }

    /// When the scheduler's next timer fires.
    #[must_use]
    pub fn next_timer_ns(&self) -> Option<u64> {
        self.state().next_timer_ns()
    }

    /// Fires the timers that are due.
    pub fn fire_timers(&mut self) {
        loop {
            let due = self.state().take_due();
            let Some((callback, cpu, map, key, value)) = due else { break };
            if self.exit().is_some() {
                break;
            }
            self.fire(callback, cpu, self.map_addresses[map], key, value);
        }
        self.settle();
    }

    /// The callback of a timer takes the map, the key and the value, not an array.
    fn fire(&self, callback: Program, cpu: usize, map: u64, key: u32, value: *mut u8) {
        self.state().enter(Context::new(Op::Timer, cpu, None));
        // SAFETY: `instance` is the address of the variable `scx_host_instance` of the loaded
        // image.
        unsafe { self.instance.write(&raw const self.state) };
        // SAFETY: the callback takes a map, a key and a value, which is in the map of the timer.
        // Its calls into the host each borrow the state, and no borrow is held while the callback
        // runs.
        let returned =
            unsafe { self.guard.run(callback, [map, &raw const key as u64, value as u64]) };
        self.state().returned(Op::Timer, returned);
    }

    // --- What the loader does ---

    fn map(&self, name: &str, key: u32) -> Result<usize, MapError> {
        let found = self.state().maps.find(name);
        found.ok_or_else(|| MapError::NoEntry { name: name.to_owned(), key })
    }

    /// Writes an entry of an array.
    ///
    /// # Errors
    /// [`MapError::NoEntry`].
    pub fn update(&mut self, name: &str, key: u32, value: &[u8]) -> Result<(), MapError> {
        let map = self.map(name, key)?;
        let mut state = self.state();
        let fits = value.len() <= state.maps.value_size(map);
        if fits && state.maps.update(map, &key.to_ne_bytes(), value, 0) == 0 {
            return Ok(());
        }
        Err(MapError::NoEntry { name: name.to_owned(), key })
    }

    /// Sets a variable of the scheduler while it runs, as a loader does.
    ///
    /// # Errors
    /// [`ObjectError::Missing`].
    pub fn set_variable(&mut self, name: &str, value: u32) -> Result<(), ObjectError> {
        let symbol = self.symbols.get(name).ok_or_else(|| ObjectError::Missing(name.to_owned()))?;
        // SAFETY: the symbol is a variable of the scheduler's source, which is aligned, and no code
        // of the scheduler runs during the call.
        unsafe { self.image.at(symbol.address).cast::<u32>().write_volatile(value) };
        Ok(())
    }

    /// Reads an entry of an array, that of one CPU where each has its own.
    ///
    /// # Errors
    /// [`MapError::NoEntry`].
    pub fn read(&self, name: &str, key: u32, cpu: usize) -> Result<Vec<u8>, MapError> {
        let map = self.map(name, key)?;
        let state = self.state();
        let place = state.maps.lookup(map, &key.to_ne_bytes(), cpu);
        if place.is_null() {
            return Err(MapError::NoEntry { name: name.to_owned(), key });
        }
        // SAFETY: `place` is the address of a value of the map, which has `value_size` bytes.
        Ok(unsafe { std::slice::from_raw_parts(place, state.maps.value_size(map)) }.to_vec())
    }

    /// Sets the values of a CPU's counter, in an entry of a map of events.
    ///
    /// # Errors
    /// [`MapError::NoEntry`].
    pub fn set_event(&mut self, name: &str, key: u32, value: Counted) -> Result<(), MapError> {
        let map = self.map(name, key)?;
        let is_set = self.state().maps.set_event(map, key, value);
        is_set.then_some(()).ok_or_else(|| MapError::NoEntry { name: name.to_owned(), key })
    }

    /// Takes the oldest record out of a ring buffer.
    ///
    /// # Errors
    /// [`MapError::NoEntry`].
    pub fn take_record(&mut self, name: &str) -> Result<Option<Vec<u8>>, MapError> {
        let map = self.map(name, 0)?;
        Ok(self.state().maps.take_record(map))
    }

    /// Writes an entry of a map with keys of any kind.
    ///
    /// # Errors
    /// [`MapError::NoEntry`].
    pub fn insert(&mut self, name: &str, key: &[u8], value: &[u8]) -> Result<(), MapError> {
        let map = self.map(name, 0)?;
        let mut state = self.state();
        let fits = key.len() == state.maps.key_size(map);
        let fits = fits && value.len() == state.maps.value_size(map);
        if fits && state.maps.update(map, key, value, 0) == 0 {
            return Ok(());
        }
        Err(MapError::NoEntry { name: name.to_owned(), key: 0 })
    }

    /// Writes the storage of a task, as a loader does.
    ///
    /// # Errors
    /// [`MapError::NoEntry`].
    pub fn store(&mut self, name: &str, task: usize, value: &[u8]) -> Result<(), MapError> {
        let map = self.map(name, 0)?;
        let mut state = self.state();
        let place = state.maps.storage(map, task, true);
        if place.is_null() || value.len() != state.maps.value_size(map) {
            return Err(MapError::NoEntry { name: name.to_owned(), key: 0 });
        }
        // SAFETY: `place` is the address of a value of the map, which has as many bytes as `value`.
        unsafe { place.copy_from_nonoverlapping(value.as_ptr(), value.len()) };
        Ok(())
    }

    /// Something happens to a task: runs the program on the tracepoint, which gets the task.
    ///
    /// # Errors
    /// [`ObjectError::Missing`]: the scheduler has no such program.
    pub fn trace(&mut self, program: &str, task: usize) -> Result<(), ObjectError> {
        let missing = || ObjectError::Missing(program.to_owned());
        let symbol = self.symbols.get(program).ok_or_else(missing)?;
        if self.exit().is_none() {
            let address = self.image.at(symbol.address).expose_provenance() as u64;
            let cpu = self.state().tasks[task].cpu;
            self.run(program_at(address), Op::Tracepoint, cpu, None, &[self.pointer(task)]);
        }
        Ok(())
    }

    /// A task has left a CPU, and its registers were saved with these states in use (`XSTATE_BV`).
    pub fn save_registers(&mut self, task: usize, xfeatures: u64) {
        self.state().save_registers(task, xfeatures);
    }

    // --- The end ---

    /// Why the scheduler ended; `None` while the scheduler runs.
    #[must_use]
    pub fn exit(&self) -> Option<Exit> {
        self.state().exit.clone()
    }

    /// Takes all tasks from the scheduler and calls its `exit` (`scx_disable_workfn`).
    pub fn unload(&mut self) -> Exit {
        self.state().fail(ExitKind::Unregistered, String::new());
        let exit = self.exit().expect("just set");
        if !std::mem::take(&mut self.is_attached) {
            return exit;
        }
        if exit.kind.is_error() {
            self.fill_dump();
        }
        let tasks = self.state().tasks.len();
        for task in 0..tasks {
            self.remove_task(task);
        }
        let dump = self.dump();
        let texts = [exit.kind.reason(), &exit.message, &dump].map(|text| {
            let bytes = text.bytes().filter(|&byte| byte != 0).chain([0]);
            bytes.collect::<Vec<u8>>()
        });
        let mut info = vec![0u64; self.exit_layout.bytes.div_ceil(8).max(1)];
        let mut write = |place: Option<usize>, value: u64, bytes: usize| {
            let Some(place) = place else { return };
            let shift = 8 * (place % 8);
            let mask = if bytes == 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 };
            info[place / 8] |= (value & mask) << shift;
        };
        write(self.exit_layout.kind, u64::from(exit.kind.number().cast_unsigned()), 4);
        write(self.exit_layout.code, exit.code.cast_unsigned(), 8);
        write(self.exit_layout.reason, texts[0].as_ptr() as u64, 8);
        write(self.exit_layout.message, texts[1].as_ptr() as u64, 8);
        write(self.exit_layout.dump, texts[2].as_ptr() as u64, 8);
        self.call(Op::Exit, 0, None, &[info.as_ptr() as u64]);
        exit
    }

    /// The scheduler's part of the dump after an error, without the kernel's own lines.
    #[must_use]
    pub fn dump(&self) -> String {
        self.state().dump.clone()
    }

    /// Calls the scheduler's operations that dump its state (`scx_dump_state`): of the scheduler,
    /// of each CPU, and of each task that runs or waits.
    fn fill_dump(&self) {
        // Larger than `struct scx_dump_ctx`.
        let context = [0u64; 8];
        let context = context.as_ptr() as u64;
        self.call(Op::Dump, 0, None, &[context]);
        let cpus = self.state().cpus.len();
        for cpu in 0..cpus {
            let is_idle = self.state().cpus[cpu].current.is_none();
            self.call(Op::DumpCpu, 0, None, &[context, cpu as u64, is_idle.into()]);
        }
        let tasks = self.state().tasks.len();
        for task in 0..tasks {
            let is_runnable = self.state().tasks[task].is_queued;
            if is_runnable {
                let pointer = self.pointer(task);
                self.call(Op::DumpTask, 0, None, &[context, pointer]);
            }
        }
    }
}
