//! Which tool does the process have: one in its address space, or of `OMP_TOOL_LIBRARIES`?

use std::cell::Cell;
use std::env;
use std::ffi::{CStr, CString, c_char, c_void};
use std::os::unix::ffi::OsStringExt;
use std::ptr::{self, NonNull};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use super::abi::{Lookup, StartTool, Tool};
use super::caller::is_own;
use super::log::Log;
use super::{ON, callbacks};

/// The function of a tool by which a runtime finds the tool.
const NAME: &CStr = c"ompt_start_tool";
/// The version that tools are told: OpenMP 5.0, the first with this interface. Events of 5.1 are
/// reported, too.
const VERSION: u32 = 201_811;
/// The name of this runtime that tools are told.
const RUNTIME: &CStr = c"Evenkeel OpenMP";

/// Whether a tool was looked for.
static LOOKED: AtomicBool = AtomicBool::new(false);
/// The tool that was found; null without one.
static TOOL: AtomicPtr<Tool> = AtomicPtr::new(ptr::null_mut());

thread_local! {
    /// Whether this thread is looking, and a tool calls us meanwhile.
    static LOOKS: Cell<bool> = const { Cell::new(false) };
}

/// Looks for a tool, once, and initialises the tool with `lookup`, which returns the functions that
/// a tool may call.
pub(crate) fn start(lookup: Lookup) {
    static ONCE: Once = Once::new();
    if LOOKED.load(Ordering::Acquire) || LOOKS.replace(true) {
        return;
    }
    ONCE.call_once(|| {
        if let Some(tool) = tool() {
            begin(tool, lookup);
        }
        LOOKED.store(true, Ordering::Release);
    });
    LOOKS.set(false);
}

/// The tool that the environment allows.
fn tool() -> Option<NonNull<Tool>> {
    let word = env::var("OMP_TOOL").unwrap_or_default();
    if word.trim().eq_ignore_ascii_case("disabled") {
        return None;
    }
    let mut log = Log::new(env::var_os("OMP_TOOL_VERBOSE_INIT").as_deref());
    log.tell("----- START LOGGING OF TOOL REGISTRATION -----\n");
    let tool = here(&mut log).or_else(|| in_libraries(&mut log));
    log.tell(match tool {
        Some(_) => "Tool was started and is using the OMPT interface.\n",
        None => "No OMP tool loaded.\n",
    });
    log.tell("----- END LOGGING OF TOOL REGISTRATION -----\n");
    tool
}

/// Asks a function for its tool.
///
/// # Safety
/// `function` is null, or an `ompt_start_tool`.
unsafe fn ask(function: *mut c_void) -> Option<NonNull<Tool>> {
    if function.is_null() {
        return None;
    }
    // SAFETY: `function` is null, or an `ompt_start_tool`.
    unsafe {
        let function = std::mem::transmute::<*mut c_void, StartTool>(function);
        NonNull::new(function(VERSION, RUNTIME.as_ptr()))
    }
}

/// A tool that is in the program already. Our own function of this name has none.
fn here(log: &mut Log) -> Option<NonNull<Tool>> {
    log.tell("Search for OMP tool in current address space... ");
    // SAFETY: the name is a C string, which only functions of this type have as their name.
    let tool = unsafe {
        // Not by default: a library that is linked symbolically finds itself first.
        let program = libc::dlopen(ptr::null(), libc::RTLD_LAZY);
        let first = libc::dlsym(program, NAME.as_ptr());
        let function =
            if is_own(first) { libc::dlsym(libc::RTLD_NEXT, NAME.as_ptr()) } else { first };
        if is_own(function) { None } else { ask(function) }
    };
    log.tell(if tool.is_some() { "Success.\n" } else { "Failed.\n" });
    tool
}

/// The first of the listed libraries that has a tool.
fn in_libraries(log: &mut Log) -> Option<NonNull<Tool>> {
    let Some(listed) = env::var_os("OMP_TOOL_LIBRARIES").filter(|listed| !listed.is_empty()) else {
        log.tell("No OMP_TOOL_LIBRARIES defined.\n...searching tool libraries failed.\n");
        return None;
    };
    let text = listed.to_string_lossy();
    log.tell(&format!("Searching tool libraries...\nOMP_TOOL_LIBRARIES = {text}\n"));
    let names = listed.into_vec();
    let mut names = names.split(|&byte| byte == b':').filter(|name| !name.is_empty());
    let tool = names.find_map(|name| in_library(&CString::new(name).ok()?, log));
    if tool.is_none() {
        log.tell("...searching tool libraries failed.\n");
    }
    tool
}

fn in_library(name: &CStr, log: &mut Log) -> Option<NonNull<Tool>> {
    let text = name.to_string_lossy();
    log.tell(&format!("Opening {text}... "));
    // SAFETY: the names are C strings; a tool's library answers for its own initialisation.
    unsafe {
        let library = libc::dlopen(name.as_ptr(), libc::RTLD_LAZY);
        if library.is_null() {
            log.tell(&format!("Failed: {}\n", error()));
            return None;
        }
        log.tell(&format!("Success.\nSearching for ompt_start_tool in {text}... "));
        let function = libc::dlsym(library, NAME.as_ptr());
        let tool = ask(function);
        log.tell(&match tool {
            Some(_) => "Success.\n".to_owned(),
            None if function.is_null() => format!("Failed: {}\n", error()),
            None => "Found but not using the OMPT interface.\nContinuing search...\n".to_owned(),
        });
        if tool.is_none() {
            libc::dlclose(library);
        }
        tool
    }
}

/// The loader's message about its last failure.
fn error() -> String {
    // SAFETY: the message is null or a C string, until the loader is called again.
    unsafe {
        let error: *const c_char = libc::dlerror();
        if error.is_null() {
            return String::new();
        }
        CStr::from_ptr(error).to_string_lossy().into_owned()
    }
}

/// Lets a tool begin, which may not want to.
fn begin(tool: NonNull<Tool>, lookup: Lookup) {
    // SAFETY: a tool keeps the structure that its `ompt_start_tool` returned.
    let tool = unsafe { tool.as_ref() };
    TOOL.store(ptr::from_ref(tool).cast_mut(), Ordering::Release);
    let Some(initialize) = tool.initialize else { return };
    // SAFETY: the tool gave the function; the initial device is the host, whose number is that of
    // all devices: 0.
    if unsafe { initialize(lookup, 0, tool.data.get()) } == 0 {
        return callbacks::forget();
    }
    // SAFETY: the function takes nothing, and stays: the library is never unloaded.
    unsafe { libc::atexit(end) };
    ON.0.store(true, Ordering::Release);
}

/// The tool ends, unless that has happened before.
pub(crate) extern "C" fn end() {
    if !ON.0.swap(false, Ordering::AcqRel) {
        return;
    }
    callbacks::forget();
    // SAFETY: a tool keeps the structure that its `ompt_start_tool` returned.
    let Some(tool) = (unsafe { TOOL.load(Ordering::Acquire).as_ref() }) else { return };
    if let Some(finalize) = tool.finalize {
        // SAFETY: the tool gave the function with this argument.
        unsafe { finalize(tool.data.get()) };
    }
}
