//! The names of `sync.rs` in a model of many workers: each step is charged to a virtual machine.
//!
//! The machine stands above the runtime, and gives this module its [`Steps`] before the run.
//! Without a machine, the names do the steps of the standard library.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{LockResult, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

/// Picoseconds of a nanosecond.
const NS: u64 = 1000;

/// How a step uses a cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// A read.
    Load,
    /// A write.
    Store,
    /// An atomic read-modify-write.
    Change,
}

/// The operations of a virtual machine at each step that workers see of each other. Times are in
/// picoseconds.
#[derive(Debug)]
pub struct Steps {
    /// A step on the object at an address, at a line of the runtime.
    pub access: fn(usize, Use, &'static Location<'static>),
    /// Waits for the worker's own stores.
    pub fence: fn(),
    /// `PAUSE`.
    pub spin_loop: fn(),
    /// sched_yield(2).
    pub yield_now: fn(),
    /// Sleeps for a while.
    pub sleep_for: fn(u64),
    /// Sleeps at an address while a condition holds, at most for a while.
    pub wait_at: fn(usize, Option<u64>, &dyn Fn() -> bool),
    /// Wakes the first worker that sleeps at an address.
    pub wake_at: fn(usize),
    /// membarrier(2).
    pub membarrier_everywhere: fn(),
    /// The worker's clock.
    pub now_ps: fn() -> u64,
    /// The time stamp counter.
    pub cycles: fn() -> u64,
    /// Where the first stack of a worker gets low.
    pub stack_low: fn() -> usize,
    /// The worker wants a lock; returns the time.
    pub wants_lock: fn() -> u64,
    /// The worker has the lock.
    pub has_lock: fn(u64, &'static Location<'static>),
}

static STEPS: OnceLock<Steps> = OnceLock::new();

/// The steps of a virtual machine, from here on.
pub fn install(steps: Steps) {
    // Later runs pass equal steps.
    let _ = STEPS.set(steps);
}

fn steps() -> Option<&'static Steps> {
    STEPS.get()
}

fn access(address: usize, how: Use, at: &'static Location<'static>) {
    if let Some(steps) = steps() {
        (steps.access)(address, how, at);
    }
}

fn now_ps() -> u64 {
    steps().map_or(0, |steps| (steps.now_ps)())
}

/// The time stamp counter of a worker.
pub(crate) fn cycles() -> u64 {
    steps().map_or(0, |steps| (steps.cycles)())
}

/// Where the first stack of a worker gets low; 0 outside of a machine.
pub(crate) fn stack_low() -> usize {
    steps().map_or(0, |steps| (steps.stack_low)())
}

/// An atomic of the standard library whose steps are charged.
macro_rules! charged {
    ($name:ident $(<$of:ident>)?, $value:ty) => {
        #[repr(transparent)]
        #[derive(Debug, Default)]
        pub struct $name $(<$of>)? (std::sync::atomic::$name $(<$of>)?);

        #[allow(dead_code, reason = "one set of steps for all of them")]
        impl $(<$of>)? $name $(<$of>)? {
            pub const fn new(value: $value) -> Self {
                Self(std::sync::atomic::$name::new(value))
            }

            #[track_caller]
            fn step(&self, how: Use) -> &std::sync::atomic::$name $(<$of>)? {
                access(std::ptr::from_ref(self).addr(), how, Location::caller());
                &self.0
            }

            #[track_caller]
            pub fn load(&self, order: Ordering) -> $value {
                self.step(Use::Load).load(order)
            }

            #[track_caller]
            pub fn store(&self, value: $value, order: Ordering) {
                // The strongest store is an exchange.
                let how = if order == Ordering::SeqCst { Use::Change } else { Use::Store };
                self.step(how).store(value, order);
            }

            #[track_caller]
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                self.step(Use::Change).swap(value, order)
            }

            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.step(Use::Change).compare_exchange(current, new, success, failure)
            }

            /// Fails for no other reason than the strong one.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.step(Use::Change).compare_exchange(current, new, success, failure)
            }

            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }
        }
    };
}

macro_rules! counting {
    ($($name:ident: $value:ty),*) => {$(
        charged!($name, $value);

        #[allow(dead_code, reason = "one set of steps for all of them")]
        impl $name {
            #[track_caller]
            pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                self.step(Use::Change).fetch_add(value, order)
            }

            #[track_caller]
            pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                self.step(Use::Change).fetch_sub(value, order)
            }

            #[track_caller]
            pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                self.step(Use::Change).fetch_or(value, order)
            }

            #[track_caller]
            pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                self.step(Use::Change).fetch_and(value, order)
            }
        }
    )*};
}

charged!(AtomicBool, bool);
charged!(AtomicPtr<T>, *mut T);
counting!(AtomicU16: u16, AtomicU32: u32, AtomicU64: u64, AtomicUsize: usize, AtomicI64: i64);

/// A full one waits for the worker's own stores.
pub(crate) fn fence(order: Ordering) {
    if order == Ordering::SeqCst {
        if let Some(steps) = steps() {
            (steps.fence)();
        }
    }
    std::sync::atomic::fence(order);
}

pub(crate) fn spin_loop() {
    if let Some(steps) = steps() {
        (steps.spin_loop)();
    }
}

/// A system call: no virtual CPU has two workers.
pub(crate) fn yield_now() {
    if let Some(steps) = steps() {
        (steps.yield_now)();
    }
}

pub(crate) fn sleep(time: Duration) {
    if let Some(steps) = steps() {
        (steps.sleep_for)(ps(time));
    }
}

/// Sleeps while a word has a value, at most for a while: futex(2).
pub(crate) fn futex_wait(word: &AtomicU32, value: u32, at_most: Option<Duration>) {
    if let Some(steps) = steps() {
        let is_so = || word.0.load(Ordering::Relaxed) == value;
        (steps.wait_at)(std::ptr::from_ref(word).addr(), at_most.map(ps), &is_so);
    }
}

pub(crate) fn futex_wake(word: &AtomicU32) {
    if let Some(steps) = steps() {
        (steps.wake_at)(std::ptr::from_ref(word).addr());
    }
}

pub(crate) fn membarrier() -> bool {
    if let Some(steps) = steps() {
        (steps.membarrier_everywhere)();
    }
    true
}

/// Charges a read of a plain object. Lines come in pairs, so one access stands for the whole
/// object.
#[track_caller]
pub(crate) fn reads<T>(object: *const T) {
    access(object.addr(), Use::Load, Location::caller());
}

/// Charges a write of a plain object.
#[track_caller]
pub(crate) fn writes<T>(object: *const T) {
    access(object.addr(), Use::Store, Location::caller());
}

fn ps(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / NS) * NS
}

/// A point of virtual time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instant(u64);

impl Instant {
    pub(crate) fn now() -> Self {
        Self(now_ps())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        Duration::from_nanos((now_ps() - self.0) / NS)
    }
}

const FREE: u32 = 0;
const HELD: u32 = 1;
/// The lock is held, and a thread may sleep until its release.
const WANTED: u32 = 2;
/// Looks at a lock that is held before falling asleep: as the standard library does.
const LOOKS: u32 = 100;

/// The lock of the standard library on Linux, step by step.
pub(crate) struct Mutex<T> {
    state: AtomicU32,
    value: UnsafeCell<T>,
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

// SAFETY: only the holder of the lock uses the value.
unsafe impl<T: Send> Sync for Mutex<T> {}

/// Holds the lock until dropped.
pub(crate) struct MutexGuard<'a, T> {
    mutex: &'a Mutex<T>,
    at: &'static Location<'static>,
}

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { state: AtomicU32::new(FREE), value: UnsafeCell::new(value) }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(&self.state).addr()
    }

    fn swap(&self, state: u32, at: &'static Location<'static>) -> u32 {
        access(self.address(), Use::Change, at);
        self.state.0.swap(state, Ordering::Acquire)
    }

    #[track_caller]
    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        let at = Location::caller();
        let since_ps = steps().map_or(0, |steps| (steps.wants_lock)());
        if self.try_take(at) != FREE {
            self.wait(at);
        }
        if let Some(steps) = steps() {
            (steps.has_lock)(since_ps, at);
        }
        Ok(MutexGuard { mutex: self, at })
    }

    /// Of the errors of the standard library, only the one for a held lock occurs.
    #[track_caller]
    pub(crate) fn try_lock(&self) -> Result<MutexGuard<'_, T>, TryLockError<MutexGuard<'_, T>>> {
        let at = Location::caller();
        match self.try_take(at) {
            FREE => Ok(MutexGuard { mutex: self, at }),
            _ => Err(TryLockError::WouldBlock),
        }
    }

    /// Takes the lock if free; returns the state before.
    fn try_take(&self, at: &'static Location<'static>) -> u32 {
        access(self.address(), Use::Change, at);
        let taken = self.state.0.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed);
        taken.unwrap_or_else(|state| state)
    }

    fn wait(&self, at: &'static Location<'static>) {
        let mut state = self.spin(at);
        if state == FREE {
            state = self.try_take(at);
            if state == FREE {
                return;
            }
        }
        while state == WANTED || self.swap(WANTED, at) != FREE {
            futex_wait(&self.state, WANTED, None);
            state = self.spin(at);
        }
    }

    fn spin(&self, at: &'static Location<'static>) -> u32 {
        let mut looks = LOOKS;
        loop {
            access(self.address(), Use::Load, at);
            let state = self.state.0.load(Ordering::Relaxed);
            if state != HELD || looks == 0 {
                return state;
            }
            spin_loop();
            looks -= 1;
        }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the guard holds the lock.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the lock.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        if self.mutex.swap(FREE, self.at) == WANTED {
            futex_wake(&self.mutex.state);
        }
    }
}

/// A condition variable that wakes without reason, again and again: only threads from outside wait.
pub(crate) struct Condvar(());

impl Condvar {
    pub(crate) fn new() -> Self {
        Self(())
    }

    /// The time is ignored.
    pub(crate) fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        _at_most: Duration,
    ) -> LockResult<(MutexGuard<'a, T>, ())> {
        let mutex = guard.mutex;
        drop(guard);
        std::thread::yield_now();
        match mutex.lock() {
            Ok(guard) => Ok((guard, ())),
            Err(error) => Err(PoisonError::new((error.into_inner(), ()))),
        }
    }

    pub(crate) fn notify_one(&self) {}
}
