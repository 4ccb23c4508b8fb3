//! Compiles a scheduler's source twice: for this machine, linked with the host's helpers, and for
//! BPF, whose BTF describes the geometry of its maps.

use std::env::var_os;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::{Object, ObjectSymbol};

/// A scheduler to compile.
pub struct Source<'a> {
    /// Its source.
    pub file: &'a Path,
    /// More arguments of clang, as its folders of headers.
    pub arguments: &'a [String],
    /// The folder of this room.
    pub room: &'a Path,
    /// Folder and name of the results.
    pub output: &'a Path,
    pub name: &'a str,
}

/// Writes `NAME.so` and `NAME.bpf.o`; the error is clang's message.
pub fn compile(source: &Source) -> Result<(), String> {
    let Source { file, arguments, room, output, name } = source;
    let at = |end: &str| output.join(format!("{name}{end}"));
    let headers = room.join("headers");
    let sources = |command: &mut Command| {
        // The place of the sources on this machine stays out of the object.
        command.args(["-std=gnu11", "-O2", "-fdebug-compilation-dir=.", "-I"]).arg(&headers);
        command.args(*arguments);
    };
    let mut bpf = clang();
    sources(&mut bpf);
    bpf.args(["-target", "bpf", "-mcpu=v3", "-g", "-c"]).arg(file).arg("-o").arg(at(".bpf.o"));
    run(bpf)?;
    let mut native = clang();
    sources(&mut native);
    native.args(["-fPIC", "-fvisibility=hidden"]);
    // CO-RE attributes and sections mean nothing here.
    native.args(["-Wno-unknown-attributes", "-Wno-ignored-attributes"]);
    native.arg("-c").arg(file).arg("-o").arg(at(".o"));
    run(native)?;
    let mut functions = clang();
    functions.args(["-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Werror"]);
    functions.args(["-Wno-strict-prototypes", "-Wno-unknown-warning-option"]);
    functions.arg("-Wno-deprecated-non-prototype");
    functions.arg("-c").arg(room.join("native/functions.c")).arg("-o").arg(at(".functions.o"));
    run(functions)?;
    let mut link = clang();
    // A function that the host lacks must be an error of this link, and not of a run.
    link.args(["-shared", "-Wl,-z,defs", "-Wl,--build-id=none"]);
    link.args(aliases(&at(".o"), &at(".functions.o"))?);
    link.arg(at(".o")).arg(at(".functions.o")).arg("-o").arg(at(".so"));
    run(link)
}

/// Names as `NAME___suffix`, which libbpf takes for `NAME` (CO-RE's flavours).
fn aliases(native: &Path, functions: &Path) -> Result<Vec<String>, String> {
    let read = |path: &Path| std::fs::read(path).map_err(|error| error.to_string());
    let (native, functions) = (read(native)?, read(functions)?);
    let parse = |bytes| object::File::parse(bytes).map_err(|error| error.to_string());
    let (native, functions) = (parse(&*native)?, parse(&*functions)?);
    let has = |name: &str| functions.symbols().any(|one| one.name() == Ok(name));
    let wanted = native.symbols().filter(|one| one.is_undefined());
    let names = wanted.filter_map(|one| one.name().ok().map(str::to_owned));
    let known = names.filter_map(|name| {
        let (stem, _) = name.rsplit_once("___")?;
        has(stem).then(|| format!("-Wl,--defsym={name}={stem}"))
    });
    Ok(known.collect())
}

fn clang() -> Command {
    Command::new(var_os("CLANG").unwrap_or_else(|| "clang".into()))
}

fn run(mut command: Command) -> Result<(), String> {
    let done = command
        .output()
        .map_err(|error| format!("the host needs clang ({error}): apt-get install clang"))?;
    if done.status.success() {
        return Ok(());
    }
    let arguments: Vec<PathBuf> = command.get_args().map(PathBuf::from).collect();
    Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&done.stderr)))
}
