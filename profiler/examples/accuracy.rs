//! Error of the profiler against the simulator's truth, for scenarios or random mixes.
use cpu_model::CpuModel;
use profiler::{Method, Plan, matrix};
use scenarios::{MachineDefaults, Scenario};
use simulator::Config;

struct Args {
    rate: f64,
    seeds: u64,
    published: bool,
    verbose: bool,
    over: std::collections::BTreeMap<String, f64>,
    splits: bool,
    slices: bool,
    faults: simulator::SensorFaults,
}
#[derive(Default)]
struct Errors {
    all: Vec<f64>,
    culprits: (u32, u32),
    covered: (u32, u32),
    slower: Vec<f64>,
}

fn one(
    text: &str,
    name: &str,
    args: &Args,
    errors: &mut std::collections::BTreeMap<String, Errors>,
) {
    let scenario = Scenario::parse(text, name).unwrap();
    let table = cpu_model::CpuTable::by_name(&scenario.cpu).unwrap();
    let cpu: CpuModel = table.model(cpu_model::TurboMode::On).unwrap();
    let names: Vec<&str> = scenario.foreground_names().collect();
    let backs: Vec<&str> = scenario.background_names().collect();
    for case in scenario.cases() {
        let w = scenario.workload(case, Some(0), &args.over, &MachineDefaults::from(&cpu)).unwrap();
        let label = case.foreground.map_or("all", |i| names[i]);
        let groups = w.applications.len();
        let mut joined: Option<profiler::Profile> = None;
        let mut cpu_time = vec![0u64; groups];
        let mut lost = vec![0u64; groups];
        let mut pair = vec![0u64; groups * groups];
        let (mut with, mut without) = (0, 0);
        for seed in 1..=args.seeds {
            let config = Config {
                seed,
                start: scenario.run.start,
                ..Config::plain(
                    simulator::Scheduler::Muqss {
                        rq_sharing: simulator::RqSharing::None,
                        interactive: true,
                    },
                    scenario.run.limit_ns * 10,
                )
            };
            let config = Config { sensor_faults: args.faults, ..config };
            let plan =
                if args.published { Plan::published(&cpu, seed) } else { Plan::ours(&cpu, seed) };
            let plan = Plan { splits_causes: args.splits, ..plan.with_rate(args.rate) };
            let (p, o) = profiler::simulated::profile(&cpu, &w, &config, plan).unwrap();
            without += simulator::run(&cpu, &w, &config).unwrap().simulated_ns;
            with += o.simulated_ns;
            for (i, t) in o.tasks.iter().enumerate() {
                let g = w.threads[i].application as usize;
                cpu_time[g] += t.cpu_time_ns;
                lost[g] += t.lost_ns;
            }
            for l in &o.losses {
                pair[l.victim as usize * groups + l.culprit as usize] += l.lost_ns;
            }
            // Runs one after the other.
            match &mut joined {
                None => joined = Some(p),
                Some(j) => j.merge(p),
            }
        }
        let p = joined.unwrap();
        let method = if args.published { Method::Published } else { Method::Ours };
        let m = if args.slices {
            matrix::Matrix::of_slices(&p, 1)
        } else {
            matrix::Matrix::of_samples(&p, method, 1)
        };
        let e = errors.entry(backs[case.background].to_owned()).or_default();
        e.slower.push((with as f64 / without as f64 - 1.0) * 100.0);
        for (g, app) in w.applications.iter().enumerate() {
            if app.role != scenarios::Role::Foreground {
                continue;
            }
            let truth = (cpu_time[g] as f64 / (cpu_time[g] - lost[g]) as f64 - 1.0) * 100.0;
            let v = &m.victims[g].overhead_pct;
            e.all.push(v.value - truth);
            e.covered.1 += 1;
            if v.low <= truth && truth <= v.high {
                e.covered.0 += 1;
            }
            let row = &pair[g * groups..(g + 1) * groups];
            let true_culprit = (0..groups).max_by_key(|&c| row[c]);
            let sum = |x: &matrix::Entry| x.lost_ns.value;
            let ours = m
                .entries
                .iter()
                .filter(|x| x.victim == g)
                .max_by(|a, b| sum(a).total_cmp(&sum(b)))
                .and_then(|x| x.culprit);
            let ok = ours == true_culprit;
            if truth > 2.0 {
                e.culprits.1 += 1;
                e.culprits.0 += u32::from(ok);
            }
            if args.verbose {
                println!(
                    "{name} {label:14} {:7} {:14} est {:5.2} [{:5.2} {:5.2}] true {truth:5.2} n {} {} cpu {:.3} {:?}",
                    backs[case.background],
                    app.name,
                    v.value,
                    v.low,
                    v.high,
                    m.victims[g].samples,
                    if ok || truth < 2.0 { "" } else { "WRONG" },
                    m.victims[g].cpu_time_ns as f64 / cpu_time[g] as f64,
                    p.tally
                );
                if !ok && truth > 2.0 {
                    for c in 0..groups {
                        println!(
                            "    to {} true {:.1} ms",
                            w.applications[c].name,
                            row[c] as f64 / 1e6
                        );
                    }
                    for x in m.entries.iter().filter(|x| x.victim == g) {
                        println!(
                            "    to {:?} ours {:.1} of {:?} ms",
                            x.culprit.map(|c| &w.applications[c].name),
                            x.lost_ns.value / 1e6,
                            x.by_cause_ns.map(|n| (n / 1e6) as i64)
                        );
                    }
                }
            }
        }
    }
}

fn main() {
    let arg: Vec<String> = std::env::args().collect();
    let has = |f: &str| arg.iter().any(|a| a == f);
    let num =
        |f: &str| arg.iter().find_map(|a| a.strip_prefix(f)).map_or(0, |n| n.parse().unwrap());
    let mut over = std::collections::BTreeMap::new();
    let length: f64 = arg[2].parse().unwrap();
    if length > 0.0 {
        over.insert("length".to_owned(), length);
    }
    let args = Args {
        rate: arg[3].parse().unwrap(),
        seeds: arg[4].parse().unwrap(),
        published: has("published"),
        verbose: has("v"),
        over,
        splits: has("splits"),
        slices: has("slices"),
        faults: simulator::SensorFaults {
            counter_noise_permille: num("noise="),
            table_error_permille: num("table=") as i32,
            ..Default::default()
        },
    };
    let mut errors = Default::default();
    if let Some(range) = arg[1].strip_prefix("mix:") {
        let (a, b) = range.split_once('-').unwrap();
        for i in a.parse::<u32>().unwrap()..b.parse().unwrap() {
            one(
                &scenarios::mix(scenarios::development_seed(i)),
                &format!("mix{i}"),
                &args,
                &mut errors,
            );
        }
    } else {
        let (_, text) = scenarios::by_name(&arg[1]).unwrap();
        one(text, &arg[1], &args, &mut errors);
    }
    for (b, e) in errors {
        let n = e.all.len() as f64;
        println!(
            "{b}: n {n} mean error {:.2} mean |error| {:.2} worst {:.2} culprits {}/{} covered {}/{} slower mean {:.2} max {:.2}",
            e.all.iter().sum::<f64>() / n,
            e.all.iter().map(|x| x.abs()).sum::<f64>() / n,
            e.all.iter().map(|x| x.abs()).fold(0.0, f64::max),
            e.culprits.0,
            e.culprits.1,
            e.covered.0,
            e.covered.1,
            e.slower.iter().sum::<f64>() / e.slower.len() as f64,
            e.slower.iter().copied().fold(f64::MIN, f64::max)
        );
    }
}
