//! Maps of a scheduler: geometry from BTF, and memory.

use std::collections::{BTreeMap, VecDeque};

use thiserror::Error;

use crate::abi::{E2BIG, EBUSY, EEXIST, EINVAL, ENOENT};
use crate::btf::{Btf, Id};
use crate::memory::Block;

/// Kinds of maps, by their numbers in include/uapi/linux/bpf.h (Linux 7.0).
const HASH: usize = 1;
const ARRAY: usize = 2;
const PERF_EVENT_ARRAY: usize = 4;
const PERCPU_ARRAY: usize = 6;
const QUEUE: usize = 22;
const STACK: usize = 23;
const RINGBUF: usize = 27;
const TASK_STORAGE: usize = 29;

/// Why a map or an entry cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum MapError {
    /// The host does not implement this kind of map.
    #[error("map {name} is of kind {kind}, which the host does not have")]
    Kind {
        /// Its name.
        name: String,
        /// The number of its kind.
        kind: usize,
    },
    /// No map of that name, or an entry beyond the size of the map.
    #[error("no entry {key} of map {name}")]
    NoEntry {
        /// The map.
        name: String,
        /// The entry.
        key: u32,
    },
}

/// The values of a hardware counter of a CPU, as in `struct bpf_perf_event_value`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// The CPU of the counter; no other CPU can read the counter.
    pub cpu: usize,
    /// Its count.
    pub counter: u64,
    /// For how long the counter was enabled, in ns.
    pub enabled_ns: u64,
    /// For how long the counter counted, in ns.
    pub running_ns: u64,
}

enum Values {
    /// One block for all entries (by CPU, then by entry).
    Array {
        block: Block,
        is_percpu: bool,
    },
    Hash(BTreeMap<Vec<u8>, Block>),
    /// Those that came first in front; whether the last one leaves first.
    Queue(VecDeque<Vec<u8>>, bool),
    /// By task.
    Storage(Vec<Option<Block>>),
    /// By entry; `None` where no event was opened.
    Events(Vec<Option<Counted>>),
    Ring {
        records: VecDeque<Vec<u8>>,
        reserved: Vec<Block>,
        free: usize,
    },
}

struct Map {
    name: String,
    key_size: usize,
    value_size: usize,
    /// Between entries of an array: values are aligned to 8 bytes.
    stride: usize,
    entries: usize,
    values: Values,
}

/// All maps of an instance.
pub(crate) struct Maps {
    maps: Vec<Map>,
    cpus: usize,
}

/// Kind, key size, value size and entries by a map's declaration: each member points to an array,
/// whose count is the number, or to a type.
fn geometry(btf: &Btf, declared: Id) -> (usize, usize, usize, usize) {
    let member = |name: &str| btf.members(declared).iter().find(|one| one.name == name);
    let number = |name| member(name).and_then(|one| btf.count(btf.pointed(one.of)));
    let size = |name, sized| {
        member(name).map(|one| btf.size(btf.pointed(one.of))).or_else(|| number(sized))
    };
    let (key, value) = (size("key", "key_size"), size("value", "value_size"));
    let entries = number("max_entries");
    (number("type").unwrap_or(0), key.unwrap_or(0), value.unwrap_or(0), entries.unwrap_or(0))
}

impl Maps {
    /// Makes the maps in the order of the section `.maps`.
    pub(crate) fn new(
        btf: &Btf,
        sizes: &BTreeMap<String, usize>,
        cpus: usize,
    ) -> Result<Self, MapError> {
        let mut maps = Vec::new();
        for variable in btf.section(".maps") {
            let name = btf.name(variable.of).to_owned();
            let (kind, key_size, value_size, entries) = geometry(btf, variable.of);
            let entries = sizes.get(&name).copied().unwrap_or(entries);
            let stride = value_size.next_multiple_of(8);
            let values = match kind {
                ARRAY => Values::Array { block: Block::zeroed(stride * entries), is_percpu: false },
                PERCPU_ARRAY => {
                    Values::Array { block: Block::zeroed(stride * entries * cpus), is_percpu: true }
                }
                HASH => Values::Hash(BTreeMap::new()),
                QUEUE | STACK => Values::Queue(VecDeque::new(), kind == STACK),
                TASK_STORAGE => Values::Storage(Vec::new()),
                PERF_EVENT_ARRAY => Values::Events(vec![None; entries]),
                RINGBUF => {
                    Values::Ring { records: VecDeque::new(), reserved: Vec::new(), free: entries }
                }
                kind => return Err(MapError::Kind { name, kind }),
            };
            maps.push(Map { name, key_size, value_size, stride, entries, values });
        }
        Ok(Self { maps, cpus })
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.maps.iter().map(|map| map.name.as_str())
    }

    pub(crate) fn key_size(&self, map: usize) -> usize {
        self.maps[map].key_size
    }

    pub(crate) fn value_size(&self, map: usize) -> usize {
        self.maps[map].value_size
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.maps.iter().position(|map| map.name == name)
    }

    /// Address of the value of a key; null if the map has no such entry.
    pub(crate) fn lookup(&self, map: usize, key: &[u8], cpu: usize) -> *mut u8 {
        let map = &self.maps[map];
        match &map.values {
            Values::Array { block, is_percpu } => {
                let index = index_of(key);
                if index >= map.entries || (*is_percpu && cpu >= self.cpus) {
                    return std::ptr::null_mut();
                }
                let first = if *is_percpu { cpu * map.entries } else { 0 };
                block.address().cast::<u8>().wrapping_add((first + index) * map.stride)
            }
            Values::Hash(values) => {
                values.get(key).map_or(std::ptr::null_mut(), |block| block.address().cast())
            }
            _ => std::ptr::null_mut(),
        }
    }

    pub(crate) fn update(&mut self, map: usize, key: &[u8], value: &[u8], flags: u64) -> i64 {
        const NOEXIST: u64 = 1;
        const EXIST: u64 = 2;
        let map = &mut self.maps[map];
        match &mut map.values {
            Values::Array { block, is_percpu: false } => {
                let index = index_of(key);
                if index >= map.entries {
                    return E2BIG;
                }
                if flags & NOEXIST != 0 {
                    return EEXIST;
                }
                block.bytes_mut()[index * map.stride..][..value.len()].copy_from_slice(value);
                0
            }
            Values::Hash(values) => {
                match (values.contains_key(key), flags) {
                    (true, NOEXIST) => return EEXIST,
                    (false, EXIST) => return ENOENT,
                    (false, _) if values.len() >= map.entries => return E2BIG,
                    _ => {}
                }
                let block =
                    values.entry(key.to_vec()).or_insert_with(|| Block::zeroed(value.len()));
                block.bytes_mut()[..value.len()].copy_from_slice(value);
                0
            }
            _ => EINVAL,
        }
    }

    pub(crate) fn delete(&mut self, map: usize, key: &[u8]) -> i64 {
        match &mut self.maps[map].values {
            Values::Hash(values) => values.remove(key).map_or(ENOENT, |_| 0),
            _ => EINVAL,
        }
    }

    /// Adds a value to a queue or stack; with `BPF_EXIST` a full one loses its oldest.
    pub(crate) fn push(&mut self, map: usize, value: &[u8], flags: u64) -> i64 {
        const EXIST: u64 = 2;
        let map = &mut self.maps[map];
        let Values::Queue(values, _) = &mut map.values else { return EINVAL };
        if values.len() >= map.entries {
            if flags & EXIST == 0 {
                return E2BIG;
            }
            values.pop_front();
        }
        values.push_back(value.to_vec());
        0
    }

    /// The next value of a queue or stack, which `take` removes.
    pub(crate) fn next(&mut self, map: usize, take: bool) -> Result<Vec<u8>, i64> {
        let Values::Queue(values, is_stack) = &mut self.maps[map].values else {
            return Err(EINVAL);
        };
        let next = match (*is_stack, take) {
            (false, false) => values.front().cloned(),
            (true, false) => values.back().cloned(),
            (false, true) => values.pop_front(),
            (true, true) => values.pop_back(),
        };
        next.ok_or(ENOENT)
    }

    /// Storage of a task; `make` creates missing storage.
    pub(crate) fn storage(&mut self, map: usize, task: usize, make: bool) -> *mut u8 {
        let map = &mut self.maps[map];
        let Values::Storage(values) = &mut map.values else { return std::ptr::null_mut() };
        if values.len() <= task {
            values.resize_with(task + 1, || None);
        }
        if values[task].is_none() && make {
            values[task] = Some(Block::zeroed(map.stride));
        }
        values[task].as_ref().map_or(std::ptr::null_mut(), |block| block.address().cast())
    }

    pub(crate) fn stored(&self, map: usize, task: usize) -> Option<&[u8]> {
        let map = &self.maps[map];
        let Values::Storage(values) = &map.values else { return None };
        values.get(task)?.as_ref().map(|block| &block.bytes()[..map.value_size])
    }

    pub(crate) fn has_storage(&self, map: usize, task: usize) -> bool {
        let Values::Storage(values) = &self.maps[map].values else { return false };
        values.get(task).is_some_and(Option::is_some)
    }

    pub(crate) fn forget_storage(&mut self, map: usize, task: usize) -> bool {
        let Values::Storage(values) = &mut self.maps[map].values else { return false };
        values.get_mut(task).and_then(Option::take).is_some()
    }

    /// Frees all storage of a task that has ended.
    pub(crate) fn forget_task(&mut self, task: usize) {
        for map in 0..self.maps.len() {
            self.forget_storage(map, task);
        }
    }

    pub(crate) fn set_event(&mut self, map: usize, key: u32, value: Counted) -> bool {
        let Values::Events(events) = &mut self.maps[map].values else { return false };
        let Some(place) = events.get_mut(key as usize) else { return false };
        *place = Some(value);
        true
    }

    pub(crate) fn event(&self, map: usize, key: usize) -> Result<Counted, i64> {
        let Values::Events(events) = &self.maps[map].values else { return Err(EINVAL) };
        events.get(key).ok_or(E2BIG)?.ok_or(ENOENT)
    }

    /// Room for a record in a ring buffer; null if the buffer is full.
    pub(crate) fn reserve(&mut self, map: usize, bytes: usize) -> *mut u8 {
        let Values::Ring { reserved, free, .. } = &mut self.maps[map].values else {
            return std::ptr::null_mut();
        };
        // One word for the map, one for the size; the kernel has a header of 8 bytes.
        let room = bytes.next_multiple_of(8) + 8;
        if *free < room {
            return std::ptr::null_mut();
        }
        *free -= room;
        let mut block = Block::zeroed(bytes + 16);
        block.words_mut()[0] = map as u64;
        block.words_mut()[1] = bytes as u64;
        let address = block.address().cast::<u8>().wrapping_add(16);
        reserved.push(block);
        address
    }

    /// Ends a reservation, and keeps the record if `keep` is set.
    pub(crate) fn submit(&mut self, record: *const u8, keep: bool) {
        for map in &mut self.maps {
            let Values::Ring { records, reserved, free } = &mut map.values else { continue };
            let is_it = |block: &Block| block.address() as usize + 16 == record as usize;
            let Some(index) = reserved.iter().position(is_it) else { continue };
            let block = reserved.swap_remove(index);
            let bytes = block.words()[1] as usize;
            if keep {
                records.push_back(block.bytes()[16..16 + bytes].to_vec());
            } else {
                *free += bytes.next_multiple_of(8) + 8;
            }
            return;
        }
    }

    /// Writes a whole record into a ring buffer.
    pub(crate) fn output(&mut self, map: usize, record: &[u8]) -> i64 {
        if !matches!(self.maps[map].values, Values::Ring { .. }) {
            return EINVAL;
        }
        let place = self.reserve(map, record.len());
        if place.is_null() {
            return EBUSY;
        }
        let Values::Ring { reserved, .. } = &mut self.maps[map].values else { return EINVAL };
        let block = reserved.last_mut().expect("just reserved");
        block.bytes_mut()[16..16 + record.len()].copy_from_slice(record);
        self.submit(place, true);
        0
    }

    /// Takes the oldest record out of a ring buffer.
    pub(crate) fn take_record(&mut self, map: usize) -> Option<Vec<u8>> {
        let Values::Ring { records, free, .. } = &mut self.maps[map].values else { return None };
        let record = records.pop_front()?;
        *free += record.len().next_multiple_of(8) + 8;
        Some(record)
    }

    /// The key of the array entry that contains an address; `None` outside of the array.
    pub(crate) fn place_of(&self, map: usize, address: *const u8) -> Option<u32> {
        let map = &self.maps[map];
        let Values::Array { block, is_percpu: false } = &map.values else { return None };
        let offset = (address as usize).checked_sub(block.address() as usize)?;
        (offset < map.stride * map.entries).then(|| (offset / map.stride.max(1)) as u32)
    }
}

fn index_of(key: &[u8]) -> usize {
    key.first_chunk().map_or(usize::MAX, |bytes| u32::from_ne_bytes(*bytes) as usize)
}
