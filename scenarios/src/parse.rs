//! Reads and checks a scenario in either of its two languages, TOML and that of rt-app.

use crate::error::{ScenarioError, printable};
use crate::fields::Source;
use crate::read::read_toml;
use crate::rt_app;
use crate::scenario::Scenario;

impl Scenario {
    /// Reads a scenario; `file` is the name that errors give.
    ///
    /// # Errors
    /// The first mistake, with file, line, field and the value that was expected.
    pub fn parse(text: &str, file: &str) -> Result<Self, ScenarioError> {
        let source = Source::new(&printable(file), text);
        let scenario = if rt_app::is_rt_app(text) {
            rt_app::read(text, &source)?
        } else {
            read_toml(text, &source)?
        };
        scenario.check()?;
        Ok(scenario)
    }
}
