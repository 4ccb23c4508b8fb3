//! Compiles a scheduler's source twice: for this machine, linked with the host's functions, and for
//! BPF, whose BTF describes the geometry of its maps.

use std::collections::BTreeSet;
use std::env::var_os;
use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSymbol};

/// A scheduler to compile.
pub struct Source<'a> {
    /// Its source.
    pub file: &'a Path,
    /// More arguments of clang, as its folders of headers.
    pub arguments: &'a [String],
    /// The folder that has this room's `headers` and `native`.
    pub room: &'a Path,
    /// Folder and name of the results.
    pub output: &'a Path,
    pub name: &'a str,
    /// Whether branches are counted, so that the host leaves a program that does not end.
    pub is_guarded: bool,
}

/// Where Debian has the headers of the C library that `<limits.h>` needs; clang's BPF target does
/// not search there.
const C_HEADERS: [&str; 2] = ["/usr/include/x86_64-linux-gnu", "/usr/include"];

/// Functions that clang calls without being asked to; the C library has them.
const OF_CLANG: [&str; 5] = ["memcpy", "memmove", "memset", "memcmp", "bcmp"];

/// Writes `NAME.so` and `NAME.bpf.o`.
///
/// # Errors
/// clang's message, or the functions that the host does not have.
pub fn compile(source: &Source) -> Result<(), String> {
    let Source { file, arguments, room, output, name, is_guarded } = source;
    let at = |end: &str| output.join(format!("{name}{end}"));
    let headers = room.join("headers");
    let sources = |command: &mut Command| {
        // The place of the sources on this machine stays out of the object.
        command.args(["-std=gnu11", "-O2", "-fdebug-compilation-dir=.", "-I"]).arg(&headers);
        command.args(*arguments);
    };
    let mut bpf = clang();
    sources(&mut bpf);
    for folder in C_HEADERS {
        bpf.args(["-idirafter", folder]);
    }
    bpf.args(["-target", "bpf", "-mcpu=v3", "-g", "-c"]).arg(file).arg("-o").arg(at(".bpf.o"));
    run(bpf)?;
    let mut native = clang();
    sources(&mut native);
    native.args(["-fPIC", "-fvisibility=hidden"]);
    // CO-RE attributes and sections mean nothing here.
    native.args(["-Wno-unknown-attributes", "-Wno-ignored-attributes"]);
    if *is_guarded {
        native.args(["-fsanitize-coverage=trace-pc,no-prune", "-Wimplicit-function-declaration"]);
    }
    native.arg("-c").arg(file).arg("-o").arg(at(".o"));
    let warnings = run(native)?;
    let mut functions = clang();
    functions.args(["-std=gnu11", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Werror"]);
    functions.args(["-Wno-strict-prototypes", "-Wno-unknown-warning-option"]);
    functions.arg("-Wno-deprecated-non-prototype");
    functions.arg("-c").arg(room.join("native/functions.c")).arg("-o").arg(at(".functions.o"));
    run(functions)?;
    let read = |path: &Path| std::fs::read(path).map_err(|error| error.to_string());
    let aliases = aliases(&read(&at(".o"))?, &read(&at(".functions.o"))?)?;
    let undeclared = ["implicit declaration of function", "call to undeclared function"];
    if let Some(line) = warnings.lines().find(|line| undeclared.iter().any(|it| line.contains(it)))
    {
        // Its result would be taken for an `int`.
        return Err(line.replace("warning: ", "error: "));
    }
    let mut link = clang();
    // A function that the host lacks must be an error of this link, and not of a run.
    link.args(["-shared", "-Wl,-z,defs", "-Wl,--build-id=none"]);
    link.args(aliases).arg(at(".o")).arg(at(".functions.o")).arg("-o").arg(at(".so"));
    run(link).map(drop)
}

/// Names as `NAME___suffix`, which libbpf takes for `NAME` (CO-RE's flavours), and those of the
/// kernel's configuration that are not set.
fn aliases(native: &[u8], functions: &[u8]) -> Result<Vec<String>, String> {
    let parse = |bytes| object::File::parse(bytes).map_err(|error| error.to_string());
    let (native, functions) = (parse(native)?, parse(functions)?);
    let known: BTreeSet<&str> = functions
        .symbols()
        .filter(|one| one.is_definition())
        .filter_map(|one| one.name().ok())
        .collect();
    let mut aliases = Vec::new();
    let mut missing = BTreeSet::new();
    for symbol in native.symbols().filter(|one| one.is_undefined()) {
        let Ok(name) = symbol.name() else { continue };
        let stem =
            name.rsplit_once("___").map(|(stem, _)| stem).filter(|stem| known.contains(stem));
        if name.is_empty() || known.contains(name) || OF_CLANG.contains(&name) {
            continue;
        } else if let Some(stem) = stem {
            aliases.push(format!("-Wl,--defsym={name}={stem}"));
        } else if name.starts_with("CONFIG_") {
            aliases.push(format!("-Wl,--defsym={name}=scx_host_unset"));
        } else if !symbol.is_weak() && name != "_GLOBAL_OFFSET_TABLE_" {
            missing.insert(name);
        }
    }
    if missing.is_empty() {
        return Ok(aliases);
    }
    let missing: Vec<&str> = missing.into_iter().collect();
    Err(format!("it uses what the host does not have: {}", missing.join(", ")))
}

fn clang() -> Command {
    Command::new(var_os("CLANG").unwrap_or_else(|| "clang".into()))
}

/// Returns clang's warnings.
fn run(mut command: Command) -> Result<String, String> {
    let done = command
        .output()
        .map_err(|error| format!("the host needs clang ({error}): apt-get install clang"))?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.success() {
        return Ok(said);
    }
    let first = said.lines().find(|line| line.contains("error: "));
    Err(first.map_or_else(|| said.clone(), str::to_owned))
}
