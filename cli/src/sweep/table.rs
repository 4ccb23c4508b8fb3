//! Tables of points, as Parquet and as CSV.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;

use super::point::FIGURES;
use crate::parquet_bytes;

/// Where a part says which grid and which shard it is of.
const ORIGIN: &str = "evenkeel.sweep";

/// A row: a point and a background, or a point that could not be simulated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub point: u64,
    /// By axis.
    pub values: Vec<f64>,
    pub scheduler: String,
    pub background: Option<String>,
    pub sensors: Option<String>,
    /// In the order of [`FIGURES`].
    pub figures: Option<[f64; FIGURES.len()]>,
    /// Why there are no figures.
    pub error: Option<String>,
}

/// Rows in the order of their points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub axes: Vec<String>,
    pub rows: Vec<Row>,
}

impl Table {
    /// How many rows are of points that could not be simulated.
    pub fn failed(&self) -> usize {
        self.rows.iter().filter(|row| row.error.is_some()).count()
    }

    fn schema(&self) -> Schema {
        let text = |name: &str| Field::new(name, DataType::Utf8, true);
        let number = |name: &str| Field::new(name, DataType::Float64, true);
        let mut fields = vec![Field::new("point", DataType::Int64, false)];
        fields.extend(self.axes.iter().map(|axis| number(axis)));
        fields.extend(["scheduler", "background", "sensors"].map(text));
        fields.extend(FIGURES.map(number));
        fields.push(text("error"));
        Schema::new(fields)
    }

    fn columns(&self) -> Vec<ArrayRef> {
        let rows = || self.rows.iter();
        let text = |of: fn(&Row) -> Option<&str>| -> ArrayRef {
            Arc::new(rows().map(of).collect::<StringArray>())
        };
        let points = rows().map(|row| row.point as i64);
        let mut columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from_iter_values(points))];
        for axis in 0..self.axes.len() {
            let values = rows().map(|row| row.values[axis]);
            columns.push(Arc::new(Float64Array::from_iter_values(values)));
        }
        columns.push(text(|row| Some(&row.scheduler)));
        columns.push(text(|row| row.background.as_deref()));
        columns.push(text(|row| row.sensors.as_deref()));
        for at in 0..FIGURES.len() {
            let figures = rows().map(|row| row.figures.map(|figures| figures[at]));
            columns.push(Arc::new(figures.collect::<Float64Array>()));
        }
        columns.push(text(|row| row.error.as_deref()));
        columns
    }

    /// As a Parquet file that says where it comes from.
    ///
    /// # Errors
    /// Those of the writer; none is known for a table in memory.
    pub fn parquet(&self, origin: &str) -> Result<Vec<u8>> {
        let batch = RecordBatch::try_new(Arc::new(self.schema()), self.columns())?;
        parquet_bytes::of_table(&batch, vec![KeyValue::new(ORIGIN.into(), origin.to_owned())])
    }

    /// Reads such a file, and where it comes from.
    ///
    /// # Errors
    /// If the bytes are not a whole file of a sweep.
    pub fn of_parquet(bytes: Vec<u8>) -> Result<(Self, String)> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes))?;
        let metadata = reader.metadata().file_metadata().key_value_metadata();
        let origin = metadata.and_then(|all| all.iter().find(|it| it.key == ORIGIN));
        let origin = origin.and_then(|it| it.value.clone()).context("no part of a sweep")?;
        let names: Vec<String> =
            reader.schema().fields().iter().map(|field| field.name().clone()).collect();
        let others = 5 + FIGURES.len();
        ensure!(names.len() >= others, "it lacks columns");
        let axes = names[1..=names.len() - others].to_vec();
        let mut table = Self { axes, rows: Vec::new() };
        let expected: Vec<String> =
            table.schema().fields().iter().map(|field| field.name().clone()).collect();
        ensure!(names == expected, "it has other columns than a part of a sweep");
        for batch in reader.build()? {
            table.read(&batch?).context("it has columns of another kind")?;
        }
        Ok((table, origin))
    }

    /// Adds the rows of a batch; `None` where a column is of another type.
    fn read(&mut self, batch: &RecordBatch) -> Option<()> {
        let text = |column: usize| batch.column(column).as_string_opt::<i32>();
        let number = |column: usize| batch.column(column).as_primitive_opt::<Float64Type>();
        let axes = self.axes.len();
        let points = batch.column(0).as_primitive_opt::<Int64Type>()?;
        let values: Vec<_> = (1..=axes).map(number).collect::<Option<_>>()?;
        let (scheduler, background) = (text(axes + 1)?, text(axes + 2)?);
        let sensors = text(axes + 3)?;
        let figures: Vec<_> =
            (axes + 4..axes + 4 + FIGURES.len()).map(number).collect::<Option<_>>()?;
        let error = text(axes + 4 + FIGURES.len())?;
        for at in 0..batch.num_rows() {
            let word = |of: &StringArray| of.is_valid(at).then(|| of.value(at).to_owned());
            let has_figures = figures.iter().all(|figure| figure.is_valid(at));
            self.rows.push(Row {
                point: points.value(at) as u64,
                values: values.iter().map(|axis| axis.value(at)).collect(),
                scheduler: word(scheduler).unwrap_or_default(),
                background: word(background),
                sensors: word(sensors),
                figures: has_figures.then(|| std::array::from_fn(|it| figures[it].value(at))),
                error: word(error),
            });
        }
        Some(())
    }

    /// As CSV; figures with four digits.
    ///
    /// # Errors
    /// Those of the writer; none is known for a table in memory.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let schema = self.schema();
        writer.write_record(schema.fields().iter().map(|field| field.name()))?;
        for row in &self.rows {
            let mut cells = vec![row.point.to_string()];
            cells.extend(row.values.iter().map(f64::to_string));
            cells.push(row.scheduler.clone());
            cells.extend([&row.background, &row.sensors].map(|it| it.clone().unwrap_or_default()));
            cells.extend((0..FIGURES.len()).map(|at| {
                row.figures.map_or_else(String::new, |figures| format!("{:.4}", figures[at]))
            }));
            cells.push(row.error.clone().unwrap_or_default());
            writer.write_record(&cells)?;
        }
        Ok(writer.into_inner().map_err(|error| error.into_error())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let row = |point: u64| Row {
            point,
            values: vec![0.1, point as f64],
            scheduler: "cfs".to_owned(),
            background: Some("avx512".to_owned()),
            sensors: Some("d7".to_owned()),
            figures: Some(std::array::from_fn(|at| at as f64 / 3.0)),
            error: None,
        };
        let failed = Row {
            point: 2,
            values: vec![0.5, 2.0],
            scheduler: "even".to_owned(),
            error: Some("it says \"no\", and\nwhy".to_owned()),
            ..Row::default()
        };
        Table { axes: vec!["a".into(), "b".into()], rows: vec![row(0), row(1), failed] }
    }

    #[test]
    fn a_table_is_read_as_it_is_written_and_a_cut_one_is_refused() {
        for table in [table(), Table { axes: Vec::new(), rows: Vec::new() }] {
            let bytes = table.parquet("grid 1/1").unwrap();
            assert_eq!(bytes, table.parquet("grid 1/1").unwrap());
            let read = Table::of_parquet(bytes.clone()).unwrap();
            assert_eq!(read, (table, "grid 1/1".to_owned()));
            for cut in 0..bytes.len() {
                assert!(Table::of_parquet(bytes[..cut].to_vec()).is_err(), "{cut}");
            }
        }
    }

    #[test]
    fn csv_quotes_what_has_to_be_quoted() {
        let text = String::from_utf8(table().csv().unwrap()).unwrap();
        let lines: Vec<&str> = text.splitn(5, '\n').collect();
        assert!(lines[0].starts_with("point,a,b,scheduler,background,sensors,"), "{text}");
        assert!(lines[1].starts_with("0,0.1,0,cfs,avx512,d7,0.0000,0.3333,"), "{text}");
        assert!(text.ends_with(",\"it says \"\"no\"\", and\nwhy\"\n"), "{text}");
    }
}
