//! Profiles a recorded schedule: what tasks waited for, and what the CPU table says they lost.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use cpu_model::CpuModel;
use profiler::matrix::Matrix;
use profiler::recorded::{self, Reading};
use profiler::time_line::TimeLine;
use profiler::{Basis, By, Cores, Names, Profile, Tally};
use trace::{Event, Header, History, Source};

use super::table::CpuOf;
use super::{
    Args, EstimateReport, Estimator, LossReport, Report, StackReport, VictimReport, labels, losses,
    victims,
};
use super::{clock, error::Error};
use crate::compare::annotated;
use crate::run_options::RunOptions;

/// Equal parts of a recording's time that its time line has for each CPU.
const PARTS: usize = 1500;
/// Stacks that a report has.
const STACKS_MAX: usize = 200;

/// Profiles a recording; `work` is what the report calls it.
pub fn run(args: &Args, path: &Path, work: &str) -> Result<Report> {
    refuse_simulation(args)?;
    let options = &args.run;
    let (mut history, annotation) = annotated(path, &args.classes.class, &options.set.replay)?;
    let labels = labels::tell_apart(&mut history.header.tasks);
    let (focus, idle) = args.focus.names(&history);
    // A live profile is kept: a process that was idle meanwhile is no mistake.
    if let (Some(_), Some(idle)) = (&args.trace, idle.first()) {
        bail!("{idle}");
    }
    let header = &history.header;
    let table = Table::of(header, options, path)?;
    let reading = reading(options, args.focus.by());
    let (profile, levels) = recorded::profile_with_levels(&table.cpu, &history, &reading, PARTS);
    ensure!(!profile.groups.is_empty(), "{}: no task is recorded", path.display());
    let has_pauses = has_record(&history, |event| matches!(event, Event::Pause { .. }));
    let mut matrix = matrix(&profile, has_pauses, options.seed);
    let has_wide = matrix.victims.iter().any(|victim| victim.own_level > 0);
    let has_classes = annotation.wide_tasks > 0 || header.source == Source::Simulated;
    let estimator = match has_pauses {
        true => Estimator::Clock,
        false if recorded::has_counters(&history) => Estimator::Counters,
        false => without_clock(&history, has_wide, has_classes, table.has_levels),
    };
    let basis = basis(estimator);
    if basis == Basis::Unknown {
        matrix.victims.iter_mut().for_each(|victim| victim.basis = basis);
    }
    let overhead = EstimateReport::of(&matrix.overhead_pct, 1.0, basis);
    let cores = Cores::of(header, reading.threads_per_core);
    let losses = losses(&profile, &matrix, options.set.simulation.smt_share, None);
    let cpu = table.of_estimate(estimator);
    let mut victims = victims(&profile, &matrix, None);
    if cpu.is_none() {
        victims.iter_mut().for_each(|victim| victim.demands = None);
    }
    labels::add(&mut victims, &labels, reading.by);
    let samples = has_pauses.then(|| all_samples(profile.tally, header));
    Ok(Report {
        schema: 1,
        work: work.to_owned(),
        machine_cpu: header.facts.get("machine").cloned(),
        cpu,
        scheduler: None,
        seed: options.seed,
        runs: None,
        cpus: header.cpus,
        length_s: length_ns(header) as f64 / 1e9,
        unprofiled_s: None,
        estimator,
        estimator_error: Error::of(estimator),
        nothing_to_gain: nothing_to_gain(estimator, &victims, &overhead, samples.as_ref()),
        overhead_pct: overhead,
        paused_pct: samples.as_ref().map(|it| paused_pct(it, header, &cores)),
        samples,
        knows_siblings: cores.are_known,
        cores: cores.cpus,
        longer_by_profiling_pct: None,
        is_own_table: table.is_own,
        victims,
        stacks: stacks(&history, args, &losses),
        losses,
        by: args.focus.heading(),
        focus,
        notes: idle.into_iter().chain(notes(header)).collect(),
        gain: None,
        time_line: Some(TimeLine { levels, ..TimeLine::of(&history, args.focus.by(), PARTS) }),
    })
}

/// How a recording is read.
pub fn reading(options: &RunOptions, by: By) -> Reading {
    let replay = &options.set.replay;
    Reading {
        active_cores: replay.turbo_cores,
        threads_per_core: Some(replay.threads_per_core).filter(|&it| it > 1),
        seed: options.seed,
        by,
    }
}

/// The losses of a recording, by measured clocks where it has them.
pub fn matrix(profile: &Profile, has_pauses: bool, seed: u64) -> Matrix {
    if has_pauses { Matrix::of_clocks(profile, seed) } else { Matrix::of_slices(profile, seed) }
}

/// What the overhead of all programs rests on.
fn basis(estimator: Estimator) -> Basis {
    match estimator {
        Estimator::NoneShown | Estimator::NotRecorded => Basis::Unknown,
        Estimator::Classes | Estimator::Registers => Basis::Table,
        _ => Basis::Measured,
    }
}

/// Whether no program loses time to the clock of others; `None`: not known.
fn nothing_to_gain(
    estimator: Estimator,
    victims: &[VictimReport],
    overhead: &EstimateReport,
    samples: Option<&Tally>,
) -> Option<bool> {
    match (estimator, samples) {
        (Estimator::NoLevels, _) => Some(true),
        (Estimator::Counters, _) => clock::nothing_counted(victims, overhead),
        (_, Some(samples)) => clock::nothing_to_gain(victims, overhead, samples),
        (_, None) => None,
    }
}

/// What a recording says of wide code where no clock was measured.
fn without_clock(
    history: &History,
    has_wide: bool,
    has_classes: bool,
    has_levels: bool,
) -> Estimator {
    let has_registers = || has_record(history, |event| matches!(event, Event::Registers { .. }));
    match (has_wide, has_classes) {
        (_, false) if !has_levels => Estimator::NoLevels,
        (true, true) => Estimator::Classes,
        (true, false) => Estimator::Registers,
        (false, _) if has_registers() => Estimator::NoneShown,
        (false, _) => Estimator::NotRecorded,
    }
}

fn has_record(history: &History, is_it: impl Fn(&Event) -> bool) -> bool {
    history.records.iter().any(|record| is_it(&record.event))
}

/// The CPU table that losses are computed by.
pub struct Table {
    name: String,
    pub cpu: CpuModel,
    /// Whether it is that of the recorded CPU.
    is_own: bool,
    /// Whether the user or the recording names it.
    is_named: bool,
    /// Whether the CPU has license levels at all.
    has_levels: bool,
}

impl Table {
    /// The named one, or else that of the recorded machine.
    pub fn of(header: &Header, options: &RunOptions, path: &Path) -> Result<Self> {
        let machine = CpuOf::machine(header.facts.get("machine").map_or("", String::as_str));
        let named = options.cpu.clone().or_else(|| header.cpu.clone());
        let has_levels = named.is_some() || machine != CpuOf::NoLevels;
        let is_named = named.is_some();
        let is_own = !is_named && matches!(machine, CpuOf::Machine(_));
        let name = named.unwrap_or_else(|| machine.table().to_owned());
        let file = path.display().to_string();
        let cpu = options.cpu_model(&name, true).context(options.named_cpu_by(&file))?;
        Ok(Self { name, cpu, is_own, is_named, has_levels })
    }

    /// Its name, if it says something of the recorded CPU or estimates are as if it did.
    fn of_estimate(&self, estimator: Estimator) -> Option<String> {
        use Estimator::{Classes, Counters, Registers};
        let is_as_if = matches!(estimator, Classes | Registers | Counters);
        (self.is_own || self.is_named || is_as_if).then(|| self.name.clone())
    }
}

/// The stacks of wide code, those of the greatest losses first.
fn stacks(history: &History, args: &Args, losses: &[LossReport]) -> Vec<StackReport> {
    let header = &history.header;
    let names = Names::of(&header.tasks, args.focus.by());
    let mut counts: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for record in &history.records {
        if let Event::Stack { task, stack } = record.event {
            *counts.entry((task, stack)).or_default() += 1;
        }
    }
    let of = |((tid, stack), count)| {
        let at = header.tasks.binary_search_by_key(&tid, |task| task.tid).ok()?;
        let task = &header.tasks[at];
        Some(StackReport {
            culprit: names.name(task),
            thread: task.comm.clone(),
            functions: header.stacks.get(stack as usize)?.clone(),
            count,
            lost_s: 0.0,
        })
    };
    let mut stacks: Vec<StackReport> = counts.into_iter().filter_map(of).collect();
    let mut of_culprit: BTreeMap<String, u64> = BTreeMap::new();
    for stack in &stacks {
        *of_culprit.entry(stack.culprit.clone()).or_default() += stack.count;
    }
    for stack in &mut stacks {
        let is_its = |it: &&LossReport| {
            it.culprit.as_ref() == Some(&stack.culprit) && it.victim != stack.culprit
        };
        let lost_s: f64 = losses.iter().filter(is_its).map(|it| it.lost_s.known()).sum();
        stack.lost_s = lost_s * stack.count as f64 / of_culprit[&stack.culprit] as f64;
    }
    stacks.sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s).then(b.count.cmp(&a.count)));
    stacks.truncate(STACKS_MAX);
    stacks
}

fn length_ns(header: &Header) -> u64 {
    header.end_ns.saturating_sub(header.start_ns)
}

/// Share of the time for which each core was paused.
fn paused_pct(samples: &Tally, header: &Header, cores: &Cores) -> f64 {
    let cores_ns = cores.cpus.len() as u64 * length_ns(header);
    100.0 * samples.paused_ns as f64 / cores_ns.max(1) as f64
}

/// The samples of a recording, with those that are no record of it.
fn all_samples(recorded: Tally, header: &Header) -> Tally {
    Tally {
        held: number(header, "pauses_without_clock").unwrap_or_default(),
        paused_ns: number(header, "paused_ns").unwrap_or_default(),
        ..recorded
    }
}

/// A count among the facts of a recording.
fn number(header: &Header, name: &str) -> Option<u64> {
    header.facts.get(name)?.parse().ok()
}

/// Gaps of the recording that a reader should know.
fn notes(header: &Header) -> Vec<String> {
    let mut notes = Vec::new();
    let governor = header.facts.get("cpufreq").map_or("", String::as_str);
    if header.facts.contains_key("paused_ns")
        && !governor.is_empty()
        && !governor.contains("performance")
    {
        notes.push(format!(
            "the kernel sets the clock ({governor}) and may raise it because of a pause, so that \
             losses look greater: measure under the governor `performance`"
        ));
    }
    if let Some(lost) = number(header, "lost_events").filter(|&lost| lost > 0) {
        notes.push(format!("{lost} events were lost for want of room, so waits are incomplete"));
    }
    if let Some(permille) = number(header, "runtime_per_wall_permille").filter(|&it| it < 950) {
        notes.push(format!(
            "tasks had only {permille} of 1000 parts of the CPU time: the host took the rest"
        ));
    }
    notes
}

/// Refuses options of simulations.
pub fn refuse_simulation(args: &Args) -> Result<()> {
    args.run.set.refuse_parameters()?;
    for (flag, is_given) in [
        ("--program", args.program.is_some()),
        ("--background", args.background.is_some()),
        ("--no-pauses", args.no_pauses),
        ("--split-causes", args.split_causes),
        ("--end-early", args.end_early),
        ("--set cpus", args.run.set.replay.cpus.is_some()),
        ("--limit", args.limit.is_some()),
        ("--rate", args.rate.is_some() && args.trace.is_some()),
        ("--runs", args.runs.is_some() && args.trace.is_some()),
        ("--method", args.method.is_some()),
        ("--scheduler", args.scheduler.is_some()),
    ] {
        if is_given {
            bail!("{flag}: is for simulated scenarios; this profile is of a real schedule");
        }
    }
    Ok(())
}
