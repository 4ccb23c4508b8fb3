//! Prints what a comparison of made-up runs looks like: `table` (default), `page`, `svg`,
//! `json` or `csv`.

// The tests use more of it.
#[allow(dead_code)]
#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use report::{Gantt, ReportError};

fn main() -> Result<(), ReportError> {
    let comparison = report::compare(synthetic::setup(), synthetic::samples(5))?;
    let history = synthetic::history("swaptions", "x265");
    let gantt = |scheduler| Gantt {
        scheduler,
        background: "avx512",
        program: Some("swaptions"),
        history: &history,
    };
    let text = match std::env::args().nth(1).as_deref() {
        Some("page") => report::page(&comparison, &[gantt("fair"), gantt("fair-isolation")]),
        Some("svg") => report::bars_svg(&comparison),
        Some("json") => comparison.to_json()?,
        Some("csv") => report::csv(&comparison)?,
        _ => report::table(&comparison, 120, true),
    };
    print!("{text}");
    Ok(())
}
