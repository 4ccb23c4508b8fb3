//! How does a task runtime compare? The programs of `peers`, on every runtime that this
//! machine has, interleaved.

mod build;
pub mod chart;
mod load;
mod machine;
mod measure;
mod metg;
mod page;
mod plan;
mod results;
mod runtimes;
mod sample;
mod shuffle;
pub mod steps;
mod summary;
pub mod table;

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};

use commands::target;
use plan::Size;
use runtimes::Library;

/// The programs of `peers` on every task runtime that is here.
///
/// Writes samples.csv, summary.txt, page.html and two drawings.
#[derive(clap::Args)]
pub struct Args {
    /// Only this program; may be repeated.
    #[arg(long = "program", value_name = "NAME")]
    programs: Vec<String>,
    /// Only this runtime, and libraries that are named; may be repeated.
    #[arg(long = "runtime", value_name = "NAME")]
    runtimes: Vec<String>,
    #[command(flatten)]
    settings: measure::Settings,
    /// Another OpenMP library, loaded by clang's programs instead of their own; with gcc:PATH, by
    /// gcc's programs. May be repeated.
    #[arg(long = "library", value_name = "NAME=PATH")]
    libraries: Vec<Library>,
    /// Where the results go.
    #[arg(long, default_value = "out/peers")]
    out: PathBuf,
    /// Small sizes: do all programs work?
    #[arg(long)]
    quick: bool,
}

/// Note in the results of `--quick`.
const QUICK: &str =
    " The sizes were small ones, which tell whether programs work, and little of time.";

/// Builds and runs the programs, and writes the results.
pub fn run(args: &Args) -> Result<()> {
    args.settings.check()?;
    let folder = target().join("peers");
    let offer = runtimes::find(&folder.join("packages"), &args.libraries);
    for missing in &offer.missing {
        eprintln!("peers: {missing}");
    }
    let chosen = chosen_runtimes(offer.runtimes, &args.runtimes)?;
    let size = if args.quick { Size::Quick } else { Size::Full };
    let works = chosen_works(plan::works(size), &args.programs)?;

    let jobs = plan::jobs(&works, &chosen);
    ensure!(!jobs.is_empty(), "none of these programs is there for these runtimes");
    build::all(&folder, &jobs)?;
    let begin = load::now()?;
    let samples = measure::all(&folder, &jobs, &args.settings)?;
    let others = begin.until(&load::now()?);
    let note = format!("Others {others}.{}", if args.quick { QUICK } else { "" });

    let about = machine::about(&folder.join("packages"), &chosen, &args.settings, &others);
    let groups = summary::groups(&samples, &works, &chosen);
    let grains = metg::of(&samples, &chosen, args.settings.threads);
    let mut text = format!("{about}\n{}", table::text(&groups, &grains));
    for ours in chosen.iter().filter(|runtime| runtime.is_ours) {
        text += &standing(&groups, &ours.name).map_or(String::new(), |told| told + "\n");
    }
    let drawings = chart::drawings(&groups, &chosen);
    let page = page::page(&about, &note, &groups, &grains, &chosen);
    results::write(&args.out, &samples, &text)?;
    results::write_page(&args.out, &page)?;
    results::write_drawings(&args.out, &drawings)?;
    print!("{text}");
    println!("written to {}", args.out.display());
    all_are_ok(&samples)
}

/// An error where a run failed.
fn all_are_ok(samples: &[sample::Sample]) -> Result<()> {
    let wrong = samples.iter().filter(|sample| !sample.is_ok()).count();
    ensure!(wrong == 0, "{wrong} of {} runs failed; the table says which", samples.len());
    Ok(())
}

/// In how many works a library under test is ahead, in a sentence; none without a work to compare.
fn standing(groups: &[summary::Group], name: &str) -> Option<String> {
    let summary::Standing { works, ahead, ahead_in_cpu } = summary::standing(groups, name);
    (works > 0).then(|| {
        format!(
            "{name} is faster than every peer in {ahead} of {works} works, and takes less CPU \
             time than every peer in {ahead_in_cpu}."
        )
    })
}

fn chosen_runtimes(
    all: Vec<runtimes::Runtime>,
    names: &[String],
) -> Result<Vec<runtimes::Runtime>> {
    for name in names {
        if !all.iter().any(|runtime| runtime.name == *name) {
            let known: Vec<&str> = all.iter().map(|runtime| runtime.name.as_str()).collect();
            bail!("no runtime `{name}` here; there are {}", known.join(", "));
        }
    }
    // A library given by `--library` runs in any case.
    let is_chosen = |one: &runtimes::Runtime| {
        names.is_empty() || names.contains(&one.name) || one.called.is_some()
    };
    Ok(all.into_iter().filter(is_chosen).collect())
}

fn chosen_works(all: Vec<plan::Work>, names: &[String]) -> Result<Vec<plan::Work>> {
    for name in names {
        if !all.iter().any(|work| work.program == name) {
            let mut known: Vec<&str> = all.iter().map(|work| work.program).collect();
            known.dedup();
            bail!("no program `{name}`; there are {}", known.join(", "));
        }
    }
    let is_chosen = |work: &plan::Work| names.is_empty() || names.iter().any(|n| n == work.program);
    Ok(all.into_iter().filter(is_chosen).collect())
}
