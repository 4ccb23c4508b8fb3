//! Runtimes: open, run, close.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use evenkeel_runtime::internal::own_tasks::{has_threads, scope_called, with_function_of};
use evenkeel_runtime::internal::tell_unknown;
use evenkeel_runtime::{Config, Placement, Runtime, Topology};

use crate::error::{Error, Result, code};
use crate::run::{function_of, run_first};
use crate::task::{Code, Here};

/// More workers than any machine has: `ekrt_open` refuses a number that would take all memory.
const WORKERS_MAX: u32 = 65_536;

/// `struct ekrt_options`.
#[repr(C)]
pub struct Options {
    bytes: usize,
    workers: u32,
    topology: *const c_char,
    rules: *const c_char,
    closed: c_int,
}

/// `struct ekrt_runtime`: its address is a number and points to no memory.
#[repr(C)]
pub struct Handle {
    _nothing: [u8; 0],
}

/// Runtimes that are open.
struct Open {
    /// The number of the last that was opened; numbers are not used again.
    last: usize,
    all: BTreeMap<usize, Arc<Runtime>>,
}

static OPEN: Mutex<Open> = Mutex::new(Open { last: 0, all: BTreeMap::new() });

fn open() -> MutexGuard<'static, Open> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Open {
    /// The runtime of a handle; an error in a forked child, which lacks the runtime's threads.
    fn find(&self, handle: *const Handle) -> Result<&Arc<Runtime>> {
        let found = self.all.get(&handle.addr()).ok_or(Error::Closed)?;
        if has_threads(found) { Ok(found) } else { Err(Error::Child) }
    }
}

/// A text, from the caller or else from the environment, with the name of its source.
fn text(
    given: *const c_char,
    member: &'static str,
    variable: &'static str,
) -> Result<Option<(&'static str, String)>> {
    if given.is_null() {
        let found = env::var_os(variable).map(|value| value.into_string());
        let found = found.transpose().map_err(|_| Error::Text(variable))?;
        return Ok(found.map(|value| (variable, value.trim().to_owned())));
    }
    // SAFETY: the member points to a C string, as the header demands.
    let given = unsafe { CStr::from_ptr(given) }.to_str().map_err(|_| Error::Text(member))?;
    Ok(Some((member, given.to_owned())))
}

/// The options, if their size is the one that this library knows.
///
/// # Safety
/// `options` is null, or points to as many bytes as its first member says.
unsafe fn whole<'a>(options: *const Options) -> Result<Option<&'a Options>> {
    // SAFETY: `bytes` is read first, and the other members only if all of them are present.
    unsafe {
        match options.is_null() {
            false if (*options).bytes != size_of::<Options>() => {
                Err(Error::Options((*options).bytes))
            }
            _ => Ok(options.as_ref()),
        }
    }
}

fn build(options: Option<&Options>) -> Result<Runtime> {
    tell_unknown();
    let mut builder = Runtime::builder();
    let topology = options.map_or(ptr::null(), |options| options.topology);
    if let Some((place, value)) = text(topology, "`topology`", "EVENKEEL_TOPOLOGY")? {
        let machine: Topology = value.parse().map_err(|error| Error::Topology(place, error))?;
        builder = builder.topology(machine);
    }
    let rules = options.map_or(ptr::null(), |options| options.rules);
    if let Some((place, value)) = text(rules, "`rules`", "EVENKEEL_RULES")? {
        let rules: Config = value.parse().map_err(|error| Error::Rules(place, error))?;
        builder = builder.config(rules);
    }
    builder = match options.map_or(0, |options| options.workers) {
        0 => builder,
        workers if workers > WORKERS_MAX => return Err(Error::Workers(workers, WORKERS_MAX)),
        workers => builder.workers(workers as usize),
    };
    builder = builder.closed(options.is_some_and(|options| options.closed != 0));
    if let Some(placement) = Placement::of_environment() {
        builder = builder.placement(placement);
    }
    if let Some(watch) = evenkeel_observe::of_environment() {
        builder = builder.watch(&watch);
    }
    // SAFETY: only this library creates tasks of this runtime, and `function_of` knows them all.
    let builder = unsafe { with_function_of(builder, function_of) };
    builder.build().map_err(Error::System)
}

/// Starts the workers of a runtime.
///
/// # Safety
/// `options` is null or points to a `struct ekrt_options`, `runtime` is null or to a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ekrt_open(options: *const Options, runtime: *mut *mut Handle) -> c_int {
    if runtime.is_null() {
        return code(Err(Error::Null("`runtime`")));
    }
    // SAFETY: `options` is null or valid, and `runtime` is valid and not null.
    let (options, place) = unsafe { (whole(options), &mut *runtime) };
    *place = ptr::null_mut();
    code(options.and_then(build).map(|built| {
        let mut open = open();
        open.last += 1;
        let number = open.last;
        open.all.insert(number, Arc::new(built));
        *place = ptr::without_provenance_mut(number);
    }))
}

/// Stops the workers of a runtime that runs no function any more.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_close(runtime: *mut Handle) -> c_int {
    let closed = || {
        let mut open = open();
        let known = open.all.get(&runtime.addr()).ok_or(Error::Closed)?;
        if Arc::strong_count(known) > 1 {
            return Err(Error::Busy);
        }
        open.all.remove(&runtime.addr()).ok_or(Error::Closed)
    };
    // Dropping waits for the workers, so the list is unlocked first.
    code(closed().map(drop))
}

/// How many tasks run in parallel.
#[unsafe(no_mangle)]
pub extern "C" fn ekrt_workers(runtime: *const Handle) -> c_int {
    // Asks while the list is locked: a clone of the `Arc` would make `ekrt_close` fail.
    match open().find(runtime).map(|found| found.workers()) {
        Ok(workers) => c_int::try_from(workers).unwrap_or(c_int::MAX),
        Err(error) => code(Err(error)),
    }
}

/// Runs a function as a task on this thread, and returns when the task and all its descendants
/// have ended.
///
/// # Safety
/// The function may be called with these arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ekrt_run(
    runtime: *mut Handle,
    function: Option<Code>,
    arguments: *mut c_void,
) -> c_int {
    let run = || {
        let function = function.ok_or(Error::Null("`function`"))?;
        let runtime = open().find(runtime)?.clone();
        scope_called(&runtime, "ekrt_run", |_| {
            // SAFETY: the function may be called with these arguments, and this is a scope's code.
            unsafe { run_first(&Here::of_scope(), function, arguments) };
        });
        Ok(())
    };
    code(run())
}
