//! The stacks of fibres for `ThreadSanitizer`, which needs a call when a thread changes stacks.

#[cfg(not(evenkeel_tsan))]
pub(super) use plain::{Shadow, leave};
#[cfg(evenkeel_tsan)]
pub(super) use tsan::{Shadow, leave};

/// Without `ThreadSanitizer`.
#[cfg(not(evenkeel_tsan))]
mod plain {
    /// Nothing.
    pub(in crate::wait) struct Shadow;

    impl Shadow {
        pub(in crate::wait) fn new() -> Self {
            Self
        }

        /// Goes to the stack, and comes back.
        #[inline]
        pub(in crate::wait) fn visit<R>(&self, go: impl FnOnce() -> R) -> R {
            go()
        }
    }

    /// The stack is about to be left.
    #[inline]
    pub(in crate::wait) fn leave() {}
}

/// Where `ThreadSanitizer` watches: its fibres, `sanitizer/tsan_interface.h` of LLVM 20.
#[cfg(evenkeel_tsan)]
mod tsan {
    use std::cell::Cell;
    use std::ffi::{c_uint, c_void};
    use std::ptr;

    unsafe extern "C" {
        fn __tsan_get_current_fiber() -> *mut c_void;
        fn __tsan_create_fiber(flags: c_uint) -> *mut c_void;
        fn __tsan_destroy_fiber(fiber: *mut c_void);
        fn __tsan_switch_to_fiber(fiber: *mut c_void, flags: c_uint);
    }

    thread_local! {
        /// The stack that the thread came from.
        static FROM: Cell<*mut c_void> = const { Cell::new(ptr::null_mut()) };
    }

    /// One stack.
    pub(in crate::wait) struct Shadow(*mut c_void);

    impl Shadow {
        pub(in crate::wait) fn new() -> Self {
            // SAFETY: the call has no conditions.
            Self(unsafe { __tsan_create_fiber(0) })
        }

        /// Goes to the stack, and comes back.
        pub(in crate::wait) fn visit<R>(&self, go: impl FnOnce() -> R) -> R {
            // SAFETY: the call has no conditions.
            let before = FROM.replace(unsafe { __tsan_get_current_fiber() });
            // SAFETY: the stack is alive, and no thread runs on this stack.
            unsafe { __tsan_switch_to_fiber(self.0, 0) };
            let came = go();
            FROM.set(before);
            came
        }
    }

    impl Drop for Shadow {
        fn drop(&mut self) {
            // SAFETY: no thread runs on the stack any more.
            unsafe { __tsan_destroy_fiber(self.0) };
        }
    }

    /// The stack is about to be left.
    pub(in crate::wait) fn leave() {
        // SAFETY: the thread came here by `visit`, from a stack that is still alive.
        unsafe { __tsan_switch_to_fiber(FROM.get(), 0) };
    }
}
