//! The profiler on a simulated machine, whose truth is known.

use cpu_model::CpuModel;
use scenarios::Workload;
use simulator::{Config, Operated, Operator, Outcome, SimError, SliceCounts};

use crate::collector::Collector;
use crate::machine::{Machine, Reading};
use crate::plan::Plan;
use crate::profile::{Profile, Slice};
use crate::sampler::Sampler;

/// Profiles a run of a workload, told by application. Yields the truth beside it.
///
/// # Errors
/// When the simulator refuses the run.
pub fn profile(
    cpu: &CpuModel,
    workload: &Workload,
    config: &Config,
    plan: Plan,
) -> Result<(Profile, Outcome), SimError> {
    let machine = &workload.machine;
    let threads = machine.threads_per_core;
    let core = |core: u32| (core * threads..(core + 1) * threads).collect();
    let cores: Vec<Vec<u32>> =
        (0..machine.packages * machine.cores_per_package).map(core).collect();
    let mut profiler = Profiler {
        collector: Collector::new(cpu, &cores, plan.seed),
        sampler: Sampler::new(plan, &cores, 0),
    };
    let outcome = simulator::run_operated(cpu, workload, config, &mut profiler)?;
    let Profiler { sampler, collector } = profiler;
    let groups = workload.applications.iter().map(|it| it.name.clone()).collect();
    let group_of = workload.threads.iter().map(|thread| thread.application).collect();
    Ok((collector.finish(sampler.tally(), groups, group_of), outcome))
}

struct Profiler {
    sampler: Sampler,
    collector: Collector,
}

impl Operator for Profiler {
    fn acts_ns(&self) -> Option<u64> {
        self.sampler.acts_ns()
    }

    fn act(&mut self, machine: &mut dyn Operated) {
        let now_ns = machine.now_ns();
        self.sampler.act(now_ns, &mut Simulated(machine));
        if let Some(sample) = self.sampler.completed() {
            self.collector.sampled(&sample);
        }
    }

    fn switched(&mut self, now_ns: u64, cpu: u32, task: Option<u32>) {
        self.collector.switched(now_ns, cpu, task);
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
            counts,
            throttled_cycles,
            retired,
        });
    }
}

struct Simulated<'a>(&'a mut dyn Operated);

impl Machine for Simulated<'_> {
    fn read(&mut self, cpu: u32) -> Reading {
        let simulator::Reading { task, switches, counts } = self.0.read(cpu);
        Reading { task, switches, counts }
    }

    fn pause(&mut self, cpu: u32) {
        self.0.pause(cpu);
    }

    fn resume(&mut self, cpu: u32) {
        self.0.resume(cpu);
    }
}
