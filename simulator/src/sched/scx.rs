//! The source of a sched_ext scheduler, ours or another, on a sched_ext without a kernel
//! (`scx-host`).
//!
//! The model keeps no queue: it reports the machine's events to the host, and passes the host's
//! choices back to the engine. A slice ends at a tick, as in the kernel, and `dispatch` is called
//! while the old task is still on its CPU; so the model reports the end of a slice when the CPU
//! chooses, and not before.

use scenarios::Workload;
use scx_host::{
    Config, Faults, Host, LoadError, Object, TaskSpec, Topology, Waker, evenkeel, load_evenkeel,
};

use crate::config::{KernelMode, SensorSet};
use crate::error::SimError;
use crate::outcome::SpecializationCounts;
use crate::sched::custom::longest_wait_ns;
use crate::sched::scx_kinds::{self, Kinds};
use crate::sched::scx_sense::{self, Sense};
use crate::sched::{Charged, Decided, Pick, Placed, Scheduler, Wake};
use crate::sensors::Observed;
use crate::task::Stop;
use crate::world::World;

/// The scheduler in its host.
pub(crate) struct Scx {
    host: Host,
    specs: Vec<TaskSpec>,
    has_rules: bool,
    /// By task.
    application: Vec<usize>,
    /// By application: its first task.
    first: Vec<Option<usize>>,
    /// By task: its number in the host, once added.
    number: Vec<Option<usize>>,
    /// By number in the host: the task.
    task: Vec<usize>,
    /// The task, by number in the host, that ended and leaves its CPU.
    ending: Option<usize>,
    tick_ns: u64,
    /// Time of the host's next watchdog check.
    watch_ns: u64,
    refused: Option<String>,
    /// What our own scheduler reads and reports; another has no sensors.
    sense: Option<Sense>,
    /// With core specialization.
    kinds: Option<Kinds>,
}

const NS_PER_S: u64 = 1_000_000_000;

fn topology(world: &World) -> Topology {
    let machine = &world.topology;
    let is_slow = |cpu| world.clocks.is_slow(machine.core_of(cpu));
    Topology {
        is_slow: (0..machine.cpus).map(is_slow).collect(),
        ..Topology::regular(machine.packages, machine.cores_per_package, machine.threads_per_core)
    }
}

impl Scx {
    pub(crate) fn new(
        world: &World,
        workload: &Workload,
        mode: KernelMode,
    ) -> Result<Self, SimError> {
        let compensation = scx_sense::compensation(world, mode)?;
        let topology = topology(world);
        let emits_decisions = compensation.is_some();
        let has_rules = emits_decisions && world.config.sensors == SensorSet::Rules;
        let config = Config { compensation, emits_decisions, ..Config::default() };
        let object = evenkeel(&config, &topology);
        let sense = Sense::new(world, &object, config.compensation.as_ref())
            .map_err(|error| SimError::Machine(error.to_string()))?;
        let mut host = load_evenkeel(&object, &config, topology, Faults::default())
            .map_err(|error| SimError::Machine(error.to_string()))?;
        sense.open(&mut host, world);
        let is_specialized =
            matches!(mode, KernelMode::Specialize(_) | KernelMode::FairSpecialize(_));
        let kinds = is_specialized.then(|| Kinds::new(&host, world.topology));
        let scx = Self::over(world, workload, host);
        Ok(Self { has_rules, sense: Some(sense), kinds, ..scx })
    }

    /// A scheduler that is not ours: it has the sensors of a kernel, which are none.
    pub(crate) fn foreign(
        world: &World,
        workload: &Workload,
        object: &Object,
    ) -> Result<Self, SimError> {
        let mut object = object.clone();
        let set = object.set_constant("CONFIG_HZ", &world.config.hz.to_ne_bytes());
        let refused = |error: LoadError| SimError::Machine(error.to_string());
        set.map_err(|error| refused(error.into()))?;
        let mut host = Host::load(&object, topology(world), Faults::default()).map_err(refused)?;
        host.shorten_watchdog(longest_wait_ns(world));
        host.attach().map_err(refused)?;
        Ok(Self::over(world, workload, host))
    }

    fn over(world: &World, workload: &Workload, host: Host) -> Self {
        let spec = |(index, thread): (usize, &scenarios::Thread)| {
            let task = &world.tasks[index];
            let cpus: Vec<usize> = world.affinities.masks[task.mask].iter().collect();
            TaskSpec {
                // Rules go by names, and a kernel cuts them: so each has its own.
                name: format!("{index}:{}", thread.name),
                nice: thread.nice,
                cpu: task.last_cpu.or(cpus.first().copied()).unwrap_or(0),
                cpus,
                is_kernel: false,
                is_idle_policy: false,
                process: None,
            }
        };
        let specs: Vec<TaskSpec> = workload.threads.iter().enumerate().map(spec).collect();
        Self {
            application: workload.threads.iter().map(|it| it.application as usize).collect(),
            first: vec![None; workload.applications.len()],
            specs,
            has_rules: false,
            sense: None,
            kinds: None,
            number: vec![None; world.tasks.len()],
            task: Vec::new(),
            ending: None,
            tick_ns: NS_PER_S / u64::from(world.config.hz),
            watch_ns: host.watchdog_ns() / 2,
            refused: None,
            host,
        }
    }

    /// The task's number in the host, after adding the task if necessary; `forked_on`: the CPU of
    /// the task that forks it.
    fn enter(&mut self, world: &World, task: usize, forked_on: Option<usize>) -> Option<usize> {
        if self.number[task].is_none() {
            // Threads of an application are those of a process, led by the first that came.
            let first = *self.first[self.application[task]].get_or_insert(task);
            self.specs[task].process = self.number[first];
            let spec = &self.specs[task];
            if self.has_rules {
                let (process, level) = (&self.specs[first].name, world.tasks[task].ruled_level);
                scx_sense::answer_names(&mut self.host, &spec.name, process, level);
            }
            self.number[task] = self.host.add_task(spec, forked_on);
            match self.number[task] {
                Some(number) => {
                    self.task.resize(number + 1, usize::MAX);
                    self.task[number] = task;
                    if self.kinds.is_some() {
                        scx_kinds::declare(&mut self.host, number, world.tasks[task].is_enrolled);
                    }
                }
                None => self.refused = Some(format!("it refused the task {}", spec.name)),
            }
        }
        self.number[task]
    }

    /// Total CPU time of the task that runs on a CPU.
    fn runtime_ns(&self, world: &World, cpu: usize) -> u64 {
        let current = self.host.current(cpu);
        current.map_or(0, |number| world.tasks[self.task[number]].outcome.cpu_time_ns)
    }
}

impl Scheduler for Scx {
    fn tick_ns(&self) -> Option<u64> {
        Some(self.tick_ns)
    }

    fn wake(&mut self, world: &World, task: usize, wake: Wake) -> Placed {
        self.host.set_now(world.now_ns);
        let home = self.specs[task].cpu;
        let last = world.tasks[task].last_cpu.unwrap_or(home);
        let (waker, forked_on) = match wake {
            Wake::New { by_cpu } => {
                let cpu = by_cpu.unwrap_or(home);
                (Waker { cpu, is_fork: true, is_sync: false }, by_cpu)
            }
            Wake::Woken(by) => {
                let cpu = by.cpu().unwrap_or(last);
                (Waker { cpu, is_fork: false, is_sync: wake.is_sync() }, None)
            }
        };
        let Some(number) = self.enter(world, task, forked_on) else {
            return Placed { cpu: last, reschedule: None };
        };
        Placed { cpu: self.host.wake(number, waker), reschedule: None }
    }

    fn stop(
        &mut self,
        world: &World,
        cpu: usize,
        task: usize,
        observed: &Observed,
        stop: Stop,
    ) -> Charged {
        self.host.set_now(world.now_ns);
        if let Some(sense) = &mut self.sense {
            sense.count(&mut self.host, cpu, observed);
        }
        if stop != Stop::Preempted {
            self.host.block(cpu, self.runtime_ns(world, cpu));
        }
        if stop == Stop::Ended {
            self.ending = self.number[task];
        }
        Charged::default()
    }

    fn pick(&mut self, world: &World, cpu: usize) -> Option<Pick> {
        self.host.set_now(world.now_ns);
        let prev = self.host.current(cpu);
        let choice = self.host.schedule(cpu, self.runtime_ns(world, cpu));
        if let Some(prev) = prev.filter(|_| !choice.is_kept)
            && let Some(sense) = &mut self.sense
        {
            sense.left(&mut self.host, cpu, prev);
        }
        if let Some(kinds) = &mut self.kinds {
            kinds.note(&mut self.host, world.now_ns);
        }
        if let Some(number) = self.ending.take() {
            self.host.remove_task(number);
        }
        choice.task.map(|number| Pick { task: self.task[number], slice_ns: None })
    }

    fn tick(&mut self, world: &World, cpu: usize, _reschedule: &mut Vec<usize>) {
        self.host.set_now(world.now_ns);
        self.host.tick(cpu, self.runtime_ns(world, cpu));
    }

    fn reschedules(&mut self, cpus: &mut Vec<usize>) {
        cpus.extend(self.host.take_reschedules());
    }

    fn decided(&mut self) -> Option<Decided> {
        let decided = self.sense.as_mut()?.decided(&mut self.host)?;
        let Charged { culprit, .. } = decided.charged;
        let culprit = culprit.map(|number| self.task[number]);
        let charged = Charged { culprit, ..decided.charged };
        Some(Decided { victim: self.task[decided.victim], charged, ..decided })
    }

    fn switch_specialization(&mut self, world: &World, is_on: bool) -> bool {
        self.host.set_now(world.now_ns);
        self.kinds.is_some()
            && self.host.set_variable("specialization_off", u32::from(!is_on)).is_ok()
    }

    fn specialization(&self, now_ns: u64) -> Option<SpecializationCounts> {
        self.kinds.as_ref().map(|kinds| kinds.counts(&self.host, now_ns))
    }

    fn timer_ns(&self) -> Option<u64> {
        let timer_ns = self.host.next_timer_ns().unwrap_or(u64::MAX);
        Some(timer_ns.min(self.watch_ns))
    }

    fn timer_fires(&mut self, world: &World) {
        self.host.set_now(world.now_ns);
        self.host.fire_timers();
        if self.watch_ns <= world.now_ns {
            self.host.check_watchdog();
            self.watch_ns = world.now_ns + self.host.watchdog_ns() / 2;
        }
    }

    fn failure(&self) -> Option<SimError> {
        if let Some(why) = &self.refused {
            return Some(SimError::Machine(why.clone()));
        }
        let exit = self.host.exit()?;
        Some(SimError::Ended { at_ns: exit.at_ns, why: exit.to_string() })
    }

    fn idle_cpu_for(&self, _world: &World, _task: usize) -> Option<usize> {
        None
    }
}
