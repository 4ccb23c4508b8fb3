//! Memory of tasks and of their accesses: N ch. 5, and a way back for chunks.
//!
//! Sizes are multiples of [`UNIT`] bytes. A worker has two magazines of free chunks a size, linked
//! through the chunks themselves. Where both are empty, the worker takes a full one from the depot
//! of its NUMA domain, and where the depot has none, cuts chunks from a piece of [`REFILL`] bytes,
//! which comes from the domain's pool of [`POOL`] bytes. Where both are full, one goes to the
//! depot: N's chunks stay with the worker that freed them, and grow without end where one worker
//! creates and other workers free. (Magazines and depot: Bonwick and Adams, USENIX 2001.)

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr::{self, NonNull};

use crossbeam_utils::CachePadded;

use crate::sync::{Mutex, lock};

/// All sizes are multiples of a cache line. N's are multiples of two; a task with a dependence fits
/// in three.
const UNIT: usize = 64;
/// Alignment of sizes that are a multiple of this number; N aligns all sizes so.
pub(crate) const ALIGNMENT: usize = 128;
/// Size classes that a worker keeps; larger blocks come from the system.
const SIZES: usize = 32;
/// Chunks in a magazine.
const MAGAZINE: u32 = 64;
/// Bytes that a worker takes from its pool at once (N 5.2).
const REFILL: usize = 128 << 10;
/// Bytes that a pool takes from the system at once (N 5.2).
const POOL: usize = 8 << 20;
/// Alignment of a pool: pages.
const PAGE: usize = 4096;

/// A free chunk. Its first bytes link chunks.
struct Chunk {
    /// The next chunk of the magazine.
    next: *mut Chunk,
    /// The next magazine, in the first chunk of one that is in the depot.
    magazine: *mut Chunk,
}

/// Chunks of one size, linked.
struct Magazine {
    top: Cell<*mut Chunk>,
    count: Cell<u32>,
}

impl Magazine {
    fn empty() -> Self {
        Self { top: Cell::new(ptr::null_mut()), count: Cell::new(0) }
    }

    fn pop(&self) -> Option<NonNull<u8>> {
        let chunk = NonNull::new(self.top.get())?;
        // SAFETY: a free chunk is ours, and its first bytes are the link.
        self.top.set(unsafe { chunk.as_ref().next });
        self.count.set(self.count.get() - 1);
        Some(chunk.cast())
    }

    /// # Safety
    /// The chunk is free, of this size, and the caller's.
    unsafe fn push(&self, chunk: NonNull<u8>) {
        let chunk: *mut Chunk = chunk.cast().as_ptr();
        // SAFETY: the chunk is free, of this size, and the caller's: its first bytes may hold the
        // link.
        unsafe { (*chunk).next = self.top.get() };
        self.top.set(chunk);
        self.count.set(self.count.get() + 1);
    }
}

/// Free chunks of one size, of one worker.
struct Size {
    /// Chunks come from here and go here.
    hot: Magazine,
    /// Full or empty.
    spare: Magazine,
    /// The rest of the last piece: its next chunk, and its end.
    piece: Cell<(*mut u8, *mut u8)>,
}

/// Where tasks get their memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// From magazines and pools (N ch. 5).
    Pools,
    /// From the system's allocator, block by block, as before N ch. 5.
    System,
}

/// Free chunks of one worker.
pub(crate) struct Chunks {
    sizes: [Size; SIZES],
    /// The first size that comes from the system.
    sizes_end: usize,
}

// SAFETY: free chunks are plain memory, bound to no thread.
unsafe impl Send for Chunks {}

impl Chunks {
    pub(crate) fn new(memory: Memory) -> Self {
        let size = |_| Size {
            hot: Magazine::empty(),
            spare: Magazine::empty(),
            piece: Cell::new((ptr::null_mut(), ptr::null_mut())),
        };
        let sizes_end = if memory == Memory::Pools { SIZES } else { 0 };
        Self { sizes: std::array::from_fn(size), sizes_end }
    }

    /// A chunk of at least `bytes` bytes, aligned to [`UNIT`], or to [`ALIGNMENT`] if they are a
    /// multiple of that.
    #[inline]
    pub(crate) fn allocate(&self, bytes: usize, depot: &Depot) -> NonNull<u8> {
        let class = class_of(bytes);
        let Some(size) = self.sizes[..self.sizes_end].get(class) else {
            return from_system(bytes);
        };
        size.hot.pop().unwrap_or_else(|| refill(size, class, depot))
    }

    /// Takes back a chunk that was allocated with as many bytes, by any worker.
    ///
    /// # Safety
    /// No thread uses the chunk any more.
    #[inline]
    pub(crate) unsafe fn free(&self, chunk: NonNull<u8>, bytes: usize, depot: &Depot) {
        let class = class_of(bytes);
        let Some(size) = self.sizes[..self.sizes_end].get(class) else {
            // SAFETY: the block came from `from_system`, with this layout.
            return unsafe { dealloc(chunk.as_ptr(), system_layout(bytes)) };
        };
        if size.hot.count.get() == MAGAZINE {
            put_away(size, class, depot);
        }
        // SAFETY: no thread uses the chunk, and its size is of this class.
        unsafe { size.hot.push(chunk) };
    }
}

/// The size class of `bytes` bytes; [`SIZES`] or more for blocks of the system.
fn class_of(bytes: usize) -> usize {
    bytes.saturating_sub(1) / UNIT
}

#[cold]
fn refill(size: &Size, class: usize, depot: &Depot) -> NonNull<u8> {
    size.hot.top.swap(&size.spare.top);
    size.hot.count.swap(&size.spare.count);
    if let Some(chunk) = size.hot.pop() {
        return chunk;
    }
    if let Some(full) = depot.take(class) {
        size.hot.top.set(full.as_ptr());
        size.hot.count.set(MAGAZINE);
        if let Some(chunk) = size.hot.pop() {
            return chunk;
        }
    }
    let bytes = (class + 1) * UNIT;
    let (mut next, mut end) = size.piece.get();
    if (end as usize) - (next as usize) < bytes {
        next = depot.piece().as_ptr();
        end = next.wrapping_add(REFILL);
    }
    size.piece.set((next.wrapping_add(bytes), end));
    // SAFETY: a piece is not null.
    unsafe { NonNull::new_unchecked(next) }
}

#[cold]
fn put_away(size: &Size, class: usize, depot: &Depot) {
    size.hot.top.swap(&size.spare.top);
    size.hot.count.swap(&size.spare.count);
    if let Some(full) = NonNull::new(size.hot.top.replace(ptr::null_mut())) {
        size.hot.count.set(0);
        depot.put(class, full);
    }
}

fn system_layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, ALIGNMENT).expect("no task is as large as the address space")
}

#[cold]
fn from_system(bytes: usize) -> NonNull<u8> {
    let layout = system_layout(bytes);
    // SAFETY: a task has a header, and so the layout a size.
    NonNull::new(unsafe { alloc(layout) }).unwrap_or_else(|| handle_alloc_error(layout))
}

/// The memory of a NUMA domain.
///
/// The kernel places a page in the domain of the CPU that first writes to the page, which is a CPU
/// of this domain.
pub(crate) struct Depot {
    /// Full magazines, linked, a list a size.
    full: [CachePadded<Mutex<Link>>; SIZES],
    pool: Mutex<Pool>,
}

/// The first chunk of the first magazine.
struct Link(*mut Chunk);

// SAFETY: a free chunk is plain memory, and only the holder of the list's lock uses the link.
unsafe impl Send for Link {}

/// All memory from the system, and the used bytes of the latest pool.
struct Pool {
    all: Vec<NonNull<u8>>,
    used: usize,
}

// SAFETY: memory belongs to no thread.
unsafe impl Send for Pool {}

impl Depot {
    pub(crate) fn new() -> Self {
        Self {
            full: std::array::from_fn(|_| CachePadded::new(Mutex::new(Link(ptr::null_mut())))),
            pool: Mutex::new(Pool { all: Vec::new(), used: POOL }),
        }
    }

    fn take(&self, class: usize) -> Option<NonNull<Chunk>> {
        let mut list = lock(&self.full[class]);
        let first = NonNull::new(list.0)?;
        // SAFETY: the first chunk of a magazine in the depot links to the next.
        list.0 = unsafe { first.as_ref().magazine };
        Some(first)
    }

    fn put(&self, class: usize, magazine: NonNull<Chunk>) {
        let mut list = lock(&self.full[class]);
        // SAFETY: the caller gives a magazine away; its chunks are free.
        unsafe { (*magazine.as_ptr()).magazine = list.0 };
        list.0 = magazine.as_ptr();
    }

    /// A piece of [`REFILL`] bytes that was never used.
    fn piece(&self) -> NonNull<u8> {
        let mut pool = lock(&self.pool);
        if pool.used == POOL {
            // SAFETY: the layout has a size.
            let memory = NonNull::new(unsafe { alloc(pool_layout()) })
                .unwrap_or_else(|| handle_alloc_error(pool_layout()));
            pool.all.push(memory);
            pool.used = 0;
        }
        let latest = pool.all[pool.all.len() - 1];
        let used = pool.used;
        pool.used += REFILL;
        // SAFETY: a pool is a multiple of pieces, and one is left.
        unsafe { latest.add(used) }
    }

    /// Bytes taken from the system.
    pub(crate) fn bytes(&self) -> usize {
        lock(&self.pool).all.len() * POOL
    }
}

impl Drop for Depot {
    fn drop(&mut self) {
        for memory in &lock(&self.pool).all {
            // SAFETY: the memory came from `alloc` with this layout; no task outlives the depot.
            unsafe { dealloc(memory.as_ptr(), pool_layout()) };
        }
    }
}

fn pool_layout() -> Layout {
    const {
        assert!(
            POOL.is_multiple_of(REFILL) && REFILL >= SIZES * UNIT && PAGE.is_multiple_of(ALIGNMENT)
        )
    };
    Layout::from_size_align(POOL, PAGE).expect("a pool has a size")
}
