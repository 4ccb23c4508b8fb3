//! A copy of a scheduler's code and data in this process.

use std::ffi::{CString, c_void};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A symbol that every native build exports; native/functions.c has it.
const ANCHOR: &str = "scx_host_anchor";

/// A loaded copy. Each copy is a file of its own, so that copies share no data.
pub(crate) struct Image {
    handle: *mut c_void,
    /// Where the image's address 0 is.
    base: usize,
    /// Open as long as the copy: the dynamic linker identifies copies by file name, and a reused
    /// file descriptor would make `dlopen` return the older copy.
    _file: OwnedFd,
}

// SAFETY: a handle of `dlopen` is valid on every thread, and `Image` is not `Sync`, so one thread
// at a time uses the copy and its data.
unsafe impl Send for Image {}

impl Image {
    /// `anchor` is the address of [`ANCHOR`] in the image.
    pub(crate) fn load(native: &[u8], anchor: u64) -> io::Result<Self> {
        let name = CString::new("scheduler").expect("no zero in it");
        // SAFETY: the name ends with a zero byte and lives during the call.
        let number = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `memfd_create` has just returned this file descriptor; nothing else closes it.
        let file = unsafe { OwnedFd::from_raw_fd(number) };
        write(number, native)?;
        let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let path = path.expect("no zero in it");
        // SAFETY: the path ends with a zero byte, and the object has no constructors to run.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(io::Error::other(last_error()));
        }
        let symbol = CString::new(ANCHOR).expect("no zero in it");
        // SAFETY: the handle is open, and the name ends with a zero byte.
        let found = unsafe { libc::dlsym(handle, symbol.as_ptr()) } as usize;
        let image = Self { handle, base: found.wrapping_sub(anchor as usize), _file: file };
        if found == 0 {
            return Err(io::Error::other("the object was not linked with the host's helpers"));
        }
        Ok(image)
    }

    /// The pointer to an address of the image, in this process.
    pub(crate) fn at(&self, address: u64) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.base.wrapping_add(address as usize))
    }
}

fn write(file: i32, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        // SAFETY: `bytes` is a slice that lives during the call.
        let written = unsafe { libc::write(file, bytes.as_ptr().cast(), bytes.len()) };
        let written = usize::try_from(written).map_err(|_| io::Error::last_os_error())?;
        bytes = &bytes[written..];
    }
    Ok(())
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: `load` opened the handle, only this closes it, and the instance that calls into
        // the image is being dropped.
        unsafe { libc::dlclose(self.handle) };
    }
}

fn last_error() -> String {
    // SAFETY: `dlerror` takes no arguments.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "no reason given".to_owned();
    }
    // SAFETY: the text ends with a zero byte and stays until this thread's next call of `dlerror`.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
