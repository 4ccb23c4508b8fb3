//! The program that is followed.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command as Process, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use silicon::trial::Command;
use silicon::trial::hide::{Answer, Emulation, Traced};

/// `hlt; nop`, which stands for CPUID in the program.
pub const STAND_IN: [u8; 2] = [0xf4, 0x90];

/// Wide instructions hidden, by the stand-in.
pub const HIDING: Emulation = Emulation { hides: true, stand_in: Some(STAND_IN) };

/// Where the program is, compiled once.
pub fn program() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let flags = ["-std=gnu11", "-O1", "-Wall", "-Werror", "-pthread"];
        compiled("program.c", &flags).expect("cc compiles the program")
    })
}

/// Where the program of 32 bits is, if it can be made and may run here.
pub fn program_32() -> Option<&'static str> {
    static PATH: OnceLock<Option<String>> = OnceLock::new();
    let made = PATH.get_or_init(|| {
        let path = compiled("program32.S", &["-m32", "-nostdlib", "-static"])?;
        // Alone it dies of its instruction; a kernel without such programs does not start it.
        let alone = Process::new(&path).status().ok()?;
        (alone.signal() == Some(libc::SIGSEGV)).then_some(path)
    });
    made.as_deref()
}

fn compiled(source: &str, flags: &[&str]) -> Option<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hide");
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/hide-").to_owned() + source;
    // Others may make and run the same at the same time.
    let own = format!("{path}-{}", std::process::id());
    let mut cc = Process::new("cc");
    cc.args(flags).args(["-o", &own]).arg(format!("{folder}/{source}"));
    let is_made = cc.status().is_ok_and(|status| status.success());
    (is_made && std::fs::rename(own, &path).is_ok()).then_some(path)
}

/// The program with arguments.
pub fn command(arguments: &[&str]) -> Command {
    let words = std::iter::once(program()).chain(arguments.iter().copied());
    Command { words: words.map(str::to_owned).collect(), environment: Vec::new() }
}

/// A CPU that the tests may use.
pub fn some_cpu() -> u32 {
    silicon::allowed_cpus().unwrap()[0]
}

/// The program at work, its standard output piped.
pub fn start(arguments: &[&str], emulation: Emulation) -> Traced {
    Traced::start(&command(arguments), some_cpu(), Stdio::piped(), emulation).unwrap()
}

/// The program's question (leaf and sub-leaf), and the answer.
pub fn told(line: &str) -> (u32, u32, Answer) {
    let numbers: Vec<u32> =
        line.split(' ').map(|word| u32::from_str_radix(word, 16).unwrap()).collect();
    let [leaf, subleaf, eax, ebx, ecx, edx] = numbers[..] else { panic!("{line}") };
    (leaf, subleaf, Answer { eax, ebx, ecx, edx })
}

/// Waits until a condition holds; the machine may be busy, but not for that long.
pub fn holds_soon(mut condition: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > Duration::from_secs(20) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Reports which tests this machine could not run.
pub fn skipped(why: &str) {
    // Not by a macro, whose output the harness hides when a test passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}
