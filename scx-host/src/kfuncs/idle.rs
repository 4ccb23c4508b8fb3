//! Which idle CPU? The functions of kernel/sched/ext_idle.c, Linux 7.0.

use crate::abi;
use crate::kfuncs::{Instance, Task, task_at, with};
use crate::ops::Op;

/// # Safety
/// `is_idle` leads to a flag of the scheduler that can be written.
pub(crate) unsafe extern "C" fn scx_bpf_select_cpu_dfl(
    instance: Instance,
    task: Task,
    prev: i32,
    wake_flags: u64,
    is_idle: *mut bool,
) -> i32 {
    let found = with(instance, |state| {
        if !state.allows("scx_bpf_select_cpu_dfl", &[Op::SelectCpu, Op::Enqueue]) {
            return None;
        }
        let from = state.is_cpu(prev)?;
        let task = task_at(task)?;
        if !state.tracks_idle() {
            return None;
        }
        let this_cpu = state.this_cpu();
        state.select_default(task, from, this_cpu, wake_flags)
    });
    // SAFETY: `is_idle` leads to a flag that can be written, as this function's contract says.
    unsafe { is_idle.write(found.is_some()) };
    found.map_or(prev, |cpu| cpu as i32)
}

/// `scx_bpf_select_cpu_and`: `-EBUSY` if none of these CPUs idles.
pub(crate) extern "C" fn scx_bpf_select_cpu_and(
    instance: Instance,
    task: Task,
    prev: i32,
    wake_flags: u64,
    mask: *const u64,
    flags: u64,
) -> i32 {
    let found = with(instance, |state| {
        let from = state.is_cpu(prev)?;
        let task = task_at(task)?;
        if mask.is_null() {
            state.error("called with NULL cpumask".into());
            return None;
        }
        if !state.tracks_idle() {
            return None;
        }
        let this_cpu = state.this_cpu();
        state.select_within(task, from, this_cpu, wake_flags, Some((mask_at(mask), flags)))
    });
    found.map_or(abi::EBUSY as i32, |cpu| cpu as i32)
}

/// The set of CPUs that a scheduler's pointer leads to.
fn mask_at<'a>(mask: *const u64) -> &'a [u64] {
    const WORDS: usize = crate::cpus::CPUS_MAX / 64;
    if mask.is_null() {
        return &[0; WORDS];
    }
    // SAFETY: masks come from the host, which gives each that many words, or are the scheduler's
    // own `struct cpumask` of the same size.
    unsafe { std::slice::from_raw_parts(mask, WORDS) }
}

pub(crate) extern "C" fn scx_bpf_pick_idle_cpu(
    instance: Instance,
    mask: *const u64,
    flags: u64,
) -> i32 {
    with(instance, |state| {
        if !state.tracks_idle() {
            return abi::EBUSY as i32;
        }
        state.pick_idle(mask_at(mask), flags).map_or(abi::EBUSY as i32, |cpu| cpu as i32)
    })
}

pub(crate) extern "C" fn scx_bpf_pick_any_cpu(
    instance: Instance,
    mask: *const u64,
    flags: u64,
) -> i32 {
    with(instance, |state| {
        let allowed = mask_at(mask);
        let idle = if state.has_own_idle { None } else { state.pick_idle(allowed, flags) };
        let any = (0..state.cpus.len()).find(|cpu| allowed[cpu / 64] >> (cpu % 64) & 1 == 1);
        idle.or(any).map_or(abi::EBUSY as i32, |cpu| cpu as i32)
    })
}

pub(crate) extern "C" fn scx_bpf_test_and_clear_cpu_idle(instance: Instance, cpu: i32) -> bool {
    with(instance, |state| {
        let Some(cpu) = state.is_cpu(cpu) else { return false };
        state.tracks_idle() && state.idle.claim(&state.topology, cpu)
    })
}

pub(crate) extern "C" fn scx_bpf_get_idle_cpumask(instance: Instance) -> *const u64 {
    with(instance, |state| state.idle.cpus.address())
}

pub(crate) extern "C" fn scx_bpf_get_idle_smtmask(instance: Instance) -> *const u64 {
    with(instance, |state| {
        let masks = &state.idle;
        if state.topology.has_siblings() { masks.cores.address() } else { masks.cpus.address() }
    })
}

pub(crate) extern "C" fn scx_bpf_get_online_cpumask(instance: Instance) -> *const u64 {
    with(instance, |state| state.online.address())
}

pub(crate) extern "C" fn scx_bpf_get_possible_cpumask(instance: Instance) -> *const u64 {
    with(instance, |state| state.possible.address())
}
