//! Prints what a comparison of made-up runs looks like: `table` (default), `page`, `svg`,
//! `json` or `csv`.

#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

fn main() -> Result<(), report::ReportError> {
    let comparison = report::compare(synthetic::setup(), synthetic::samples(5))?;
    print!("{}", report::table(&comparison, 120, true));
    Ok(())
}
