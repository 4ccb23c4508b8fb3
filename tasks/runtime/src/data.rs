//! Data whose users are ordered: a task declares how its code uses the data.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;

use crate::access::{Access, Kind, RangeAccess, Room, Uses};
use crate::memory::ALIGNMENT;
use crate::queued::{Queued, Runner};
use crate::scope::Scope;
use crate::task::Task;
use crate::worker::Worker;

/// Data whose users are ordered: the tasks that declare how they use the data.
///
/// A task reaches the data only in the declared way, so that no two tasks use the data in ways that
/// conflict. The owner has the data back when the scope has ended.
///
/// ```
/// use evenkeel_runtime::{Data, scope};
///
/// let (mut sum, mut text) = (Data::new(1), Data::new(String::new()));
/// scope(|s| {
///     s.task().inout(&sum).spawn(|sum| *sum += 1);
///     s.task().inout(&sum).spawn(|sum| *sum *= 10);
///     s.task().input(&sum).output(&text).spawn(|sum, text| *text = format!("{sum} in all"));
/// });
/// assert_eq!(text.get_mut(), "20 in all");
/// assert_eq!(sum.into_inner(), 20);
/// ```
///
/// The compiler refuses a task that does more than its declarations say:
///
/// ```compile_fail,E0594
/// use evenkeel_runtime::{Data, scope};
///
/// let sum = Data::new(1);
/// scope(|s| s.task().input(&sum).spawn(|sum| *sum += 1)); // `*sum`: behind a `&` reference
/// ```
///
/// The compiler also refuses two tasks that use any other value, if one writes: see
/// [`scope`](crate::scope()).
///
/// Tasks use `Data` of an array as a whole; [`Data::from_slice`] gives them ranges of a slice. One
/// array cannot be both, since no table would order the whole with its ranges:
///
/// ```compile_fail,E0308
/// use evenkeel_runtime::Data;
///
/// let cells = Data::new([1; 100]);
/// let ranges: &Data<[i32]> = &cells; // expected `&Data<[i32]>`, found `&Data<[i32; 100]>`
/// ```
#[repr(transparent)]
pub struct Data<T: ?Sized> {
    /// Keeps the compiler from coercing an array to a slice, which would be legal if only the last
    /// field had the type.
    whole: PhantomData<T>,
    pub(crate) value: UnsafeCell<T>,
}

/// A trait that no type has: so no data are shared with a task that does not declare them, and the
/// compiler's message names the declaration to write instead.
#[diagnostic::on_unimplemented(
    message = "a task uses `Data<{Self}>`, and does not say so",
    label = "`Data<{Self}>` is had only by tasks that say how they use it",
    note = "say it before `spawn`, and use the value that the body is then given: \
            `s.task().inout(&data).spawn(|data| *data = ...)`, or `.input(&data)` to read it",
    note = "a task that creates others which use it says `.weak_inout(&data)` and `spawn_with`"
)]
pub trait UsedWithoutSayingSo {}

// SAFETY: no type implements the trait, which has no name outside of this file.
unsafe impl<T: ?Sized + UsedWithoutSayingSo> Sync for Data<T> {}

impl<T: Default> Default for Data<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Data<T> {
    /// Data with this value.
    pub const fn new(value: T) -> Self {
        const { assert!(size_of::<T>() > 0, "data without bytes has no address of its own") };
        Self { whole: PhantomData, value: UnsafeCell::new(value) }
    }

    /// Borrows a value as data, for the tasks of a scope that ends before the borrow.
    pub fn from_mut(value: &mut T) -> &Self {
        const { assert!(size_of::<T>() > 0, "data without bytes has no address of its own") };
        // SAFETY: the layout is that of `T`, and the borrow stays exclusive.
        unsafe { &*std::ptr::from_mut(value).cast::<Self>() }
    }

    /// The value, while no task uses it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// The value, after all its tasks have ended.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

/// The reference that a task gets for an argument, while the task runs.
///
/// (The second parameter says that the argument lives longer than `'task`, where no bound can.)
pub trait Lends<'task, Longer: Sized = &'task Self> {
    /// A reference.
    type Given;

    /// # Safety
    /// The task that gets the reference has the access.
    #[doc(hidden)]
    unsafe fn give(&self) -> Self::Given;
}

/// An argument of a task: data, and how the task uses them.
pub trait Argument: for<'task> Lends<'task> + Send {
    /// Whether the argument is a part of data.
    #[doc(hidden)]
    const IS_PART: bool = false;

    /// The access, where the argument is data as a whole.
    #[doc(hidden)]
    fn access(&self) -> Access;

    /// The range, where the argument is a part of data.
    #[doc(hidden)]
    fn range(&self) -> Option<RangeAccess> {
        None
    }
}

/// Data that a task reads.
pub struct Input<T>(*const Data<T>);
/// Data that a task writes, and may read.
pub struct InOut<T>(*const Data<T>);
/// Data that a task writes, before or after other commutative tasks, in any order.
pub struct Commutative<T>(InOut<T>);

/// Data that a task uses in parallel with other concurrent tasks: these synchronise themselves.
pub struct Concurrent<T>(Input<T>);

/// Data that only the task's children read.
pub struct WeakInput<'scope, T>(&'scope Data<T>);
/// Data that only the task's children write.
pub struct WeakInOut<'scope, T>(&'scope Data<T>);

// SAFETY: the task may only create tasks that get a `&T`.
unsafe impl<T: Sync> Send for WeakInput<'_, T> {}
// SAFETY: the task may only create tasks that get a `&mut T`.
unsafe impl<T: Send> Send for WeakInOut<'_, T> {}
// SAFETY: the pointer becomes a `&T` of one task.
unsafe impl<T: Sync> Send for Input<T> {}
// SAFETY: the pointer becomes a `&mut T` of one task.
unsafe impl<T: Send> Send for InOut<T> {}

impl<'task, T> Lends<'task> for Input<T> {
    type Given = &'task T;

    unsafe fn give(&self) -> &'task T {
        // SAFETY: tasks that write the value have ended or have not begun.
        unsafe { &*(*self.0).value.get() }
    }
}

impl<'task, T> Lends<'task> for InOut<T> {
    type Given = &'task mut T;

    unsafe fn give(&self) -> &'task mut T {
        // SAFETY: all other tasks that use the value have ended or have not begun.
        unsafe { &mut *(*self.0).value.get() }
    }
}

impl<'task, T> Lends<'task> for Commutative<T> {
    type Given = &'task mut T;

    unsafe fn give(&self) -> &'task mut T {
        // SAFETY: the task has the access.
        unsafe { self.0.give() }
    }
}

impl<'task, T> Lends<'task> for Concurrent<T> {
    type Given = &'task T;

    unsafe fn give(&self) -> &'task T {
        // SAFETY: the task has the access.
        unsafe { self.0.give() }
    }
}

impl<T: Sync> Argument for Concurrent<T> {
    fn access(&self) -> Access {
        Access::new(self.0.0.addr(), Kind::Concurrent)
    }
}

impl<T: Send> Argument for Commutative<T> {
    fn access(&self) -> Access {
        Access::new(self.0.0.addr(), Kind::Commutative)
    }
}

impl<'scope, T: Sync> Lends<'_> for WeakInput<'scope, T> {
    type Given = &'scope Data<T>;

    unsafe fn give(&self) -> &'scope Data<T> {
        self.0
    }
}

impl<'scope, T: Send> Lends<'_> for WeakInOut<'scope, T> {
    type Given = &'scope Data<T>;

    unsafe fn give(&self) -> &'scope Data<T> {
        self.0
    }
}

impl<T: Sync> Argument for WeakInput<'_, T> {
    fn access(&self) -> Access {
        Access::weak(ptr::from_ref(self.0).addr(), Kind::Read)
    }
}

impl<T: Send> Argument for WeakInOut<'_, T> {
    fn access(&self) -> Access {
        Access::weak(ptr::from_ref(self.0).addr(), Kind::Write)
    }
}

impl<T: Sync> Argument for Input<T> {
    fn access(&self) -> Access {
        Access::new(self.0.addr(), Kind::Read)
    }
}

impl<T: Send> Argument for InOut<T> {
    fn access(&self) -> Access {
        Access::new(self.0.addr(), Kind::Write)
    }
}

/// A task that is about to be created, and the data that it declares.
#[must_use = "a task is created by `spawn`"]
pub struct TaskBuilder<'a, 'scope, A> {
    scope: &'a Scope<'scope>,
    arguments: A,
    priority: i8,
    is_final: bool,
    is_wide: bool,
    borrows: PhantomData<&'scope ()>,
}

impl<'scope> Scope<'scope> {
    /// Begins a task that declares its data.
    pub fn task(&self) -> TaskBuilder<'_, 'scope, ()> {
        TaskBuilder {
            scope: self,
            arguments: (),
            priority: 0,
            is_final: false,
            is_wide: false,
            borrows: PhantomData,
        }
    }
}

impl<'a, 'scope, A> TaskBuilder<'a, 'scope, A> {
    /// Of ready tasks, those of a higher priority run first. The default is 0. The tree orders
    /// tasks above 0 by priority; of the central schedulers only
    /// [`Form::Priority`](crate::scheduler::Form::Priority) orders by priority, negative ones too.
    pub fn priority(mut self, priority: i8) -> Self {
        self.priority = priority;
        self
    }

    /// Makes the task final: tasks created in the scope of [`spawn_with`](Self::spawn_with) are
    /// inlined, and so are all their descendants. For the small pieces of a recursion.
    pub fn final_if(mut self, is_final: bool) -> Self {
        self.is_final = is_final;
        self
    }

    /// Declares 512-bit instructions: in a runtime with a [`Placement`](crate::Placement), workers
    /// that prefer wide tasks run the task.
    pub fn wide(mut self) -> Self {
        self.is_wide = true;
        self
    }

    /// The builder with one argument more.
    pub(crate) fn with<B>(self, add: impl FnOnce(A) -> B) -> TaskBuilder<'a, 'scope, B> {
        let Self { scope, arguments, priority, is_final, is_wide, borrows } = self;
        TaskBuilder { scope, arguments: add(arguments), priority, is_final, is_wide, borrows }
    }
}

/// A task, room for its accesses, its arguments and its body.
#[repr(C)]
struct Block<A, F, const N: usize> {
    task: Task,
    room: Room<N>,
    arguments: ManuallyDrop<A>,
    body: ManuallyDrop<F>,
}

macro_rules! adds {
    ($($A:ident $a:ident)*) => {
        impl<'a, 'scope, $($A: Argument,)*> TaskBuilder<'a, 'scope, ($($A,)*)> {
            /// The task reads these data.
            pub fn input<T: Sync>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* Input<T>,)> {
                self.with(|($($a,)*)| ($($a,)* Input(data),))
            }

            /// The task reads and writes these data.
            pub fn inout<T: Send>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* InOut<T>,)> {
                self.with(|($($a,)*)| ($($a,)* InOut(data),))
            }

            /// The task reads and writes these data, before or after other commutative tasks, in
            /// any order.
            pub fn commutative<T: Send>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* Commutative<T>,)> {
                self.with(|($($a,)*)| ($($a,)* Commutative(InOut(data)),))
            }

            /// The task changes these data in parallel with other concurrent tasks: an atomic, or a
            /// value with a lock. Tasks that only read the data come before or after.
            pub fn concurrent<T: Sync>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* Concurrent<T>,)> {
                self.with(|($($a,)*)| ($($a,)* Concurrent(Input(data)),))
            }

            /// Only tasks that this one creates read these data: the task itself need not wait for
            /// them.
            pub fn weak_input<T: Sync>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* WeakInput<'scope, T>,)> {
                self.with(|($($a,)*)| ($($a,)* WeakInput(data),))
            }

            /// Only tasks that this one creates read and write these data: the task itself need not
            /// wait for them.
            pub fn weak_inout<T: Send>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* WeakInOut<'scope, T>,)> {
                self.with(|($($a,)*)| ($($a,)* WeakInOut(data),))
            }

            /// The task writes these data, and does not rely on their old value.
            pub fn output<T: Send>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* InOut<T>,)> {
                self.inout(data)
            }
        }
    };
}

/// Whether any argument of a task is a part of data.
const fn parts(all: &[bool]) -> bool {
    let mut number = 0;
    while number < all.len() {
        if all[number] {
            return true;
        }
        number += 1;
    }
    false
}

/// The accesses and ranges of a task that has a range.
struct Parts<const N: usize> {
    accesses: Vec<Access>,
    ranges: [RangeAccess; N],
    /// As many of the ranges are set.
    number: usize,
}

impl<const N: usize> Parts<N> {
    /// For each argument its range, or else its address.
    fn of(all: [Option<RangeAccess>; N], addresses: &[Access; N]) -> Self {
        let mut ranges = [RangeAccess::new(0, 0, Kind::Read); N];
        let mut number = 0;
        for range in all.iter().flatten() {
            ranges[number] = *range;
            number += 1;
        }
        let plain = addresses.iter().zip(&all).filter(|(_, range)| range.is_none());
        Self { accesses: plain.map(|(access, _)| *access).collect(), ranges, number }
    }

    /// The uses of a task: with ranges, or of addresses alone.
    fn uses_of<'a>(parts: &'a Option<Self>, addresses: &'a [Access; N]) -> Uses<'a> {
        parts.as_ref().map_or(Uses { accesses: addresses, ranges: &[] }, Self::uses)
    }

    fn uses(&self) -> Uses<'_> {
        Uses { accesses: &self.accesses, ranges: &self.ranges[..self.number] }
    }
}

macro_rules! spawns {
    ($n:literal: $($A:ident $a:ident)*) => {
        impl<'scope, $($A: Argument + 'scope,)*> TaskBuilder<'_, 'scope, ($($A,)*)> {
            /// Creates the task. Its body gets the declared data, in the same order.
            ///
            /// # Panics
            /// The task declares the same data twice, and not only to read; or tasks of another
            /// scope around or inside this one use the data.
            #[track_caller]
            pub fn spawn<F>(self, body: F)
            where
                F: for<'task> FnOnce($(<$A as Lends<'task>>::Given,)*) + Send + 'scope,
            {
                self.create::<_, F>(move |_: &Scope<'scope>, $($a,)*| body($($a,)*), true);
            }

            /// Creates a task that creates tasks. Children that use the same data take the task's
            /// place among its siblings, and the siblings may follow as soon as these children have
            /// ended.
            ///
            /// # Panics
            /// As [`TaskBuilder::spawn`]; or a child writes data that the task only reads.
            #[track_caller]
            pub fn spawn_with<F>(self, body: F)
            where
                F: for<'task> FnOnce(&Scope<'scope>, $(<$A as Lends<'task>>::Given,)*)
                    + Send
                    + 'scope,
            {
                // The task may have events, and when inlined would not be a task of its own.
                if self.is_final {
                    return self.create::<_, F>(
                        move |s, $($a,)*| body(&s.as_final(), $($a,)*),
                        false,
                    );
                }
                self.create::<F, F>(body, false);
            }

            /// Waits until the task could run, runs the body here, and returns its result.
            ///
            /// So a program waits for a piece of data alone, and reads it.
            ///
            /// ```
            /// use evenkeel_runtime::{Data, scope};
            ///
            /// let (x, slow) = (Data::new(20), Data::new(0));
            /// scope(|s| {
            ///     s.task().inout(&slow).spawn(|slow| *slow = 1);
            ///     s.task().inout(&x).spawn(|x| *x += 1);
            ///     assert_eq!(s.task().inout(&x).run(|x| { *x *= 2; *x }), 42);
            /// });
            /// ```
            ///
            /// # Panics
            /// As [`TaskBuilder::spawn`]; or with the body's panic.
            #[track_caller]
            pub fn run<R, F>(self, body: F) -> R
            where
                F: for<'task> FnOnce($(<$A as Lends<'task>>::Given,)*) -> R + Send,
            {
                let ($($a,)*) = &self.arguments;
                let list: [Access; $n] = [$($a.access(),)*];
                let parts: Option<Parts<$n>> = const { parts(&[$($A::IS_PART),*]) }
                    .then(|| Parts::of([$($a.range(),)*], &list));
                let uses = Parts::uses_of(&parts, &list);
                self.scope.assert_uses_usable(uses);
                let _taken = self.scope.wait_for_data(uses);
                // SAFETY: no other task has the data until this has ended.
                body($(unsafe { $a.give() },)*)
            }

            #[track_caller]
            fn create<F, N>(self, body: F, may_inline: bool)
            where
                F: for<'task> FnOnce(&Scope<'scope>, $(<$A as Lends<'task>>::Given,)*)
                    + Send
                    + 'scope,
            {
                unsafe fn run<'scope, $($A: Argument + 'scope,)* F>(
                    queued: *mut Queued,
                    runner: Runner<'_>,
                ) where
                    F: for<'task> FnOnce(&Scope<'scope>, $(<$A as Lends<'task>>::Given,)*),
                {
                    let block = queued.cast::<Block<($($A,)*), F, $n>>();
                    // SAFETY: `create` wrote the block; a task is run once, and has its accesses.
                    unsafe {
                        let ($($a,)*) = ManuallyDrop::take(&mut (*block).arguments);
                        let body = ManuallyDrop::take(&mut (*block).body);
                        let (worker, task) = (Worker::of(runner), &raw const (*block).task);
                        let scope = Scope::of(task, worker, true);
                        Scope::run_body(task, worker, || body(&scope, $($a.give(),)*));
                    }
                }
                let ($($a,)*) = &self.arguments;
                let list: [Access; $n] = [$($a.access(),)*];
                let function = run::<$($A,)* F> as *const () as usize;
                let parts: Option<Parts<$n>> = const { parts(&[$($A::IS_PART),*]) }
                    .then(|| Parts::of([$($a.range(),)*], &list));
                let worker = self.scope.worker();
                let may_inline = may_inline && !(self.is_wide && worker.avoids_wide());
                let ranges = parts.as_ref().map(Parts::uses);
                if self.scope.runs_now(function, &list, ranges, may_inline) {
                    // SAFETY: no other task has the data until the body has ended.
                    let body = || body(self.scope, $(unsafe { $a.give() },)*);
                    if self.is_wide {
                        worker.instrument.declares_wide();
                    }
                    return worker.run_inline::<N>(function, || self.scope.run_here(body));
                }
                if self.scope.is_final() {
                    let _taken = self.scope.wait_for_data(Parts::uses_of(&parts, &list));
                    // SAFETY: no other task has the data until this has ended.
                    return self.scope.run_final(|s| body(s, $(unsafe { $a.give() },)*));
                }
                worker.instrument.creates::<N>(function);
                let parent = self.scope.creates();
                let bytes = size_of::<Block<($($A,)*), F, $n>>();
                const { assert!(align_of::<Block<($($A,)*), F, $n>>() <= ALIGNMENT) };
                let (priority, is_wide) = (self.priority, self.is_wide);
                let block = worker.allocate(bytes).cast::<Block<($($A,)*), F, $n>>().as_ptr();
                // SAFETY: the block is large enough, aligned and new; the parent runs. Any worker
                // may run the body, which is `Send`, and does so while 'scope lasts.
                unsafe {
                    block.write(Block {
                        task: Task::child(parent, bytes, run::<$($A,)* F>),
                        room: Room::EMPTY,
                        arguments: ManuallyDrop::new(self.arguments),
                        body: ManuallyDrop::new(body),
                    });
                    (*block).task.set_priority(priority);
                    (*block).task.set_wide(is_wide);
                    let (task, orderer) = (&raw mut (*block).task, self.scope.orderer());
                    if let Some(parts) = parts {
                        return worker.spawn_with_ranges(task, orderer, parts.uses());
                    }
                    let place = (&raw mut (*block).room).cast();
                    worker.submit_after(task, orderer, place, &list);
                }
            }
        }
    };
}

adds!();
adds!(A a);
adds!(A a B b);
adds!(A a B b C c);
adds!(A a B b C c D d);
adds!(A a B b C c D d E e);
spawns!(0:);
spawns!(1: A a);
spawns!(2: A a B b);
spawns!(3: A a B b C c);
spawns!(4: A a B b C c D d);
spawns!(5: A a B b C c D d E e);
spawns!(6: A a B b C c D d E e G g);
