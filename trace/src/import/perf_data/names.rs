//! Names of threads, as perf keeps them from its own records.

use std::collections::HashMap;

/// The name of every thread that has one.
pub struct Names {
    names: HashMap<u32, Vec<u8>>,
}

impl Names {
    pub fn new() -> Self {
        Self { names: HashMap::from([(0, b"swapper".to_vec())]) }
    }

    pub fn set(&mut self, tid: u32, name: Vec<u8>) {
        self.names.insert(tid, name);
    }

    /// A new thread has the name of its parent.
    pub fn fork(&mut self, tid: u32, parent: u32) {
        if let Some(name) = self.names.get(&parent).cloned() {
            self.names.insert(tid, name);
        }
    }

    pub fn exit(&mut self, tid: u32) {
        self.names.remove(&tid);
    }

    /// Adds the name; a thread without one is called by its number, as `perf script` does.
    pub fn append(&self, tid: Option<u32>, text: &mut Vec<u8>) {
        let Some(tid) = tid else { return };
        match self.names.get(&tid) {
            Some(name) => text.extend_from_slice(name),
            None => text.extend_from_slice(format!(":{tid}").as_bytes()),
        }
    }
}

/// Thread and name of `struct { u32 pid, tid; char comm[]; }` (PERF_RECORD_COMM).
pub fn comm(body: &[u8]) -> Option<(u32, Vec<u8>)> {
    let name = body.get(8..)?;
    let name = &name[..memchr::memchr(0, name)?];
    Some((u32_at(body, 4)?, name.to_vec()))
}

/// Thread and its parent of `struct { u32 pid, ppid, tid, ptid; u64 time; }`
/// (PERF_RECORD_FORK and PERF_RECORD_EXIT).
pub fn fork(body: &[u8]) -> Option<(u32, u32)> {
    Some((u32_at(body, 8)?, u32_at(body, 12)?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
