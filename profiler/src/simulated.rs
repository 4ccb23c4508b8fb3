//! The profiler on a simulated machine, whose truth is known.

use cpu_model::CpuModel;
use scenarios::Workload;
use simulator::{Config, Operated, Operator, Outcome, SimError, SliceCounts};

use crate::machine::{Machine, Reading};
use crate::plan::Plan;
use crate::sample::{Sample, Tally};
use crate::sampler::Sampler;

/// A profiled run.
#[derive(Clone, Debug)]
pub struct Profiled {
    /// In order of time.
    pub samples: Vec<Sample>,
    /// How samples ended.
    pub tally: Tally,
    /// Slices of all tasks, by end.
    pub slices: Vec<SliceCounts>,
    /// The truth.
    pub outcome: Outcome,
}

/// Profiles a run of a workload.
///
/// # Errors
/// When the simulator refuses the run.
pub fn profile(
    cpu: &CpuModel,
    workload: &Workload,
    config: &Config,
    plan: Plan,
) -> Result<Profiled, SimError> {
    let machine = &workload.machine;
    let threads = machine.threads_per_core;
    let core = |core: u32| (core * threads..(core + 1) * threads).collect();
    let cores: Vec<Vec<u32>> =
        (0..machine.packages * machine.cores_per_package).map(core).collect();
    let mut profiler = Profiler {
        sampler: Sampler::new(plan, &cores, config.start.counts_from_ns()),
        slices: Vec::new(),
    };
    let outcome = simulator::run_operated(cpu, workload, config, &mut profiler)?;
    let Profiler { sampler, slices } = profiler;
    Ok(Profiled { samples: sampler.samples().to_vec(), tally: sampler.tally(), slices, outcome })
}

struct Profiler {
    sampler: Sampler,
    slices: Vec<SliceCounts>,
}

impl Operator for Profiler {
    fn acts_ns(&self) -> Option<u64> {
        self.sampler.acts_ns()
    }

    fn act(&mut self, machine: &mut dyn Operated) {
        let now_ns = machine.now_ns();
        self.sampler.act(now_ns, &mut Simulated(machine));
    }

    fn slice_ended(&mut self, slice: &SliceCounts) {
        self.slices.push(*slice);
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
