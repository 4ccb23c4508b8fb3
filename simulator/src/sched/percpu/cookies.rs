//! Core scheduling on CFS: the siblings of a core run tasks with the same cookie, or idle.
//!
//! Rules of `pick_next_task` with `CONFIG_SCHED_CORE` (`kernel/sched/core.c`, 5.14), where each
//! application is a cookie, as D 6.5.1 sets them. A choice on one CPU is one for its core: the
//! task that is least served decides the cookie, by its distance to the least virtual runtime of
//! its queue at the time when the core last had no forced idle (`min_vruntime_fi`). A CPU without
//! a task of the cookie takes one from the nearest CPU (`sched_core_balance`), or is forced idle.
//! Left out: cookies in the choice of a CPU for a waking task, and in balancing.

use super::{PerCpu, balance};
use crate::sched::cfs::Cfs;
use crate::sched::percpu::Discipline;
use crate::sched::{Charged, Pick, Placed, Scheduler, Wake};
use crate::sensors::Observed;
use crate::task::Stop;
use crate::world::World;

/// CFS with cookies.
pub(crate) struct CoreScheduling {
    kernel: PerCpu<Cfs>,
    /// By core: the cookie of its tasks.
    cookies: Vec<Option<usize>>,
    /// By CPU: the least virtual runtime when the core last had no forced idle.
    bases: Vec<i64>,
    /// By CPU: a sibling decided the cookie at this instant.
    follows: Vec<bool>,
    /// By CPU: since when it is forced idle.
    forced_since_ns: Vec<Option<u64>>,
    forced_idle_ns: u64,
    /// CPUs that must choose again.
    kicked: Vec<usize>,
}

impl CoreScheduling {
    pub(crate) fn new(world: &World, kernel: PerCpu<Cfs>) -> Self {
        let cpus = world.topology.cpus;
        Self {
            kernel,
            cookies: vec![None; world.topology.cores],
            bases: vec![0; cpus],
            follows: vec![false; cpus],
            forced_since_ns: vec![None; cpus],
            forced_idle_ns: 0,
            kicked: Vec::new(),
        }
    }

    /// Decides which cookie the core of a CPU runs, and has siblings choose that this concerns.
    fn choose_cookie(&mut self, world: &World, cpu: usize) {
        let core = world.topology.core_of(cpu);
        let cookie_of = |task: usize| world.tasks[task].application;
        let mut best: Option<(i64, bool, usize)> = None;
        for other in world.topology.cpus_of_core(core) {
            self.kernel.discipline.update(other, world.now_ns);
            let first = self.kernel.discipline.first_of(other, |_| true);
            if let Some((vruntime, task)) = first {
                let candidate = (vruntime - self.bases[other], other != cpu, cookie_of(task));
                best = Some(best.map_or(candidate, |best| best.min(candidate)));
            }
        }
        let cookie = best.map(|(.., cookie)| cookie);
        self.cookies[core] = cookie;
        let mut forces_idle = false;
        for other in world.topology.cpus_of_core(core) {
            let is_of_cookie = |task: usize| Some(cookie_of(task)) == cookie;
            let fits = self.kernel.discipline.first_of(other, is_of_cookie).is_some();
            forces_idle |= !fits && self.kernel.queues[other].nr > 0;
            let changes = match world.cpus[other].running {
                Some(task) => !is_of_cookie(task),
                None => fits,
            };
            if other != cpu && changes {
                self.follows[other] = true;
                self.kicked.push(other);
            }
        }
        if !forces_idle {
            for other in world.topology.cpus_of_core(core) {
                self.bases[other] = self.kernel.discipline.least_vruntime(other);
            }
        }
    }

    /// The first task of a cookie, of the CPU's queue or of the nearest that has one to spare.
    fn pick_cookie(&mut self, world: &World, cpu: usize, cookie: usize) -> Option<usize> {
        let is_of_cookie = |task: usize| world.tasks[task].application == cookie;
        let own = self.kernel.discipline.pick_of(cpu, world.now_ns, is_of_cookie);
        if own.is_some() {
            return own;
        }
        let cpus = world.topology.cpus;
        let stolen = (1..cpus).find_map(|step| {
            let from = (cpu + step) % cpus;
            let spare = |task: usize| {
                is_of_cookie(task)
                    && self.kernel.queues[from].running != Some(task)
                    && world.affinities.masks[world.tasks[task].mask].contains(cpu)
            };
            self.kernel.discipline.first_of(from, spare).map(|(_, task)| task)
        })?;
        self.kernel.migrate(world, stolen, cpu);
        self.kernel.discipline.pick_of(cpu, world.now_ns, is_of_cookie)
    }

    fn end_forced_idle(&mut self, cpu: usize, now_ns: u64) {
        if let Some(since_ns) = self.forced_since_ns[cpu].take() {
            self.forced_idle_ns += now_ns - since_ns;
        }
    }

    fn sibling_is_forced_idle(&self, world: &World, cpu: usize) -> bool {
        let mut siblings = world.topology.cpus_of_core(world.topology.core_of(cpu));
        siblings.any(|sibling| self.forced_since_ns[sibling].is_some())
    }
}

impl Scheduler for CoreScheduling {
    fn tick_ns(&self) -> Option<u64> {
        self.kernel.tick_ns()
    }

    fn wake(&mut self, world: &World, task: usize, wake: Wake) -> Placed {
        self.kernel.wake(world, task, wake)
    }

    fn stop(
        &mut self,
        world: &World,
        cpu: usize,
        task: usize,
        observed: &Observed,
        stop: Stop,
    ) -> Charged {
        self.kernel.stop(world, cpu, task, observed, stop)
    }

    fn pick(&mut self, world: &World, cpu: usize) -> Option<Pick> {
        let now_ns = world.now_ns;
        self.end_forced_idle(cpu, now_ns);
        self.kernel.sync_queue(cpu, now_ns);
        self.kernel.push_stopped(world, cpu);
        let has_tasks = self.kernel.balance_newly_idle(world, cpu);
        if !std::mem::take(&mut self.follows[cpu]) {
            self.choose_cookie(world, cpu);
        }
        let cookie = self.cookies[world.topology.core_of(cpu)];
        let task = cookie.and_then(|cookie| self.pick_cookie(world, cpu, cookie));
        let Some(task) = task else {
            if has_tasks {
                self.forced_since_ns[cpu] = Some(now_ns);
            } else {
                self.kernel.go_idle(world, cpu);
            }
            return None;
        };
        Some(self.kernel.note_run(cpu, task, now_ns))
    }

    fn tick(&mut self, world: &World, cpu: usize, reschedule: &mut Vec<usize>) {
        self.kernel.tick(world, cpu, reschedule);
        // `task_tick_core`: a task alone in its queue gives way to the queue of a sibling.
        if self.kernel.queues[cpu].nr == 1
            && self.sibling_is_forced_idle(world, cpu)
            && self.kernel.discipline.has_used_half_a_slice(cpu)
        {
            balance::request(reschedule, cpu);
        }
    }

    fn reschedules(&mut self, cpus: &mut Vec<usize>) {
        cpus.append(&mut self.kicked);
    }

    fn idle_cpu_for(&self, world: &World, task: usize) -> Option<usize> {
        let idle = self.kernel.idle_cpu_for(world, task)?;
        self.forced_since_ns[idle].is_none().then_some(idle)
    }

    fn core_forced_idle_ns(&self, now_ns: u64) -> Option<u64> {
        let open = self.forced_since_ns.iter().flatten().map(|since_ns| now_ns - since_ns);
        Some(self.forced_idle_ns + open.sum::<u64>())
    }
}
