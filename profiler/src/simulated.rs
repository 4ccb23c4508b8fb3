//! The profiler on a simulated machine, whose truth is known.

use cpu_model::CpuModel;
use random::SplitMix64;
use scenarios::Workload;
use simulator::{Config, Operated, Operator, Outcome, SimError, SliceCounts};

use crate::clocks::Clocks;
use crate::collector::Collector;
use crate::machine::{Machine, Reading};
use crate::plan::Plan;
use crate::profile::{Demand, Profile, Slice};
use crate::sample::Tally;
use crate::sampler::Sampler;

/// Profiles a run of a workload by application; without a plan no core is paused. Returns the
/// outcome of the run too, which has the true losses.
///
/// # Errors
/// When the simulator refuses the run.
pub fn profile(
    cpu: &CpuModel,
    workload: &Workload,
    config: &Config,
    plan: Option<Plan>,
) -> Result<(Profile, Outcome), SimError> {
    let machine = &workload.machine;
    let threads = machine.threads_per_core;
    let core = |core: u32| (core * threads..(core + 1) * threads).collect();
    let cores: Vec<Vec<u32>> =
        (0..machine.packages * machine.cores_per_package).map(core).collect();
    let faults = &config.sensor_faults;
    let believed =
        CpuModel { turbo: simulator::believed_turbo(&cpu.turbo, *faults), ..cpu.clone() };
    let mut profiler = Profiler {
        collector: Collector::new(&believed, &cores, config.seed),
        noise: Noise {
            permille: u64::from(faults.counter_noise_permille.min(1000)),
            random: SplitMix64::new(config.seed),
        },
        read: vec![(Reading::default(), Reading::default()); machine.cpus() as usize],
        sampler: plan.map(|plan| Sampler::new(plan, &cores, 0)),
        believed,
    };
    let outcome = simulator::run_operated(cpu, workload, config, &mut profiler)?;
    let Profiler { sampler, collector, .. } = profiler;
    let tally = sampler.map_or_else(Tally::default, |sampler| sampler.tally());
    let groups = workload.applications.iter().map(|it| it.name.clone()).collect();
    let group_of = workload.threads.iter().map(|thread| thread.application).collect();
    Ok((collector.finish(tally, groups, group_of), outcome))
}

/// Counters that are off by up to so much, evenly spread.
struct Noise {
    permille: u64,
    random: SplitMix64,
}

impl Noise {
    fn count(&mut self, exact: u64) -> u64 {
        if self.permille == 0 {
            return exact;
        }
        let permille = 1000 - self.permille + self.random.below(2 * self.permille + 1);
        (u128::from(exact) * u128::from(permille) / 1000) as u64
    }

    fn counts(&mut self, exact: &policy::Slice) -> policy::Slice {
        policy::Slice {
            cycles: self.count(exact.cycles),
            level_cycles: exact.level_cycles.map(|cycles| self.count(cycles)),
            stall_cycles: self.count(exact.stall_cycles),
            ..*exact
        }
    }
}

struct Profiler {
    noise: Noise,
    /// By CPU: the last reading, exact and as the counters showed it.
    read: Vec<(Reading, Reading)>,
    sampler: Option<Sampler>,
    collector: Collector,
    /// The CPU as the profiler knows it.
    believed: CpuModel,
}

impl Operator for Profiler {
    fn acts_ns(&self) -> Option<u64> {
        self.sampler.as_ref()?.acts_ns()
    }

    fn act(&mut self, machine: &mut dyn Operated) {
        let now_ns = machine.now_ns();
        let Self { sampler: Some(sampler), noise, read, .. } = self else { return };
        sampler.act(now_ns, &mut Simulated { machine, noise, read });
        if let Some(sample) = sampler.completed() {
            let turbo = &self.believed.turbo;
            self.collector.timed(Clocks::of(&sample, turbo));
            self.collector.sampled(&sample);
        }
    }

    fn switched(&mut self, now_ns: u64, cpu: u32, task: Option<u32>, waited_ns: u64) {
        self.collector.switched(now_ns, cpu, task, waited_ns);
    }

    fn slice_ended(&mut self, slice: &SliceCounts) {
        let SliceCounts { task, cpu, began_ns, ended_ns, waited_ns, .. } = *slice;
        let SliceCounts { counts, throttled_cycles, retired, .. } = *slice;
        self.collector.accounted(&Slice {
            task,
            cpu,
            began_ns,
            ended_ns,
            waited_ns,
            counts: self.noise.counts(&counts),
            throttled_cycles: self.noise.count(throttled_cycles),
            demand: Demand::Retired(retired),
        });
    }
}

struct Simulated<'a> {
    machine: &'a mut dyn Operated,
    noise: &'a mut Noise,
    read: &'a mut [(Reading, Reading)],
}

impl Machine for Simulated<'_> {
    fn read(&mut self, cpu: u32) -> Reading {
        let exact = Reading::from(self.machine.read(cpu));
        let (before, shown) = &mut self.read[cpu as usize];
        let counts = add(&shown.counts, &self.noise.counts(&exact.since(before)));
        *before = exact;
        *shown = Reading { counts, ..exact };
        *shown
    }

    fn pause(&mut self, cpu: u32) {
        self.machine.pause(cpu);
    }

    fn resume(&mut self, cpu: u32) {
        self.machine.resume(cpu);
    }
}

impl From<simulator::Reading> for Reading {
    fn from(reading: simulator::Reading) -> Self {
        let simulator::Reading { task, switches, counts, throttled_cycles } = reading;
        Self { task, switches, counts, throttled_cycles }
    }
}

fn add(sum: &policy::Slice, more: &policy::Slice) -> policy::Slice {
    policy::Slice {
        time_ns: sum.time_ns + more.time_ns,
        cycles: sum.cycles + more.cycles,
        ref_cycles: sum.ref_cycles + more.ref_cycles,
        level_cycles: std::array::from_fn(|it| sum.level_cycles[it] + more.level_cycles[it]),
        stall_cycles: sum.stall_cycles + more.stall_cycles,
        first_row: 0,
    }
}
