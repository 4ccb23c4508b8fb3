//! Memory that a scheduler allocates by itself, as sets of CPUs, and gives back.

use std::collections::BTreeMap;

use crate::exit::ExitKind;
use crate::kfuncs::{Instance, with};
use crate::memory::Block;
use crate::state::State;

/// By address: an object and how often it is held. What is still held ends with the instance, as
/// the objects do that a kernel frees with the maps that point to them.
#[derive(Default)]
pub(crate) struct Objects(BTreeMap<usize, (Block, u64)>);

impl Objects {
    fn add(&mut self, bytes: usize) -> *mut u8 {
        let block = Block::zeroed(bytes);
        let address = block.address();
        self.0.insert(address as usize, (block, 1));
        address.cast()
    }

    /// Whether the object is one of these.
    fn acquire(&mut self, address: usize) -> bool {
        let Some((_, held)) = self.0.get_mut(&address) else { return false };
        *held += 1;
        true
    }

    /// Whether the object was one of these.
    fn release(&mut self, address: usize) -> bool {
        let Some((_, held)) = self.0.get_mut(&address) else { return false };
        *held -= 1;
        if *held == 0 {
            self.0.remove(&address);
        }
        true
    }
}

/// A kernel's verifier refuses the scheduler before it runs.
fn refuse(state: &mut State, what: &str) {
    let message = format!("{what} an object that the scheduler does not hold");
    state.fail(ExitKind::Error, message);
}

pub(crate) extern "C" fn scx_host_object_new(instance: Instance, bytes: u64) -> *mut u8 {
    with(instance, |state| {
        if state.chance.has_no_memory() {
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
