//! Profiles of machines as a table in Parquet: a row for each machine, victim and culprit.

use std::sync::Arc;

use anyhow::Result;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{Loss, Machine};

/// The columns of numbers. Of a machine whose clock is not known, those of the clock are null.
const NUMBERS: [(&str, bool, fn(&Loss) -> f64); 8] = [
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
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by("evenkeel".to_owned())
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(bytes)
}

/// CPU time of the victim on its machine.
fn cpu_time_s(row: &(&Machine, &Loss)) -> Option<f64> {
    let victim = row.0.victims.iter().find(|it| it.name == row.1.victim)?;
    Some(victim.cpu_time_s)
}
