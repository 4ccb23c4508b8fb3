//! Waiting without keeping the CPU: other stacks.
//!
//! A task that waits first runs the tasks that would end its wait, on its own stack. If they are on
//! other workers, the stack is left unchanged, and the worker goes on with other tasks on another
//! stack, a [`Fibre`]. The worker that ends the wait pushes the [`Waiting`] onto the resume list of
//! the waiter's leaf. Only the thread that left a stack resumes the stack.

mod shadow;

use std::cell::Cell;
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::panic::Location;

use corosensei::stack::{DefaultStack, Stack as _};
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::inbox::Linked;
use crate::task::Task;
use shadow::Shadow;

/// Bytes of a fibre's stack; the kernel provides pages as they are used.
const STACK: usize = 1 << 20;
/// The last part of a stack, one of this many, is for tasks that do not wait. A stack of which only
/// that part is left is *low*.
const RESERVE: usize = 4;

/// Why a task waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// For its children, or for its descendants.
    Tasks,
    /// To be resumed.
    Resume,
    /// For data that other tasks use.
    Data,
    /// For the other half of a join.
    Join,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tasks => "for tasks that it created to end",
            Self::Resume => "to be resumed",
            Self::Data => "for data that other tasks have",
            Self::Join => "for the other half of a join",
        })
    }
}

/// A task that waits, on the stack that is left.
pub(crate) struct Waiting {
    next: Cell<*mut Waiting>,
    /// The leaf whose worker resumes the stack.
    pub(crate) leaf: usize,
    /// The stack that was left; nothing if that is the thread's own.
    fibre: Cell<Option<Fibre>>,
    goes_on: Cell<bool>,
    reason: Reason,
    location: &'static Location<'static>,
}

impl Waiting {
    #[track_caller]
    pub(crate) fn on(leaf: usize, reason: Reason) -> Self {
        Self::at(leaf, reason, Location::caller())
    }

    /// A task that waits at a line of the program which the caller knows.
    pub(crate) fn at(leaf: usize, reason: Reason, location: &'static Location<'static>) -> Self {
        let (next, fibre) = (Cell::new(std::ptr::null_mut()), Cell::new(None));
        Self { next, leaf, fibre, goes_on: Cell::new(false), reason, location }
    }

    /// Makes the task's link point here, so that the last of its children finds this `Waiting`.
    pub(crate) fn is_of(&self, task: &Task) {
        task.set_link(std::ptr::from_ref(self).cast());
    }

    /// The `Waiting` of a task that waits for children.
    pub(crate) fn of(task: &Task) -> *const Self {
        task.link().cast()
    }

    /// Why the task waits, and where in the program.
    pub(crate) fn why(&self) -> (Reason, &'static Location<'static>) {
        (self.reason, self.location)
    }

    /// Keeps the stack, which was left just now.
    pub(crate) fn keep(&self, fibre: Fibre) {
        self.fibre.set(Some(fibre));
    }

    /// The wait is over: returns the stack to go to, if that is not the thread's own.
    pub(crate) fn go_on(&self) -> Option<Fibre> {
        self.goes_on.set(true);
        self.fibre.take()
    }

    /// Whether the wait is over.
    pub(crate) fn may_go_on(&self) -> bool {
        self.goes_on.get()
    }
}

impl Linked for Waiting {
    fn next(&self) -> &Cell<*mut Self> {
        &self.next
    }
}

/// The stack on which a creator with too many children runs tasks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stack {
    /// The creator's own: the creator goes on when the tasks have ended.
    Own,
    /// A fibre: if a task on the fibre waits, the creator goes on at once, since the task may wait
    /// for a later step of its creator.
    Other,
}

/// Which children a creator runs, and where.
#[derive(Clone, Copy)]
pub(crate) struct Help {
    /// The number of unfinished children to leave.
    pub(crate) keep: i64,
    /// Whether to steal as well.
    pub(crate) seeks: bool,
    pub(crate) on: Stack,
}

/// Why a fibre is gone to.
pub(crate) enum Go {
    /// To go on with its task.
    On,
    /// To run children of a task whose code is on the stack around.
    Help(*const Task, Help),
}

/// Why a fibre gives the thread back.
pub(crate) enum Left {
    /// A task on the fibre waits.
    Waits(*const Waiting),
    /// The fibre has no task, and another stack is to be resumed.
    Free,
}

pub(crate) type Leaver = Yielder<Go, Left>;

/// Gives the thread back, and returns why the fibre is gone to again.
pub(crate) fn leave(leaver: &Leaver, left: Left) -> Go {
    shadow::leave();
    leaver.suspend(left)
}

/// Another stack of a worker, for tasks.
pub(crate) struct Fibre {
    coroutine: Coroutine<Go, Left, Infallible>,
    shadow: Shadow,
    /// No address of the stack is lower.
    limit: usize,
    /// Bytes of the stack.
    bytes: usize,
}

impl Fibre {
    /// A new stack, on which `main` runs each time that the worker enters the fibre without a task
    /// on the fibre.
    pub(crate) fn new(main: impl Fn(&Leaver, Go) + 'static) -> io::Result<Self> {
        let stack = DefaultStack::new(STACK)?;
        let (limit, base) = (stack.limit().get(), stack.base().get());
        let coroutine = Coroutine::with_stack(stack, move |leaver: &Leaver, go: Go| {
            let mut go = go;
            loop {
                main(leaver, go);
                go = leave(leaver, Left::Free);
            }
        });
        Ok(Self { coroutine, shadow: Shadow::new(), limit, bytes: base - limit })
    }

    /// Enters the fibre, and returns when the fibre gives the thread back.
    pub(crate) fn resume(&mut self, go: Go) -> Left {
        let CoroutineResult::Yield(left) = self.shadow.visit(|| self.coroutine.resume(go));
        left
    }

    /// Below this address tasks that wait do not nest.
    pub(crate) fn low(&self) -> usize {
        self.limit + self.bytes / RESERVE
    }
}

impl Drop for Fibre {
    fn drop(&mut self) {
        // SAFETY: a fibre is dropped after leaving without a task, or before the first entry.
        unsafe { self.coroutine.force_reset() };
    }
}

/// An address on the stack of the calling thread.
///
/// On x86-64 this is the stack pointer and not the address of a local variable, because
/// AddressSanitizer moves local variables to memory of its own.
#[inline(always)]
pub(crate) fn stack_address() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        let address;
        // SAFETY: the instruction copies a register, and touches neither memory nor flags.
        unsafe {
            std::arch::asm!(
                "mov {}, rsp",
                out(reg) address,
                options(nomem, nostack, preserves_flags)
            );
        }
        address
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let local = 0_u8;
        std::ptr::from_ref(&local).addr()
    }
}

#[cfg(evenkeel_model)]
pub(crate) use crate::sync::stack_low as thread_low;

/// The address below which the calling thread's own stack is low; found once for each thread.
#[cfg(not(evenkeel_model))]
pub(crate) fn thread_low() -> usize {
    thread_local! {
        static LOW: Cell<Option<usize>> = const { Cell::new(None) };
    }
    LOW.get().unwrap_or_else(|| {
        let low = first_thread_low(stack_address()).unwrap_or_else(ask_thread_low);
        LOW.set(Some(low));
        low
    })
}

/// Addresses below the first thread's stack top in which Linux maps nothing else, however low the
/// limit of that stack (`MIN_GAP` of `mm/util.c` and of `arch/x86/mm/mmap.c`, Linux 6.18).
#[cfg(not(evenkeel_model))]
const FIRST_STACK: usize = 128 << 20;

/// The low address if `address` is in the process's first stack. For this question the C library
/// would read all of `/proc/self/maps`, which takes milliseconds in a large program.
#[cfg(not(evenkeel_model))]
fn first_thread_low(address: usize) -> Option<usize> {
    // SAFETY: a zeroed limit is valid; the calls only read the kernel's data of this process.
    let (top, limit) = unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit);
        // The kernel puts the program's name at the top of the first stack.
        (libc::getauxval(libc::AT_EXECFN) as usize, limit.rlim_cur)
    };
    let bytes = usize::try_from(limit).unwrap_or(FIRST_STACK).min(FIRST_STACK);
    let bottom = top.checked_sub(bytes)?;
    (bottom..top).contains(&address).then_some(bottom + bytes / RESERVE)
}

#[cfg(not(evenkeel_model))]
fn ask_thread_low() -> usize {
    let mut limit = std::ptr::null_mut();
    let mut bytes = 0;
    // SAFETY: the attributes are initialised by the first call and freed by the last.
    unsafe {
        let mut attributes = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return 0;
        }
        libc::pthread_attr_getstack(&raw const attributes, &raw mut limit, &raw mut bytes);
        libc::pthread_attr_destroy(&raw mut attributes);
    }
    limit.addr() + bytes / RESERVE
}

#[cfg(all(test, not(any(loom, evenkeel_model))))]
mod tests {
    use super::*;

    #[test]
    fn the_first_stack_is_known_on_any_thread() {
        // SAFETY: the call only reads data that the kernel passed to this process.
        let asked = |what| unsafe { libc::getauxval(what) } as usize;
        // The kernel puts random bytes above the first frame.
        let inside = asked(libc::AT_RANDOM);
        assert!(first_thread_low(inside).is_some_and(|low| low < inside));
        assert_eq!(first_thread_low(asked(libc::AT_EXECFN)), None);
    }

    #[test]
    fn another_thread_has_another_stack() {
        let here = stack_address();
        assert_eq!(first_thread_low(here), None);
        assert!(ask_thread_low() < here);
    }
}
