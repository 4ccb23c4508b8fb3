//! A kernel that can be booted, from a package of Debian.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cache::kept;
use crate::error::{LabError, at, not_started};
use crate::modules;
use crate::packages::{Apt, Wanted};
use crate::share::Kind;

/// An unpacked kernel; stays in the cache until someone deletes its folder.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The release as `uname -r` shows the name: `6.1.0-56-amd64`.
    pub release: String,
    folder: PathBuf,
    share: Kind,
}

impl Kernel {
    /// The kernel of that name, downloaded unless the cache has it.
    ///
    /// # Errors
    /// [`LabError`].
    pub fn get(name: &str, cache: &Path) -> Result<Self, LabError> {
        let wanted = Wanted::parse(name)?;
        let folder = kept(cache, &name.replace('/', "_"), |room| fill(&wanted, room))?;
        let (_, release) = packed(&folder)?;
        let mut kernel = Self { release, folder, share: Kind::Virtiofs };
        if modules::have_9p(&kernel.modules()) {
            kernel.share = Kind::NineP;
        }
        Ok(kernel)
    }

    /// The first kernel that can be had and that the caller accepts, with the reasons against the
    /// kernels before.
    ///
    /// # Errors
    /// [`LabError::NoKernel`] if no kernel fits.
    pub fn first(
        names: &[&str],
        cache: &Path,
        accept: impl Fn(&Self) -> Result<(), String>,
    ) -> Result<(Self, Vec<String>), LabError> {
        let mut left_out = Vec::new();
        for name in names {
            let kernel = Self::get(name, cache).map_err(|error| error.to_string());
            match kernel.and_then(|kernel| accept(&kernel).map(|()| kernel)) {
                Ok(kernel) => return Ok((kernel, left_out)),
                Err(why) => left_out.push(format!("{name}: {why}")),
            }
        }
        Err(LabError::NoKernel(left_out.join("; ")))
    }

    /// The kind of folder sharing that the kernel supports.
    pub(crate) fn share(&self) -> Kind {
        self.share
    }

    /// The uncompressed kernel, an ELF file with its BTF.
    #[must_use]
    pub fn image(&self) -> PathBuf {
        self.folder.join("vmlinux")
    }

    /// The folder of its modules.
    pub(crate) fn modules(&self) -> PathBuf {
        unpacked(&self.folder, "lib/modules").join(&self.release)
    }

    /// The statically linked busybox of the same release of Debian.
    pub(crate) fn busybox(&self) -> PathBuf {
        unpacked(&self.folder, "bin/busybox")
    }
}

/// Debian 13 and later have everything under `usr`.
fn unpacked(folder: &Path, path: &str) -> PathBuf {
    let merged = folder.join("usr").join(path);
    if merged.exists() { merged } else { folder.join(path) }
}

/// Downloads and unpacks a kernel and a busybox.
fn fill(wanted: &Wanted, folder: &Path) -> Result<(), LabError> {
    let apt = Apt::of(&wanted.suite)?;
    apt.unpack(&apt.real(&wanted.package)?, folder)?;
    apt.unpack("busybox-static", folder)?;
    let (image, _) = packed(folder)?;
    let bytes = fs::read(&image).map_err(at(&image))?;
    let payload = payload(&bytes).map_err(|why| LabError::Unbootable { path: image, why })?;
    decompress(payload, &folder.join("vmlinux"))
}

/// The kernel's image: `boot/vmlinuz-RELEASE`, from 7.1 on `lib/modules/RELEASE/vmlinuz`.
fn packed(folder: &Path) -> Result<(PathBuf, String), LabError> {
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>()
    };
    let (boot, modules) = (folder.join("boot"), unpacked(folder, "lib/modules"));
    let in_boot = names(&boot).into_iter().find_map(|name| {
        let release = name.strip_prefix("vmlinuz-")?.to_owned();
        Some((boot.join(&name), release))
    });
    let with_modules = || {
        let images = names(&modules).into_iter();
        images.map(|release| (modules.join(&release).join("vmlinuz"), release))
    };
    in_boot
        .or_else(|| with_modules().find(|(image, _)| image.exists()))
        .ok_or_else(|| LabError::Unbootable { path: folder.to_owned(), why: "no vmlinuz" })
}

/// A compressed kernel and the program that knows its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Payload<'a> {
    bytes: &'a [u8],
    program: &'static str,
}

/// The compressed kernel within a bzImage (Documentation/arch/x86/boot.rst, protocol 2.08).
fn payload(image: &[u8]) -> Result<Payload<'_>, &'static str> {
    const SETUP_SECTORS: usize = 0x1f1;
    const PAYLOAD_OFFSET: usize = 0x248;
    const PAYLOAD_LENGTH: usize = 0x24c;
    /// The uncompressed size follows the compressed kernel.
    const SIZE: usize = 4;
    let number = |at: usize| {
        let bytes = image.get(at..)?.first_chunk::<4>()?;
        usize::try_from(u32::from_le_bytes(*bytes)).ok()
    };
    let found = (|| {
        let sectors = usize::from(*image.get(SETUP_SECTORS)?);
        let start = (sectors.max(1) + 1) * 512 + number(PAYLOAD_OFFSET)?;
        let end = start.checked_add(number(PAYLOAD_LENGTH)?)?.checked_sub(SIZE)?;
        image.get(start..end)
    })();
    let bytes = found.ok_or("not a kernel's image")?;
    let program = match bytes {
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "xz",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd",
        _ => return Err("compressed neither by xz nor by zstd"),
    };
    Ok(Payload { bytes, program })
}

fn decompress(payload: Payload<'_>, output: &Path) -> Result<(), LabError> {
    let program = payload.program;
    let file = fs::File::create(output).map_err(at(output))?;
    let mut command = Command::new(program);
    command.arg("-dc").stdin(Stdio::piped()).stdout(file);
    let mut child = command.spawn().map_err(|source| not_started(program, source))?;
    let mut input = child.stdin.take().expect("its input is a pipe");
    let fed = input.write_all(payload.bytes);
    drop(input);
    let status = child.wait().map_err(at(output))?;
    if fed.is_err() || !status.success() {
        let why = "it cannot read the kernel's image".into();
        return Err(LabError::Failed { program: program.into(), why });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(payload: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 1024];
        image[0x1f1] = 1;
        image[0x248..0x24c].copy_from_slice(&16u32.to_le_bytes());
        image[0x24c..0x250].copy_from_slice(&(payload.len() as u32 + 4).to_le_bytes());
        image.extend([0; 16]);
        image.extend(payload);
        image.extend([0; 4]);
        image
    }

    #[test]
    fn an_image_says_where_its_kernel_is() {
        let xz = *b"\xfd7zXZ\0kernel";
        let found = image(&xz);
        assert_eq!(payload(&found), Ok(Payload { bytes: &xz[..], program: "xz" }));
        assert_eq!(
            payload(&image(b"\x28\xb5\x2f\xfdx")).map(|payload| payload.program),
            Ok("zstd")
        );
    }

    #[test]
    fn an_image_is_where_its_version_has_it() {
        for (path, release) in
            [("boot/vmlinuz-6.1.0-amd64", "6.1.0-amd64"), ("usr/lib/modules/7.3/vmlinuz", "7.3")]
        {
            let folder = tempfile::tempdir().unwrap();
            let image = folder.path().join(path);
            fs::create_dir_all(image.parent().unwrap()).unwrap();
            fs::write(&image, "").unwrap();
            assert_eq!(packed(folder.path()).unwrap(), (image, release.to_owned()));
        }
        let empty = tempfile::tempdir().unwrap();
        assert!(packed(empty.path()).unwrap_err().to_string().ends_with("no vmlinuz"));
    }

    #[test]
    fn what_is_no_image_or_cut_off_is_refused() {
        let cut = &image(b"\xfd7zXZ\0kernel")[..1040];
        for bytes in [&b""[..], b"MZ", cut] {
            assert_eq!(payload(bytes), Err("not a kernel's image"));
        }
        assert!(payload(&image(b"\x1f\x8bgzip")).unwrap_err().contains("neither"));
    }
}
