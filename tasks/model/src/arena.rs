//! Memory whose addresses are the same in every run.
//!
//! The result of a run depends on the objects that share a cache line, on the block that is used
//! again, and on the order of addresses in a table; with the system's allocator, all of that would
//! depend on the past of the process. Every object begins at a line of its own. The model's own
//! data is the system's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The first address of the arena, far from all addresses that the system chooses.
const BEGIN: usize = 1 << 44;
/// One run at a time has these addresses.
static ADDRESSES: Mutex<()> = Mutex::new(());
/// Addresses of one run; pages come to be as they are used.
const BYTES: usize = 1 << 36;
/// Alignment of objects: that of `CachePadded` and of tasks.
const ALIGN: usize = 128;
/// Sizes are powers of two; lists of free objects, by the power.
const POWERS: usize = 37;

struct State {
    begin: *mut u8,
    used: usize,
    free: [*mut u8; POWERS],
}

thread_local! {
    static STATE: Cell<*mut State> = const { Cell::new(ptr::null_mut()) };
    static IS_PAUSED: Cell<bool> = const { Cell::new(true) };
}

/// From here on, allocations of this thread are the system's, or are not; returns the value before.
pub(crate) fn pause(is_paused: bool) -> bool {
    IS_PAUSED.replace(is_paused)
}

/// The memory of one run. No object in the arena is used after its drop.
pub(crate) struct Arena {
    state: Box<State>,
    _addresses: MutexGuard<'static, ()>,
}

impl Arena {
    /// For this thread, which has no other.
    pub(crate) fn new() -> Self {
        assert!(STATE.get().is_null(), "one run at a time on a thread");
        let addresses = ADDRESSES.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the call maps new pages, and replaces none.
        let begin = unsafe {
            libc::mmap(
                ptr::without_provenance_mut(BEGIN),
                BYTES,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE
                    | libc::MAP_ANONYMOUS
                    | libc::MAP_NORESERVE
                    | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            )
        };
        assert_eq!(begin.addr(), BEGIN, "addresses for a run");
        let free = [ptr::null_mut(); POWERS];
        let mut state = Box::new(State { begin: begin.cast(), used: 0, free });
        STATE.set(&raw mut *state);
        Self { state, _addresses: addresses }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        STATE.set(ptr::null_mut());
        // SAFETY: `new` mapped these pages, and no code uses them any more.
        unsafe { libc::munmap(self.state.begin.cast(), BYTES) };
    }
}

/// The allocator of the whole program: the arena while code of the runtime runs in a model.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

fn power_of(layout: Layout) -> usize {
    layout.size().max(layout.align()).max(ALIGN).next_power_of_two().trailing_zeros() as usize
}

// SAFETY: blocks of the arena are large enough, aligned and given once until they are freed; all
// other blocks are the system's.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let state = STATE.get();
        if state.is_null() || IS_PAUSED.get() {
            // SAFETY: the caller of `alloc` passes a layout with a size, which goes on unchanged.
            return unsafe { System.alloc(layout) };
        }
        let power = power_of(layout);
        // SAFETY: only this thread uses the state; a free block begins with the next one's address.
        unsafe {
            let free = (*state).free[power];
            if !free.is_null() {
                (*state).free[power] = free.cast::<*mut u8>().read();
                return free;
            }
            let at = (*state).used.next_multiple_of(layout.align().max(ALIGN));
            if at + (1 << power) > BYTES {
                return ptr::null_mut();
            }
            (*state).used = at + (1 << power);
            (*state).begin.add(at)
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let state = STATE.get();
        // SAFETY: only this thread uses the state; a block of the arena has room for an address.
        unsafe {
            let is_ours =
                !state.is_null() && (block.addr().wrapping_sub((*state).begin.addr())) < BYTES;
            if !is_ours {
                return System.dealloc(block, layout);
            }
            let power = power_of(layout);
            block.cast::<*mut u8>().write((*state).free[power]);
            (*state).free[power] = block;
        }
    }
}
