//! Which task runtimes does this machine have, and how can the missing ones be got?

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use commands::find as find_program;
use commands::root;

/// The language, interface and compiler of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    OpenmpGcc,
    OpenmpClang,
    Tbb,
    Taskflow,
    Rayon,
    RayonJoin,
    Chili,
    Evenkeel,
    EvenkeelJoin,
    EvenkeelSteps,
}

impl Model {
    /// The target of the Makefile that builds its programs.
    pub fn target(self) -> &'static str {
        match self {
            Self::OpenmpGcc => "openmp-gcc",
            Self::OpenmpClang => "openmp-clang",
            Self::Tbb => "tbb",
            Self::Taskflow => "taskflow",
            Self::Rayon
            | Self::RayonJoin
            | Self::Chili
            | Self::Evenkeel
            | Self::EvenkeelJoin
            | Self::EvenkeelSteps => "rust",
        }
    }

    /// The source of a program, from `peers`.
    pub fn source(self, program: &str) -> String {
        match self {
            Self::OpenmpGcc | Self::OpenmpClang => format!("openmp/{program}.c"),
            Self::Tbb => format!("tbb/{program}.cpp"),
            Self::Taskflow => format!("taskflow/{program}.cpp"),
            Self::Rayon => format!("rust/rayon/{program}.rs"),
            Self::RayonJoin => format!("rust/rayon-join/{program}.rs"),
            Self::Chili => format!("rust/chili/{program}.rs"),
            Self::Evenkeel => format!("rust/evenkeel/{program}.rs"),
            Self::EvenkeelJoin => format!("rust/evenkeel-join/{program}.rs"),
            Self::EvenkeelSteps => format!("rust/evenkeel-steps/{program}.rs"),
        }
    }

    /// Path of the program below the folder of the build.
    pub fn executable(self, program: &str) -> String {
        match self {
            Self::Rayon => format!("rust/release/rayon-{program}"),
            Self::RayonJoin => format!("rust/release/rayon-join-{program}"),
            Self::Chili => format!("rust/release/chili-{program}"),
            Self::Evenkeel => format!("rust/release/evenkeel-{program}"),
            Self::EvenkeelJoin => format!("rust/release/evenkeel-join-{program}"),
            Self::EvenkeelSteps => format!("rust/release/evenkeel-steps-{program}"),
            other => format!("{}/{program}", other.target()),
        }
    }

    /// Whether tasks can have dependences through data.
    pub fn has_dependences(self) -> bool {
        matches!(
            self,
            Self::OpenmpGcc | Self::OpenmpClang | Self::Tbb | Self::Taskflow | Self::Evenkeel
        )
    }
}

/// A runtime that is here.
#[derive(Clone, Debug)]
pub struct Runtime {
    pub name: String,
    pub model: Model,
    /// The OpenMP library to load: a folder to look in first, or a file to load first.
    pub library: Option<PathBuf>,
    /// The name of the library in published tables.
    pub called: Option<String>,
    /// One of our schedulers other than the default.
    pub rules: Option<&'static str>,
    /// Whether the user gave this library, to be compared with the peers.
    pub is_ours: bool,
}

impl Runtime {
    /// A runtime with its own library and its default scheduler.
    pub fn new(name: &str, model: Model, is_ours: bool) -> Self {
        Self { name: name.to_string(), model, library: None, called: None, rules: None, is_ours }
    }
}

/// A library named on the command line.
#[derive(Clone, Debug)]
pub struct Library {
    name: String,
    path: PathBuf,
    called: String,
    model: Model,
}

impl FromStr for Library {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, path) = text.split_once('=').ok_or("expected NAME=PATH")?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || !name.chars().all(is_plain) {
            return Err("a name is made of letters, digits, dashes and dots".to_string());
        }
        let (model, path) = match path.strip_prefix("gcc:") {
            Some(path) => (Model::OpenmpGcc, path),
            None => (Model::OpenmpClang, path),
        };
        let called = from_checkout(path);
        let path = fs::canonicalize(path).map_err(|error| format!("{path}: {error}"))?;
        Ok(Self { name: name.to_string(), path, called, model })
    }
}

/// A text in which paths inside the checkout are relative to its root.
pub fn from_checkout(text: &str) -> String {
    text.replace(&format!("{}/", root().display()), "")
}

/// Runtimes of this machine, and a sentence about each missing one.
pub struct Offer {
    pub runtimes: Vec<Runtime>,
    pub missing: Vec<String>,
}

/// Looks for compilers, headers and libraries, installed or unpacked in a folder.
pub fn find(packages: &Path, libraries: &[Library]) -> Offer {
    let mut offer = Offer { runtimes: Vec::new(), missing: Vec::new() };
    let roots = [Path::new("/"), packages];
    let has = |file: &str| roots.iter().any(|root| root.join(file).is_file());

    let has_gcc = find_program(&["gcc"]).is_some() && find_program(&["make"]).is_some();
    offer.add(has_gcc, "libgomp", Model::OpenmpGcc, "apt-get install gcc make");
    let llvm = if has_gcc { llvm_libraries(&roots) } else { Vec::new() };
    let can_link = find_program(&["clang"]).is_some() && !llvm.is_empty();
    if !can_link || !llvm.iter().any(|(version, _)| *version < 19) {
        offer.missing.push("no libomp 14: apt-get install clang libomp-14-dev".to_string());
    }
    for (version, folder) in llvm.into_iter().filter(|_| can_link) {
        let runtime = Runtime::new(&format!("libomp-{version}"), Model::OpenmpClang, false);
        offer.runtimes.push(Runtime { library: Some(folder), ..runtime });
    }
    if !offer.runtimes.iter().any(|runtime| runtime.name == "libomp-19") {
        let unpack = unpack(packages, "libomp5-19");
        offer.missing.push(format!("no libomp 19, which conflicts with 14: {unpack}"));
    }
    let has_tbb = has_gcc && has("usr/include/oneapi/tbb/task_group.h");
    offer.add(has_tbb, "tbb", Model::Tbb, "apt-get install g++ libtbb-dev");
    let has_taskflow = has_gcc && has("usr/include/taskflow/taskflow.hpp");
    let unpack = unpack(packages, "libtaskflow-cpp-dev");
    let how = format!("apt-get install libtaskflow-cpp-dev; before Debian 13, {unpack}");
    offer.add(has_taskflow, "taskflow", Model::Taskflow, &how);
    for (name, model) in
        [("rayon", Model::Rayon), ("rayon-join", Model::RayonJoin), ("chili", Model::Chili)]
    {
        offer.add(has_gcc, name, model, "apt-get install gcc make");
    }
    for (name, model) in [
        ("evenkeel", Model::Evenkeel),
        ("evenkeel-join", Model::EvenkeelJoin),
        ("evenkeel-steps", Model::EvenkeelSteps),
    ] {
        offer.add_ours(has_gcc, name, model);
    }
    offer.runtimes.extend(libraries.iter().map(|library| Runtime {
        library: Some(library.path.clone()),
        called: Some(library.called.clone()),
        ..Runtime::new(&library.name, library.model, true)
    }));
    offer
}

impl Offer {
    fn add_ours(&mut self, is_here: bool, name: &str, model: Model) {
        if is_here {
            self.runtimes.push(Runtime::new(name, model, true));
        }
    }

    fn add(&mut self, is_here: bool, name: &str, model: Model, how: &str) {
        if is_here {
            self.runtimes.push(Runtime::new(name, model, false));
        } else {
            self.missing.push(format!("no {name}: {how}"));
        }
    }
}

fn unpack(packages: &Path, package: &str) -> String {
    format!("apt-get download {package} && dpkg -x {package}_*.deb {}", packages.display())
}

/// Versions of LLVM's OpenMP library and the folders they are in.
fn llvm_libraries(roots: &[&Path]) -> Vec<(u32, PathBuf)> {
    let mut found: Vec<(u32, PathBuf)> = roots
        .iter()
        .filter_map(|root| fs::read_dir(root.join("usr/lib")).ok())
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let version = entry.file_name().to_str()?.strip_prefix("llvm-")?.parse().ok()?;
            let folder = entry.path().join("lib");
            folder.join("libomp.so.5").exists().then_some((version, folder))
        })
        .collect();
    found.sort();
    found.dedup_by_key(|(version, _)| *version);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_names_whose_programs_it_is_for() {
        let clang: Library = "ours=/".parse().unwrap();
        let gcc: Library = "ours=gcc:/".parse().unwrap();
        assert_eq!((clang.model, gcc.model), (Model::OpenmpClang, Model::OpenmpGcc));
        assert_eq!(gcc.path, Path::new("/"));
    }

    #[test]
    fn a_library_is_called_as_it_was_given_and_from_the_checkout_where_it_is_inside() {
        let inside = root().join("Cargo.toml");
        let library: Library = format!("ours=gcc:{}", inside.display()).parse().unwrap();
        assert_eq!((library.called.as_str(), library.path), ("Cargo.toml", inside));
        let library: Library = "ours=../bench/Cargo.toml".parse().unwrap();
        assert_eq!(library.called, "../bench/Cargo.toml");
    }

    #[test]
    fn a_library_without_a_name_or_a_file_is_refused() {
        for text in ["/", "=/", "a b=/", "ours=/no/such/file"] {
            assert!(text.parse::<Library>().is_err(), "{text}");
        }
    }

    #[test]
    fn llvm_libraries_are_told_by_their_folders() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["llvm-14/lib", "llvm-19/lib", "llvm-20/lib"] {
            fs::create_dir_all(root.path().join("usr/lib").join(folder)).unwrap();
        }
        for version in [14, 19] {
            let file = format!("usr/lib/llvm-{version}/lib/libomp.so.5");
            fs::write(root.path().join(file), "").unwrap();
        }
        let versions: Vec<u32> =
            llvm_libraries(&[root.path()]).into_iter().map(|found| found.0).collect();
        assert_eq!(versions, [14, 19]);
    }
}
