//! Reads and checks a scenario in either of its two languages, TOML and that of rt-app.

use crate::embedded;
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
        let scenario = Self::read(text, file)?;
        scenario.check()?;
        Ok(scenario)
    }

    /// Reads a shipped scenario by its name. A test parses all of them, so this does not compile
    /// every case with every fit, which takes longer than many a run.
    ///
    /// # Errors
    /// Those of [`Self::parse`]; a case that does not compile gives its error when it is used.
    pub fn shipped(name: &str) -> Option<Result<Self, ScenarioError>> {
        embedded::by_name(name).map(|(file, text)| Self::read(text, file))
    }

    fn read(text: &str, file: &str) -> Result<Self, ScenarioError> {
        let source = Source::new(&printable(file), text);
        if rt_app::is_rt_app(text) { rt_app::read(text, &source) } else { read_toml(text, &source) }
    }
}
