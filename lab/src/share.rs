//! How a machine sees folders of the host.
//!
//! By 9p out of QEMU where the kernel supports 9p, else by virtiofs: a daemon a folder.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::child::{Child, start};
use crate::error::{LabError, at};

/// A kind of shared folder that a kernel knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Through modules of the kernel's package; served by QEMU.
    NineP,
    /// Built into Debian's kernels for clouds; served by a daemon.
    Virtiofs,
}

/// A folder for the machine.
#[derive(Clone, Copy)]
pub(crate) struct Folder<'a> {
    /// The tag by which the machine mounts the folder.
    pub tag: &'static str,
    /// On the host.
    pub path: &'a Path,
    /// Whether the host refuses writes of the machine.
    pub is_read_only: bool,
}

/// The servers of folders while a machine runs, and the arguments for QEMU.
pub(crate) struct Shares {
    /// Arguments of QEMU.
    pub arguments: Vec<OsString>,
    _daemons: Vec<Child>,
}

impl Kind {
    /// Its name as a file system.
    pub fn name(self) -> &'static str {
        match self {
            Self::NineP => "9p",
            Self::Virtiofs => "virtiofs",
        }
    }

    /// Gets the folders ready; `room` is for sockets.
    pub fn share(
        self,
        folders: &[Folder],
        memory_mib: u32,
        room: &Path,
    ) -> Result<Shares, LabError> {
        match self {
            Self::NineP => Ok(Shares {
                arguments: folders.iter().flat_map(nine_p).collect(),
                _daemons: Vec::new(),
            }),
            Self::Virtiofs => virtiofs(folders, memory_mib, room),
        }
    }
}

fn nine_p(folder: &Folder) -> [OsString; 4] {
    let tag = folder.tag;
    let mut share = option(&format!("local,id={tag},security_model=none,path="), folder.path);
    if folder.is_read_only {
        share.push(",readonly=on,multidevs=remap");
    }
    let device = format!("virtio-9p-pci,fsdev={tag},mount_tag={tag}");
    ["-fsdev".into(), share, "-device".into(), device.into()]
}

fn virtiofs(folders: &[Folder], memory_mib: u32, room: &Path) -> Result<Shares, LabError> {
    // The daemons read and write the machine's memory.
    let memory = format!("memory-backend-memfd,id=memory,size={memory_mib}M,share=on");
    let mut arguments: Vec<OsString> =
        ["-object", &memory, "-numa", "node,memdev=memory"].map(OsString::from).into();
    let mut daemons = Vec::new();
    for folder in folders {
        let tag = folder.tag;
        let socket = room.join(tag);
        daemons.push(daemon(folder, &socket)?);
        arguments.push("-chardev".into());
        arguments.push(option(&format!("socket,id={tag},path="), &socket));
        let device = format!("vhost-user-fs-pci,chardev={tag},tag={tag}");
        arguments.extend(["-device", &device].map(OsString::from));
    }
    Ok(Shares { arguments, _daemons: daemons })
}

/// Where distributions put the daemon: QEMU's own, in C, until Debian 12; since then the one in
/// Rust, whose options differ.
const IN_C: &str = "/usr/lib/qemu/virtiofsd";
const IN_RUST: &str = "/usr/libexec/virtiofsd";

fn daemon(folder: &Folder, socket: &Path) -> Result<Child, LabError> {
    let listener = UnixListener::bind(socket).map_err(at(socket))?;
    let descriptor = listener.as_raw_fd();
    let program = [IN_RUST, IN_C].map(Path::new).into_iter().find(|path| path.exists());
    let program = program.ok_or_else(|| LabError::Lacks("virtiofsd".into()))?;
    let mut command = Command::new(program);
    command.arg(format!("--fd={descriptor}"));
    if program == Path::new(IN_C) {
        command.arg("-o").arg(option("source=", folder.path));
        command.args(["-o", "sandbox=chroot", "-o", "cache=auto"]);
    } else {
        command.arg("--shared-dir").arg(folder.path);
        command.args(["--sandbox=chroot", "--cache=auto"]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let is_read_only = folder.is_read_only;
    // SAFETY: between fork and exec the closure only makes system calls, with values that the
    // closure owns: no allocation and no lock.
    unsafe {
        command.pre_exec(move || {
            keep_across_exec(descriptor)?;
            if is_read_only { only_read() } else { Ok(()) }
        });
    }
    start(&mut command)
}

fn keep_across_exec(descriptor: i32) -> io::Result<()> {
    // SAFETY: changes a flag of a descriptor that the caller holds.
    succeeded(i64::from(unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) }))
}

/// Makes all mounts read-only for this process and its children
/// (mount_setattr(2), Linux 5.12).
fn only_read() -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    // SAFETY: the path ends with 0, and size and address are those of a structure that lives on.
    unsafe {
        succeeded(i64::from(libc::unshare(libc::CLONE_NEWNS)))?;
        succeeded(libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            c"/".as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        ))
    }
}

fn succeeded(answer: i64) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A path within an option of QEMU, where a comma is written twice.
pub(crate) fn option(begin: &str, path: &Path) -> OsString {
    let mut option = OsString::from(begin);
    option.push(path.to_string_lossy().replace(',', ",,"));
    option
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_of_paths_do_not_end_an_option() {
        assert_eq!(option("file:", Path::new("/a,b")), "file:/a,,b");
    }
}
