//! Memory that a scheduler allocates by itself, as sets of CPUs, and gives back.

use std::collections::BTreeMap;

use crate::memory::Block;

/// By address: an object and how often it is held. What is still held ends with the instance, as
/// the objects do that a kernel frees with the maps that point to them.
#[derive(Default)]
pub(crate) struct Objects(BTreeMap<usize, (Block, u64)>);

impl Objects {
    pub(crate) fn held(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn add(&mut self, bytes: usize) -> *mut u8 {
        let block = Block::zeroed(bytes);
        let address = block.address();
        self.0.insert(address as usize, (block, 1));
        address.cast()
    }

    /// Whether the object is one of these.
    pub(crate) fn acquire(&mut self, address: usize) -> bool {
        let Some((_, held)) = self.0.get_mut(&address) else { return false };
        *held += 1;
        true
    }

    /// Whether the object was one of these.
    pub(crate) fn release(&mut self, address: usize) -> bool {
        let Some((_, held)) = self.0.get_mut(&address) else { return false };
        *held -= 1;
        if *held == 0 {
            self.0.remove(&address);
        }
        true
    }
}
