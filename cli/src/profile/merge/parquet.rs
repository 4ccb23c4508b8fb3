//! Profiles of machines as a table in Parquet: a row for each machine, victim and culprit.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray};
use sensors::control_groups::{Labels, Runtime};

use super::{Loss, Machine, Victim};
use crate::parquet_bytes;

/// A column of numbers: its name, whether the clock has to be known, and the value.
type Number = (&'static str, bool, fn(&Loss) -> Option<f64>);

/// The columns of numbers. Of a machine whose clock is not known, those of the clock are null.
const NUMBERS: [Number; 8] = [
    ("lost_s", true, |it| it.lost_s.value),
    ("lost_low_s", true, |it| it.lost_s.low),
    ("lost_high_s", true, |it| it.lost_s.high),
    ("by_hold_s", true, |it| it.by_hold_s),
    ("by_sibling_s", true, |it| it.by_sibling_s),
    ("by_transition_s", true, |it| it.by_transition_s),
    ("waited_s", false, |it| Some(it.waited_s)),
    ("by_shared_core_s", false, |it| Some(it.by_shared_core_s)),
];

/// A column of labels: its name after `victim_` or `culprit_`, and the value.
type Label = (&'static str, fn(&Labels) -> Option<&str>);

/// The columns of labels. Of a group that is no control group all are null.
const LABELS: [Label; 10] = [
    ("path", |it| Some(&it.path)),
    ("container_id", |it| it.container_id.as_deref()),
    ("container_name", |it| it.container_name.as_deref()),
    ("container_runtime", |it| it.container_runtime.map(Runtime::name)),
    ("kube_namespace", |it| it.kube_namespace.as_deref()),
    ("kube_pod_name", |it| it.kube_pod_name.as_deref()),
    ("kube_pod_uid", |it| it.kube_pod_uid.as_deref()),
    ("virtual_machine", |it| it.virtual_machine.as_deref()),
    ("systemd_unit", |it| it.systemd_unit.as_deref()),
    ("systemd_slice", |it| it.systemd_slice.as_deref()),
];

/// A pair, its machine, and what is known of both groups.
struct Row<'a> {
    machine: &'a Machine,
    loss: &'a Loss,
    victim: Option<&'a Victim>,
    culprit: Option<&'a Victim>,
}

fn rows(machine: &Machine) -> impl Iterator<Item = Row<'_>> {
    let groups = machine.by_name();
    machine.losses.iter().map(move |loss| Row {
        machine,
        loss,
        victim: groups.get(loss.victim.as_str()).copied(),
        culprit: loss.culprit.as_deref().and_then(|it| groups.get(it).copied()),
    })
}

/// The file.
///
/// # Errors
/// Those of the writer; none is known for a table in memory.
pub fn table(machines: &[Machine]) -> Result<Vec<u8>> {
    let rows: Vec<Row> = machines.iter().flat_map(rows).collect();
    let text = |of: fn(&Row) -> Option<String>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<StringArray>())
    };
    let number = |of: fn(&Row) -> Option<f64>| -> ArrayRef {
        Arc::new(rows.iter().map(of).collect::<Float64Array>())
    };
    let mut columns: Vec<(String, ArrayRef, bool)> = [
        ("machine", text(|row| Some(row.machine.name.clone())), false),
        ("machine_cpu", text(|row| row.machine.machine_cpu.clone()), true),
        ("cpu_table", text(|row| row.machine.cpu().cpu_table), true),
        (
            "is_own_table",
            Arc::new(
                rows.iter().map(|row| Some(row.machine.is_own_table)).collect::<BooleanArray>(),
            ),
            false,
        ),
        ("length_s", number(|row| Some(row.machine.length_s)), false),
        ("estimator", text(|row| Some(row.machine.estimator.clone())), false),
        ("victim", text(|row| Some(row.loss.victim.clone())), false),
        ("culprit", text(|row| row.loss.culprit.clone()), true),
        ("victim_cpu_time_s", number(|row| Some(row.victim?.cpu_time_s)), true),
    ]
    .map(|(name, values, is_nullable)| (name.to_owned(), values, is_nullable))
    .into();
    for (name, is_clock, of) in NUMBERS {
        let is_known = |row: &Row| !is_clock || row.machine.has_clock();
        let values = rows.iter().map(|row| of(row.loss).filter(|_| is_known(row)));
        columns.push((name.to_owned(), Arc::new(values.collect::<Float64Array>()), is_clock));
    }
    columns.extend(labels(&rows));
    let batch = RecordBatch::try_from_iter_with_nullable(columns)?;
    parquet_bytes::of_table(&batch, Vec::new())
}

/// The labels of victims and of culprits.
fn labels<'a>(rows: &[Row<'a>]) -> Vec<(String, ArrayRef, bool)> {
    let mut columns: Vec<(String, ArrayRef, bool)> = Vec::new();
    for (place, role) in ["victim", "culprit"].into_iter().enumerate() {
        for (name, of) in LABELS {
            let value = |row: &Row<'a>| -> Option<&'a str> {
                of([row.victim, row.culprit][place]?.labels.as_ref()?)
            };
            let values: StringArray = rows.iter().map(value).collect();
            columns.push((format!("{role}_{name}"), Arc::new(values), true));
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::super::sum::tests::{machine, with_containers};
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

    #[test]
    fn a_row_has_the_labels_of_its_victim_and_of_its_culprit() {
        let bytes = table(&[with_containers("a", ["1", "2"]), machine("b", 5.0, 0.0)]).unwrap();
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
        let batch = reader.build().unwrap().next().unwrap().unwrap();
        let text = |name: &str| batch.column_by_name(name).unwrap().as_string::<i32>().clone();
        assert_eq!(text("victim_container_id").value(0), "2".repeat(64));
        assert_eq!(text("culprit_container_id").value(0), "1".repeat(64));
        assert_eq!(text("victim_container_name").value(0), "proxy");
        assert_eq!(text("victim_kube_pod_uid").value(0), "ab");
        assert!(text("victim_container_id").is_null(2));
        assert_eq!(text("cpu_table").value(2), "xeon-gold-6130");
    }
}
