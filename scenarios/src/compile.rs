//! Turns a case of a scenario into the workload that runs.

use std::collections::BTreeMap;

use cpu_model::Class;

use crate::deadlock;
use crate::error::ScenarioError;
use crate::fields::Place;
use crate::number::Parameters;
use crate::program::{Amounts, Names, Placebo, Program, Scope, Sync};
use crate::scenario::{
    ApplicationSpec, CPUS_MAX, Case, MachineDefaults, MachineSpec, Scenario, THREADS_MAX, Variant,
};
use crate::workload::{Application, Barrier, CpuSet, Machine, Role, Step, Thread, Workload};

/// Most steps of all programs together.
const STEPS_MAX: usize = 4 << 20;
/// Distinguishes the random streams of the background from those of the foreground.
const BACKGROUND_STREAM: u64 = 1 << 63;

impl Scenario {
    /// The workload of a case.
    ///
    /// `fit` selects a parameter set of [`Scenario::fits`] (modulo their number); `overrides` win
    /// over it.
    ///
    /// # Errors
    /// A parameter that does not exist or leads to a value out of range, threads that deadlock,
    /// or a machine larger than the CPU's.
    ///
    /// # Panics
    /// When the case is none of [`Scenario::cases`].
    pub fn workload(
        &self,
        case: Case,
        fit: Option<usize>,
        overrides: &BTreeMap<String, f64>,
        machine: &MachineDefaults,
    ) -> Result<Workload, ScenarioError> {
        let parameters = self.parameters_with(fit, overrides)?;
        self.compile(case, &parameters, machine, false)?.finish()
    }

    /// The placebo of a case: the same workload, but each class that differs from the control's
    /// is the control's, and so is the speed of the build. Bursts stay apart as if their classes
    /// differed. Beside a background with applications of its own all work is scalar.
    ///
    /// # Errors
    /// As [`Scenario::workload`].
    ///
    /// # Panics
    /// When the case is none of [`Scenario::cases`].
    pub fn placebo(
        &self,
        case: Case,
        fit: Option<usize>,
        overrides: &BTreeMap<String, f64>,
        machine: &MachineDefaults,
    ) -> Result<Workload, ScenarioError> {
        let parameters = self.parameters_with(fit, overrides)?;
        self.compile(case, &parameters, machine, true)?.finish()
    }

    /// Backgrounds whose applications are not those of the control by construction: they may
    /// differ from it in more than classes.
    pub fn unlike_control(&self) -> impl Iterator<Item = &str> {
        let control = &self.background[self.control()];
        let differs = |variant: &&Variant| {
            let has_own = !variant.is_like && !variant.applications.is_empty();
            !variant.control
                && (has_own || variant.applications.len() != control.applications.len())
        };
        self.background.iter().filter(differs).map(|variant| variant.name.as_str())
    }

    fn compile<'s>(
        &'s self,
        case: Case,
        parameters: &'s Parameters,
        machine: &MachineDefaults,
        is_placebo: bool,
    ) -> Result<Compiler<'s>, ScenarioError> {
        let resolved = resolve_machine(&self.machine, machine)?;
        let variant = &self.background[case.background];
        let control = &self.background[self.control()];
        let build = if is_placebo { control } else { variant };
        let time_scale = build.time_scale.get(parameters, 0.01, 100.0)?;
        let own = !variant.control && !variant.is_like;
        let placebo = is_placebo.then_some(Placebo { classes: &control.classes, strips: own });
        let mut compiler = Compiler {
            amounts: Amounts {
                parameters,
                classes: &variant.classes,
                khz: machine.ref_khz,
                time_scale: 1.0,
                placebo: placebo.map(|placebo| Placebo { strips: false, ..placebo }),
            },
            cpus: resolved.cpus(),
            steps: 0,
            names: Names::default(),
            places: Vec::new(),
            workload: Workload {
                machine: resolved,
                applications: Vec::new(),
                threads: Vec::new(),
                barriers: Vec::new(),
                locks: 0,
                semaphores: 0,
                channels: 0,
            },
        };
        for (i, application) in self.foreground.iter().enumerate() {
            if case.foreground.is_none_or(|only| only == i) {
                compiler.add(application, Role::Foreground, (i as u64) << 32)?;
            }
        }
        compiler.amounts.time_scale = time_scale;
        compiler.amounts.placebo = placebo;
        for (i, application) in variant.applications.iter().enumerate() {
            let stream = BACKGROUND_STREAM | (i as u64) << 32;
            compiler.add(application, Role::Background, stream)?;
        }
        compiler.count_syncs();
        Ok(compiler)
    }

    fn parameters_with(
        &self,
        fit: Option<usize>,
        overrides: &BTreeMap<String, f64>,
    ) -> Result<Parameters, ScenarioError> {
        let mut parameters = self.parameters.clone();
        if let Some(fit) = fit.filter(|_| !self.fits.is_empty()) {
            parameters.extend(self.fits[fit % self.fits.len()].clone());
        }
        for (name, &value) in overrides {
            let Some(parameter) = parameters.get_mut(name) else {
                let known: Vec<_> = self.parameters.keys().map(String::as_str).collect();
                return Err(ScenarioError::NoParameter {
                    file: self.file.clone(),
                    name: crate::error::printable(name),
                    known: if known.is_empty() {
                        "none; this scenario has no parameters".into()
                    } else {
                        known.join(", ")
                    },
                });
            };
            *parameter = value;
        }
        Ok(parameters)
    }

    /// Compiles every case, on the scenario's machine, with defaults for values that it omits.
    pub(crate) fn check(&self) -> Result<(), ScenarioError> {
        let count = |given: &Option<(u32, Place)>, default| given.as_ref().map_or(default, |v| v.0);
        let threads_per_core = count(&self.machine.threads_per_core, 2);
        let packages = count(&self.machine.packages, 1);
        let most = (CPUS_MAX / threads_per_core / packages).max(1);
        let machine = MachineDefaults {
            ref_khz: 1_000_000,
            packages,
            cores_per_package: count(&self.machine.cores, most),
            threads_per_core,
        };
        for case in self.cases() {
            self.workload(case, None, &BTreeMap::new(), &machine)?;
            for fit in 0..self.fits.len() {
                let parameters = self.parameters_with(Some(fit), &BTreeMap::new())?;
                self.compile(case, &parameters, &machine, false)?;
            }
        }
        Ok(())
    }
}

/// The used part of the CPU's machine.
fn resolve_machine(spec: &MachineSpec, there: &MachineDefaults) -> Result<Machine, ScenarioError> {
    let within = |given: &Option<(u32, Place)>, most: u32| match given {
        Some((count, place)) if *count > most => {
            Err(place.error(format!("at most {most}, as the CPU has it")))
        }
        Some((count, _)) => Ok(*count),
        None => Ok(most),
    };
    let machine = Machine {
        packages: within(&spec.packages, there.packages)?,
        cores_per_package: within(&spec.cores, there.cores_per_package)?,
        threads_per_core: within(&spec.threads_per_core, there.threads_per_core)?,
        turbo_cores: spec.turbo_cores,
        turbo: spec.turbo,
    };
    let counts = [machine.packages, machine.cores_per_package, machine.threads_per_core];
    let cpus: u64 = counts.iter().map(|&count| u64::from(count)).product();
    if cpus <= u64::from(CPUS_MAX) {
        return Ok(machine);
    }
    let places = [&spec.cores, &spec.packages, &spec.threads_per_core];
    match places.into_iter().flatten().next() {
        Some((_, place)) => Err(place.error(format!("at most {CPUS_MAX} logical CPUs in all"))),
        None => Ok(machine),
    }
}

struct Compiler<'s> {
    amounts: Amounts<'s>,
    cpus: u32,
    steps: usize,
    names: Names<'s>,
    /// Where each step of each thread stands in the file.
    places: Vec<Vec<&'s Place>>,
    workload: Workload,
}

impl<'s> Compiler<'s> {
    fn add(
        &mut self,
        spec: &'s ApplicationSpec,
        role: Role,
        stream: u64,
    ) -> Result<(), ScenarioError> {
        let parameters = self.amounts.parameters;
        let threads = spec.threads.get_count(parameters, 1, THREADS_MAX)?;
        let instances = spec.instances.get_count(parameters, 1, THREADS_MAX)?;
        let arrival_ms = spec.arrival_ms.get(parameters, 0.0, 3.6e6)?;
        let all = u64::from(threads) * u64::from(instances);
        if all + self.workload.threads.len() as u64 > u64::from(THREADS_MAX) {
            let expected = format!("at most {THREADS_MAX} threads in all");
            return Err(spec.threads.place.error(expected));
        }
        let affinity = self.affinity(spec)?;
        let application = self.workload.applications.len() as u32;
        let name = spec.name.clone();
        self.workload.applications.push(Application { name, role, class: Class::Scalar });
        for number in 0..threads * instances {
            let program = Program {
                amounts: &self.amounts,
                endless_allowed: role == Role::Background,
                application,
                instance: number / threads,
                threads,
                thread: number % threads,
                names: &mut self.names,
                steps_left: STEPS_MAX - self.steps,
                steps: Vec::new(),
                places: Vec::new(),
                class: Class::Scalar,
            };
            let (steps, places, class) = program.build(&spec.phases)?;
            self.steps += steps.len();
            let shown = &mut self.workload.applications[application as usize].class;
            *shown = class.max(*shown);
            self.places.push(places);
            self.workload.threads.push(Thread {
                application,
                name: thread_name(&spec.name, instances, number / threads, number % threads),
                nice: spec.nice,
                affinity: affinity.clone(),
                enrolled: spec.enrolled,
                arrival_ns: (arrival_ms * 1e6).round() as u64,
                was_on: None,
                stream: stream | u64::from(number),
                ruled_class: None,
                program: steps,
            });
        }
        Ok(())
    }

    fn affinity(&self, spec: &ApplicationSpec) -> Result<CpuSet, ScenarioError> {
        let Some((set, place)) = &spec.affinity else { return Ok(CpuSet::default()) };
        match set.cpus.last() {
            Some(last) if *last >= self.cpus => {
                let most = self.cpus - 1;
                Err(place.error(format!("CPUs of this machine, which are 0-{most}")))
            }
            _ => Ok(set.clone()),
        }
    }

    fn finish(self) -> Result<Workload, ScenarioError> {
        let Some(deadlocked) = deadlock::find(&self.workload) else { return Ok(self.workload) };
        let place = self.places[deadlocked.thread][deadlocked.step];
        let name = &self.workload.threads[deadlocked.thread].name;
        Err(place.error(match self.workload.threads[deadlocked.thread].program[deadlocked.step] {
            Step::Barrier(i) => format!(
                "all {} threads of the barrier to reach it, but {name} waits there for ever",
                self.workload.barriers[i as usize].threads
            ),
            Step::Unlock(_) => format!("a lock that {name} holds"),
            Step::Lock(_) => format!("a lock that is given back, but {name} waits for ever"),
            _ => format!("enough wakes that do not depend on this wait; {name} waits for ever"),
        }))
    }

    /// Numbers of barriers, locks and semaphores. A barrier takes all threads of its scope; a
    /// global barrier takes the threads of all applications that use that name.
    fn count_syncs(&mut self) {
        let threads = &self.workload.threads;
        let mut users: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for thread in threads {
            for step in &thread.program {
                if let Step::Barrier(i) = step {
                    let applications = users.entry(*i).or_default();
                    if applications.last() != Some(&thread.application) {
                        applications.push(thread.application);
                    }
                }
            }
        }
        let mut sizes = vec![0; self.workload.applications.len()];
        threads.iter().for_each(|thread| sizes[thread.application as usize] += 1);
        self.workload.locks = self.names.count(Sync::Lock);
        self.workload.semaphores = self.names.count(Sync::Semaphore);
        let barriers = self.names.count(Sync::Barrier) as usize;
        self.workload.barriers = vec![Barrier { threads: 0 }; barriers];
        for (&(kind, scope, _), &i) in &self.names.numbers {
            if kind == Sync::Barrier {
                let size = |&application: &u32| sizes[application as usize];
                self.workload.barriers[i as usize].threads = match scope {
                    Scope::Instance { threads, .. } => threads,
                    Scope::Application(application) => size(&application),
                    Scope::Global => users.get(&i).into_iter().flatten().map(size).sum(),
                };
            }
        }
    }
}

fn thread_name(application: &str, instances: u32, instance: u32, thread: u32) -> String {
    match instances {
        1 => format!("{application}/{thread}"),
        _ => format!("{application}.{instance}/{thread}"),
    }
}
