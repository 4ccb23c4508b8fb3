//! `evenkeel trace marks`: which register states each program left its CPUs with.

mod now;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use serde::Serialize;
use trace::{Event, History, REGISTER_BITS};

use crate::{files, terminal};

const MEANING: &str = "\
avx: upper halves of 256-bit registers; opmask: masks of AVX-512; zmm-hi256: upper halves of
512-bit registers; hi16-zmm: registers 16 to 31 of AVX-512, of any width. A mark is the state at a
switch, not `used since the last one`: a program that zeroes the registers before it waits shows
avx and zmm-hi256 only when it was preempted. See evenkeel doctor for what the C library adds.
Without a recording, and without privileges, the kernel says when each thread was last seen with
any register of AVX-512 (/proc/PID/arch_status): the last resort, which cannot tell programs with
512-bit code from those that call the C library.

Examples:
  evenkeel trace marks schedule.ektrace
  evenkeel trace marks";

/// Which history to look at.
#[derive(clap::Args)]
#[command(after_help = MEANING)]
pub struct Args {
    /// The history [default: the programs that run now, by what the kernel tells every user]
    file: Option<PathBuf>,
    /// Programs to list
    #[arg(long, default_value_t = 20)]
    top: u32,
    /// Writes everything as JSON; - is standard output, then without the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The marks of a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Program {
    name: String,
    /// Switches at which a task of the program left a CPU.
    switches: u64,
    /// Those at which its registers were saved.
    marks: u64,
    /// Of those, how many had each bit set, and how long the slices were that ended so.
    registers: BTreeMap<&'static str, Register>,
    /// Time of the slices that ended with a mark.
    marked_ns: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Register {
    marks: u64,
    share: f64,
    share_of_time: f64,
    #[serde(skip)]
    ns: u64,
}

/// Reads, sums up, prints.
pub fn run(args: Args) -> Result<()> {
    let Some(file) = &args.file else {
        let programs = now::programs()?;
        return args.put(&programs, &now::text(&programs, args.top as usize));
    };
    let history = files::history(file)?;
    let programs = programs(&history);
    ensure!(
        programs.iter().any(|program| program.marks > 0),
        "{}: no register states are recorded; evenkeel trace record records them",
        file.display()
    );
    args.put(&programs, &text(&programs, args.top as usize))
}

impl Args {
    fn put(&self, programs: &impl Serialize, text: &str) -> Result<()> {
        if let Some(json) = &self.json
            && files::write_json(json, programs)?
        {
            return Ok(());
        }
        terminal::print(text)
    }
}

/// Programs by the time of their marked slices.
fn programs(history: &History) -> Vec<Program> {
    let apps: BTreeMap<u32, &str> =
        history.header.tasks.iter().map(|task| (task.tid, task.app.as_str())).collect();
    let mut programs: BTreeMap<&str, Program> = BTreeMap::new();
    let mut came_ns: BTreeMap<u32, u64> = BTreeMap::new();
    let mut slice_ns: BTreeMap<u32, u64> = BTreeMap::new();
    for record in &history.records {
        match record.event {
            Event::Switch { prev, next, .. } => {
                came_ns.insert(next, record.time_ns);
                let Some(app) = apps.get(&prev) else { continue };
                let since_ns = came_ns.remove(&prev).unwrap_or(history.header.start_ns);
                slice_ns.insert(prev, record.time_ns.saturating_sub(since_ns));
                programs.entry(app).or_default().switches += 1;
            }
            Event::Registers { task, xfeatures } => {
                let Some(app) = apps.get(&task) else { continue };
                let ns = slice_ns.get(&task).copied().unwrap_or(0);
                programs.entry(app).or_default().mark(xfeatures, ns);
            }
            _ => {}
        }
    }
    let mut programs: Vec<Program> =
        programs.into_iter().map(|(name, program)| program.finish(name)).collect();
    programs.sort_by(|a, b| b.marked_ns.cmp(&a.marked_ns).then(a.name.cmp(&b.name)));
    programs
}

impl Program {
    fn mark(&mut self, xfeatures: u64, ns: u64) {
        self.marks += 1;
        self.marked_ns = self.marked_ns.saturating_add(ns);
        for (bit, name) in REGISTER_BITS {
            let register = self.registers.entry(name).or_default();
            if xfeatures >> bit & 1 == 1 {
                register.marks += 1;
                register.ns = register.ns.saturating_add(ns);
            }
        }
    }

    fn finish(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        for register in self.registers.values_mut() {
            register.share = register.marks as f64 / self.marks.max(1) as f64;
            register.share_of_time = register.ns as f64 / self.marked_ns.max(1) as f64;
        }
        self
    }
}

fn text(programs: &[Program], top: usize) -> String {
    let mut text = format!("{:16} {:>9} {:>9}", "program", "switches", "marks");
    for (_, name) in REGISTER_BITS {
        let _ = write!(text, " {name:>10}");
    }
    text.push('\n');
    let (marked, silent): (Vec<_>, Vec<_>) = programs.iter().partition(|it| it.marks > 0);
    for program in marked.iter().take(top) {
        let _ = write!(text, "{:16} {:>9} {:>9}", program.name, program.switches, program.marks);
        for (_, name) in REGISTER_BITS {
            let share = program.registers.get(name).map_or(0.0, |register| register.share);
            let _ = write!(text, " {:>8.1} %", share * 100.0);
        }
        text.push('\n');
    }
    if marked.len() > top {
        let _ = writeln!(text, "and {} more (--top)", marked.len() - top);
    }
    if !silent.is_empty() {
        let _ = writeln!(text, "without marks, as threads of the kernel are: {}", silent.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{Header, Record, SCHEMA, Source, SwitchState, TaskInfo};

    fn history() -> History {
        let task = |tid, app: &str| TaskInfo {
            tid,
            pid: None,
            comm: "worker".to_owned(),
            app: app.to_owned(),
            nice: 0,
            kernel: false,
            control_group: None,
        };
        let switch =
            |prev, next| Event::Switch { cpu: 0, prev, state: SwitchState::Runnable, next };
        let registers = |task, xfeatures| Event::Registers { task, xfeatures };
        let events = [
            (0, switch(0, 1)),
            (30, switch(1, 2)),
            (30, registers(1, 1 << 2 | 1 << 6)),
            (40, switch(2, 1)),
            (40, registers(2, 1 << 2)),
            (50, switch(1, 3)),
            (50, registers(1, 0)),
            (60, switch(3, 0)),
        ];
        let records = events.map(|(time_ns, event)| Record { time_ns, event }).to_vec();
        let header = Header {
            schema: SCHEMA,
            source: Source::Recorded,
            cpus: 1,
            start_ns: 0,
            end_ns: 60,
            threads_per_core: None,
            cores_per_package: None,
            cpu: None,
            facts: BTreeMap::new(),
            tasks: vec![task(1, "x265"), task(2, "x265"), task(3, "kthreadd")],
            stacks: Vec::new(),
        };
        History { header, records }
    }

    #[test]
    fn the_tasks_of_a_program_count_together_and_slices_by_their_time() {
        let programs = programs(&history());
        let [x265, kthreadd] = &programs[..] else { panic!("{programs:?}") };
        assert_eq!((x265.switches, x265.marks, x265.marked_ns), (3, 3, 50));
        let avx = &x265.registers["avx"];
        assert_eq!((avx.marks, avx.share_of_time), (2, 0.8));
        assert_eq!((x265.registers["zmm-hi256"].marks, x265.registers["opmask"].marks), (1, 0));
        assert_eq!((kthreadd.name.as_str(), kthreadd.switches, kthreadd.marks), ("kthreadd", 1, 0));
    }

    #[test]
    fn the_table_lists_what_has_marks_and_counts_the_rest() {
        let text = text(&programs(&history()), 20);
        assert!(text.contains("x265                     3         3     66.7 %"), "{text}");
        assert!(text.ends_with("without marks, as threads of the kernel are: 1\n"), "{text}");
    }
}
