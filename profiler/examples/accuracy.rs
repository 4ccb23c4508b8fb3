//! Error of the profiler against the simulator's truth, for the programs of a scenario.
fn main() {
    use scenarios::{MachineDefaults, Scenario};
    let arg: Vec<String> = std::env::args().collect();
    let (_, text) = scenarios::by_name(&arg[1]).unwrap();
    let scenario = Scenario::parse(text, &arg[1]).unwrap();
    let length: f64 = arg[2].parse().unwrap();
    let rate: f64 = arg[3].parse().unwrap();
    let ours = arg.len() > 5;
    let seeds: u64 = arg[4].parse().unwrap();
    let table = cpu_model::CpuTable::by_name(&scenario.cpu).unwrap();
    let cpu = table.model(cpu_model::TurboMode::On).unwrap();
    let names: Vec<&str> = scenario.foreground_names().collect();
    let backs: Vec<&str> = scenario.background_names().collect();
    let over = [("length".to_owned(), length)].into();
    let mut sums = std::collections::BTreeMap::<&str, Vec<f64>>::new();
    for case in scenario.cases() {
        let w = scenario.workload(case, Some(0), &over, &MachineDefaults::from(&cpu)).unwrap();
        let name = case.foreground.map_or("all", |i| names[i]);
        for seed in 1..=seeds {
            let config = simulator::Config {
                seed,
                start: scenario.run.start,
                ..simulator::Config::plain(
                    simulator::Scheduler::Muqss {
                        rq_sharing: simulator::RqSharing::None,
                        interactive: true,
                    },
                    scenario.run.limit_ns * 10,
                )
            };
            let plan = if ours { profiler::Plan::ours(&cpu, seed) } else { profiler::Plan::published(&cpu, seed) }.with_rate(rate);
            let without = simulator::run(&cpu, &w, &config).unwrap();
            let p = profiler::simulated::profile(&cpu, &w, &config, plan).unwrap();
            let fg = |t: u32| w.applications[w.threads[t as usize].application as usize].role
                == scenarios::Role::Foreground;
            let moments: Vec<_> = p.samples.iter().filter(|s| fg(s.task))
                .map(|s| profiler::Moment::of(s, &cpu.turbo, if ours { profiler::Stalls::Before } else { profiler::Stalls::Alone })).collect();
            let est = profiler::overhead(&moments) * 100.0;
            let truth = |o: &simulator::Outcome| {
                let (mut t, mut l) = (0, 0);
                for (i, task) in o.tasks.iter().enumerate() {
                    if fg(i as u32) { t += task.cpu_time_ns; l += task.lost_ns; }
                }
                (t as f64 / (t - l) as f64 - 1.0) * 100.0
            };
            let (tw, tp) = (truth(&without), truth(&p.outcome));
            println!("{name:15} {:8} est {est:5.1} true {tp:5.1} without {tw:5.1} n {} {:?} slower {:.2}%",
                backs[case.background], moments.len(), p.tally,
                (p.outcome.simulated_ns as f64 / without.simulated_ns as f64 - 1.0) * 100.0);
            sums.entry(backs[case.background]).or_default().push(est - tp);
        }
    }
    for (b, e) in sums {
        let n = e.len() as f64;
        println!("{b}: mean error {:.2} mean |error| {:.2}", e.iter().sum::<f64>() / n, e.iter().map(|x| x.abs()).sum::<f64>() / n);
    }
}
