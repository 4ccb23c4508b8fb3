//! The sums of many machines as text.

use ::report::profile::SHOWN_MIN;

use super::super::print::name;
use super::Cpu;
use super::sum::{CpuSum, LossSum, MachineSum, Merged};

/// Rows of a table; the first are shown.
const ROWS_MAX: usize = 15;

/// Machines, then pairs of programs, then one sentence.
pub fn text(merged: &Merged) -> String {
    let machines = merged.machines.len();
    let mut lines = vec![format!("{machines} machines, {:.1} s of CPU time", merged.cpu_time_s)];
    lines.extend(cpus(merged));
    lines.push(String::new());
    lines.push(format!(
        "{:30}{}{:>12}{:>12}{:>12}  costs others most",
        "machine",
        column(merged, "CPU"),
        "CPU time s",
        "to clock s",
        "waited s"
    ));
    lines.extend(merged.machines.iter().take(ROWS_MAX).map(|it| machine(merged, it)));
    if machines > ROWS_MAX {
        lines.push(format!("… and {} more (--json has all)", machines - ROWS_MAX));
    }
    if merged.machines.iter().any(|it| !it.has_clock) {
        lines.push("  - the profile could not estimate the clock".to_owned());
    }
    let least_s = SHOWN_MIN * merged.cpu_time_s;
    let is_shown =
        |it: &&LossSum| !it.is_own && it.lost_s + it.waited_s + it.by_shared_core_s >= least_s;
    let shown: Vec<&LossSum> = merged.losses.iter().filter(is_shown).collect();
    lines.push(String::new());
    lines.push(format!(
        "{:20}{:20}{}{:>9}{:>10}{:>18}{:>10}{:>13}",
        "loses, in s",
        "to",
        column(merged, "CPU"),
        "machines",
        "clock",
        "95 %",
        "waited",
        "shared core"
    ));
    lines.extend(shown.iter().take(ROWS_MAX).map(|it| loss(merged, it)));
    if shown.len() > ROWS_MAX {
        lines.push(format!("… and {} more (--json has all)", shown.len() - ROWS_MAX));
    }
    lines.push(String::new());
    lines.push(answer(merged));
    lines.join("\n") + "\n"
}

/// Which CPUs the machines have; those of one CPU in one line.
fn cpus(merged: &Merged) -> Vec<String> {
    let line = |it: &CpuSum| {
        let sentence = it.cpu.sentence();
        match merged.number(&it.cpu) {
            None => format!("CPU: {sentence}"),
            Some(number) => {
                let plural = if it.machines == 1 { "" } else { "s" };
                format!("CPU {number}: {sentence}; {} machine{plural}", it.machines)
            }
        }
    };
    let mut lines: Vec<String> = merged.cpus.iter().map(line).collect();
    if merged.cpus.len() > 1 {
        lines.push("Losses on different CPUs are not added up: each row is of one.".to_owned());
    }
    lines
}

/// A column that only sums of several CPUs have.
fn column(merged: &Merged, text: &str) -> String {
    if merged.cpus.len() > 1 { format!("{text:>5}") } else { String::new() }
}

fn number(merged: &Merged, cpu: &Cpu) -> String {
    let number = merged.number(cpu).map_or_else(String::new, |number| number.to_string());
    column(merged, &number)
}

fn machine(merged: &Merged, machine: &MachineSum) -> String {
    let lost = if machine.has_clock { format!("{:.3}", machine.lost_s) } else { "-".to_owned() };
    format!(
        "{:30}{}{:>12.3}{lost:>12}{:>12.3}  {}",
        name(&machine.name, 29),
        number(merged, &machine.cpu),
        machine.cpu_time_s,
        machine.waited_s,
        name(machine.worst.as_deref().unwrap_or("-"), 30)
    )
}

fn loss(merged: &Merged, loss: &LossSum) -> String {
    let (lost, between) = if loss.machines_with_clock > 0 {
        let between = match (loss.lost_low_s, loss.lost_high_s) {
            (Some(low), Some(high)) => format!("[{low:.3}, {high:.3}]"),
            _ => String::new(),
        };
        (format!("{:.3}", loss.lost_s), between)
    } else {
        ("-".to_owned(), String::new())
    };
    format!(
        "{:20}{:20}{}{:>9}{lost:>10}{between:>18}{:>10.3}{:>13.3}",
        name(&loss.victim, 19),
        loss.culprit.as_deref().map_or("(unknown)".to_owned(), |it| name(it, 19)),
        number(merged, &loss.cpu),
        loss.machines,
        loss.waited_s,
        loss.by_shared_core_s
    )
}

/// The greatest loss by clock, in a sentence.
fn answer(merged: &Merged) -> String {
    let is_others = |it: &&LossSum| it.culprit.is_some() && !it.is_own;
    let greatest = merged.losses.iter().find(is_others);
    match greatest.filter(|it| it.lost_s >= SHOWN_MIN * merged.cpu_time_s) {
        Some(it) => format!(
            "The greatest loss by clock: {} lost {:.3} s to {}, on {} of {} machines{}.",
            name(&it.victim, 40),
            it.lost_s,
            name(it.culprit.as_deref().unwrap_or_default(), 40),
            it.machines,
            merged.machines.len(),
            merged.number(&it.cpu).map_or_else(String::new, |cpu| format!(" (CPU {cpu})"))
        ),
        None => {
            "No program loses 0.1 % of all CPU time to a clock that another one lowered.".to_owned()
        }
    }
}
