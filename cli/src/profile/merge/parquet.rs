//! Profiles of machines as a table in Parquet: a row for each machine, victim and culprit.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};

use super::{Loss, Machine};
use crate::parquet_bytes;

/// A column of numbers: its name, whether the clock has to be known, and the value.
type Number = (&'static str, bool, fn(&Loss) -> f64);

/// The columns of numbers. Of a machine whose clock is not known, those of the clock are null.
const NUMBERS: [Number; 8] = [
    ("lost_s", true, |it| it.lost_s.value),
    ("lost_low_s", true, |it| it.lost_s.low),
    ("lost_high_s", true, |it| it.lost_s.high),
    ("by_hold_s", true, |it| it.by_hold_s),
    ("by_sibling_s", true, |it| it.by_sibling_s),
    ("by_transition_s", true, |it| it.by_transition_s),
    ("waited_s", false, |it| it.waited_s),
    ("by_shared_core_s", false, |it| it.by_shared_core_s),
];

/// The file.
///
/// # Errors
/// Those of the writer; none is known for a table in memory.
pub fn table(machines: &[Machine]) -> Result<Vec<u8>> {
    let rows: Vec<(&Machine, &Loss)> =
        machines.iter().flat_map(|it| it.losses.iter().map(move |loss| (it, loss))).collect();
    let text = |of: fn(&(&Machine, &Loss)) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let of_machine = |of: fn(&Machine) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(rows.iter().map(|row| of(row.0))))
    };
    let mut columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("machine", text(|row| Some(row.0.name.clone())), false),
        ("length_s", of_machine(|it| it.length_s), false),
        ("estimator", text(|row| Some(row.0.estimator.clone())), false),
        ("victim", text(|row| Some(row.1.victim.clone())), false),
        ("culprit", text(|row| row.1.culprit.clone()), true),
        (
            "victim_cpu_time_s",
            Arc::new(rows.iter().map(cpu_time_s).collect::<Float64Array>()),
            true,
        ),
    ];
    for (name, is_clock, of) in NUMBERS {
        let values = rows.iter().map(|row| (!is_clock || row.0.has_clock()).then(|| of(row.1)));
        columns.push((name, Arc::new(values.collect::<Float64Array>()), is_clock));
    }
    let batch = RecordBatch::try_from_iter_with_nullable(columns)?;
    parquet_bytes::of_table(&batch, Vec::new())
}

/// CPU time of the victim on its machine.
fn cpu_time_s(row: &(&Machine, &Loss)) -> Option<f64> {
    let victim = row.0.victims.iter().find(|it| it.name == row.1.victim)?;
    Some(victim.cpu_time_s)
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::super::sum::tests::machine;
    use super::*;

    #[test]
    fn a_reader_finds_a_row_for_each_pair_and_no_clock_where_none_is_known() {
        let unknown = Machine { estimator: "not-recorded".to_owned(), ..machine("b", 5.0, 0.0) };
        let bytes = table(&[machine("a", 3.0, 0.0), unknown]).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
        let batches: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 4);
        let batch = &batches[0];
        let names = batch.column_by_name("machine").unwrap().as_string::<i32>();
        assert_eq!((names.value(0), names.value(3)), ("a", "b"));
        let numbers = |name| batch.column_by_name(name).unwrap().as_primitive::<Float64Type>();
        assert_eq!(numbers("lost_s").value(0), 3.0);
        assert!(numbers("lost_s").is_null(2) && !numbers("waited_s").is_null(2));
        assert_eq!(numbers("victim_cpu_time_s").value(0), 50.0);
    }
}
