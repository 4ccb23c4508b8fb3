//! Study files: the runs that judge a scheduler, and the scheduler's goals.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use report::{Goals, Variant};
use serde::Deserialize;

use super::unit::{Flags, Source, Unit, title};
use crate::files;

/// Version of the file's form.
const SCHEMA: u32 = 1;
/// A factor beyond which nothing is a goal.
const ALLOWANCE_MAX: f64 = 100.0;
/// As for `--replicates` and `--mixes`.
const COUNT_MAX: u32 = 10_000;
/// The name of the random mixes among works.
const MIXES: &str = "mixes";

/// A study; docs/decisions/0020-studies.md defines its keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    schema: u32,
    pub title: String,
    pub description: String,
    pub judged: String,
    schedulers: Vec<String>,
    #[serde(default)]
    pub ablations: Vec<String>,
    pub shown: Vec<String>,
    replicates: Option<u32>,
    mixes: Option<MixesOfStudy>,
    #[serde(default)]
    work: Vec<WorkOfStudy>,
    #[serde(default)]
    variant: Vec<VariantOfStudy>,
    /// Where paths start.
    #[serde(skip)]
    folder: PathBuf,
    /// As many as asked for instead.
    #[serde(skip)]
    replicates_asked: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MixesOfStudy {
    count: u32,
    #[serde(default)]
    goals: Goals,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkOfStudy {
    name: String,
    compare: String,
    #[serde(default)]
    goals: Goals,
    #[serde(default = "yes")]
    varies: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VariantOfStudy {
    name: String,
    flags: String,
    allowance: f64,
    #[serde(default)]
    works: Vec<String>,
    replicates: Option<u32>,
    /// Instead of those of the works.
    goals: Option<Goals>,
}

impl Study {
    /// Reads a study; `mixes` and `replicates` replace the study's own counts.
    pub fn read(path: &Path, mixes: Option<u32>, replicates: Option<u32>) -> Result<Self> {
        let name = path.display();
        let text = files::read_text(path)?;
        let mut study: Self =
            toml::from_str(&text).map_err(|error| mistake(&name.to_string(), &text, &error))?;
        study.folder = path.parent().unwrap_or(Path::new("")).to_owned();
        study.replicates_asked = replicates;
        if let (Some(of_study), Some(count)) = (&mut study.mixes, mixes) {
            of_study.count = count;
        }
        study.check().with_context(|| name.to_string())?;
        Ok(study)
    }

    fn check(&self) -> Result<()> {
        ensure!(self.schema == SCHEMA, "`schema`: expected {SCHEMA}");
        self.check_schedulers()?;
        let is_empty = self.work.is_empty() && self.mixes.is_none();
        ensure!(!is_empty, "there is neither a `work` nor `mixes`");
        let names: Vec<&str> = self.work.iter().map(|work| work.name.as_str()).collect();
        ensure!(!names.contains(&MIXES), "`work.name`: {MIXES:?} are the random mixes");
        once("`work.name`", &names)?;
        let variants: Vec<&str> = self.variant.iter().map(|one| one.name.as_str()).collect();
        once("`variant.name`", &variants)?;
        [&*self.title, &*self.description].into_iter().try_for_each(plain)?;
        names.iter().chain(&variants).copied().try_for_each(plain)?;
        let counts = [
            ("`replicates`", self.replicates),
            ("`mixes.count`", self.mixes.as_ref().map(|mixes| mixes.count)),
        ];
        counts.into_iter().try_for_each(|(field, count)| in_range(field, count))?;
        for (name, goals) in self.goals() {
            goals.check().with_context(|| format!("goals of {name:?}"))?;
            let is_run = |name: &str| self.schedulers.iter().any(|run| run == name);
            let other = goals.schedulers().find(|name| !is_run(name)).unwrap_or(&self.judged);
            ensure!(is_run(other), "goals of {name:?}: {other:?} is not in `schedulers`");
        }
        self.variant.iter().try_for_each(|variant| variant.check(self))
    }

    fn check_schedulers(&self) -> Result<()> {
        let all: Vec<&str> =
            self.schedulers.iter().chain(&self.ablations).map(String::as_str).collect();
        once("`schedulers` and `ablations`", &all)?;
        let is_run = |name: &String| self.schedulers.contains(name);
        ensure!(is_run(&self.judged), "`judged`: {:?} is not in `schedulers`", self.judged);
        let unknown = self.shown.iter().find(|name| !is_run(name)).unwrap_or(&self.judged);
        ensure!(is_run(unknown), "`shown`: {unknown:?} is not in `schedulers`");
        // Differences are to these two, in variants as well.
        for needed in [&self.judged, &self.schedulers[0]] {
            ensure!(self.shown.contains(needed), "`shown`: {needed:?} is missing");
        }
        Ok(())
    }

    fn goals(&self) -> impl Iterator<Item = (&str, &Goals)> {
        let works = self.work.iter().map(|work| (work.name.as_str(), &work.goals));
        let variants = self
            .variant
            .iter()
            .filter_map(|variant| Some((variant.name.as_str(), variant.goals.as_ref()?)));
        works.chain(self.mixes.iter().map(|mixes| (MIXES, &mixes.goals))).chain(variants)
    }

    /// How many random mixes; `None` where the study has none.
    pub fn mixes(&self) -> Option<u32> {
        self.mixes.as_ref().map(|mixes| mixes.count)
    }

    /// All that is to be run: works as they are, then each variant.
    pub fn units(&self) -> Result<Vec<Unit>> {
        let mut units = Vec::new();
        for variant in std::iter::once(None).chain(self.variant.iter().map(Some)) {
            for work in &self.work {
                if variant.is_none_or(|variant| variant.is_of(&work.name, work.varies)) {
                    let source = Source::Compare(&work.compare);
                    units.push(self.unit(&work.name, source, &work.goals, variant)?);
                }
            }
            if let Some(mixes) = &self.mixes
                && variant.is_none_or(|variant| variant.is_of(MIXES, true))
            {
                units.push(self.unit(MIXES, Source::Mixes, &mixes.goals, variant)?);
            }
        }
        Ok(units)
    }

    fn unit(
        &self,
        name: &str,
        source: Source<'_>,
        goals: &Goals,
        variant: Option<&VariantOfStudy>,
    ) -> Result<Unit> {
        let is_mixes = matches!(source, Source::Mixes);
        let own = variant.and_then(|variant| variant.replicates);
        let of_study = own.or(self.replicates.filter(|_| !is_mixes));
        // A variant with fewer seeds has fewer here, too.
        let asked = self.replicates_asked.map(|asked| own.map_or(asked, |own| own.min(asked)));
        let is_shown = |name: &&String| self.shown.contains(name);
        let schedulers = match variant {
            Some(_) => self.schedulers.iter().filter(is_shown).cloned().collect(),
            None => self.schedulers.iter().chain(&self.ablations).cloned().collect(),
        };
        let goals = variant.and_then(|variant| variant.goals.as_ref()).unwrap_or(goals);
        let variant = variant.map(|variant| Variant {
            name: variant.name.clone(),
            flags: variant.flags.clone(),
            allowance: variant.allowance,
        });
        let added = variant.as_ref().map_or("", |variant| &variant.flags);
        let flags = Flags::new(source, added, &self.folder);
        Ok(Unit {
            name: name.to_owned(),
            schedulers,
            replicates: asked.or(of_study),
            flags: flags.with_context(|| title(name, variant.as_ref()))?,
            command: source.command(),
            variant,
            goals: goals.clone(),
        })
    }
}

impl VariantOfStudy {
    fn check(&self, study: &Study) -> Result<()> {
        let name = &self.name;
        let is_bound = (1.0..=ALLOWANCE_MAX).contains(&self.allowance);
        ensure!(is_bound, "variant {name:?}: `allowance`: expected 1 to {ALLOWANCE_MAX}");
        let is_known = |name: &String| {
            study.work.iter().any(|work| work.name == *name)
                || (name == MIXES && study.mixes.is_some())
        };
        let unknown = self.works.iter().find(|work| !is_known(work));
        ensure!(unknown.is_none(), "variant {name:?}: there is no work {:?}", unknown.unwrap());
        let mut works = study.work.iter().map(|work| self.is_of(&work.name, work.varies));
        let is_of_any = works.any(|is_of| is_of) || study.mixes.is_some();
        ensure!(is_of_any, "variant {name:?}: no work varies");
        in_range("`variant.replicates`", self.replicates)
    }

    fn is_of(&self, work: &str, varies: bool) -> bool {
        if self.works.is_empty() { varies } else { self.works.iter().any(|name| name == work) }
    }
}

fn once(field: &str, names: &[&str]) -> Result<()> {
    for (index, name) in names.iter().enumerate() {
        ensure!(!names[..index].contains(name), "{field}: {name:?} stands there twice");
    }
    Ok(())
}

/// A name that no terminal obeys.
fn plain(name: &str) -> Result<()> {
    ensure!(report::is_plain(name), "{name:?} holds characters that are not shown");
    Ok(())
}

fn in_range(field: &str, count: Option<u32>) -> Result<()> {
    let is_in_range = count.is_none_or(|count| (1..=COUNT_MAX).contains(&count));
    ensure!(is_in_range, "{field}: expected 1 to {COUNT_MAX}");
    Ok(())
}

/// The mistake in a file, and its line.
fn mistake(name: &str, text: &str, error: &toml::de::Error) -> anyhow::Error {
    let line = error.span().map_or_else(String::new, |span| {
        let before = text.get(..span.start).unwrap_or_default();
        let line = text.get(span.start..).unwrap_or_default().lines().next().unwrap_or_default();
        format!(":{}: {}", 1 + before.matches('\n').count(), line.trim())
    });
    anyhow::anyhow!("{name}{line}: {}", error.message())
}
