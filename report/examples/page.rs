//! Prints what a comparison of made-up runs looks like: `table` (default), `page`, `svg`,
//! `json` or `csv`; or writes the recording of a crowded machine: `crowd`.

// The tests use more of that module.
#[allow(dead_code)]
#[path = "../tests/synthetic/mod.rs"]
mod synthetic;

use report::Gantt;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).as_deref() == Some("crowd") {
        drop(synthetic::crowd::history().write(std::io::stdout().lock())?);
        return Ok(());
    }
    let comparison = report::compare(synthetic::setup(), synthetic::samples(5))?;
    let history = synthetic::history("swaptions", "x265");
    let gantt = |scheduler| Gantt {
        scheduler,
        background: "avx512",
        program: Some("swaptions"),
        history: &history,
        span_ns: [0, u64::MAX],
        perfetto: None,
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
