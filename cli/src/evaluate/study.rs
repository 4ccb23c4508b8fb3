//! Study files: what is run to judge a scheduler, and what it is to reach.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use report::{Goals, Variant};
use serde::Deserialize;

use crate::compare::{Replay, Work};
use crate::files;
use crate::run_options::RunOptions;

/// Version of the file's form.
const SCHEMA: u32 = 1;
/// A factor beyond which nothing is a goal.
const ALLOWANCE_MAX: f64 = 100.0;

/// A study.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    schema: u32,
    /// What it asks, in a few words.
    pub title: String,
    /// What a reader must know.
    pub description: String,
    /// The scheduler whose goals these are.
    pub judged: String,
    /// All schedulers; differences are to the first.
    schedulers: Vec<String>,
    /// The judged one with a part left out, each.
    #[serde(default)]
    pub ablations: Vec<String>,
    /// Those that run in variants, too, and that charts show.
    pub beside: Vec<String>,
    /// Seeds of an experiment; mixes have their own number of them.
    replicates: Option<u32>,
    /// Random mixes.
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

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MixesOfStudy {
    count: u32,
    #[serde(default)]
    goals: Goals,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkOfStudy {
    name: String,
    /// The arguments of `evenkeel compare`.
    compare: String,
    #[serde(default)]
    goals: Goals,
    /// Whether variants are of it, too.
    #[serde(default = "yes")]
    varies: bool,
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct VariantOfStudy {
    name: String,
    /// Flags of `compare` and `mixes`.
    flags: String,
    /// The factor by which goals are wider.
    allowance: f64,
    /// Names of the works it is of; empty: all that vary.
    #[serde(default)]
    works: Vec<String>,
    replicates: Option<u32>,
}

/// The name of the random mixes among works.
const MIXES: &str = "mixes";

/// A work, as it is or in a variant.
pub struct Unit {
    /// Name of the work.
    pub name: String,
    /// The arguments that run it alone.
    pub command: String,
    /// Schedulers that run.
    pub schedulers: Vec<String>,
    /// Seeds; `None`: as many as the work says.
    pub replicates: Option<u32>,
    /// What is unlike the work as it is.
    pub variant: Option<Variant>,
    /// What the judged scheduler is to reach.
    pub goals: Goals,
    flags: Flags,
}

/// What the arguments of a work and of a variant say together.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Flags {
    #[arg(conflicts_with = "trace")]
    scenario: Option<String>,
    #[arg(long)]
    trace: Option<PathBuf>,
    #[command(flatten)]
    replay: Replay,
    #[command(flatten)]
    run: RunOptions,
}

impl Study {
    /// Reads a study; `mixes` and `replicates` stand for what it says.
    pub fn read(path: &Path, mixes: Option<u32>, replicates: Option<u32>) -> Result<Self> {
        let name = path.display();
        let text = files::read_text(path)?;
        let mut study: Self =
            toml::from_str(&text).map_err(|error| mistake(&name.to_string(), &text, &error))?;
        ensure!(study.schema == SCHEMA, "{name}: `schema`: expected {SCHEMA}");
        study.folder = path.parent().unwrap_or(Path::new("")).to_owned();
        study.replicates_asked = replicates;
        if let (Some(of_study), Some(count)) = (&mut study.mixes, mixes) {
            of_study.count = count;
        }
        study.check().with_context(|| name.to_string())?;
        Ok(study)
    }

    fn check(&self) -> Result<()> {
        let is_run = |name: &String| self.schedulers.contains(name);
        ensure!(is_run(&self.judged), "`judged`: {:?} is not in `schedulers`", self.judged);
        let beside = self.beside.iter().find(|name| !is_run(name));
        ensure!(beside.is_none(), "`beside`: {:?} is not in `schedulers`", beside.unwrap());
        let judged = self.beside.contains(&self.judged);
        ensure!(judged, "`beside`: {:?}, which is judged, is missing", self.judged);
        let count = self.mixes();
        ensure!((1..=10_000).contains(&count), "`mixes.count`: expected 1 to 10000");
        let is_empty = self.work.is_empty() && self.mixes.is_none();
        ensure!(!is_empty, "there is neither a `work` nor `mixes`");
        let mut names: Vec<&str> = self.work.iter().map(|work| work.name.as_str()).collect();
        names.push(MIXES);
        for (index, name) in names.iter().enumerate() {
            ensure!(!names[..index].contains(name), "{name:?} is the name of several works");
        }
        let goals = self.work.iter().map(|work| &work.goals);
        for goals in goals.chain(self.mixes.iter().map(|mixes| &mixes.goals)) {
            let other = goals.schedulers().find(|name| !self.schedulers.contains(&(*name).into()));
            ensure!(other.is_none(), "goals: {:?} is not in `schedulers`", other.unwrap());
        }
        self.variant.iter().try_for_each(|variant| variant.check(&names))
    }

    /// How many random mixes.
    pub fn mixes(&self) -> u32 {
        self.mixes.as_ref().map_or(1, |mixes| mixes.count)
    }

    /// Whether there are any.
    pub fn has_mixes(&self) -> bool {
        self.mixes.is_some()
    }

    /// All that is to be run: works as they are, then each variant.
    pub fn units(&self) -> Result<Vec<Unit>> {
        let mut units = Vec::new();
        for variant in std::iter::once(None).chain(self.variant.iter().map(Some)) {
            for work in &self.work {
                if variant.is_none_or(|variant| variant.is_of(&work.name, work.varies)) {
                    let of = (&*work.name, &*work.compare, &work.goals);
                    units.push(self.unit(of, variant)?);
                }
            }
            if let Some(mixes) = &self.mixes
                && variant.is_none_or(|variant| variant.is_of(MIXES, true))
            {
                units.push(self.unit((MIXES, "", &mixes.goals), variant)?);
            }
        }
        Ok(units)
    }

    fn unit(
        &self,
        (name, arguments, goals): (&str, &str, &Goals),
        variant: Option<&VariantOfStudy>,
    ) -> Result<Unit> {
        let named = || match variant {
            Some(variant) => format!("work {name:?}, variant {:?}", variant.name),
            None => format!("work {name:?}"),
        };
        let added = variant.map_or("", |variant| variant.flags.as_str());
        let flags = self.flags(&format!("{arguments} {added}")).with_context(named)?;
        let is_mixes = name == MIXES;
        let all = || self.schedulers.iter().chain(&self.ablations).cloned().collect();
        let own = variant.and_then(|variant| variant.replicates);
        let of_study = own.or(self.replicates.filter(|_| !is_mixes));
        let asked = self.replicates_asked;
        Ok(Unit {
            name: name.to_owned(),
            command: if is_mixes {
                format!("mixes --mixes {}", self.mixes())
            } else {
                format!("compare {arguments}")
            },
            schedulers: variant.map_or_else(all, |_| self.beside.clone()),
            // A variant with fewer seeds has fewer here, too.
            replicates: asked.map(|asked| own.map_or(asked, |own| own.min(asked))).or(of_study),
            variant: variant.map(|variant| Variant {
                name: variant.name.clone(),
                flags: variant.flags.clone(),
                allowance: variant.allowance,
            }),
            goals: goals.clone(),
            flags,
        })
    }

    fn flags(&self, arguments: &str) -> Result<Flags> {
        let Some(words) = shlex::split(arguments) else { bail!("{arguments}: an open quote") };
        let mut flags = Flags::try_parse_from(words)
            .map_err(|error| anyhow::anyhow!("{}", crate::mistake(&error)))?;
        if let Some(trace) = &mut flags.trace {
            *trace = self.folder.join(&*trace);
        }
        Ok(flags)
    }
}

impl VariantOfStudy {
    fn check(&self, works: &[&str]) -> Result<()> {
        let name = &self.name;
        let is_bound = (1.0..=ALLOWANCE_MAX).contains(&self.allowance);
        ensure!(is_bound, "variant {name:?}: `allowance`: expected 1 to {ALLOWANCE_MAX}");
        let unknown = self.works.iter().find(|work| !works.contains(&work.as_str()));
        ensure!(unknown.is_none(), "variant {name:?}: there is no work {:?}", unknown.unwrap());
        ensure!(self.replicates != Some(0), "variant {name:?}: `replicates`: expected 1 or more");
        Ok(())
    }

    fn is_of(&self, work: &str, varies: bool) -> bool {
        if self.works.is_empty() { varies } else { self.works.iter().any(|name| name == work) }
    }
}

impl Unit {
    /// The work it is of; `None`: random mixes.
    pub fn work(&self) -> Result<Option<Work>> {
        let Flags { scenario, trace, replay, .. } = &self.flags;
        if self.name == MIXES {
            ensure!(scenario.is_none() && trace.is_none(), "flags of a variant name a work");
            return Ok(None);
        }
        Ok(Some(Work::read(scenario.as_deref(), trace.as_deref(), replay)?))
    }

    /// How to simulate.
    pub fn options(&self) -> &RunOptions {
        &self.flags.run
    }

    /// Work and variant in words.
    pub fn title(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}, {}", self.name, variant.name),
            None => self.name.clone(),
        }
    }
}

/// What is wrong with a file, and in which line.
fn mistake(name: &str, text: &str, error: &toml::de::Error) -> anyhow::Error {
    let line = error.span().map_or_else(String::new, |span| {
        let before = text.get(..span.start).unwrap_or_default();
        format!(":{}", 1 + before.matches('\n').count())
    });
    anyhow::anyhow!("{name}{line}: {}", error.message())
}
