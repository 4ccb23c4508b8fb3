//! The event loop: timers fire, programs go on, schedulers choose.

mod channel;
mod decisions;
mod give_up;
mod operate;
mod program;
mod warm_up;

use std::collections::{BTreeMap, VecDeque};

use cpu_model::CpuModel;
use hdrhistogram::Histogram;
use scenarios::Workload;
use trace::{Event, SwitchState};

use self::channel::Channel;
use crate::config::Config;
use crate::error::SimError;
use crate::operator::Operator;
use crate::outcome::{Outcome, PolicyRecord, Renewal, WarmUp};
use crate::recorder::tid;
use crate::sched::{By, Decided, Scheduler, Wake};
use crate::sensors::{Place, Sensors};
use crate::task::{self, Slice, State, Stop};
use crate::timers::{NEVER, Timer};
use crate::world::World;

/// More choices at one time than any machine makes.
const CHOICES_MAX: u32 = 1_000_000;
/// Longer wake-up latencies count as this.
const LATENCY_MAX_NS: u64 = 100_000_000_000;

struct Engine<'a, S> {
    world: World<'a>,
    scheduler: S,
    sensors: Sensors,
    workload: &'a Workload,
    /// CPUs that must choose again at this instant.
    reschedule: Vec<usize>,
    /// CPUs that a callback of the scheduler reschedules; empty between callbacks.
    rescheduled: Vec<usize>,
    /// By barrier: tasks that have arrived.
    barriers: Vec<Vec<usize>>,
    /// By lock: owner and queue.
    locks: Vec<(Option<usize>, VecDeque<usize>)>,
    /// By semaphore: its count and queue.
    semaphores: Vec<(u64, VecDeque<usize>)>,
    channels: Vec<Channel>,
    foreground_left: usize,
    warm_up: Option<WarmUp>,
    operator: Option<&'a mut dyn Operator>,
    /// What the operator asked for in vain.
    refused: Option<SimError>,
    repaid_ns: Vec<u64>,
    idle_compensation_ns: Vec<u64>,
    renewals: Vec<Renewal>,
    policy_records: Vec<PolicyRecord>,
    latency: Histogram<u64>,
    events: u64,
    switches: u64,
    migrations: u64,
}

pub(crate) fn run<'a, S: Scheduler>(
    model: &'a CpuModel,
    workload: &'a Workload,
    config: &'a Config,
    operator: Option<&'a mut dyn Operator>,
    scheduler: impl FnOnce(&World) -> Result<S, SimError>,
) -> Result<Outcome, SimError> {
    let world = World::new(model, workload, config)?;
    let scheduler = scheduler(&world)?;
    let ruled = world.tasks.iter().map(|task| task.ruled_level).collect();
    let of_thread = |thread: &scenarios::Thread| thread.application as usize;
    let application = workload.threads.iter().map(of_thread).collect();
    let sensors =
        Sensors::new(config, model, world.topology, application, ruled, &world.stream_numbers());
    let applications = workload.applications.len();
    let latency = Histogram::new_with_bounds(1, LATENCY_MAX_NS, 3)
        .map_err(|error| SimError::Machine(error.to_string()))?;
    let mut engine = Engine {
        foreground_left: world.tasks.iter().filter(|task| task.foreground).count(),
        world,
        scheduler,
        sensors,
        workload,
        reschedule: Vec::new(),
        rescheduled: Vec::new(),
        warm_up: None,
        operator,
        refused: None,
        barriers: vec![Vec::new(); workload.barriers.len()],
        locks: vec![(None, VecDeque::new()); workload.locks as usize],
        semaphores: vec![(0, VecDeque::new()); workload.semaphores as usize],
        channels: vec![Channel::default(); workload.channels as usize],
        repaid_ns: vec![0; applications * applications],
        idle_compensation_ns: vec![0; applications * applications],
        renewals: Vec::new(),
        policy_records: Vec::new(),
        latency,
        events: 0,
        switches: 0,
        migrations: 0,
    };
    let forked = workload.forked();
    for index in 0..workload.threads.len() {
        if !forked.contains(&(index as u32)) {
            let arrival_ns = engine.world.tasks[index].arrival_ns;
            engine.world.set_timer(Timer::TaskWakes(index), arrival_ns);
        }
    }
    engine.await_operator();
    engine.run()?;
    Ok(engine.finish())
}

impl<S: Scheduler> Engine<'_, S> {
    fn run(&mut self) -> Result<(), SimError> {
        loop {
            let (at_ns, slot) = self.world.timers.first();
            if at_ns > self.world.now_ns {
                self.world.settle();
                // Settling may set timers, never earlier than now.
                let (at_ns, _) = self.world.timers.first();
                if at_ns > self.world.now_ns {
                    if at_ns == NEVER && self.foreground_left > 0 {
                        return Err(self.deadlock());
                    }
                    if at_ns > self.world.config.limit_ns {
                        self.end_warm_up(self.world.config.limit_ns);
                        self.world.now_ns = self.world.config.limit_ns;
                        return Ok(());
                    }
                    self.end_warm_up(at_ns);
                    self.world.now_ns = at_ns;
                }
                continue;
            }
            self.world.timers.set(slot, NEVER);
            self.events += 1;
            if self.events > self.world.config.events_max {
                return Err(self.too_many_events());
            }
            self.fire(self.world.slots.timer(slot))?;
            self.choose()?;
            if let Some(failure) = self.scheduler.failure() {
                return Err(failure);
            }
            let timer_ns = self.scheduler.timer_ns().unwrap_or(NEVER);
            self.world.set_timer(Timer::Scheduler, timer_ns);
            if self.foreground_left == 0 {
                return Ok(());
            }
        }
    }

    fn fire(&mut self, timer: Timer) -> Result<(), SimError> {
        match timer {
            Timer::StepEnd(cpu) => self.step_ends(cpu),
            Timer::License(domain) => {
                self.license_advances(domain);
                Ok(())
            }
            Timer::TaskWakes(task) => {
                let was_there = self.world.tasks[task].last_cpu.is_some();
                let wake = match self.world.tasks[task].state {
                    State::Absent if was_there && self.world.now_ns > 0 => Wake::Woken(By::Timer),
                    State::Absent => Wake::New { by_cpu: None },
                    _ => Wake::Woken(match self.world.tasks[task].interrupt_on.take() {
                        Some(cpu) => By::Interrupt { cpu },
                        None => By::Timer,
                    }),
                };
                self.make_runnable(task, wake);
                Ok(())
            }
            Timer::SliceEnd(cpu) => {
                self.reschedule_now(cpu);
                Ok(())
            }
            Timer::Tick(cpu) => {
                self.tick(cpu);
                Ok(())
            }
            Timer::Scheduler => {
                self.scheduler.timer_fires(&self.world);
                self.follow_scheduler();
                Ok(())
            }
            Timer::Operator => self.operate(),
        }
    }

    fn license_advances(&mut self, domain: usize) {
        let world = &mut self.world;
        world.touch_domain(domain);
        let active = world.active_cores_of_domain(domain);
        world.domains[domain].advance(world.model, active, world.now_ns);
    }

    fn tick(&mut self, cpu: usize) {
        let Some(period_ns) = self.scheduler.tick_ns() else { return };
        let place = &self.world.cpus[cpu];
        if place.running.is_none() {
            return;
        }
        if place.is_paused {
            self.arm_tick(cpu, period_ns);
            return;
        }
        self.world.close(cpu);
        let mut cpus = std::mem::take(&mut self.rescheduled);
        self.scheduler.tick(&self.world, cpu, &mut cpus);
        for &other in &cpus {
            self.request(other);
        }
        cpus.clear();
        self.rescheduled = cpus;
        self.follow_scheduler();
        self.arm_tick(cpu, period_ns);
    }

    /// Ticks fall on multiples of the period, as on a machine without skewed ticks.
    fn arm_tick(&mut self, cpu: usize, period_ns: u64) {
        let next_ns = (self.world.now_ns / period_ns + 1) * period_ns;
        self.world.set_timer(Timer::Tick(cpu), next_ns);
    }

    /// The CPU is to choose again; an idle one has to wake up first.
    fn request(&mut self, cpu: usize) {
        let exit_ns = self.world.config.costs.idle_exit_ns;
        if exit_ns == 0 || self.world.cpus[cpu].running.is_some() {
            self.reschedule_now(cpu);
            return;
        }
        // An idle CPU has no slice that could end.
        let timer = Timer::SliceEnd(cpu);
        if self.world.timers.get(self.world.slots.slot(timer)) == NEVER {
            self.world.set_timer(timer, self.world.now_ns.saturating_add(exit_ns));
        }
    }

    fn reschedule_now(&mut self, cpu: usize) {
        if !self.reschedule.contains(&cpu) {
            self.reschedule.push(cpu);
        }
    }

    /// Refuses a scheduler whose choices make CPUs choose again for ever while no time passes.
    fn choose(&mut self) -> Result<(), SimError> {
        let mut left = CHOICES_MAX;
        while let Some(cpu) = self.reschedule.pop() {
            self.reschedule_cpu(cpu);
            left -= 1;
            if left == 0 {
                let why = "CPUs choose again for ever, and no time passes".to_owned();
                return Err(SimError::Ended { at_ns: self.world.now_ns, why });
            }
        }
        Ok(())
    }

    /// The running task's compute step is done.
    fn step_ends(&mut self, cpu: usize) -> Result<(), SimError> {
        self.world.close(cpu);
        let Some(task) = self.world.cpus[cpu].running else { return Ok(()) };
        if self.world.cpus[cpu].is_paused || !self.world.tasks[task].is_step_done() {
            // The task or its pace changed at this very instant; settling sets the timer anew.
            self.world.step_changes(cpu);
            return Ok(());
        }
        match self.follow_program(task, cpu)? {
            None => self.begin_phase(task, cpu),
            Some(stop) => self.leave(cpu, task, stop),
        }
        Ok(())
    }

    /// A task that slept, waited or just arrived wants to go on with its program.
    fn make_runnable(&mut self, task: usize, wake: Wake) {
        let now_ns = self.world.now_ns;
        let subject = &mut self.world.tasks[task];
        subject.state = State::Runnable;
        subject.runnable_since = Some(now_ns);
        subject.woken_at = Some(now_ns);
        let placed = self.scheduler.wake(&self.world, task, wake);
        self.record_wake(task, wake, placed.cpu);
        if let Some(cpu) = placed.reschedule {
            self.world.claim(cpu);
            self.request(cpu);
        }
        self.follow_scheduler();
    }

    fn record_wake(&mut self, task: usize, wake: Wake, placed: usize) {
        let last = self.world.tasks[task].last_cpu;
        let (by_cpu, on) = match wake {
            Wake::New { by_cpu } => (by_cpu, None),
            Wake::Woken(By::Task { cpu, .. }) => (Some(cpu), None),
            Wake::Woken(By::Interrupt { cpu }) => (None, Some(cpu)),
            Wake::Woken(By::Timer) => (None, last),
        };
        let by = by_cpu.and_then(|cpu| self.world.cpus[cpu].running).map_or(0, tid);
        let on = (by == 0).then(|| on.unwrap_or(placed) as u32);
        self.world.record(|| Event::Wake {
            task: tid(task),
            by,
            cpu: placed as u32,
            on,
            sync: None,
        });
    }

    /// A compute step with work begins on a CPU.
    fn begin_phase(&mut self, task: usize, cpu: usize) {
        self.record_phase(task);
        self.world.step_changes(cpu);
        self.use_registers(task, cpu);
    }

    fn record_phase(&mut self, task: usize) {
        let work = self.world.tasks[task].phase.work;
        self.world.record(|| Event::Phase {
            task: tid(task),
            class: work.class,
            rate_permille: work.rate_permille,
            stall_permille: work.stall_permille,
        });
    }

    /// Notes wide registers used in the slice; first use may trap.
    fn use_registers(&mut self, task: usize, cpu: usize) {
        let widened = self.note_registers(task, cpu);
        if self.sensors.traps(cpu) {
            self.add_overhead(task, cpu, widened * self.world.config.costs.trap_ns);
        }
        self.ask_for_widest(task, cpu);
    }

    /// Lets the scheduler forbid the widest registers on a CPU, or code that lowers the clock:
    /// then their use faults.
    fn ask_for_widest(&mut self, task: usize, cpu: usize) {
        let phase = &self.world.tasks[task].phase;
        if !self.sensors.faults(phase.work.class, phase.own_level) {
            return;
        }
        if self.scheduler.uses_widest(&self.world, cpu, task) {
            self.add_overhead(task, cpu, self.world.config.costs.trap_ns);
        }
        self.follow_scheduler();
    }

    /// Notes wide registers used in the slice, and by how many widths they exceed those before.
    fn note_registers(&mut self, task: usize, cpu: usize) -> u64 {
        let subject = &mut self.world.tasks[task];
        let work = subject.phase.work;
        let needed = self.world.model.level_demanded(work.class, 2 * work.rate_permille);
        subject.slice.needed_level = subject.slice.needed_level.max(needed);
        if work.class.is_heavy() && !work.integer {
            subject.slice.fp_level = subject.slice.fp_level.max(subject.phase.own_level);
        }
        let width = self.sensors.width_shown(cpu, work.class);
        if width <= subject.slice.width {
            return 0;
        }
        let widened = width - subject.slice.width;
        subject.slice.width = width;
        self.sensors.first_use(cpu, task, width);
        widened.into()
    }

    fn add_overhead(&mut self, task: usize, cpu: usize, ns: u64) {
        if ns == 0 {
            return;
        }
        let subject = &mut self.world.tasks[task];
        subject.overhead_left = subject.overhead_left.saturating_add(task::overhead_units(ns));
        self.world.step_changes(cpu);
        self.world.record(|| Event::Overhead { cpu: cpu as u32, ns });
    }

    /// The running task gives up its CPU of its own accord.
    fn leave(&mut self, cpu: usize, task: usize, stop: Stop) {
        self.account(cpu, task, stop);
        self.world.tasks[task].state = State::Blocked;
        self.world.tasks[task].between_phases();
        self.record_phase(task);
        if stop == Stop::Ended {
            self.end(task);
        }
        self.switch(cpu, Some((task, stop)));
    }

    fn end(&mut self, task: usize) {
        let now_ns = self.world.now_ns;
        let subject = &mut self.world.tasks[task];
        subject.state = State::Ended;
        subject.outcome.completion_ns = Some(now_ns - subject.arrival_ns);
        if subject.foreground {
            self.foreground_left -= 1;
        }
    }

    /// Accounts the running task's slice: sensors observe the slice, then the scheduler charges it.
    fn account(&mut self, cpu: usize, task: usize, stop: Stop) {
        self.world.close(cpu);
        let place = Place {
            cpu,
            turbo_row: self.world.row_of(cpu),
            first_row: self.world.first_row_of(cpu),
        };
        let now_ns = self.world.now_ns;
        let slice = std::mem::take(&mut self.world.tasks[task].slice);
        self.show_slice(cpu, task, &slice);
        let turbo = self.world.believed_turbo(cpu);
        let observed = self.sensors.stopped(place, task, &slice, stop, turbo, now_ns);
        self.world.cpus[cpu].since_ns = now_ns;
        let charged = self.scheduler.stop(&self.world, cpu, task, &observed, stop);
        self.decide(&Decided { cpu, victim: task, slice_ns: observed.slice.time_ns, charged });
        self.follow_decisions();
    }

    fn reschedule_cpu(&mut self, cpu: usize) {
        if self.world.cpus[cpu].is_paused {
            self.world.cpus[cpu].must_choose = true;
            return;
        }
        let prev = self.world.cpus[cpu].running;
        if let Some(task) = prev {
            self.account(cpu, task, Stop::Preempted);
            self.world.tasks[task].state = State::Runnable;
        }
        self.switch(cpu, prev.map(|task| (task, Stop::Preempted)));
    }

    /// Brings the scheduler's choice to the CPU; `prev` has been accounted.
    fn switch(&mut self, cpu: usize, prev: Option<(usize, Stop)>) {
        let pick = self.scheduler.pick(&self.world, cpu);
        self.follow_decisions();
        self.follow_scheduler();
        let slice_end_ns = pick
            .and_then(|pick| pick.slice_ns)
            .map_or(NEVER, |slice_ns| self.world.now_ns.saturating_add(slice_ns));
        self.world.set_timer(Timer::SliceEnd(cpu), slice_end_ns);
        let next = pick.map(|pick| pick.task);
        if let (Some((task, Stop::Preempted)), Some(next)) = (prev, next)
            && task == next
        {
            self.world.tasks[task].state = State::Running(cpu);
            self.sensors.started(cpu, task, self.world.now_ns);
            // A slice that follows another of the same task: no switch, no new trap.
            self.note_registers(task, cpu);
            self.ask_for_widest(task, cpu);
            self.note_renewal(task);
            return;
        }
        if let Some((task, _)) = prev {
            self.sensors.left(cpu, task, self.world.now_ns);
        }
        self.record_switch(cpu, prev, next);
        self.world.set_running(cpu, next);
        if let Some((task, Stop::Preempted)) = prev {
            self.world.tasks[task].runnable_since = Some(self.world.now_ns);
            if let Some(idle) = self.scheduler.idle_cpu_for(&self.world, task) {
                self.world.claim(idle);
                self.request(idle);
            }
        }
        if let Some(task) = next {
            self.start(cpu, task);
        }
        self.show_switch(cpu, next);
    }

    fn record_switch(&mut self, cpu: usize, prev: Option<(usize, Stop)>, next: Option<usize>) {
        let (prev, state) = match prev {
            None => (0, SwitchState::Runnable),
            Some((task, Stop::Preempted)) => (tid(task), SwitchState::Runnable),
            Some((task, Stop::Blocked)) => (tid(task), SwitchState::Blocked),
            Some((task, Stop::Ended)) => (tid(task), SwitchState::Dead),
        };
        let next = next.map_or(0, tid);
        if prev != next {
            self.world.record(|| Event::Switch { cpu: cpu as u32, prev, state, next });
        }
    }

    fn start(&mut self, cpu: usize, task: usize) {
        let now_ns = self.world.now_ns;
        self.switches += 1;
        let overhead_ns = self.switch_overhead_ns(cpu, task);
        let subject = &mut self.world.tasks[task];
        subject.slice = Slice::default();
        subject.outcome.slices += 1;
        if subject.last_cpu.is_some_and(|last| last != cpu) {
            subject.outcome.migrations += 1;
            self.migrations += 1;
        }
        subject.last_cpu = Some(cpu);
        if let Some(since_ns) = subject.runnable_since.take() {
            subject.outcome.waited_ns += now_ns - since_ns;
            subject.slice.waited_ns = now_ns - since_ns;
        }
        if let Some(woken_ns) = subject.woken_at.take()
            && subject.foreground
        {
            self.latency.saturating_record((now_ns - woken_ns).max(1));
        }
        self.add_overhead(task, cpu, overhead_ns);
        self.sensors.started(cpu, task, now_ns);
        let subject = &mut self.world.tasks[task];
        if subject.work_left == 0 && subject.computes_next() {
            // No other task can observe this step, so the step begins together with the overhead.
            subject.advance(self.world.model, now_ns);
            self.begin_phase(task, cpu);
        } else {
            self.use_registers(task, cpu);
        }
        if let Some(period_ns) = self.scheduler.tick_ns() {
            self.arm_tick(cpu, period_ns);
        }
    }

    /// Reference time that switching to the task costs: more for a task from another CPU.
    fn switch_overhead_ns(&self, cpu: usize, task: usize) -> u64 {
        let costs = &self.world.config.costs;
        let topology = &self.world.topology;
        let subject = &self.world.tasks[task];
        let Some(last) = subject.last_cpu.filter(|&last| last != cpu) else {
            return costs.switch_ns;
        };
        if topology.core_of(last) == topology.core_of(cpu) {
            return costs.switch_ns + costs.migration_ns;
        }
        let fetch_ns = u64::from(subject.phase.work.working_set_kib) * costs.migration_ns_per_kib;
        let factor = if topology.package_of(last) == topology.package_of(cpu) {
            1
        } else {
            costs.remote_package_factor.max(1)
        };
        // What is left of an earlier fetch is part of this one.
        let fetch_ns = (fetch_ns * factor).saturating_sub(subject.overhead_left_ns());
        costs.switch_ns + costs.migration_ns * factor + fetch_ns
    }

    fn finish(mut self) -> Outcome {
        for cpu in 0..self.world.topology.cpus {
            self.cut_slice(cpu);
        }
        let losses = self.losses();
        let specialization = self.scheduler.specialization(self.world.now_ns);
        let core_forced_idle_ns = self.scheduler.core_forced_idle_ns(self.world.now_ns);
        let world = self.world;
        let now_ns = world.now_ns;
        let ref_khz = world.model.turbo.ref_khz;
        let mut busy_ns = 0;
        let tasks = world
            .tasks
            .into_iter()
            .map(|task| {
                let mut outcome = task.outcome;
                outcome.ref_cycles = task::ref_cycles(task.done, ref_khz);
                outcome.lost_ns = (task.lost_q20 >> 20) as u64;
                if let Some(since_ns) = task.runnable_since {
                    outcome.waited_ns += now_ns - since_ns;
                }
                busy_ns += outcome.cpu_time_ns;
                outcome
            })
            .collect();
        let facts = BTreeMap::from([
            ("seed".to_owned(), world.config.seed.to_string()),
            ("scheduler".to_owned(), world.config.scheduler.name().to_owned()),
        ]);
        let cpu = world.model.name.clone();
        Outcome {
            tasks,
            losses,
            simulated_ns: now_ns,
            warm_up: self.warm_up,
            completed: self.foreground_left == 0,
            level_ns: world.level_ns,
            throttled_ns: world.throttled_ns,
            busy_ns,
            idle_ns: (now_ns * world.topology.cpus as u64)
                .saturating_sub(busy_ns + world.paused_ns),
            paused_ns: world.paused_ns,
            switches: self.switches,
            migrations: self.migrations,
            events: self.events,
            wake_latency_ns: self.latency,
            history: world.recorder.map(|recorder| recorder.finish(now_ns, &cpu, facts)),
            renewals: self.renewals,
            policy_records: self.policy_records,
            specialization,
            core_forced_idle_ns,
        }
    }
}
