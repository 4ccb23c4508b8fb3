//! Without a recording: when was each program last seen with AVX-512 registers in use?

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sensors::arch_status::{LastUse, last_use};
use serde::Serialize;

const MISSING: &str = "this kernel does not say which threads use AVX-512 (no AVX512_elapsed_ms \
                       in /proc/self/arch_status: no such CPU, or no CONFIG_PROC_PID_ARCH_STATUS); \
                       name a recording, which evenkeel trace record makes";
const RECENT_MS: u64 = 100;
const LATELY_MS: u64 = 10_000;
/// This program, which runs no AVX-512 code while it reads the table.
const OWN: &str = "evenkeel";

/// Threads of a program by when they were last seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Program {
    name: String,
    threads: u64,
    /// In the last 100 ms.
    recent: u64,
    /// In the last 10 s, but not the last 100 ms.
    lately: u64,
    earlier: u64,
    never: u64,
}

impl Program {
    fn add(&mut self, last: LastUse) {
        self.threads += 1;
        match last {
            LastUse::Ago(0..=RECENT_MS) => self.recent += 1,
            LastUse::Ago(0..=LATELY_MS) => self.lately += 1,
            LastUse::Ago(_) => self.earlier += 1,
            LastUse::Never => self.never += 1,
        }
    }
}

/// The programs that run now; those with the most threads that were seen last come first.
///
/// # Errors
/// The kernel or the CPU has no such file.
pub fn programs() -> Result<Vec<Program>> {
    let own = fs::read_to_string("/proc/self/arch_status").unwrap_or_default();
    last_use(&own).context(MISSING)?;
    let mut programs: BTreeMap<String, Program> = BTreeMap::new();
    for process in fs::read_dir("/proc").context("/proc")?.flatten() {
        let is_process = process.file_name().to_string_lossy().parse::<u32>().is_ok();
        if is_process {
            add_threads(&process.path(), &mut programs);
        }
    }
    let mut programs: Vec<Program> = programs.into_values().collect();
    programs.sort_by_key(|it| std::cmp::Reverse((it.recent, it.lately, it.earlier, it.threads)));
    Ok(programs)
}

/// Adds the threads of a process; one that ended meanwhile has none.
fn add_threads(process: &Path, programs: &mut BTreeMap<String, Program>) {
    let Ok(name) = fs::read(process.join("comm")) else { return };
    let name = trace::clean(name.trim_ascii_end());
    for thread in fs::read_dir(process.join("task")).into_iter().flatten().flatten() {
        let text = fs::read_to_string(thread.path().join("arch_status")).unwrap_or_default();
        let Some(last) = last_use(&text) else { continue };
        let program = programs.entry(name.clone()).or_default();
        program.name.clone_from(&name);
        program.add(last);
    }
}

/// A table of programs, and what the columns are worth.
pub fn text(programs: &[Program], top: usize) -> String {
    let mut text = String::from(
        "Threads by when they last left a CPU with AVX-512 registers in use:\n\n\
         program           threads   last 100 ms   last 10 s   earlier   never\n",
    );
    let (seen, never): (Vec<_>, Vec<_>) =
        programs.iter().partition(|program| program.never < program.threads);
    for it in seen.iter().take(top) {
        let _ = writeln!(
            text,
            "{:16} {:>8} {:>13} {:>11} {:>9} {:>7}",
            it.name, it.threads, it.recent, it.lately, it.earlier, it.never
        );
    }
    if seen.len() > top {
        let _ = writeln!(text, "and {} more (--top)", seen.len() - top);
    }
    if !never.is_empty() {
        let _ = writeln!(text, "never, as threads of the kernel are: {}", never.len());
    }
    let is_polluted = seen.iter().any(|program| program.name == OWN);
    text.push_str(if is_polluted {
        "\nThese registers say nothing here: evenkeel itself is in the table, and runs no such \
         code of its own.\nThe C library's string functions use them in every program. As root, \
         evenkeel trace record\ntells the upper halves of 512-bit registers (zmm-hi256) apart.\n"
    } else {
        "\nA program in the table used some AVX-512 register, for how long and how wide is not \
         known.\n"
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(name: &str, uses: &[LastUse]) -> Program {
        let mut program = Program { name: name.to_owned(), ..Program::default() };
        uses.iter().for_each(|last| program.add(*last));
        program
    }

    #[test]
    fn each_thread_counts_in_one_column() {
        let ago = [0, 100, 101, 10_000, 10_001].map(LastUse::Ago);
        let uses = [&ago[..], &[LastUse::Never]].concat();
        let it = program("x265", &uses);
        assert_eq!((it.threads, it.recent, it.lately, it.earlier, it.never), (6, 2, 2, 1, 1));
        let text = text(&[it, program("kthreadd", &[LastUse::Never])], 20);
        assert!(text.contains("x265                    6             2           2         1"));
        assert!(text.contains("\nnever, as threads of the kernel are: 1\n"), "{text}");
    }

    #[test]
    fn registers_of_this_command_itself_make_the_table_worthless() {
        let of = |last| text(&[program("x265", &[LastUse::Ago(5)]), program(OWN, &[last])], 20);
        assert!(of(LastUse::Ago(0)).contains("say nothing here"));
        assert!(!of(LastUse::Never).contains("say nothing here"));
    }
}
