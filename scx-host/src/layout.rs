//! Offsets of the fields of the kernel's structures in the memory that a scheduler reads.
//!
//! The object's BTF has the fields that the scheduler declares, and their offsets. The scheduler
//! cannot read other fields, whose values the host keeps before the structure.

use crate::btf::Btf;
use crate::memory::Block;

/// The fields of `struct task_struct` that the host maintains.
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
    Switches,
    Policy,
}

const PATHS: [&str; 15] = [
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
    "nvcsw",
    "policy",
];

/// Words before a task: its number, then a place for each field that is not declared.
const HEAD: usize = 16;

/// The offsets of the fields of a task.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// By field: offset from the start of the block, and size, in bytes.
    places: [(usize, usize); PATHS.len()],
    /// `comm`, if declared: offset and size.
    name: Option<(usize, usize)>,
    /// `cpus_mask`, if declared: offset and size.
    mask: Option<(usize, usize)>,
    bytes: usize,
    registers: Option<Registers>,
}

/// The place of a task's saved registers, if the scheduler declares them: `struct fpu` is behind
/// the task and points to `struct fpstate`. Offsets and sizes are in bytes.
#[derive(Clone, Debug)]
struct Registers {
    /// Offset of the pointer from the start of the block.
    pointer: usize,
    /// Offset of the features in use, in `struct fpstate`.
    xfeatures: usize,
    /// Size of `struct fpstate`.
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
        let mask = task.and_then(|task| btf.path(task, "cpus_mask"));
        let mask = mask.map(|(offset, of)| (8 * HEAD + offset, btf.size(of)));
        let bytes = 8 * HEAD + task.map_or(0, |task| btf.size(task));
        let fpu = btf.structure("fpu");
        let registers = fpu.zip(btf.structure("fpstate")).and_then(|(fpu, state)| {
            Some(Registers {
                pointer: bytes + btf.path(fpu, "fpstate")?.0,
                xfeatures: btf.path(state, "regs.xsave.header.xfeatures")?.0,
                bytes: btf.size(state),
            })
        });
        Self { places, name, mask, bytes: bytes + fpu.map_or(0, |fpu| btf.size(fpu)), registers }
    }
}

/// The memory of a task that the scheduler reads and writes.
pub(crate) struct TaskMemory {
    block: Block,
    registers: Option<Block>,
}

impl TaskMemory {
    pub(crate) fn new(layout: &Layout, number: usize, name: &str) -> Self {
        let mut block = Block::zeroed(layout.bytes);
        block.words_mut()[0] = number as u64;
        if let Some((offset, size)) = layout.name {
            let length = name.len().min(size.saturating_sub(1));
            block.bytes_mut()[offset..offset + length].copy_from_slice(&name.as_bytes()[..length]);
        }
        let registers = layout.registers.as_ref().map(|at| {
            let state = Block::zeroed(at.bytes);
            let address = (state.address() as u64).to_le_bytes();
            block.bytes_mut()[at.pointer..][..8].copy_from_slice(&address);
            state
        });
        Self { block, registers }
    }

    /// The task has left a CPU with these states of its registers in use.
    pub(crate) fn save_registers(&mut self, layout: &Layout, xfeatures: u64) {
        let switches = self.get(layout, Field::Switches);
        self.set(layout, Field::Switches, switches + 1);
        if let (Some(at), Some(state)) = (&layout.registers, &mut self.registers) {
            state.bytes_mut()[at.xfeatures..][..8].copy_from_slice(&xfeatures.to_le_bytes());
        }
    }

    /// The task's affinity mask, as words of 64 CPUs.
    pub(crate) fn set_mask(&mut self, layout: &Layout, words: &[u64]) {
        let Some((offset, size)) = layout.mask else { return };
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        let place = &mut self.block.bytes_mut()[offset..offset + size];
        place.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
    }

    /// The address that the scheduler identifies the task by.
    pub(crate) fn pointer(&self) -> u64 {
        self.block.address() as u64 + 8 * HEAD as u64
    }

    pub(crate) fn get(&self, layout: &Layout, field: Field) -> u64 {
        let (offset, size) = layout.places[field as usize];
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&self.block.bytes()[offset..offset + size]);
        u64::from_le_bytes(bytes)
    }

    pub(crate) fn set(&mut self, layout: &Layout, field: Field, value: u64) {
        let (offset, size) = layout.places[field as usize];
        self.block.bytes_mut()[offset..offset + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
}

/// The number of the task that a scheduler's pointer leads to.
///
/// # Safety
/// `pointer` is null, or comes from [`TaskMemory::pointer`] of a task that is not dropped. In a
/// kernel, the verifier ensures that.
pub(crate) unsafe fn number_of(pointer: *const u8) -> Option<usize> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: `pointer` comes from `TaskMemory::pointer` and lies `HEAD` words after the start of
    // the task's block, whose first word is the number.
    let number = unsafe { pointer.cast::<u64>().sub(HEAD).read() };
    Some(number as usize)
}
