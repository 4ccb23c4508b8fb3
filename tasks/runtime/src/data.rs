//! Data that tasks take turns with.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr;

use crate::access::{Access, Kind, Region, Room, Uses};
use crate::memory::ALIGNMENT;
use crate::queued::{Queued, Runner};
use crate::scope::Scope;
use crate::task::Task;
use crate::worker::Worker;

/// Data whose users are ordered: the tasks that say how they use it.
///
/// A task gets at it only as what it said it would use, so that no two tasks have it in ways that
/// conflict. Its owner has it back when the scope has ended.
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
/// The compiler refuses a task that does more than it said:
///
/// ```compile_fail,E0594
/// use evenkeel_runtime::{Data, scope};
///
/// let sum = Data::new(1);
/// scope(|s| s.task().input(&sum).spawn(|sum| *sum += 1)); // `*sum`: behind a `&` reference
/// ```
///
/// And it refuses what two tasks use that is no such data: see [`scope`](crate::scope()).
///
/// Data of an array are used as a whole; [`Data::from_slice`] gives the same in ranges. They are
/// not both at once, since nobody would order the ones with the others:
///
/// ```compile_fail,E0308
/// use evenkeel_runtime::Data;
///
/// let cells = Data::new([1; 100]);
/// let ranges: &Data<[i32]> = &cells; // expected `&Data<[i32]>`, found `&Data<[i32; 100]>`
/// ```
#[repr(transparent)]
pub struct Data<T: ?Sized> {
    /// Keeps the compiler from taking an array for a slice: it does so where the type is that of
    /// the last field alone.
    whole: PhantomData<T>,
    pub(crate) value: UnsafeCell<T>,
}

/// What nothing is: so nobody shares data with a task that does not say that it uses them, and the
/// compiler says what to do instead.
#[diagnostic::on_unimplemented(
    message = "a task uses `Data<{Self}>`, and does not say so",
    label = "`Data<{Self}>` is had only by tasks that say how they use it",
    note = "say it before `spawn`, and use the value that the body is then given: \
            `s.task().inout(&data).spawn(|data| *data = ...)`, or `.input(&data)` to read it",
    note = "a task that creates others which use it says `.weak_inout(&data)` and `spawn_with`"
)]
pub trait UsedWithoutSayingSo {}

// SAFETY: of nothing, since nothing is that, and outside of this file nobody can name it.
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

    /// The same data, for tasks of a scope around which one has it.
    pub fn from_mut(value: &mut T) -> &Self {
        const { assert!(size_of::<T>() > 0, "data without bytes has no address of its own") };
        // SAFETY: the layout is the same, and the borrow is as exclusive as it was.
        unsafe { &*std::ptr::from_mut(value).cast::<Self>() }
    }

    /// The value, when no task has it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// The value, when no task has it.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

/// What a task is given for an argument, for the time that it runs.
///
/// (The second parameter says that the argument lives longer than `'task`, where no bound can.)
pub trait Lends<'task, Longer: Sized = &'task Self> {
    /// A reference.
    type Given;

    /// # Safety
    /// The task that is given it has the access.
    #[doc(hidden)]
    unsafe fn give(&self) -> Self::Given;
}

/// What a task says it uses.
pub trait Argument: for<'task> Lends<'task> + Send {
    /// Whether it is part of more.
    #[doc(hidden)]
    const IS_PART: bool = false;

    /// Where it is not.
    #[doc(hidden)]
    fn access(&self) -> Access;

    /// Where it is.
    #[doc(hidden)]
    fn region(&self) -> Option<Region> {
        None
    }
}

/// Data that a task reads.
pub struct Input<T>(*const Data<T>);
/// Data that a task writes, and may read.
pub struct InOut<T>(*const Data<T>);
/// The same before or after other tasks that say so, in any order.
pub struct Commutative<T>(InOut<T>);

/// Data that a task uses beside other tasks that say so, and sees to it itself.
pub struct Concurrent<T>(Input<T>);

/// Data that only children of a task read.
pub struct WeakInput<'scope, T>(&'scope Data<T>);
/// Data that only children of a task write.
pub struct WeakInOut<'scope, T>(&'scope Data<T>);

// SAFETY: it stands for the right to create tasks that are given a `&T`.
unsafe impl<T: Sync> Send for WeakInput<'_, T> {}
// SAFETY: it stands for the right to create tasks that are given a `&mut T`.
unsafe impl<T: Send> Send for WeakInOut<'_, T> {}
// SAFETY: it stands for a `&T`, which is given to one task.
unsafe impl<T: Sync> Send for Input<T> {}
// SAFETY: it stands for a `&mut T`, which is given to one task.
unsafe impl<T: Send> Send for InOut<T> {}

impl<'task, T> Lends<'task> for Input<T> {
    type Given = &'task T;

    unsafe fn give(&self) -> &'task T {
        // SAFETY: tasks that write it have ended or have not begun.
        unsafe { &*(*self.0).value.get() }
    }
}

impl<'task, T> Lends<'task> for InOut<T> {
    type Given = &'task mut T;

    unsafe fn give(&self) -> &'task mut T {
        // SAFETY: all other tasks that have it have ended or have not begun.
        unsafe { &mut *(*self.0).value.get() }
    }
}

impl<'task, T> Lends<'task> for Commutative<T> {
    type Given = &'task mut T;

    unsafe fn give(&self) -> &'task mut T {
        // SAFETY: the caller's promise.
        unsafe { self.0.give() }
    }
}

impl<'task, T> Lends<'task> for Concurrent<T> {
    type Given = &'task T;

    unsafe fn give(&self) -> &'task T {
        // SAFETY: the caller's promise.
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

/// A task that is about to be created: what it uses.
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
    /// Begins a task that says what it uses.
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
    /// Of tasks that are ready, those of a higher priority run first. Others have 0. A tree tells
    /// apart those above 0; of the central schedulers
    /// [`Form::Priority`](crate::scheduler::Form::Priority) tells all, and the others none.
    pub fn priority(mut self, priority: i8) -> Self {
        self.priority = priority;
        self
    }

    /// Tasks that it creates in the scope of [`spawn_with`](Self::spawn_with) run at once, and so
    /// do those that they create: where a recursion has come to small pieces.
    pub fn final_if(mut self, is_final: bool) -> Self {
        self.is_final = is_final;
        self
    }

    /// It runs 512-bit instructions: where the runtime has a [`Placement`](crate::Placement), it
    /// is kept for the workers that prefer such.
    pub fn wide(mut self) -> Self {
        self.is_wide = true;
        self
    }

    /// The same with more arguments.
    pub(crate) fn with<B>(self, add: impl FnOnce(A) -> B) -> TaskBuilder<'a, 'scope, B> {
        let Self { scope, arguments, priority, is_final, is_wide, borrows } = self;
        TaskBuilder { scope, arguments: add(arguments), priority, is_final, is_wide, borrows }
    }
}

/// A task and what it runs and uses; its accesses lie between them.
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
            /// It reads this.
            pub fn input<T: Sync>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* Input<T>,)> {
                self.with(|($($a,)*)| ($($a,)* Input(data),))
            }

            /// It reads and writes this.
            pub fn inout<T: Send>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* InOut<T>,)> {
                self.with(|($($a,)*)| ($($a,)* InOut(data),))
            }

            /// It reads and writes this, before or after others that say so, in any order.
            pub fn commutative<T: Send>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* Commutative<T>,)> {
                self.with(|($($a,)*)| ($($a,)* Commutative(InOut(data)),))
            }

            /// It changes this beside others that say so: an atomic, or what has a lock. Those that
            /// only read it come before or after.
            pub fn concurrent<T: Sync>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* Concurrent<T>,)> {
                self.with(|($($a,)*)| ($($a,)* Concurrent(Input(data)),))
            }

            /// Tasks that it creates read this, and it does not itself: so it need not wait for it.
            pub fn weak_input<T: Sync>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* WeakInput<'scope, T>,)> {
                self.with(|($($a,)*)| ($($a,)* WeakInput(data),))
            }

            /// Tasks that it creates read and write this, and it does not itself: so it need not
            /// wait for it.
            pub fn weak_inout<T: Send>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* WeakInOut<'scope, T>,)> {
                self.with(|($($a,)*)| ($($a,)* WeakInOut(data),))
            }

            /// It writes this; what was there may be read, but the task does not rely on it.
            pub fn output<T: Send>(
                self,
                data: &'scope Data<T>,
            ) -> TaskBuilder<'a, 'scope, ($($A,)* InOut<T>,)> {
                self.inout(data)
            }
        }
    };
}

/// Whether any of a task's arguments is part of more.
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

/// What a task uses, of which some is part of more.
struct Parts<const N: usize> {
    accesses: Vec<Access>,
    regions: [Region; N],
    /// As many of them are there.
    number: usize,
}

impl<const N: usize> Parts<N> {
    /// Of its arguments: regions, or else addresses.
    fn of(all: [Option<Region>; N], addresses: &[Access; N]) -> Self {
        let mut regions = [Region::new(0, 0, Kind::Read); N];
        let mut number = 0;
        for region in all.iter().flatten() {
            regions[number] = *region;
            number += 1;
        }
        let plain = addresses.iter().zip(&all).filter(|(_, region)| region.is_none());
        Self { accesses: plain.map(|(access, _)| *access).collect(), regions, number }
    }

    /// Of a task that has some, or else addresses alone.
    fn uses_of<'a>(parts: &'a Option<Self>, addresses: &'a [Access; N]) -> Uses<'a> {
        parts.as_ref().map_or(Uses { accesses: addresses, regions: &[] }, Self::uses)
    }

    fn uses(&self) -> Uses<'_> {
        Uses { accesses: &self.accesses, regions: &self.regions[..self.number] }
    }
}

macro_rules! spawns {
    ($n:literal: $($A:ident $a:ident)*) => {
        impl<'scope, $($A: Argument + 'scope,)*> TaskBuilder<'_, 'scope, ($($A,)*)> {
            /// Creates the task. Its body is given what it uses, in this order.
            ///
            /// # Panics
            /// It uses the same data twice, and not only to read it; or tasks of another scope
            /// around or inside this one use it.
            #[track_caller]
            pub fn spawn<F>(self, body: F)
            where
                F: for<'task> FnOnce($(<$A as Lends<'task>>::Given,)*) + Send + 'scope,
            {
                self.create::<_, F>(move |_: &Scope<'scope>, $($a,)*| body($($a,)*), true);
            }

            /// The same of a task that creates others. Those that use the same data come in its
            /// place among its siblings, and its siblings may follow as soon as these have ended.
            ///
            /// # Panics
            /// As [`TaskBuilder::spawn`]; or a task that it creates writes what it only reads.
            #[track_caller]
            pub fn spawn_with<F>(self, body: F)
            where
                F: for<'task> FnOnce(&Scope<'scope>, $(<$A as Lends<'task>>::Given,)*)
                    + Send
                    + 'scope,
            {
                // It may have events, and run at once it would not be a task of its own.
                if self.is_final {
                    return self.create::<_, F>(
                        move |s, $($a,)*| body(&s.as_final(), $($a,)*),
                        false,
                    );
                }
                self.create::<F, F>(body, false);
            }

            /// Waits until the task could run, runs it here, and returns what it returns.
            ///
            /// So one waits for a piece of data alone, and sees it.
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
                    .then(|| Parts::of([$($a.region(),)*], &list));
                let uses = Parts::uses_of(&parts, &list);
                self.scope.assert_uses_usable(uses);
                let _taken = self.scope.wait_for_data(uses);
                // SAFETY: nobody else has what it uses until this has ended.
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
                    // SAFETY: `spawn` wrote the block; a task is run once, and has its accesses.
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
                let kind = run::<$($A,)* F> as *const () as usize;
                let parts: Option<Parts<$n>> = const { parts(&[$($A::IS_PART),*]) }
                    .then(|| Parts::of([$($a.region(),)*], &list));
                let worker = self.scope.worker();
                let may_inline = may_inline && !(self.is_wide && worker.avoids_wide());
                let regions = parts.as_ref().map(Parts::uses);
                if self.scope.runs_now(kind, &list, regions, may_inline) {
                    // SAFETY: nobody else has what it uses, and it ends before anybody will.
                    let body = || body(self.scope, $(unsafe { $a.give() },)*);
                    if self.is_wide {
                        worker.instrument.declares_wide();
                    }
                    return worker.run_inline::<N>(kind, || self.scope.run_here(body));
                }
                if self.scope.is_final() {
                    let _taken = self.scope.wait_for_data(Parts::uses_of(&parts, &list));
                    // SAFETY: nobody else has what it uses until this has ended.
                    return self.scope.run_final(|s| body(s, $(unsafe { $a.give() },)*));
                }
                worker.instrument.creates::<N>(kind);
                let parent = self.scope.creates();
                let bytes = size_of::<Block<($($A,)*), F, $n>>();
                const { assert!(align_of::<Block<($($A,)*), F, $n>>() <= ALIGNMENT) };
                let (priority, is_wide) = (self.priority, self.is_wide);
                let block = worker.allocate(bytes).cast::<Block<($($A,)*), F, $n>>().as_ptr();
                // SAFETY: the block is large enough, aligned and ours; the parent runs. Any worker
                // may run the body, since it is `Send`, and does so while 'scope lasts.
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
                        return worker.spawn_with_regions(task, orderer, parts.uses());
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
