//! The published figures, and how each is answered.

use anyhow::{Context, Result};
use serde::Deserialize;

const FIGURES: &str = include_str!("figures.toml");

/// How a figure is answered; `figures.toml` says what each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    Ghz,
    Computed,
    Claim,
    Ratio,
    Dvfs,
    Profile,
    Test,
    Recorded,
    Input,
    Measure,
    Missing,
    Contradicted,
    Cited,
}

/// A published figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    pub id: String,
    pub source: String,
    pub what: String,
    pub published: String,
    #[serde(default)]
    pub tolerance: String,
    pub by: By,
    /// What `by` needs: a name, the id of a claim, a page, a command.
    #[serde(default)]
    pub how: String,
    /// Ours, where it is recorded.
    #[serde(default)]
    pub found: String,
    /// Why ours is outside of the tolerance, or there is none.
    #[serde(default)]
    pub why: String,
    /// Whether a recorded figure is within the tolerance.
    pub holds: Option<bool>,
    pub min: Option<f64>,
    pub max: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figures {
    figure: Vec<Figure>,
}

/// All figures, in the order of their numbers.
pub fn read() -> Result<Vec<Figure>> {
    let Figures { figure } = toml::from_str(FIGURES).context("figures.toml")?;
    Ok(figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_figure_is_left_out_and_none_is_without_an_answer() {
        let all = read().unwrap();
        let documents = (1..=107).map(|number| format!("T{number:03}"));
        let papers = (1..=24).map(|number| format!("P{number:02}"));
        let expected: Vec<String> = documents.chain(papers).collect();
        let ids: Vec<&String> = all.iter().map(|figure| &figure.id).collect();
        assert_eq!(ids, expected.iter().collect::<Vec<_>>());
        for figure in &all {
            let needs_how = !matches!(figure.by, By::Missing | By::Contradicted | By::Cited);
            assert!(!needs_how || !figure.how.is_empty(), "{figure:?}");
            let needs_why = matches!(figure.by, By::Missing | By::Contradicted | By::Cited);
            assert!(!needs_why || !figure.why.is_empty(), "{figure:?}");
            assert!(figure.min.is_none_or(|min| figure.max.is_none_or(|max| min <= max)));
        }
    }
}
