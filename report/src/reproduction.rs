//! Published figures beside ours: every one, with its verdict.

use std::collections::BTreeMap;

use serde::Serialize;

/// What became of a published figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Ours is within the tolerance.
    Hit,
    /// Ours is not.
    Miss,
    /// Ours stands beside it; no tolerance is known.
    Shown,
    /// The model is given the figure, so that it predicts nothing.
    Input,
    /// It is measured on a machine, not simulated.
    Elsewhere,
    /// Nothing here models or measures it.
    Missing,
    /// Published figures do not agree with each other.
    Contradicted,
    /// The documents quote it, or it has no number.
    Cited,
}

impl Verdict {
    /// All, in the order of a summary.
    pub const ALL: [Self; 8] = [
        Self::Hit,
        Self::Miss,
        Self::Shown,
        Self::Input,
        Self::Elsewhere,
        Self::Missing,
        Self::Contradicted,
        Self::Cited,
    ];

    /// In a table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "MISS",
            Self::Shown => "shown",
            Self::Input => "input",
            Self::Elsewhere => "measured",
            Self::Missing => "not modelled",
            Self::Contradicted => "contradicted",
            Self::Cited => "cited",
        }
    }

    /// The meaning of the verdict, for a summary.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Hit => "Within the tolerance",
            Self::Miss => "Outside of the tolerance",
            Self::Shown => "Beside ours, without a known tolerance",
            Self::Input => "Given to the model",
            Self::Elsewhere => "For a machine with such a CPU; the row has the command",
            Self::Missing => "Not modelled, or not built",
            Self::Contradicted => "At odds with other published figures",
            Self::Cited => "Quoted from others, or without a number",
        }
    }
}

/// A published figure and ours.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Its number: T for the documents, P for papers beside them.
    pub id: String,
    /// Document and section.
    pub source: String,
    /// What the figure is of.
    pub what: String,
    /// The figure, with its unit.
    pub published: String,
    /// Ours, where there is one.
    pub found: Option<String>,
    /// The tolerance, in words.
    pub tolerance: String,
    /// Whether ours comes from simulated runs, and not from a table, a test or a page.
    pub is_simulated: bool,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, where ours is outside of the tolerance or there is none.
    pub why: String,
    /// The command, page, test or scenario that answers it.
    pub by: String,
}

/// All answers of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Reproduction {
    /// Version of this form.
    pub schema: u32,
    /// First seed.
    pub seed: u64,
    /// Seeds of each run; `None`: as the scenarios say.
    pub replicates: Option<u32>,
    /// In the order of the ids.
    pub answers: Vec<Answer>,
    /// How many figures have each verdict.
    pub counts: BTreeMap<Verdict, usize>,
}

impl Reproduction {
    /// Counts the verdicts of the answers.
    #[must_use]
    pub fn new(seed: u64, replicates: Option<u32>, answers: Vec<Answer>) -> Self {
        let mut counts = BTreeMap::new();
        for answer in &answers {
            *counts.entry(answer.verdict).or_insert(0) += 1;
        }
        Self { schema: 1, seed, replicates, answers, counts }
    }

    /// How many figures are within their tolerance, of those that have one: simulated figures,
    /// then constants, formulas and recorded figures.
    #[must_use]
    pub fn hits(&self) -> [(usize, usize); 2] {
        [true, false].map(|is_simulated| {
            let of_kind = |verdict| {
                let is_it = |it: &&Answer| it.is_simulated == is_simulated && it.verdict == verdict;
                self.answers.iter().filter(is_it).count()
            };
            let hits = of_kind(Verdict::Hit);
            (hits, hits + of_kind(Verdict::Miss))
        })
    }

    /// The counts in words, one line each.
    #[must_use]
    pub fn summary(&self) -> Vec<String> {
        let line = |verdict: Verdict| {
            let count = *self.counts.get(&verdict)?;
            Some(format!("{count:>4} {:13} {}", verdict.word(), verdict.meaning()))
        };
        let total = format!("{:>4} published figures", self.answers.len());
        let [simulated, others] = self.hits();
        let within = format!(
            "Within the tolerance: {} of {} simulated figures, {} of {} constants, formulas and \
             recorded figures",
            simulated.0, simulated.1, others.0, others.1
        );
        Verdict::ALL.into_iter().filter_map(line).chain([total, within]).collect()
    }

    /// A table as text, with the reasons below each row.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        for answer in &self.answers {
            let found = answer.found.as_deref().unwrap_or("-");
            lines.push(format!(
                "{:5}{:13} {}: {}; published {}, ours {found}{}",
                answer.id,
                answer.verdict.word(),
                answer.source,
                answer.what,
                answer.published,
                tolerance(answer)
            ));
            let notes = [&answer.why, &answer.by].map(String::as_str);
            let notes: Vec<&str> = notes.into_iter().filter(|note| !note.is_empty()).collect();
            if !notes.is_empty() {
                lines.push(format!("     {:13} {}", "", notes.join(" – ")));
            }
        }
        lines.push(String::new());
        lines.extend(self.summary());
        lines.join("\n") + "\n"
    }
}

fn tolerance(answer: &Answer) -> String {
    if answer.tolerance.is_empty() {
        return String::new();
    }
    format!(" ({})", answer.tolerance)
}
