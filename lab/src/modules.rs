//! Which modules of a kernel must be loaded, and in which order?

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{LabError, at, finish};

/// Drivers that the machine boots with: its folders, and a root that can be written to.
const NEEDED: [&str; 4] = ["virtio_pci", "9pnet_virtio", "9p", "overlay"];

/// Whether a kernel of these modules can mount a folder by 9p.
pub(crate) fn have_9p(folder: &Path) -> bool {
    let mut files = HashMap::new();
    find(folder, &mut files).is_ok() && files.contains_key("9p")
}

/// The needed modules, each after its own dependences; built-in modules are left out.
pub(crate) fn needed(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, LabError> {
    let mut files = HashMap::new();
    find(folder, &mut files)?;
    let mut order = Vec::new();
    for name in NEEDED {
        add(name, &files, &mut order)?;
    }
    Ok(order)
}

fn find(folder: &Path, files: &mut HashMap<String, PathBuf>) -> Result<(), LabError> {
    for entry in fs::read_dir(folder).map_err(at(folder))?.filter_map(Result::ok) {
        let path = entry.path();
        // `build` and `source` lead out of the package.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&path, files)?;
        } else if let Some((name, "ko" | "ko.xz")) =
            entry.file_name().to_str().and_then(|name| name.split_once('.'))
        {
            files.insert(name.replace('-', "_"), path);
        }
    }
    Ok(())
}

fn add(
    name: &str,
    files: &HashMap<String, PathBuf>,
    order: &mut Vec<(String, Vec<u8>)>,
) -> Result<(), LabError> {
    let Some(path) = files.get(name) else { return Ok(()) };
    if order.iter().any(|(known, _)| known == name) {
        return Ok(());
    }
    let bytes = if path.extension().is_some_and(|extension| extension == "xz") {
        finish(std::process::Command::new("xz").arg("-dc").arg(path))?.stdout
    } else {
        fs::read(path).map_err(at(path))?
    };
    for other in depends(&bytes) {
        add(&other.replace('-', "_"), files, order)?;
    }
    order.push((name.to_owned(), bytes));
    Ok(())
}

/// The dependences that a module states: `depends=a,b` among its strings that end with 0.
fn depends(module: &[u8]) -> Vec<String> {
    let says = module.split(|&byte| byte == 0).find_map(|text| text.strip_prefix(b"depends="));
    let names = String::from_utf8_lossy(says.unwrap_or_default()).into_owned();
    names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_comes_after_those_it_needs_and_only_once() {
        let folder = tempfile::tempdir().unwrap();
        let net = folder.path().join("net");
        fs::create_dir(&net).unwrap();
        let write = |name: &str, depends: &str| {
            fs::write(net.join(name), format!("\x7fELF\0depends={depends}\0name=x\0")).unwrap();
        };
        write("9p.ko", "9pnet,netfs");
        write("9pnet_virtio.ko", "virtio-ring,9pnet");
        write("9pnet.ko", "");
        write("virtio-ring.ko", "");
        let order = needed(folder.path()).unwrap();
        let names: Vec<_> = order.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["virtio_ring", "9pnet", "9pnet_virtio", "9p"]);
    }
}
