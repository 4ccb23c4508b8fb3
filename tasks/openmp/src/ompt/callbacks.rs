//! The functions that a tool has set, by the numbers of their events.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::abi::{Data, Depends, Endpoint, Frame};

/// One more than the highest number of an event.
const EVENTS: usize = 38;

static SET: [AtomicPtr<()>; EVENTS] = [const { AtomicPtr::new(ptr::null_mut()) }; EVENTS];

/// `ompt_set_error`, `ompt_set_never`, `ompt_set_sometimes` and `ompt_set_always`.
const ERROR: c_int = 0;
const NEVER: c_int = 1;
const SOMETIMES: c_int = 3;
const ALWAYS: c_int = 5;

/// Sets a callback, or none. Returns how often it will be called (`ompt_set_result_t`).
pub(crate) fn set(event: c_int, function: *mut ()) -> c_int {
    let Some(place) = place(event) else { return ERROR };
    let says = answer(event);
    if says != NEVER {
        // Pairs with the load of `get`.
        place.store(function, Ordering::Release);
    }
    says
}

/// The callback of an event; null before one is set.
pub(crate) fn get(event: c_int) -> *mut () {
    place(event).map_or(ptr::null_mut(), |place| place.load(Ordering::Acquire))
}

/// Calls nothing any more.
pub(crate) fn forget() {
    for place in &SET {
        place.store(ptr::null_mut(), Ordering::Release);
    }
}

fn place(event: c_int) -> Option<&'static AtomicPtr<()>> {
    usize::try_from(event).ok().filter(|&event| event > 0).and_then(|event| SET.get(event))
}

/// Constants that call the tool's callbacks, and which events are reported.
macro_rules! events {
    ($($name:ident = $event:literal $says:ident ($($of:ty),*) $(-> $answer:ty)?;)*) => {
        $(pub(crate) const $name: Event<unsafe extern "C" fn($($of),*) $(-> $answer)?> =
            Event { number: $event, of: std::marker::PhantomData };)*

        fn answer(event: c_int) -> c_int {
            match event {
                $($event => $says,)*
                _ => NEVER,
            }
        }
    };
}

/// An event, with the type of its function.
pub(crate) struct Event<F> {
    number: c_int,
    of: std::marker::PhantomData<F>,
}

impl<F: Copy> Event<F> {
    /// Calls `tell` with the tool's callback, if one is set.
    pub(crate) fn tell(&self, tell: impl FnOnce(F)) {
        if let Some(function) = self.function() {
            tell(function);
        }
    }

    /// The callback, if one is set.
    pub(crate) fn function(&self) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut ()>()) };
        let function = get(self.number);
        // SAFETY: the tool set a function of this event's type, which is a pointer.
        (!function.is_null()).then(|| unsafe { std::mem::transmute_copy(&function) })
    }
}

type Code = *const c_void;
/// An event of a wait.
pub(crate) type SyncEvent =
    Event<unsafe extern "C" fn(c_int, Endpoint, *mut Data, *mut Data, Code)>;

events! {
    THREAD_BEGIN = 1 ALWAYS (c_int, *mut Data);
    THREAD_END = 2 ALWAYS (*mut Data);
    PARALLEL_BEGIN = 3 ALWAYS (*mut Data, *const Frame, *mut Data, c_uint, c_int, Code);
    PARALLEL_END = 4 ALWAYS (*mut Data, *mut Data, c_int, Code);
    TASK_CREATE = 5 ALWAYS (*mut Data, *const Frame, *mut Data, c_int, c_int, Code);
    TASK_SCHEDULE = 6 ALWAYS (*mut Data, c_int, *mut Data);
    IMPLICIT_TASK = 7 ALWAYS (Endpoint, *mut Data, *mut Data, c_uint, c_uint, c_int);
    CONTROL_TOOL = 11 ALWAYS (u64, u64, *mut c_void, Code) -> c_int;
    SYNC_REGION_WAIT = 16 ALWAYS (c_int, Endpoint, *mut Data, *mut Data, Code);
    MUTEX_RELEASED = 17 ALWAYS (c_int, u64, Code);
    DEPENDENCES = 18 ALWAYS (*mut Data, *const Depends, c_int);
    TASK_DEPENDENCE = 19 SOMETIMES (*mut Data, *mut Data);
    WORK = 20 ALWAYS (c_int, Endpoint, *mut Data, *mut Data, u64, Code);
    MASKED = 21 SOMETIMES (Endpoint, *mut Data, *mut Data, Code);
    SYNC_REGION = 23 ALWAYS (c_int, Endpoint, *mut Data, *mut Data, Code);
    LOCK_INIT = 24 ALWAYS (c_int, c_uint, c_uint, u64, Code);
    LOCK_DESTROY = 25 ALWAYS (c_int, u64, Code);
    MUTEX_ACQUIRE = 26 ALWAYS (c_int, c_uint, c_uint, u64, Code);
    MUTEX_ACQUIRED = 27 ALWAYS (c_int, u64, Code);
    NEST_LOCK = 28 ALWAYS (Endpoint, u64, Code);
    FLUSH = 29 SOMETIMES (*mut Data, Code);
    CANCEL = 30 ALWAYS (*mut Data, c_int, Code);
    REDUCTION = 31 SOMETIMES (c_int, Endpoint, *mut Data, *mut Data, Code);
    ERROR_DIRECTIVE = 37 ALWAYS (c_int, *const c_char, usize, Code);
}
