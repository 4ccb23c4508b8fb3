//! Where fields of the kernel's structures are in the memory that a scheduler sees.
//!
//! The object's BTF says which fields it declares and where. What it does not declare it cannot
//! read; the host then keeps the value beside.

use crate::btf::Btf;
use crate::memory::Block;

/// Fields of `struct task_struct` that the host keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Flags,
    StaticPrio,
    AllowedCount,
    MigrationDisabled,
    Cpus,
    Runtime,
    Queued,
    Slice,
    Vtime,
    Weight,
    Pid,
    Tgid,
    GroupLeader,
}

const PATHS: [&str; 13] = [
    "flags",
    "static_prio",
    "nr_cpus_allowed",
    "migration_disabled",
    "cpus_ptr",
    "se.sum_exec_runtime",
    "scx.flags",
    "scx.slice",
    "scx.dsq_vtime",
    "scx.weight",
    "pid",
    "tgid",
    "group_leader",
];

/// Words before a task: its number, then a place for each field that is not declared.
const HEAD: usize = 16;

/// Where the fields of a task are.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// By field: offset from the start of the block, and size, in bytes.
    places: [(usize, usize); PATHS.len()],
    /// `comm`, if declared: offset and size.
    name: Option<(usize, usize)>,
    bytes: usize,
}

impl Layout {
    pub(crate) fn new(btf: &Btf) -> Self {
        let task = btf.structure("task_struct");
        let mut places = [(0, 8); PATHS.len()];
        for (index, (place, path)) in places.iter_mut().zip(PATHS).enumerate() {
            let declared = task.and_then(|task| btf.path(task, path));
            *place = match declared {
                Some((offset, of)) => (8 * HEAD + offset, btf.size(of).min(8)),
                None => (8 * (1 + index), 8),
            };
        }
        let name = task.and_then(|task| btf.path(task, "comm"));
        let name = name.map(|(offset, of)| (8 * HEAD + offset, btf.size(of)));
        Self { places, name, bytes: 8 * HEAD + task.map_or(0, |task| btf.size(task)) }
    }
}

/// A task as the scheduler sees it.
pub(crate) struct TaskMemory(Block);

impl TaskMemory {
    pub(crate) fn new(layout: &Layout, number: usize, name: &str) -> Self {
        let mut block = Block::zeroed(layout.bytes);
        block.words_mut()[0] = number as u64;
        if let Some((offset, size)) = layout.name {
            let length = name.len().min(size.saturating_sub(1));
            block.bytes_mut()[offset..offset + length].copy_from_slice(&name.as_bytes()[..length]);
        }
        Self(block)
    }

    /// What the scheduler knows the task by.
    pub(crate) fn pointer(&self) -> u64 {
        self.0.address() as u64 + 8 * HEAD as u64
    }

    pub(crate) fn get(&self, layout: &Layout, field: Field) -> u64 {
        let (offset, size) = layout.places[field as usize];
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&self.0.bytes()[offset..offset + size]);
        u64::from_le_bytes(bytes)
    }

    pub(crate) fn set(&mut self, layout: &Layout, field: Field, value: u64) {
        let (offset, size) = layout.places[field as usize];
        self.0.bytes_mut()[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
}

/// The number of the task that a scheduler's pointer leads to.
///
/// # Safety
/// The pointer is one of [`TaskMemory::pointer`], or null: a verifier would have seen to it.
pub(crate) unsafe fn number_of(pointer: *const u8) -> Option<usize> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the caller's promise; the number stands that many words before.
    let number = unsafe { pointer.cast::<u64>().sub(HEAD).read() };
    Some(number as usize)
}
