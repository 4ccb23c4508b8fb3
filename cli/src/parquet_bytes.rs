//! Tables in memory as files of Parquet.

use anyhow::Result;
use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

/// The file of a table, with facts about the table in its metadata. The same table has the same
/// bytes.
///
/// # Errors
/// Those of the writer; none is known for a table in memory.
pub fn of_table(batch: &RecordBatch, facts: Vec<KeyValue>) -> Result<Vec<u8>> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by("evenkeel".to_owned())
        .set_key_value_metadata(Some(facts))
        .build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties))?;
    writer.write(batch)?;
    writer.close()?;
    Ok(bytes)
}
