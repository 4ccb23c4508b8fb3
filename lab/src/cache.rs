//! Downloaded files, kept for the next run.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{LabError, at};

/// Where kernels and sources are kept: `evenkeel/lab` in the user's cache.
#[must_use]
pub fn cache() -> PathBuf {
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    cache.or_else(home).unwrap_or_else(env::temp_dir).join("evenkeel/lab")
}

/// The folder with that name in the cache; `fill` fills a missing one.
///
/// The folder gets its name once complete. A folder that another process filled meanwhile is used.
pub(crate) fn kept(
    cache: &Path,
    name: &str,
    fill: impl FnOnce(&Path) -> Result<(), LabError>,
) -> Result<PathBuf, LabError> {
    let folder = cache.join(name);
    if folder.exists() {
        return Ok(folder);
    }
    fs::create_dir_all(cache).map_err(at(cache))?;
    let room = tempfile::tempdir_in(cache).map_err(at(cache))?;
    fill(room.path())?;
    match fs::rename(room.path(), &folder) {
        Ok(()) => _ = room.keep(),
        Err(_) if folder.exists() => {}
        Err(error) => return Err(at(&folder)(error)),
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn of_two_who_fill_a_folder_at_once_both_have_it() {
        let cache = tempfile::tempdir().unwrap();
        let both_fill = Barrier::new(2);
        let fill = |room: &Path| {
            both_fill.wait();
            fs::write(room.join("whole"), "").map_err(at(room))
        };
        let get = || kept(cache.path(), "one", fill).unwrap();
        let folders = std::thread::scope(|threads| {
            [threads.spawn(get), threads.spawn(get)].map(|thread| thread.join().unwrap())
        });
        assert_eq!(folders[0], folders[1]);
        assert!(folders[0].join("whole").exists());
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
        // A complete folder is never filled again.
        kept(cache.path(), "one", |_| panic!("filled again")).unwrap();
    }
}
