//! The functions of sched_ext that a scheduler calls (kernel/sched/ext.c, ext_idle.c, Linux 7.0).
//!
//! Each function borrows the state for the length of its call; the host holds no borrow while the
//! scheduler runs.

mod idle;

use std::cell::RefCell;

use crate::abi;
use crate::bpf;
use crate::exit::{Exit, ExitKind, format};
use crate::layout::{Field, number_of};
use crate::memory::given;
use crate::ops::Op;
use crate::state::{Custody, Pending, State};

pub(crate) type Instance = *const RefCell<State>;
type Task = *const u8;

/// Borrows the state of the instance whose scheduler calls.
pub(crate) fn with<R>(instance: Instance, work: impl FnOnce(&mut State) -> R) -> R {
    // SAFETY: `Host::run` and `Host::fire` set this pointer to the host's state before they call
    // the scheduler, and borrow the host until the scheduler returns.
    let state = unsafe { &*instance };
    work(&mut state.borrow_mut())
}

/// The number of the task that a scheduler's pointer leads to.
pub(crate) fn task_at(pointer: Task) -> Option<usize> {
    // SAFETY: a scheduler gets pointers to tasks only from the host, by `TaskMemory::pointer`.
    unsafe { number_of(pointer) }.filter(|&number| number != abi::NO_TASK)
}

/// Names and addresses of all functions that `native/calls.h` forwards.
pub(crate) fn all() -> Vec<(&'static str, *const ())> {
    macro_rules! list {
        ($module:ident: $($name:ident),* $(,)?) => {
            [$((stringify!($name), $module::$name as *const ())),*]
        };
    }
    use self as kfuncs;
    let own = list![kfuncs:
        scx_bpf_create_dsq, scx_bpf_destroy_dsq, scx_bpf_dsq_nr_queued, scx_bpf_dsq_peek,
        scx_bpf_dsq_insert, scx_bpf_dsq_insert_vtime, scx_bpf_dsq_move, scx_bpf_dsq_move_vtime,
        scx_bpf_dsq_move_set_slice, scx_bpf_dsq_move_set_vtime, scx_bpf_dsq_move_to_local,
        scx_bpf_dispatch_nr_slots, scx_bpf_dispatch_cancel, scx_bpf_kick_cpu,
        scx_bpf_reenqueue_local, scx_bpf_reenqueue_local___v2, scx_bpf_task_cpu,
        scx_bpf_task_running, scx_bpf_cpu_curr, scx_bpf_nr_cpu_ids, scx_bpf_now,
        scx_bpf_task_set_slice, scx_bpf_task_set_dsq_vtime, scx_bpf_error_bstr, scx_bpf_exit_bstr,
        scx_bpf_dump_bstr, scx_host_print, bpf_iter_scx_dsq_new, bpf_iter_scx_dsq_next,
        bpf_iter_scx_dsq_destroy,
    ];
    let of_idle_cpus = list![idle:
        scx_bpf_select_cpu_dfl, scx_bpf_select_cpu_and, scx_bpf_pick_idle_cpu, scx_bpf_pick_any_cpu,
        scx_bpf_test_and_clear_cpu_idle, scx_bpf_get_idle_cpumask, scx_bpf_get_idle_smtmask,
        scx_bpf_get_online_cpumask, scx_bpf_get_possible_cpumask,
    ];
    let others = list![bpf:
        bpf_map_lookup_elem, bpf_map_lookup_percpu_elem, bpf_map_update_elem, bpf_map_delete_elem,
        bpf_map_push_elem, bpf_map_pop_elem, bpf_map_peek_elem, bpf_task_storage_get,
        bpf_task_storage_delete, bpf_timer_init, bpf_timer_set_callback, bpf_timer_start,
        bpf_timer_cancel, bpf_get_current_task_btf, bpf_get_smp_processor_id, bpf_get_prandom_u32,
        bpf_task_from_pid, bpf_perf_event_read_value, bpf_ringbuf_output, bpf_ringbuf_reserve,
        bpf_ringbuf_submit, bpf_ringbuf_discard,
    ];
    let objects = list![bpf:
        scx_host_object_new, scx_host_object_acquire, scx_host_object_release, scx_host_cache_of,
    ];
    own.into_iter().chain(of_idle_cpus).chain(others).chain(objects).collect()
}

impl State {
    /// Whether the running operation may call a function; ends the scheduler if not.
    fn allows(&mut self, function: &str, ops: &[Op]) -> bool {
        let Some(op) = self.context().map(|context| context.op) else { return false };
        let is_allowed = ops.contains(&op);
        if !is_allowed {
            self.error(format!("{function} called from {op}, where it is not allowed"));
        }
        is_allowed
    }

    fn is_cpu(&mut self, cpu: i32) -> Option<usize> {
        let known = usize::try_from(cpu).ok().filter(|&cpu| cpu < self.cpus.len());
        if known.is_none() {
            self.error(format!("invalid CPU {cpu}"));
        }
        known
    }

    fn tracks_idle(&mut self) -> bool {
        if self.has_own_idle {
            self.error("built-in idle tracking is disabled".into());
        }
        !self.has_own_idle
    }

    /// `scx_dsq_insert_preamble` and `scx_dsq_insert_commit`.
    fn insert_from(&mut self, task: Task, dsq: u64, slice: u64, flags: u64) -> Option<usize> {
        if !self.allows("scx_bpf_dsq_insert", &[Op::SelectCpu, Op::Enqueue, Op::Dispatch]) {
            return None;
        }
        let Some(task) = task_at(task) else {
            self.error("called with NULL task".into());
            return None;
        };
        if flags & abi::ENQ_INTERNAL & !abi::ENQ_DSQ_PRIQ != 0 {
            self.error(format!("invalid enq_flags {flags:#x}"));
            return None;
        }
        let kept = self.get(task, Field::Slice).max(1);
        self.set(task, Field::Slice, if slice == 0 { kept } else { slice });
        let context = *self.context()?;
        if context.op != Op::Dispatch {
            return self.insert_on_the_way(task, dsq, flags);
        }
        if self.pending.len() >= abi::DISPATCH_BATCH {
            self.error("dispatch buffer overflow".into());
            return None;
        }
        let one = &self.tasks[task];
        let enqueues = (one.custody == Custody::Queued).then_some(one.enqueues);
        self.pending.push_back(Pending { task, enqueues, dsq, flags });
        Some(task)
    }

    /// `mark_direct_dispatch`.
    fn insert_on_the_way(&mut self, task: usize, dsq: u64, flags: u64) -> Option<usize> {
        let context = self.contexts.last_mut()?;
        let (subject, was_inserted) = (context.subject, context.was_inserted);
        context.was_inserted = true;
        if was_inserted {
            let name = self.label(task);
            self.error(format!("{name} already direct-dispatched"));
            return None;
        }
        if subject != Some(task) {
            let subject = subject.map_or_else(String::new, |subject| self.label(subject));
            let name = self.label(task);
            self.error(format!("scheduling for {subject} but trying to direct-dispatch {name}"));
            return None;
        }
        self.tasks[task].direct = Some((dsq, flags));
        Some(task)
    }
}

// --- Queues ---

extern "C" fn scx_bpf_create_dsq(instance: Instance, dsq: u64, _node: i32) -> i32 {
    with(instance, |state| state.create_dsq(dsq) as i32)
}

extern "C" fn scx_bpf_destroy_dsq(instance: Instance, dsq: u64) {
    with(instance, |state| state.destroy_dsq(dsq));
}

extern "C" fn scx_bpf_dsq_nr_queued(instance: Instance, dsq: u64) -> i32 {
    with(instance, |state| {
        let cpu = state.this_cpu();
        let known = match dsq {
            abi::DSQ_LOCAL => Some(cpu),
            _ if dsq & abi::DSQ_LOCAL_ON == abi::DSQ_LOCAL_ON => {
                let of = (dsq & abi::DSQ_LOCAL_CPU_MASK) as usize;
                (of < state.cpus.len()).then_some(of)
            }
            _ => state.user_dsq(dsq),
        };
        known.map_or(abi::ENOENT as i32, |index| state.dsq(index).len() as i32)
    })
}

extern "C" fn scx_bpf_dsq_peek(instance: Instance, dsq: u64) -> u64 {
    with(instance, |state| {
        let Some(index) = state.user_dsq(dsq) else {
            state.error(format!("peek on non-existent DSQ {dsq:#x}"));
            return 0;
        };
        state.dsq(index).first().map_or(0, |task| state.tasks[task].memory.pointer())
    })
}

extern "C" fn scx_bpf_dsq_insert(
    instance: Instance,
    task: Task,
    dsq: u64,
    slice: u64,
    flags: u64,
) -> bool {
    with(instance, |state| {
        if flags & abi::ENQ_DSQ_PRIQ != 0 {
            state.error(format!("invalid enq_flags {flags:#x}"));
            return false;
        }
        state.insert_from(task, dsq, slice, flags).is_some()
    })
}

extern "C" fn scx_bpf_dsq_insert_vtime(
    instance: Instance,
    task: Task,
    dsq: u64,
    slice: u64,
    vtime: u64,
    flags: u64,
) -> bool {
    with(instance, |state| {
        let inserted = state.insert_from(task, dsq, slice, flags | abi::ENQ_DSQ_PRIQ);
        if let Some(task) = inserted {
            state.set(task, Field::Vtime, vtime);
        }
        inserted.is_some()
    })
}

extern "C" fn scx_bpf_dsq_move_to_local(instance: Instance, dsq: u64) -> bool {
    with(instance, |state| {
        if !state.allows("scx_bpf_dsq_move_to_local", &[Op::Dispatch]) {
            return false;
        }
        let cpu = state.this_cpu();
        state.flush(cpu);
        let Some(index) = state.user_dsq(dsq) else {
            state.error(format!("invalid DSQ ID {dsq:#018x}"));
            return false;
        };
        let moved = state.consume(cpu, index);
        state.dispatched += usize::from(moved);
        moved
    })
}

extern "C" fn scx_bpf_dispatch_nr_slots(instance: Instance) -> u32 {
    with(instance, |state| {
        if !state.allows("scx_bpf_dispatch_nr_slots", &[Op::Dispatch]) {
            return 0;
        }
        (abi::DISPATCH_BATCH - state.pending.len()) as u32
    })
}

extern "C" fn scx_bpf_dispatch_cancel(instance: Instance) {
    with(instance, |state| {
        let may = state.allows("scx_bpf_dispatch_cancel", &[Op::Dispatch]);
        if may && state.pending.pop_back().is_none() {
            state.error("dispatch buffer underflow".into());
        }
    });
}

// --- Iterators ---

/// The host's content of `struct bpf_iter_scx_dsq`, which has six words.
#[repr(C)]
struct Iterator {
    /// Index of the queue plus 1; 0 if the iteration has not begun, or no such queue exists.
    dsq: u64,
    number: u64,
    slice: u64,
    vtime: u64,
    has_slice: u8,
    has_vtime: u8,
}

/// `SCX_DSQ_ITER_REV`.
const BACKWARDS: u64 = 1 << 16;

/// # Safety
/// The pointer leads to six words on the scheduler's stack that nothing else uses during the call.
unsafe extern "C" fn bpf_iter_scx_dsq_new(
    instance: Instance,
    it: *mut Iterator,
    dsq: u64,
    flags: u64,
) -> i32 {
    let it_ref = Iterator { dsq: 0, number: 0, slice: 0, vtime: 0, has_slice: 0, has_vtime: 0 };
    // SAFETY: the pointer leads to six words that nothing else uses, and an `Iterator` fits into
    // six words.
    let it = unsafe {
        it.write(it_ref);
        &mut *it
    };
    with(instance, |state| {
        if flags & !BACKWARDS != 0 {
            return abi::EINVAL as i32;
        }
        let Some(index) = state.user_dsq(dsq) else { return abi::ENOENT as i32 };
        state.iterators += 1;
        it.number = state.iterators;
        it.dsq = index as u64 + 1;
        let number = it.number;
        state.dsq_mut(index).begin(number, flags & BACKWARDS != 0);
        0
    })
}

/// # Safety
/// `bpf_iter_scx_dsq_new` has initialized the iterator, which nothing else uses during the call.
unsafe extern "C" fn bpf_iter_scx_dsq_next(instance: Instance, it: *mut Iterator) -> u64 {
    // SAFETY: `it` leads to an initialized iterator that nothing else uses, by this function's
    // contract.
    let it = unsafe { &mut *it };
    with(instance, |state| {
        let Some(index) = it.dsq.checked_sub(1) else { return 0 };
        let next = state.dsq_mut(index as usize).next(it.number);
        next.map_or(0, |task| state.tasks[task].memory.pointer())
    })
}

/// # Safety
/// `bpf_iter_scx_dsq_new` has initialized the iterator, which nothing else uses during the call.
unsafe extern "C" fn bpf_iter_scx_dsq_destroy(instance: Instance, it: *mut Iterator) {
    // SAFETY: `it` leads to an initialized iterator that nothing else uses, by this function's
    // contract.
    let it = unsafe { &mut *it };
    with(instance, |state| {
        if let Some(index) = std::mem::take(&mut it.dsq).checked_sub(1) {
            state.dsq_mut(index as usize).end(it.number);
        }
    });
}

fn move_from(instance: Instance, it: &mut Iterator, task: Task, dsq: u64, flags: u64) -> bool {
    with(instance, |state| {
        // The operations in which a kernel holds no lock of a run queue, or only the lock of the
        // dispatching CPU's.
        let where_allowed = [Op::Dispatch, Op::Timer, Op::Init];
        if !state.allows("scx_bpf_dsq_move", &where_allowed) {
            return false;
        }
        let (Some(from), Some(task)) = (it.dsq.checked_sub(1), task_at(task)) else {
            return false;
        };
        if !state.dsq(from as usize).holds_for(it.number, task) {
            return false;
        }
        if std::mem::take(&mut it.has_vtime) == 1 {
            state.set(task, Field::Vtime, it.vtime);
        }
        if std::mem::take(&mut it.has_slice) == 1 {
            state.set(task, Field::Slice, it.slice);
        }
        let cpu = state.this_cpu();
        let to = state.find_dsq(cpu, dsq);
        state.unlink(task);
        state.bring(task, to, flags);
        true
    })
}

/// # Safety
/// `bpf_iter_scx_dsq_new` has initialized the iterator, which nothing else uses during the call.
unsafe extern "C" fn scx_bpf_dsq_move(
    instance: Instance,
    it: *mut Iterator,
    task: Task,
    dsq: u64,
    flags: u64,
) -> bool {
    // SAFETY: `it` leads to an initialized iterator that nothing else uses, by this function's
    // contract.
    move_from(instance, unsafe { &mut *it }, task, dsq, flags)
}

/// # Safety
/// `bpf_iter_scx_dsq_new` has initialized the iterator, which nothing else uses during the call.
unsafe extern "C" fn scx_bpf_dsq_move_vtime(
    instance: Instance,
    it: *mut Iterator,
    task: Task,
    dsq: u64,
    flags: u64,
) -> bool {
    // SAFETY: `it` leads to an initialized iterator that nothing else uses, by this function's
    // contract.
    move_from(instance, unsafe { &mut *it }, task, dsq, flags | abi::ENQ_DSQ_PRIQ)
}

/// # Safety
/// `bpf_iter_scx_dsq_new` has initialized the iterator, which nothing else uses during the call.
unsafe extern "C" fn scx_bpf_dsq_move_set_slice(_: Instance, it: *mut Iterator, slice: u64) {
    // SAFETY: `it` leads to an initialized iterator that nothing else uses, by this function's
    // contract.
    let it = unsafe { &mut *it };
    (it.slice, it.has_slice) = (slice, 1);
}

/// # Safety
/// `bpf_iter_scx_dsq_new` has initialized the iterator, which nothing else uses during the call.
unsafe extern "C" fn scx_bpf_dsq_move_set_vtime(_: Instance, it: *mut Iterator, vtime: u64) {
    // SAFETY: `it` leads to an initialized iterator that nothing else uses, by this function's
    // contract.
    let it = unsafe { &mut *it };
    (it.vtime, it.has_vtime) = (vtime, 1);
}

// --- CPUs ---

extern "C" fn scx_bpf_kick_cpu(instance: Instance, cpu: i32, flags: u64) {
    with(instance, |state| {
        let Some(cpu) = state.is_cpu(cpu) else { return };
        let forced = flags & (abi::KICK_PREEMPT | abi::KICK_WAIT) != 0;
        if flags & abi::KICK_IDLE != 0 && forced {
            return state.error("PREEMPT/WAIT cannot be used with SCX_KICK_IDLE".into());
        }
        state.kicks.push((cpu, flags));
    });
}

/// Only from `cpu_release`, which the host never calls.
extern "C" fn scx_bpf_reenqueue_local(instance: Instance) -> u32 {
    with(instance, |state| {
        state.error("scx_bpf_reenqueue_local called outside of cpu_release".into());
        0
    })
}

/// From any operation (Linux 6.19 on).
#[expect(non_snake_case, reason = "the kernel's name")]
extern "C" fn scx_bpf_reenqueue_local___v2(instance: Instance) {
    with(instance, |state| {
        if let Some(cpu) = state.context().map(|context| context.cpu) {
            state.emptied.push(cpu);
        }
    });
}

extern "C" fn scx_bpf_nr_cpu_ids(instance: Instance) -> u32 {
    with(instance, |state| state.cpus.len() as u32)
}

extern "C" fn scx_bpf_cpu_curr(instance: Instance, cpu: i32) -> u64 {
    with(instance, |state| state.is_cpu(cpu).map_or(0, |cpu| state.current_pointer(cpu)))
}

// --- Tasks ---

extern "C" fn scx_bpf_task_cpu(instance: Instance, task: Task) -> i32 {
    with(instance, |state| task_at(task).map_or(0, |task| state.tasks[task].cpu as i32))
}

extern "C" fn scx_bpf_task_running(instance: Instance, task: Task) -> bool {
    with(instance, |state| {
        task_at(task).is_some_and(|task| state.cpus[state.tasks[task].cpu].current == Some(task))
    })
}

extern "C" fn scx_bpf_task_set_slice(instance: Instance, task: Task, slice: u64) -> bool {
    with(instance, |state| {
        let task = task_at(task);
        task.map(|task| state.set(task, Field::Slice, slice)).is_some()
    })
}

extern "C" fn scx_bpf_task_set_dsq_vtime(instance: Instance, task: Task, vtime: u64) -> bool {
    with(instance, |state| {
        let task = task_at(task);
        task.map(|task| state.set(task, Field::Vtime, vtime)).is_some()
    })
}

// --- The rest ---

extern "C" fn scx_bpf_now(instance: Instance) -> u64 {
    with(instance, |state| state.now_ns)
}

/// A message of the scheduler.
fn message(text: *const u8, values: *const u64, bytes: u32) -> String {
    const LONGEST: usize = 4096;
    // SAFETY: the scheduler passes the address of a text that ends with a zero byte, and the lazy
    // iterator reads no byte after that one.
    let letters = (0..LONGEST).map(|at| unsafe { text.add(at).read() });
    let letters: Vec<u8> = letters.take_while(|&letter| letter != 0).collect();
    // SAFETY: the scheduler passes that many bytes of values.
    let values = unsafe { given(values.cast(), bytes as usize) };
    let values: Vec<u64> = values
        .chunks_exact(8)
        .filter_map(|word| word.first_chunk())
        .copied()
        .map(u64::from_ne_bytes)
        .collect();
    format(&String::from_utf8_lossy(&letters), &values)
}

extern "C" fn scx_bpf_error_bstr(i: Instance, text: *const u8, values: *const u64, bytes: u32) {
    let message = message(text, values, bytes);
    with(i, |state| state.fail(ExitKind::ErrorByScheduler, message));
}

extern "C" fn scx_bpf_exit_bstr(
    instance: Instance,
    code: i64,
    text: *const u8,
    values: *const u64,
    bytes: u32,
) {
    let message = message(text, values, bytes);
    with(instance, |state| {
        let at_ns = state.now_ns;
        let exit = Exit { kind: ExitKind::ByScheduler, code, message, at_ns };
        state.exit.get_or_insert(exit);
    });
}

extern "C" fn scx_bpf_dump_bstr(i: Instance, text: *const u8, values: *const u64, bytes: u32) {
    let message = message(text, values, bytes);
    with(i, |state| {
        if state.allows("scx_bpf_dump", &[Op::Dump, Op::DumpCpu, Op::DumpTask]) {
            state.dump += &message;
        }
    });
}

extern "C" fn scx_host_print(i: Instance, text: *const u8, values: *const u64, bytes: u32) {
    let message = message(text, values, bytes);
    with(i, |state| {
        if state.printed.len() < abi::PRINTED_MAX {
            state.printed.push(message);
        }
    });
}
