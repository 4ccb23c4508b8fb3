//! The helpers of BPF that a scheduler calls (kernel/bpf/helpers.c, Linux 7.0).

use crate::abi;
use crate::kfuncs::{Instance, task_at, with};
use crate::memory::given;
use crate::ops::{Op, program_at};
use crate::state::{Context, Life, State};

type Task = *const u8;
/// A map's declaration, in whose first word the host has written the map's number.
type Map = *const u64;

fn number(map: Map) -> usize {
    // SAFETY: the scheduler passes the address of a map's declaration, whose first word
    // `Host::load` wrote.
    unsafe { map.read() as usize }
}

impl State {
    pub(crate) fn current_pointer(&self, cpu: usize) -> u64 {
        match self.cpus[cpu].current {
            Some(task) => self.tasks[task].memory.pointer(),
            None => self.cpus[cpu].idle_task.pointer(),
        }
    }

    pub(crate) fn pick_idle(&mut self, allowed: &[u64], flags: u64) -> Option<usize> {
        let cpu = self.this_cpu();
        self.idle.pick(&self.topology, allowed, cpu, flags)
    }
}

// --- Maps ---

fn lookup(instance: Instance, map: Map, key: *const u8, cpu: Option<u32>) -> *mut u8 {
    with(instance, |state| {
        let map = number(map);
        let cpu = cpu.map_or_else(|| state.this_cpu(), |cpu| cpu as usize);
        // SAFETY: the scheduler passes a key of the map's size.
        let key = unsafe { given(key, state.maps.key_size(map)) };
        state.maps.lookup(map, key, cpu)
    })
}

pub(crate) extern "C" fn bpf_map_lookup_elem(i: Instance, map: Map, key: *const u8) -> *mut u8 {
    lookup(i, map, key, None)
}

pub(crate) extern "C" fn bpf_map_lookup_percpu_elem(
    instance: Instance,
    map: Map,
    key: *const u8,
    cpu: u32,
) -> *mut u8 {
    lookup(instance, map, key, Some(cpu))
}

pub(crate) extern "C" fn bpf_map_update_elem(
    instance: Instance,
    map: Map,
    key: *const u8,
    value: *const u8,
    flags: u64,
) -> i64 {
    with(instance, |state| {
        let map = number(map);
        // SAFETY: the scheduler passes a key and a value of the map's sizes.
        let (key, value) = unsafe {
            (given(key, state.maps.key_size(map)), given(value, state.maps.value_size(map)))
        };
        state.maps.update(map, key, value, flags)
    })
}

pub(crate) extern "C" fn bpf_map_delete_elem(i: Instance, map: Map, key: *const u8) -> i64 {
    with(i, |state| {
        let map = number(map);
        // SAFETY: the scheduler passes a key of the map's size.
        let key = unsafe { given(key, state.maps.key_size(map)) };
        state.maps.delete(map, key)
    })
}

pub(crate) extern "C" fn bpf_map_push_elem(
    instance: Instance,
    map: Map,
    value: *const u8,
    flags: u64,
) -> i64 {
    with(instance, |state| {
        let map = number(map);
        // SAFETY: the scheduler passes a value of the map's size.
        let value = unsafe { given(value, state.maps.value_size(map)) };
        state.maps.push(map, value, flags)
    })
}

pub(crate) extern "C" fn bpf_map_pop_elem(instance: Instance, map: Map, to: *mut u8) -> i64 {
    // SAFETY: the scheduler passes room for a value of the map.
    unsafe { next(instance, map, to, true) }
}

pub(crate) extern "C" fn bpf_map_peek_elem(instance: Instance, map: Map, to: *mut u8) -> i64 {
    // SAFETY: the scheduler passes room for a value of the map.
    unsafe { next(instance, map, to, false) }
}

/// # Safety
/// `to` is null or has room for a value of the map.
unsafe fn next(instance: Instance, map: Map, to: *mut u8, take: bool) -> i64 {
    with(instance, |state| match state.maps.next(number(map), take) {
        _ if to.is_null() => abi::EINVAL,
        Ok(value) => {
            // SAFETY: this function's contract; values have the map's size.
            unsafe { to.copy_from_nonoverlapping(value.as_ptr(), value.len()) };
            0
        }
        Err(error) => error,
    })
}

pub(crate) extern "C" fn bpf_task_storage_get(
    instance: Instance,
    map: Map,
    task: Task,
    value: *const u8,
    flags: u64,
) -> *mut u8 {
    const CREATE: u64 = 1;
    with(instance, |state| {
        let Some(task) = task_at(task) else { return std::ptr::null_mut() };
        let map = number(map);
        let is_there = state.maps.has_storage(map, task);
        let make = !is_there
            && flags & CREATE != 0
            && state.tasks[task].life != Life::Gone
            && !state.chance.has_no_memory();
        let place = state.maps.storage(map, task, make);
        if make && !value.is_null() {
            // SAFETY: `value` is not null and, as `place`, has the size of the map's values; the
            // map is one of task storage, so `place` is the storage that was just made.
            unsafe { value.copy_to_nonoverlapping(place, state.maps.value_size(map)) };
        }
        place
    })
}

pub(crate) extern "C" fn bpf_task_storage_delete(i: Instance, map: Map, task: Task) -> i64 {
    with(i, |state| match task_at(task) {
        Some(task) if state.maps.forget_storage(number(map), task) => 0,
        _ => abi::ENOENT,
    })
}

// --- Timers ---

pub(crate) extern "C" fn bpf_timer_init(i: Instance, timer: u64, map: Map, _clock: u64) -> i64 {
    with(i, |state| state.init_timer(timer, number(map)))
}

pub(crate) extern "C" fn bpf_timer_set_callback(i: Instance, timer: u64, callback: u64) -> i64 {
    with(i, |state| state.set_timer_callback(timer, program_at(callback)))
}

pub(crate) extern "C" fn bpf_timer_start(i: Instance, timer: u64, ns: u64, flags: u64) -> i64 {
    const ABSOLUTE: u64 = 1;
    go_beside_timer(i);
    with(i, |state| state.start_timer(timer, ns, flags & ABSOLUTE != 0))
}

/// Another CPU runs code of the scheduler while a timer's callback is about to start the timer.
fn go_beside_timer(instance: Instance) {
    let goes = with(instance, |state| {
        let is_callback = state.context().is_some_and(|context| context.op == Op::Timer);
        state.goes_beside_timer.take_if(|_| is_callback)
    });
    let Some((guard, program, cpu)) = goes else { return };
    let context = [cpu as u64];
    with(instance, |state| state.enter(Context::new(Op::CpuOffline, cpu, None)));
    // SAFETY: the program is an operation of the instance and takes an array of values; each `with`
    // has returned its borrow of the state.
    let returned = unsafe { guard.run(program, [context.as_ptr() as u64, 0, 0]) };
    with(instance, |state| state.returned(Op::CpuOffline, returned));
}

pub(crate) extern "C" fn bpf_timer_cancel(i: Instance, timer: u64) -> i64 {
    with(i, |state| state.cancel_timer(timer))
}

// --- Where and when ---

pub(crate) extern "C" fn bpf_task_from_pid(instance: Instance, pid: i32) -> u64 {
    with(instance, |state| {
        let number = usize::try_from(i64::from(pid) - 1).ok();
        let task = number.and_then(|number| state.tasks.get(number));
        task.filter(|task| task.life != Life::Gone).map_or(0, |task| task.memory.pointer())
    })
}

pub(crate) extern "C" fn bpf_get_current_task_btf(instance: Instance) -> u64 {
    with(instance, |state| state.current_pointer(state.this_cpu()))
}

pub(crate) extern "C" fn bpf_get_smp_processor_id(instance: Instance) -> u32 {
    with(instance, |state| state.this_cpu() as u32)
}

pub(crate) extern "C" fn bpf_get_prandom_u32(instance: Instance) -> u32 {
    with(instance, |state| (state.chance.next() >> 32) as u32)
}

// --- Sensors and records ---

pub(crate) extern "C" fn bpf_perf_event_read_value(
    instance: Instance,
    map: Map,
    flags: u64,
    value: *mut u64,
    bytes: u32,
) -> i64 {
    const CURRENT_CPU: u64 = 0xffff_ffff;
    with(instance, |state| {
        let this_cpu = state.this_cpu();
        let key = if flags == CURRENT_CPU { this_cpu } else { flags as usize };
        let read = match state.maps.event(number(map), key) {
            _ if bytes != 24 => Err(abi::EINVAL),
            Ok(read) if read.cpu != this_cpu => Err(abi::EINVAL),
            read => read,
        };
        let (error, words) = match read {
            Ok(read) => (0, [read.counter, read.enabled_ns, read.running_ns]),
            Err(error) => (error, [0; 3]),
        };
        for (at, word) in words.iter().enumerate().take(bytes as usize / 8) {
            // SAFETY: the scheduler passes room for that many bytes.
            unsafe { value.add(at).write(*word) };
        }
        error
    })
}

pub(crate) extern "C" fn bpf_ringbuf_output(
    instance: Instance,
    map: Map,
    record: *const u8,
    bytes: u64,
    _flags: u64,
) -> i64 {
    // SAFETY: the scheduler passes that many bytes.
    let record = unsafe { given(record, bytes as usize) };
    with(instance, |state| state.maps.output(number(map), record))
}

pub(crate) extern "C" fn bpf_ringbuf_reserve(
    instance: Instance,
    map: Map,
    bytes: u64,
    _flags: u64,
) -> *mut u8 {
    with(instance, |state| state.maps.reserve(number(map), bytes as usize))
}

pub(crate) extern "C" fn bpf_ringbuf_submit(i: Instance, record: *const u8, _flags: u64) {
    with(i, |state| state.maps.submit(record, true));
}

pub(crate) extern "C" fn bpf_ringbuf_discard(i: Instance, record: *const u8, _flags: u64) {
    with(i, |state| state.maps.submit(record, false));
}

// --- Objects of the scheduler, and variables of CPUs ---

/// A kernel's verifier refuses the scheduler before it runs.
fn refuse(state: &mut State, what: &str) {
    let message = format!("{what} an object that the scheduler does not hold");
    state.error(message);
}

pub(crate) extern "C" fn scx_host_object_new(instance: Instance, bytes: u64) -> *mut u8 {
    with(instance, |state| {
        if state.chance.has_no_memory() || state.objects.held() >= abi::OBJECTS_MAX {
            return std::ptr::null_mut();
        }
        state.objects.add(bytes as usize)
    })
}

pub(crate) extern "C" fn scx_host_object_acquire(instance: Instance, object: *mut u8) -> *mut u8 {
    with(instance, |state| {
        if !state.objects.acquire(object as usize) {
            refuse(state, "acquires");
        }
        object
    })
}

pub(crate) extern "C" fn scx_host_object_release(instance: Instance, object: *mut u8) {
    with(instance, |state| {
        if !state.objects.release(object as usize) {
            refuse(state, "releases");
        }
    });
}

/// The number of a CPU's last-level cache; null for a CPU that is not there.
pub(crate) extern "C" fn scx_host_cache_of(instance: Instance, cpu: u32) -> *const i32 {
    with(instance, |state| {
        state.caches.get(cpu as usize).map_or(std::ptr::null(), std::ptr::from_ref)
    })
}
