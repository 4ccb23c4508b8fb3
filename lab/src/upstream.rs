//! Upstream's own sched_ext schedulers, to compare with: their sources, as Debian packages them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache::kept;
use crate::error::{LabError, at, finish};
use crate::packages::Apt;

/// Where the newest are; source and headers belong together.
const SUITE: &str = "sid";
/// The kernel's source, structures of a kernel, and headers of libbpf.
const SOURCE: &str = "linux-source";
const HEADERS: [&str; 2] = ["linux-bpf-dev", "libbpf-dev"];
/// The folders of the source that are kept.
const PART: &str = "*/tools/sched_ext";

/// `tools/sched_ext` of a kernel; stays in the cache until someone deletes its folder.
pub struct Upstream {
    folder: PathBuf,
}

impl Upstream {
    /// The source of the newest package, downloaded (170 MB) unless cached.
    ///
    /// # Errors
    /// [`LabError`].
    pub fn get(cache: &Path) -> Result<Self, LabError> {
        let folder = kept(cache, "sched_ext", fill)?;
        Ok(Self { folder })
    }

    /// Package and version of the source.
    ///
    /// # Errors
    /// [`LabError`].
    pub fn version(&self) -> Result<String, LabError> {
        let file = self.folder.join("version");
        fs::read_to_string(&file).map_err(at(&file))
    }

    /// The BPF source of a scheduler: `scx_simple`.
    #[must_use]
    pub fn source(&self, name: &str) -> PathBuf {
        self.folder.join("tools/sched_ext").join(name).with_extension("bpf.c")
    }

    /// Folders of the headers that the schedulers include.
    #[must_use]
    pub fn headers(&self) -> [PathBuf; 4] {
        [
            "tools/sched_ext/include",
            "tools/sched_ext/include/bpf-compat",
            "usr/include/x86_64-linux-gnu/linux/bpf",
            "usr/include",
        ]
        .map(|part| self.folder.join(part))
    }
}

fn fill(folder: &Path) -> Result<(), LabError> {
    let apt = Apt::of(SUITE)?;
    for package in HEADERS {
        apt.unpack(package, folder)?;
    }
    let package = apt.real(SOURCE)?;
    let room = tempfile::tempdir_in(folder).map_err(at(folder))?;
    let version = apt.unpack(&package, room.path())?;
    let archive = room.path().join(format!("usr/src/{package}.tar.xz"));
    let mut tar = Command::new("tar");
    tar.arg("-xJf").arg(&archive).arg("-C").arg(folder).arg("--strip-components=1");
    finish(tar.args(["--wildcards", PART]))?;
    let file = folder.join("version");
    fs::write(&file, format!("{package} {version}")).map_err(at(&file))
}
