//! One interval as plain text, for pipes and scripts.

use std::fmt::Write;

use super::view::{CpuRow, GroupRow, Machine, PairRow, View};

/// Rows of groups and of pairs that are printed; `--json` has all.
const ROWS_MAX: usize = 20;
/// Columns of names.
const NAME: usize = 24;

/// The header, CPUs, victims and pairs.
pub fn text(view: &View) -> String {
    let mut text = format!("{}\n", headline(view));
    for note in notes(view) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{note}");
    }
    let _ = writeln!(
        text,
        "\n{:>4} {:>7} {:>6} {:>7} {:>6}  {:NAME$} RUNNING",
        "CPU", "BUSY %", "MHz", "HELD %", "LEVEL", "HOLDER"
    );
    for row in &view.cpus {
        let _ = writeln!(text, "{}", cpu(view, row));
    }
    let _ = writeln!(
        text,
        "\n{:>10} {:NAME$} {:>7} {:>9} {:>8} {:>8}",
        view.number_title(),
        "VICTIM",
        "CPU %",
        "WAITING %",
        "SLOWER %",
        "BESIDE %"
    );
    for row in view.shown_groups().take(ROWS_MAX) {
        let _ = writeln!(text, "{:>10} {}", row.group, group(row));
    }
    text += &left(view.shown_groups().count());
    let _ = writeln!(
        text,
        "\n{:NAME$} <- {:NAME$} {:>9} {:>9} {:>9}",
        "VICTIM", "CULPRIT", "WAITED", "BESIDE", "LOST ms/s"
    );
    for row in view.shown_pairs().take(ROWS_MAX) {
        let _ = writeln!(text, "{}", pair(view, row));
    }
    text + &left(view.shown_pairs().count())
}

fn left(rows: usize) -> String {
    match rows.saturating_sub(ROWS_MAX) {
        0 => String::new(),
        left => format!("{left} more; --json has all\n"),
    }
}

/// The machine, its scheduler and the cost of this command.
pub fn headline(view: &View) -> String {
    let Machine { machine, scheduler, own_cpu_pct, .. } = &view.machine;
    let busy: f64 = view.cpus.iter().map(|cpu| cpu.busy_pct).sum();
    let cpus = view.cpus.len();
    format!(
        "evenkeel top: {machine}, {cpus} CPUs {:.0} % busy, {scheduler}, {:.1} s, own cost \
         {own_cpu_pct:.1} % of a CPU",
        busy / cpus.max(1) as f64,
        view.interval_s
    )
}

/// Sentences on what the figures lack, and what the scheduler did.
pub fn notes(view: &View) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(given) = &view.machine.given_back {
        notes.push(format!(
            "scx_evenkeel {}: gave back {:.2} % of the time, {:.0} refunds/s, billed {:.2} %",
            given.mode, given.refunded_pct, given.refunds_per_s, given.billed_pct
        ));
    }
    notes.push(basis(&view.machine));
    if view.without_room > 0 {
        let times = view.without_room;
        notes.push(format!("figures are too small: {times} times found no room in the kernel"));
    }
    notes
}

/// What losses of clock rest on.
fn basis(machine: &Machine) -> String {
    match &machine.cpu_table {
        Some(cpu) if machine.is_own_table => {
            format!("SLOWER, LOST: by the table {cpu} of this CPU, no clock measured")
        }
        Some(cpu) => format!("SLOWER, LOST: as if on {cpu} (--cpu), no clock measured"),
        None if machine.has_levels => {
            "SLOWER, LOST: not known, as no complete table is of this CPU (--cpu)".to_owned()
        }
        None => {
            "SLOWER, LOST: none, as this CPU has no license levels (--cpu: as if it had)".to_owned()
        }
    }
}

fn cpu(view: &View, row: &CpuRow) -> String {
    let CpuRow { cpu, busy_pct, held_pct, .. } = row;
    // Without a table nothing is known of levels.
    let held = optional(view.machine.cpu_table.as_ref().map(|_| *held_pct));
    let clock = row.clock_mhz.map_or("-".to_owned(), |mhz| mhz.to_string());
    let level = if row.level > 0 { row.level.to_string() } else { "-".to_owned() };
    let holder = fitted(row.holder.as_deref().unwrap_or("-"));
    let running = row.running.as_deref().unwrap_or("-");
    format!("{cpu:>4} {busy_pct:>7.1} {clock:>6} {held:>7} {level:>6}  {holder} {running}")
}

fn group(row: &GroupRow) -> String {
    let GroupRow { cpu_pct, waited_pct, beside_pct, .. } = row;
    let name = fitted(&if row.is_wide { format!("{} *", row.name) } else { row.name.clone() });
    let slower = optional(row.slower_pct);
    format!("{name} {cpu_pct:>7.1} {waited_pct:>9.1} {slower:>8} {beside_pct:>8.1}")
}

fn pair(view: &View, row: &PairRow) -> String {
    let PairRow { waited_ms_per_s, beside_ms_per_s, .. } = row;
    let victim = fitted(&view.named(row.victim_group, &row.victim));
    let culprit = fitted(&view.named(row.culprit_group, &row.culprit));
    let lost = optional(row.lost_ms_per_s);
    format!("{victim} <- {culprit} {waited_ms_per_s:>9.1} {beside_ms_per_s:>9.1} {lost:>9}")
}

/// A figure, or that it is not known.
pub fn optional(figure: Option<f64>) -> String {
    figure.map_or("-".to_owned(), |figure| format!("{figure:.1}"))
}

/// A name in as many columns as names have.
fn fitted(name: &str) -> String {
    let short: String = name.chars().take(NAME).collect();
    format!("{short:NAME$}")
}
