//! `evenkeel trial`: real victims and culprits on this machine, beside the model's prediction.

mod pair;
mod print;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use kernels::Tsc;
use scenarios::Start;
use sensors::facts::{self, Facts};
use serde::Serialize;
use silicon::trial::{self, Place, Plan, Prediction, Setting, Trial, Verdict};
use simulator::{Config, Costs, SensorFaults, SensorSet};

use crate::kernel_model::Model;
use crate::run_options::seed;
use crate::settings::SMT_SHARE_PERMILLE;
use crate::{doctor, files, machine, terminal};

const EXAMPLES: &str = "\
Examples:
  evenkeel characterize -o machine.toml
  evenkeel trial --cpu machine.toml
      heavy 512-bit code against scalar code, beside a scalar victim on the same CPU, and what
      the model of this machine says
  evenkeel trial --culprit avx2-heavy --cpus 0,1
      the culprit on another CPU: a sibling thread, another core
  evenkeel trial --victim 'xz -9kc file' --culprit 'x265 --asm avx512 in.y4m -o /dev/null' \\
      --control 'x265 --asm sse4 in.y4m -o /dev/null'
      two commands; the victim's runs are its progress
  evenkeel trial --culprit 'openssl speed -seconds 3600 chacha20-poly1305' --hide
      the control is the same command with wide instructions hidden from the libraries";

/// Real victims and culprits on this machine.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    pair: pair::Options,

    /// CPUs of victim and culprit; one number for a shared CPU
    #[arg(long, value_name = "V[,C]", value_delimiter = ',', num_args = 1..=2,
        default_values_t = [0])]
    cpus: Vec<u32>,

    /// CPU table for the prediction: what `evenkeel characterize -o` wrote [default: none, then
    /// nothing is predicted]
    #[arg(long, value_name = "FILE|NAME")]
    cpu: Option<String>,

    /// Pairs of blocks at most; the trial ends sooner when the interval is narrow enough
    #[arg(long, value_name = "N", default_value_t = 600,
        value_parser = clap::value_parser!(u32).range(6..=100_000))]
    pairs: u32,

    /// Length of a block in ms
    #[arg(long, value_name = "MS", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(20..=600_000))]
    block: u32,

    /// Draws the order within pairs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed)]
    seed: u64,

    /// Writes every pair and the result as JSON; - is standard output, then without the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A trial stops once the interval is narrow, which makes the interval a little too narrow. This
/// goal lies far enough below the verdict's limit that the error does not matter.
const HALF_WIDTH_GOAL_POINTS: f64 = 0.5;
/// Timer interrupts a second where the kernel does not say: Debian's and Ubuntu's.
const HZ: u32 = 250;
/// Fewer pairs are never enough.
const PAIRS_MIN: usize = 100;

/// The printed and written results.
#[derive(Serialize)]
struct Report<'a> {
    schema: u32,
    victim: &'a str,
    culprit: &'a str,
    control: &'a str,
    /// The way by which wide instructions are hidden from the control.
    hidden_by: Option<pair::HiddenBy>,
    victim_cpu: u32,
    culprit_cpu: u32,
    block_ms: u32,
    seed: u64,
    kernel: &'a str,
    scheduler: &'a facts::Scheduler,
    hz: Option<u32>,
    prediction: Option<Prediction>,
    /// Why nothing was predicted.
    unpredicted: Option<String>,
    verdict: Option<Verdict>,
    trial: &'a Trial,
}

/// Runs the verb.
pub fn run(args: &Args) -> Result<()> {
    if let Some(path) = &args.json {
        files::refuse_unwritable(path)?;
    }
    let table = args.cpu.as_deref().map(|name| machine::model(name, true)).transpose()?;
    let pair = args.pair.resolve()?;
    let plan = plan(args)?;
    let facts = doctor::probe();
    let predicted = predict(args, &pair, &plan, &facts, table.as_ref());

    let tsc = Tsc::calibrate().context("timing")?;
    let bar = terminal::progress(u64::from(args.pairs), "measuring");
    let found = trial::run(&plan, &pair.victim, &pair.culprit, &tsc, |done, most| {
        bar.set_length(most as u64);
        bar.set_position(done as u64);
    })?;
    bar.finish_and_clear();

    let (prediction, unpredicted) = match predicted {
        Ok(prediction) => (Some(prediction), None),
        Err(why) => (None, Some(format!("{why:#}"))),
    };
    let report = Report {
        schema: 1,
        victim: &pair.victim_name,
        culprit: &pair.culprit_name,
        control: &pair.control_name,
        hidden_by: pair.hidden_by,
        victim_cpu: plan.victim_cpu,
        culprit_cpu: plan.culprit_cpu,
        block_ms: args.block,
        seed: args.seed,
        kernel: &facts.kernel,
        scheduler: &facts.scheduler,
        hz: facts.hz,
        verdict: prediction.map(|said| trial::judge(&found.change_pct, said.change_pct)),
        prediction,
        unpredicted,
        trial: &found,
    };
    let took_stdout =
        args.json.as_ref().map(|path| files::write_json(path, &report)).transpose()?;
    if took_stdout == Some(true) {
        return Ok(());
    }
    terminal::print(&::report::fit(&print::text(&report), terminal::width()))
}

fn plan(args: &Args) -> Result<Plan> {
    let victim_cpu = args.cpus[0];
    let culprit_cpu = args.cpus.get(1).copied().unwrap_or(victim_cpu);
    for cpu in [victim_cpu, culprit_cpu] {
        let is_here = Path::new(&format!("/sys/devices/system/cpu/cpu{cpu}/topology")).exists();
        ensure!(is_here, "--cpus: no CPU {cpu} here");
    }
    Ok(Plan {
        victim_cpu,
        culprit_cpu,
        block: Duration::from_millis(args.block.into()),
        pairs_min: PAIRS_MIN.min(args.pairs as usize),
        pairs_max: args.pairs as usize,
        half_width_points: HALF_WIDTH_GOAL_POINTS,
        seed: args.seed,
    })
}

fn predict(
    args: &Args,
    pair: &pair::Pair,
    plan: &Plan,
    facts: &Facts,
    cpu: Option<&cpu_model::CpuModel>,
) -> Result<Prediction> {
    const SIMULATED_NS: u64 = 20_000_000_000;
    let cpu = cpu.context(
        "no CPU table: `evenkeel characterize -o machine.toml` measures one, --cpu takes it",
    )?;
    if let facts::Scheduler::SchedExt(name) = &facts.scheduler {
        bail!("the BPF scheduler {name} decides here, and there is no model of it");
    }
    let model = Model::of_kernel(&facts.kernel).context("the kernel does not say its version")?;
    let classes = pair.classes.context(
        "what the commands execute is not known: --classes VICTIM,CULPRIT,CONTROL says it",
    )?;
    let setting = Setting {
        place: place(plan, facts),
        victim: classes[0],
        culprit: classes[1],
        control: classes[2],
    };
    let config = Config {
        scheduler: model.scheduler(),
        slice_factor: 1,
        sensors: SensorSet::Truth,
        sensor_faults: SensorFaults::default(),
        seed: args.seed,
        costs: Costs::USUAL,
        smt_share_permille: SMT_SHARE_PERMILLE,
        believed_smt_share_permille: SMT_SHARE_PERMILLE,
        private_licenses: false,
        adaptive_holds: false,
        steady_cores_permille: 0,
        hz: facts.hz.unwrap_or(HZ),
        start: Start::default(),
        limit_ns: SIMULATED_NS,
        events_max: u64::MAX,
        history: false,
    };
    Ok(trial::predict(&setting, cpu, &config)?)
}

fn place(plan: &Plan, facts: &Facts) -> Place {
    let (victim, culprit) = (plan.victim_cpu, plan.culprit_cpu);
    let holds = |core: &Vec<u32>, cpu: u32| core.contains(&cpu);
    if victim == culprit {
        Place::Shared
    } else if facts.cores.iter().any(|core| holds(core, victim) && holds(core, culprit)) {
        Place::Siblings
    } else {
        Place::Cores
    }
}
