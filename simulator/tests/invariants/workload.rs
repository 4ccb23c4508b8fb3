//! Random workloads that cannot deadlock: independent threads, gangs at a barrier,
//! threads at a lock, relays over semaphores.

use cpu_model::{Class, CpuModel};
use scenarios::{
    Application, Barrier, CpuSet, Draw, Machine, Role, Spread, Step, Thread, Work, Workload,
};

use crate::rng::Rng;

/// Longest total of foreground work of a thread, about, in reference ns.
const WORK_NS_MAX: u64 = 20_000_000;

#[derive(Clone, Copy)]
enum Shape {
    Alone,
    Sleeper,
    Gang,
    Locked,
    Relay,
}

/// One application's threads, all alike but for their part in the shape.
struct Maker<'a> {
    rng: &'a mut Rng,
    cpu: &'a CpuModel,
    /// Whether amounts are always their mean.
    fixed: bool,
    rounds: Option<u64>,
    step_ns: u64,
}

/// A workload of one to five applications, the first in the foreground.
pub fn random(rng: &mut Rng, machine: Machine, cpu: &CpuModel) -> Workload {
    let mut workload = Workload {
        machine,
        applications: Vec::new(),
        threads: Vec::new(),
        barriers: Vec::new(),
        locks: 0,
        semaphores: 0,
        channels: 0,
    };
    let fixed = rng.once_in(2);
    for index in 0..rng.within(1, 5) {
        let role = if index == 0 || rng.once_in(3) { Role::Foreground } else { Role::Background };
        add_application(rng, cpu, &mut workload, role, fixed);
    }
    workload
}

fn add_application(
    rng: &mut Rng,
    cpu: &CpuModel,
    workload: &mut Workload,
    role: Role,
    fixed: bool,
) {
    let application = workload.applications.len() as u32;
    let shape = rng.pick(&[Shape::Alone, Shape::Sleeper, Shape::Gang, Shape::Locked, Shape::Relay]);
    let cpus = u64::from(workload.machine.cpus());
    let threads = rng.within(1, (cpus + 2).min(12));
    let step_ns = rng.scaled(5_000, 4_000_000);
    let rounds = (WORK_NS_MAX / (2 * step_ns)).clamp(1, 200);
    let rounds = (role == Role::Foreground).then(|| rng.within(1, rounds));
    let nice = rng.pick(&[0, 0, 0, -5, 5, 3]);
    let affinity = affinity(rng, cpus);
    let arrival_ns = rng.pick(&[0, 0, 1_000_000, 7_654_321]);
    workload.applications.push(Application {
        name: format!("app{application}"),
        role,
        class: Class::Scalar,
    });
    let barrier = workload.barriers.len() as u32;
    let (lock, semaphore) = (workload.locks, workload.semaphores);
    match shape {
        Shape::Gang => workload.barriers.push(Barrier { threads: threads as u32 }),
        Shape::Locked => workload.locks += 1,
        Shape::Relay => workload.semaphores += threads as u32,
        Shape::Alone | Shape::Sleeper => {}
    }
    let mut maker = Maker { rng, cpu, fixed, rounds, step_ns };
    for part in 0..threads as u32 {
        let program = match shape {
            Shape::Alone => maker.looped(vec![]),
            Shape::Sleeper => maker.sleeper(),
            Shape::Gang => maker.looped(vec![Step::Barrier(barrier)]),
            Shape::Locked => maker.locked(lock),
            Shape::Relay => maker.relay(semaphore, part, threads as u32),
        };
        let late = if maker.rng.once_in(4) { maker.rng.within(0, 3_000_000) } else { 0 };
        workload.threads.push(Thread {
            application,
            name: format!("app{application}/{part}"),
            nice,
            affinity: affinity.clone(),
            arrival_ns: arrival_ns + late,
            was_on: None,
            stream: workload.threads.len() as u64,
            enrolled: true,
            ruled_class: None,
            program,
        });
    }
}

fn affinity(rng: &mut Rng, cpus: u64) -> CpuSet {
    if !rng.once_in(4) {
        return CpuSet::default();
    }
    let first = rng.within(0, cpus - 1) as u32;
    let last = rng.within(first.into(), cpus - 1) as u32;
    CpuSet { cpus: (first..=last).collect() }
}

impl Maker<'_> {
    /// One or two compute steps, then `last`, again and again.
    fn looped(&mut self, last: Vec<Step>) -> Vec<Step> {
        let mut program = vec![self.compute()];
        if self.rng.once_in(2) {
            program.push(self.compute());
        }
        program.extend(last);
        program.push(Step::Loop { to: 0, times: self.rounds });
        program
    }

    fn sleeper(&mut self) -> Vec<Step> {
        let mean = self.rng.scaled(10_000, 2_000_000);
        let sleep = Step::Sleep(self.draw(mean));
        self.looped(vec![sleep])
    }

    fn locked(&mut self, lock: u32) -> Vec<Step> {
        let inside = self.compute();
        self.looped(vec![Step::Lock(lock), inside, Step::Unlock(lock)])
    }

    /// Each thread waits for its predecessor; the first starts the round.
    fn relay(&mut self, first: u32, part: u32, parts: u32) -> Vec<Step> {
        let next = Step::Wake(first + (part + 1) % parts);
        let wait = Step::Wait(first + part);
        let compute = self.compute();
        let again = Step::Loop { to: 0, times: self.rounds };
        if part == 0 { vec![compute, next, wait, again] } else { vec![wait, compute, next, again] }
    }

    fn compute(&mut self) -> Step {
        let supported: Vec<Class> =
            Class::ALL.into_iter().filter(|&class| self.cpu.supports(class)).collect();
        let class = if self.rng.once_in(2) { Class::Scalar } else { self.rng.pick(&supported) };
        let ns = self.rng.within(self.step_ns / 2, self.step_ns);
        let mean = ns * u64::from(self.cpu.turbo.ref_khz) / 1_000_000;
        Step::Compute(Work {
            ref_cycles: self.draw(mean),
            class,
            rate_permille: self.rng.pick(&[100, 300, 500, 700, 1000]),
            stall_permille: self.rng.pick(&[0, 0, 50, 200, 450, 900, 1000]),
            integer: false,
            working_set_kib: self.rng.pick(&[0, 64, 1024]),
        })
    }

    fn draw(&mut self, mean: u64) -> Draw {
        let spread = if self.fixed {
            Spread::Fixed
        } else {
            self.rng.pick(&[Spread::Fixed, Spread::Uniform(400), Spread::Exponential])
        };
        Draw { mean, spread }
    }
}
