//! The comparison as text.

use super::figures::{Figure, Verdict};
use super::judge::{Row, Validation};
use crate::format::clean;
use crate::text_table::{Column, TextTable, Tone};

const LEGEND: &str = "\
Recorded / replayed; tolerances: share 5 points, switches 20 %, mean slice 10 %, distance of\n\
wake-up latencies 0.15, migrations 30 %. ! missed  ~ wrong models hit it too  - too few to judge";

/// The table, for a terminal that wide.
#[must_use]
pub fn table(validation: &Validation, width: usize, color: bool) -> String {
    let mut table = TextTable::new(vec![
        Column::words("program", 0),
        Column::numbers("nice", 1),
        Column::numbers("CPU share %", 0),
        Column::numbers("switches", 0),
        Column::numbers("mean slice ms", 0),
        Column::numbers("wake-up distance", 0),
        Column::numbers("migrations", 0),
    ]);
    for row in &validation.rows {
        table.push(cells(row));
    }
    format!(
        "{}\n\n{}\n{LEGEND}\n{}\n",
        head(validation),
        table.render(width, color).trim_end(),
        sum(validation)
    )
}

fn head(validation: &Validation) -> String {
    let Validation { scheduler, hz, recorded_ns, cpus, tasks, idle_exit_ns, .. } = validation;
    let Validation { dependencies, sleeps, unclear, .. } = validation;
    let clear = sleeps - unclear;
    let lost = match validation.lost_events {
        0 => String::new(),
        lost => format!("\nThe recorder lost {lost} events: nothing here is certain."),
    };
    format!(
        "{:.3} s of {tasks} tasks on {cpus} CPUs, replayed under {scheduler} at HZ {hz}.\n\
         Waits: {dependencies} for other tasks, {clear} for timers and devices, {unclear} unclear. \
         An idle CPU reacts after {:.1} us.{lost}",
        *recorded_ns as f64 / 1e9,
        *idle_exit_ns as f64 / 1e3,
    )
}

fn cells(row: &Row) -> Vec<(String, Tone)> {
    let nice = row.nice.map_or_else(String::new, |nice| nice.to_string());
    let mut cells = vec![(clean(&row.program), Tone::Plain), (nice, Tone::Plain)];
    let decimals = [1, 0, 3, 2, 0];
    cells.extend(row.figures().iter().zip(decimals).map(|(figure, digits)| cell(figure, digits)));
    cells
}

fn cell(figure: &Figure, digits: usize) -> (String, Tone) {
    let replay = format!("{:.digits$}", figure.replay);
    let values = match figure.recorded {
        Some(recorded) => format!("{recorded:.digits$} / {replay}"),
        None => replay,
    };
    let (mark, tone) = match figure.verdict {
        Verdict::Miss => ('!', Tone::Bad),
        Verdict::TooFew => ('-', Tone::Dim),
        Verdict::Hit if figure.tells() => (' ', Tone::Good),
        Verdict::Hit => ('~', Tone::Plain),
    };
    (format!("{values} {mark}"), tone)
}

fn sum(validation: &Validation) -> String {
    let judged = |figure: &Figure| figure.verdict != Verdict::TooFew;
    let hits = validation.count(Verdict::Hit);
    let misses = validation.count(Verdict::Miss);
    let telling = validation.figures().filter(|f| f.verdict == Verdict::Hit && f.tells()).count();
    let missed_by = |verdict: fn(&Figure) -> Verdict| {
        validation.figures().filter(|f| judged(f) && verdict(f) == Verdict::Miss).count()
    };
    format!(
        "Within tolerance: {hits} of {} figures, {telling} of them figures that a wrong model \
         misses.\nOf the same figures, slices four times as long miss {}, first come, first \
         served {}.",
        hits + misses,
        missed_by(|figure| figure.with_long_slices),
        missed_by(|figure| figure.with_fifo),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(verdict: Verdict, wrong: Verdict) -> Figure {
        Figure {
            recorded: Some(2.0),
            replay: 3.0,
            verdict,
            with_long_slices: wrong,
            with_fifo: Verdict::Hit,
        }
    }

    #[test]
    fn marks_distinguish_misses_meaningless_hits_and_rare_figures() {
        let marks = [
            (Verdict::Miss, Verdict::Miss, "2 / 3 !"),
            (Verdict::Hit, Verdict::Miss, "2 / 3  "),
            (Verdict::Hit, Verdict::Hit, "2 / 3 ~"),
            (Verdict::TooFew, Verdict::TooFew, "2 / 3 -"),
        ];
        for (verdict, wrong, shown) in marks {
            assert_eq!(cell(&figure(verdict, wrong), 0).0, shown);
        }
    }

    #[test]
    fn the_table_says_when_events_were_lost() {
        let mut validation = Validation {
            scheduler: "eevdf".to_owned(),
            hz: 250,
            recorded_ns: 1_000_000_000,
            cpus: 2,
            tasks: 3,
            idle_exit_ns: 0,
            dependencies: 1,
            sleeps: 2,
            unclear: 1,
            lost_events: 0,
            rows: Vec::new(),
        };
        assert!(!table(&validation, 80, false).contains("lost"));
        validation.lost_events = 7;
        assert!(table(&validation, 80, false).contains("lost 7 events"));
    }
}
