//! The machine during a run: which task runs on which CPU, at which rate, and which tasks cause
//! losses.

use cpu_model::{CpuModel, LEVELS_MAX, License, LicenseDomain, Turbo};
use scenarios::Workload;
use trace::Event;

use crate::arrivals::arrivals;
use crate::clocks::Clocks;
use crate::config::Config;
use crate::cpu::Cpu;
use crate::domain::{Domain, Load, Runner};
use crate::error::SimError;
use crate::holds::Holds;
use crate::rate::{self, Known, Pace, Situation};
use crate::recorder::Recorder;
use crate::refuse::{refuse_steady_cores, refuse_unknown_class};
use crate::task::{State, Task};
use crate::timers::{NEVER, Slots, Timer, WinnerTree};
use crate::topology::{Affinities, Mask, Topology};

/// Losses are kept for each pair of applications.
const APPLICATIONS_MAX: usize = 512;

#[derive(Clone, Debug)]
struct Package {
    active: u32,
    /// Of the turbo table.
    rows: policy::Active,
}

impl Package {
    fn row(&self) -> usize {
        self.rows.row as usize
    }
}

/// Everything but the queues.
pub(crate) struct World<'a> {
    pub now_ns: u64,
    pub model: &'a CpuModel,
    pub clocks: Clocks<'a>,
    holds: Holds<'a>,
    pub config: &'a Config,
    pub topology: Topology,
    pub affinities: Affinities,
    pub tasks: Vec<Task>,
    pub cpus: Vec<Cpu>,
    pub idle: Mask,
    /// Cores whose CPUs are all in `idle`.
    pub idle_cores: Mask,
    /// Cores with a running task, as of the last settling.
    active_cores: Mask,
    pub domains: Vec<Domain>,
    pub timers: WinnerTree,
    pub slots: Slots,
    pub recorder: Option<Recorder>,
    pub level_ns: [u64; LEVELS_MAX],
    pub throttled_ns: u64,
    /// Sum over CPUs of the time for which the operator paused them.
    pub paused_ns: u64,
    /// Lost 2^-20 ns, by victim and culprit application.
    pub losses_q20: Vec<u128>,
    pub applications: usize,
    packages: Vec<Package>,
    /// Active cores that hold whatever runs, where the scenario says so.
    pub turbo_cores: Option<u32>,
    known: Known,
    /// Packages whose number of active cores changed.
    recounted: Mask,
    dirty: Vec<usize>,
    runners: Vec<Runner>,
    is_dirty: Mask,
}

/// The tasks of all threads; refuses threads that no CPU can run.
fn tasks(
    model: &CpuModel,
    workload: &Workload,
    config: &Config,
    masks: Vec<Option<usize>>,
) -> Result<Vec<Task>, SimError> {
    let mut tasks = Vec::with_capacity(workload.threads.len());
    let arrivals = arrivals(workload, config);
    for ((thread, mask), arrival_ns) in workload.threads.iter().zip(masks).zip(arrivals) {
        let application = &workload.applications[thread.application as usize];
        let foreground = application.role == scenarios::Role::Foreground;
        refuse_unknown_class(model, thread)?;
        let mask = mask.ok_or_else(|| SimError::NoCpu { thread: thread.name.clone() })?;
        tasks.push(Task::new(thread, foreground, mask, arrival_ns, model, config.seed));
    }
    Ok(tasks)
}

impl<'a> World<'a> {
    pub(crate) fn new(
        model: &'a CpuModel,
        workload: &'a Workload,
        config: &'a Config,
    ) -> Result<Self, SimError> {
        let topology = Topology::new(&workload.machine);
        if topology.cpus == 0 {
            return Err(SimError::Machine("the machine has no CPU".into()));
        }
        let (affinities, masks) =
            Affinities::new(&topology, workload.threads.iter().map(|thread| &thread.affinity));
        let tasks = tasks(model, workload, config, masks)?;
        refuse_steady_cores(model, config)?;
        let domains = Domain::of_machine(model, &topology, config.steady_cores_permille);
        let slots = Slots::new(topology.cpus, domains.len(), tasks.len());
        let applications = workload.applications.len();
        if applications > APPLICATIONS_MAX {
            return Err(SimError::Machine(format!(
                "{applications} applications; losses are kept for at most {APPLICATIONS_MAX}"
            )));
        }
        Ok(Self {
            now_ns: 0,
            model,
            clocks: Clocks::new(model, &topology, config.sensor_faults),
            holds: Holds::new(model, config),
            config,
            affinities,
            cpus: vec![Cpu::new(); topology.cpus],
            idle: Mask::full(topology.cpus),
            idle_cores: Mask::full(topology.cores),
            active_cores: Mask::empty(topology.cores),
            domains,
            timers: WinnerTree::new(slots.count()),
            slots,
            recorder: config
                .history
                .then(|| Recorder::new(workload, License::new().effect(&model.license))),
            level_ns: [0; LEVELS_MAX],
            throttled_ns: 0,
            paused_ns: 0,
            losses_q20: vec![0; applications * applications],
            applications,
            packages: vec![
                Package {
                    active: 0,
                    rows: policy::Active::always(
                        model.turbo.row(workload.machine.turbo_cores.unwrap_or(0))
                    ),
                };
                topology.packages
            ],
            turbo_cores: workload.machine.turbo_cores,
            known: Known::new(rate::Machine {
                ref_khz: model.turbo.ref_khz,
                smt_share_permille: config.smt_share_permille,
            }),
            recounted: Mask::empty(topology.packages),
            dirty: Vec::new(),
            runners: Vec::new(),
            is_dirty: Mask::empty(topology.cores),
            topology,
            tasks,
        })
    }

    /// Numbers of the random streams of all tasks.
    pub(crate) fn stream_numbers(&self) -> Vec<u64> {
        self.tasks.iter().map(|task| task.number).collect()
    }

    pub(crate) fn set_timer(&mut self, timer: Timer, at_ns: u64) {
        self.timers.set(self.slots.slot(timer), at_ns);
    }

    pub(crate) fn record(&mut self, event: impl FnOnce() -> Event) {
        let now_ns = self.now_ns;
        if let Some(recorder) = &mut self.recorder {
            recorder.push(now_ns, event());
        }
    }

    /// An idle CPU that the task may use, the nearest to `cpu`: itself if its core is
    /// idle, an idle core of the package, itself, an idle sibling, any idle CPU.
    pub(crate) fn idle_cpu_near(&self, task: usize, cpu: usize) -> Option<usize> {
        self.idle_cpu_within(&self.affinities.masks[self.tasks[task].mask], cpu)
    }

    /// The same for any set of CPUs.
    pub(crate) fn idle_cpu_within(&self, mask: &Mask, cpu: usize) -> Option<usize> {
        if self.idle.is_empty() {
            return None;
        }
        let free = |cpu: usize| self.idle.contains(cpu) && mask.contains(cpu);
        let core = self.topology.core_of(cpu);
        if free(cpu) && self.idle_cores.contains(core) {
            return Some(cpu);
        }
        let package = self.topology.package_of(cpu);
        let cores = self.topology.cores_of_package(package);
        if let Some(found) = self.cpu_of_idle_core(mask, cores) {
            return Some(found);
        }
        if free(cpu) {
            return Some(cpu);
        }
        let siblings = self.topology.cpus_of_core(core);
        let own_package = self.topology.cpus_of_package(package);
        self.idle
            .first_common(mask, siblings)
            .or_else(|| self.idle.first_common(mask, own_package))
            .or_else(|| self.cpu_of_idle_core(mask, 0..self.topology.cores))
            .or_else(|| self.idle.first_common(mask, 0..self.topology.cpus))
    }

    fn cpu_of_idle_core(&self, mask: &Mask, cores: std::ops::Range<usize>) -> Option<usize> {
        let mut start = cores.start;
        while let Some(core) = self.idle_cores.first_common(&self.idle_cores, start..cores.end) {
            let cpus = self.topology.cpus_of_core(core);
            if let Some(cpu) = self.idle.first_common(mask, cpus) {
                return Some(cpu);
            }
            start = core + 1;
        }
        None
    }

    fn domain_of(&self, core: usize) -> usize {
        match self.model.license_domain {
            LicenseDomain::Core => core,
            LicenseDomain::Package => self.topology.package_of_core(core),
        }
    }

    /// The frequencies of a CPU as the policy believes them to be.
    pub(crate) fn believed_turbo(&self, cpu: usize) -> &Turbo {
        self.clocks.believed(self.topology.core_of(cpu))
    }

    /// The row of the turbo table in force for a CPU.
    pub(crate) fn row_of(&self, cpu: usize) -> usize {
        self.packages[self.topology.package_of(cpu)].row()
    }

    /// The first row that was in force for a CPU since its task was last accounted.
    pub(crate) fn first_row_of(&self, cpu: usize) -> usize {
        self.packages[self.topology.package_of(cpu)].rows.since(self.cpus[cpu].since_ns)
    }

    /// Books the progress and losses of the running task until now: nothing, in most calls.
    #[inline(always)]
    pub(crate) fn close(&mut self, cpu: usize) {
        let place = &mut self.cpus[cpu];
        let dt = self.now_ns - place.booked_ns;
        if dt == 0 {
            return;
        }
        place.booked_ns = self.now_ns;
        if place.is_paused {
            place.counted.add_time(&place.pace, dt);
            self.paused_ns += dt;
        } else if let Some(running) = place.running {
            self.book(cpu, running, dt);
        }
    }

    #[inline(never)]
    fn book(&mut self, cpu: usize, running: usize, dt: u64) {
        let pace = self.cpus[cpu].pace;
        let task = &mut self.tasks[running];
        let units = pace.rate_q20 * dt;
        let overhead = units.min(task.overhead_left);
        task.overhead_left -= overhead;
        let work = (units - overhead).min(task.work_left);
        task.work_left -= work;
        task.done = task.done.saturating_add(work);
        task.outcome.cpu_time_ns += dt;

        let slice = &mut task.slice;
        slice.time_ns += dt;
        if pace.khz > 0 {
            let cycles_e6 = u64::from(pace.khz) * dt;
            slice.cycles_e6 += cycles_e6;
            slice.counted_ns += dt;
            slice.level_cycles_e6[usize::from(pace.level)] += cycles_e6;
            let work = &task.phase.work;
            if work.class.is_heavy() && !work.integer {
                let retired_e9 = cycles_e6 * u64::from(work.rate_permille);
                slice.retired_e9[usize::from(work.class.width() > 1)] += retired_e9;
            }
            if pace.throttled {
                slice.throttled_cycles_e6 += cycles_e6;
            }
            slice.stall_cycles_e6 += ((cycles_e6 >> 10) * pace.stalled_q20) >> 10;
        }
        self.level_ns[usize::from(pace.level)] += dt;
        if pace.throttled {
            self.throttled_ns += dt;
        }
        if pace.lost_q20 > 0 {
            let lost = pace.lost_q20 * dt;
            task.lost_q20 += u128::from(lost);
            task.slice.lost_q20 += lost;
            self.blame(cpu, running, lost);
        }
    }

    /// Books a loss to the tasks that hold the level above the victim's own.
    fn blame(&mut self, cpu: usize, victim: usize, lost: u64) {
        let culprits = &self.cpus[cpu].culprits;
        let row = self.tasks[victim].application * self.applications;
        if culprits.is_empty() {
            self.losses_q20[row + self.tasks[victim].application] += u128::from(lost);
            return;
        }
        // The last one's part is what is left: a division is needed for more than one.
        let share = if culprits.len() == 1 { lost } else { lost / culprits.len() as u64 };
        let mut left = lost;
        for (index, &task) in culprits.iter().enumerate() {
            let part = if index + 1 == culprits.len() { left } else { share };
            left -= part;
            let culprit = self.tasks[task as usize].application;
            self.losses_q20[row + culprit] += u128::from(part);
        }
        self.tasks[victim].slice.lost_to = culprits.last().copied();
    }

    /// The running set, a phase or the license of a core changed.
    pub(crate) fn touch(&mut self, core: usize) {
        if !self.is_dirty.contains(core) {
            self.is_dirty.insert(core);
            self.dirty.push(core);
        }
    }

    pub(crate) fn touch_domain(&mut self, domain: usize) {
        match self.model.license_domain {
            LicenseDomain::Core => self.touch(domain),
            LicenseDomain::Package => {
                for core in self.topology.cores_of_package(domain) {
                    self.touch(core);
                }
            }
        }
    }

    /// Puts the changes of this instant into force: turbo rows, demands, rates, timers.
    pub(crate) fn settle(&mut self) {
        if self.dirty.is_empty() {
            return;
        }
        self.settle_turbo_rows();
        self.settle_demands();
        // Slots of equal times must not depend on the order of the changes.
        for index in 0..self.dirty.len() {
            let core = self.dirty[index];
            self.settle_rates(core);
            self.is_dirty.remove(core);
        }
        self.dirty.clear();
    }

    fn settle_turbo_rows(&mut self) {
        for index in 0..self.dirty.len() {
            let core = self.dirty[index];
            let cpus = &self.cpus[self.topology.cpus_of_core(core)];
            let active = cpus.iter().any(Cpu::is_busy);
            if active == self.active_cores.contains(core) {
                continue;
            }
            let package = self.topology.package_of_core(core);
            if active {
                self.active_cores.insert(core);
                self.packages[package].active += 1;
            } else {
                self.active_cores.remove(core);
                self.packages[package].active -= 1;
            }
            self.recounted.insert(package);
        }
        while let Some(package) = self.recounted.take_first() {
            self.settle_turbo_row(package);
        }
    }

    fn settle_turbo_row(&mut self, package: usize) {
        let active = self.turbo_cores.unwrap_or(self.packages[package].active);
        let row = self.model.turbo.row(active);
        if row == self.packages[package].row() {
            return;
        }
        self.packages[package].rows.note(row, self.now_ns);
        for core in self.topology.cores_of_package(package) {
            if self.active_cores.contains(core) {
                self.touch(core);
            }
        }
    }

    fn settle_demands(&mut self) {
        let mut runners = std::mem::take(&mut self.runners);
        let mut done = 0;
        while done < self.dirty.len() {
            let core = self.dirty[done];
            done += 1;
            let index = self.domain_of(core);
            if self.model.license_domain == LicenseDomain::Package {
                self.touch_domain(index);
            }
            self.runners(index, &mut runners);
            let package = &self.packages[self.topology.package_of_core(core)];
            let load = Load { active_cores: package.active, turbo_row: package.row() };
            self.domains[index].update(self.model, &self.holds, &runners, load, self.now_ns);
            self.set_timer(Timer::License(index), self.domains[index].due_ns);
        }
        self.runners = runners;
    }

    fn runners(&self, domain: usize, runners: &mut Vec<Runner>) {
        runners.clear();
        let cpus = match self.model.license_domain {
            LicenseDomain::Core => self.topology.cpus_of_core(domain),
            LicenseDomain::Package => self.topology.cpus_of_package(domain),
        };
        for (cpu, place) in cpus.clone().zip(&self.cpus[cpus]) {
            if place.is_paused {
                runners.push(Runner::spinner(cpu as u32, self.topology.core_of(cpu) as u32));
            } else if let Some(task) = place.running {
                let phase = &self.tasks[task].phase;
                runners.push(Runner {
                    task: task as u32,
                    cpu: cpu as u32,
                    core: self.topology.core_of(cpu) as u32,
                    class: phase.work.class,
                    rate_permille: phase.work.rate_permille,
                    stall_permille: phase.work.stall_permille,
                    own_level: phase.own_level,
                });
            }
        }
    }

    fn settle_rates(&mut self, core: usize) {
        let index = self.domain_of(core);
        let domain = &self.domains[index];
        let (effect, level_in_question) = (domain.effect, domain.level_in_question);
        let widening = if domain.is_widening { domain.demand.width } else { 0 };
        let row = self.packages[self.topology.package_of_core(core)].row();
        if let Some(recorder) = &mut self.recorder {
            let active = self.active_cores.contains(core);
            let khz = if active { self.clocks.of(core).khz(row, effect.level) } else { 0 };
            recorder.core(self.now_ns, core, effect, khz);
        }
        let range = self.domains[index].range_of(core);
        if range.len() < self.topology.threads_per_core {
            for cpu in self.topology.cpus_of_core(core) {
                if !self.cpus[cpu].is_busy() {
                    self.set_timer(Timer::StepEnd(cpu), NEVER);
                }
            }
        }
        for at in range.clone() {
            let runners = &self.domains[index].runners()[range.clone()];
            let runner = runners[at - range.start];
            let sibling = if at == range.start { runners.get(1) } else { runners.first() };
            let own_level = runner.own_level;
            let (license_permille, level) = if self.config.private_licenses {
                (1000, own_level)
            } else {
                (effect.rate_permille, effect.level)
            };
            let situation = Situation {
                row,
                is_slow: self.clocks.is_slow(core),
                level,
                license_permille,
                stall_permille: runner.stall_permille,
                sibling_stall_permille: sibling.map(|sibling| sibling.stall_permille),
                own_level,
                loses: !runner.is_spinner()
                    && (level_in_question > own_level || widening > runner.class.width()),
            };
            let key = situation.key();
            let place = &self.cpus[runner.cpu as usize];
            if place.is_armed && place.pace_key == key && place.pace.lost_q20 == 0 {
                continue;
            }
            let pace = *self.known.pace(self.clocks.of(core), &situation, key);
            self.set_pace(&runner, index, key, &pace);
        }
    }

    #[inline]
    fn set_pace(&mut self, runner: &Runner, domain: usize, key: u64, pace: &Pace) {
        let (cpu, running) = (runner.cpu as usize, runner.task as usize);
        let place = &mut self.cpus[cpu];
        let is_unchanged = place.is_armed && (place.pace_key == key || place.pace == *pace);
        place.pace_key = key;
        if is_unchanged && pace.lost_q20 == 0 {
            return;
        }
        self.close(cpu);
        let place = &mut self.cpus[cpu];
        place.pace = *pace;
        if pace.lost_q20 > 0 {
            place.culprits.clear();
            for &task in self.domains[domain].culprits(runner.own_level) {
                if task as usize != running {
                    place.culprits.push(task);
                }
            }
        }
        if is_unchanged {
            return;
        }
        let due_ns = if pace.rate_q20 == 0 || runner.is_spinner() {
            NEVER
        } else {
            let task = &self.tasks[running];
            let units = task.work_left.saturating_add(task.overhead_left);
            self.now_ns.saturating_add(units.div_ceil(pace.rate_q20))
        };
        place.is_armed = true;
        self.set_timer(Timer::StepEnd(cpu), due_ns);
    }

    /// The step, its overhead or the task of a CPU is about to change.
    pub(crate) fn step_changes(&mut self, cpu: usize) {
        self.close(cpu);
        self.cpus[cpu].is_armed = false;
        self.touch(self.topology.core_of(cpu));
    }

    /// Puts a task on a CPU or takes the CPU from its task; the engine keeps times and queues.
    pub(crate) fn set_running(&mut self, cpu: usize, task: Option<usize>) {
        self.step_changes(cpu);
        self.cpus[cpu].running = task;
        self.cpus[cpu].switches += 1;
        self.cpus[cpu].since_ns = self.now_ns;
        match task {
            Some(task) => {
                self.claim(cpu);
                self.tasks[task].state = State::Running(cpu);
            }
            None => {
                self.idle.insert(cpu);
                let core = self.topology.core_of(cpu);
                if self.topology.cpus_of_core(core).all(|cpu| self.idle.contains(cpu)) {
                    self.idle_cores.insert(core);
                }
            }
        }
    }

    /// Takes a CPU out of the idle set: a task is about to run there.
    pub(crate) fn claim(&mut self, cpu: usize) {
        self.idle.remove(cpu);
        self.idle_cores.remove(self.topology.core_of(cpu));
    }

    /// Active cores of the package that a license domain belongs to.
    pub(crate) fn active_cores_of_domain(&self, domain: usize) -> u32 {
        let package = match self.model.license_domain {
            LicenseDomain::Core => self.topology.package_of_core(domain),
            LicenseDomain::Package => domain,
        };
        self.packages[package].active
    }
}
