//! Recordings and histories as text.

use std::fmt::Write;

use trace::import::{ImportReport, SILENCE_LONG_NS};
use trace::{Info, REGISTER_BITS};

/// Below this share of accounted time a recording says little: our choice.
const STOLEN_MUCH_PERMILLE: u64 = 900;

/// Counts and problems of an import, from which the reader judges the recording.
pub fn import_summary(report: &ImportReport) -> String {
    let mut text = format!(
        "{} lines or events, {} switches on {} CPUs in {}\n",
        report.lines,
        report.switches,
        report.cpus,
        seconds(report.wall_ns)
    );
    let mut note = |count: u64, what: &str| {
        if count > 0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {count} {what}");
        }
    };
    note(report.repaired_switches, "switches were missing from the recording and were repaired");
    note(report.lost_events, "events were lost by the recorder: use a larger -m");
    note(report.reordered_lines, "lines or events were out of order and were put right");
    note(report.joined_lines, "lines were split by a name and were joined");
    note(report.unmatched_marks, "register marks follow no switch and were left out");
    note(report.unreadable, "lines or records are no events");
    if !report.unreadable_lines.is_empty() {
        let lines: Vec<String> = report.unreadable_lines.iter().map(u64::to_string).collect();
        let _ = writeln!(text, "    the first: {}", lines.join(", "));
    }
    if report.truncated {
        text.push_str("  the last line is cut off\n");
    }
    if report.coarse_time {
        text.push_str(
            "  times have less than nine digits: use perf script --ns, trace-cmd report -t\n",
        );
    }
    if report.silence_ns >= SILENCE_LONG_NS {
        let _ = writeln!(
            text,
            "  nothing happened for {}: a suspended machine, a clock that stepped, or lost \
             events; what ran then counts as running",
            seconds(report.silence_ns)
        );
    }
    if let Some(permille) = report.runtime_per_wall_permille {
        let _ = writeln!(
            text,
            "  {:.1} % of the time on CPUs was accounted to tasks{}",
            permille as f64 / 10.0,
            if permille < STOLEN_MUCH_PERMILLE {
                "; the rest was stolen by a hypervisor: judge by it with care"
            } else {
                ""
            }
        );
    }
    text
}

/// Columns that a table with registers takes.
const REGISTERS_WIDTH: usize = 118;

/// The tasks of a history, by time on CPUs; on a wide terminal with the registers
/// that they used.
pub fn info(info: &Info, top: usize, width: usize) -> String {
    let registers = if width < REGISTERS_WIDTH { &[][..] } else { &REGISTER_BITS[..] };
    let mut text = format!(
        "{} records, {} switches on {} CPUs in {}\n",
        info.records,
        info.switches,
        info.cpus,
        seconds(info.wall_ns)
    );
    text.push_str(&wakes(info));
    for (cpu, &busy_ns) in info.busy_ns.iter().enumerate() {
        let share = 100.0 * busy_ns as f64 / info.wall_ns.max(1) as f64;
        let _ = writeln!(text, "  CPU {cpu}: busy {share:.1} %");
    }
    let _ = write!(
        text,
        "\n{:>7} {:15} {:>4} {:>11} {:>8} {:>10} {:>8} {:>8}",
        "tid", "name", "nice", "run s", "slices", "mean ms", "wakes", "moves"
    );
    for (_, name) in registers {
        let _ = write!(text, " {name:>9}");
    }
    text.push('\n');
    for task in info.tasks.iter().take(top) {
        let _ = write!(
            text,
            "{:>7} {:15} {:>4} {:>11.6} {:>8} {:>10.3} {:>8} {:>8}",
            task.tid,
            task.comm,
            task.nice,
            task.run_ns as f64 / 1e9,
            task.slices,
            task.slice_mean_ns as f64 / 1e6,
            task.wakeups,
            task.migrations
        );
        for (permille, _) in task.registers_permille.iter().zip(registers) {
            if task.marks == 0 {
                let _ = write!(text, " {:>9}", "-");
            } else {
                let _ = write!(text, " {:>7.1} %", *permille as f64 / 10.0);
            }
        }
        text.push('\n');
    }
    if info.tasks.len() > top {
        let _ = writeln!(text, "  and {} more (--top)", info.tasks.len() - top);
    }
    text
}

/// The classification of wake-ups by `evenkeel compare --trace`, and its certainty.
fn wakes(info: &Info) -> String {
    let trace::WakeCounts { by_tasks, by_devices, unclear } = info.wakes;
    let text = format!("  wake-ups: {by_tasks} by other tasks, {by_devices} by timers and devices");
    if info.interrupts_known {
        return text + "\n";
    }
    format!("{text}, {unclear} uncertain: no interrupts are recorded (trace --help)\n")
}

fn seconds(ns: u64) -> String {
    format!("{:.3} s", ns as f64 / 1e9)
}
