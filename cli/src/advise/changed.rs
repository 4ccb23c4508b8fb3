//! A recorded workload after an action.

use cpu_model::{Class, CpuModel};
use scenarios::{CpuSet, Machine, Step, Workload};

/// Logical CPUs of the last `cores` cores. Interrupts and the tasks that answer them are mostly on
/// the first ones.
pub fn last_cores(machine: &Machine, cores: u32) -> Vec<u32> {
    let cpus = machine.cpus();
    (cpus - (cores * machine.threads_per_core).min(cpus)..cpus).collect()
}

/// Numbers of cores to which wide code could be confined: a quarter, a half and three quarters.
pub fn numbers_of_cores(machine: &Machine) -> Vec<u32> {
    let all = machine.packages * machine.cores_per_package;
    let mut cores: Vec<u32> = [1, 2, 3].map(|quarters| all * quarters / 4).to_vec();
    cores.retain(|&cores| (1..all).contains(&cores));
    cores.dedup();
    cores
}

/// The workload with threads of these applications confined to these CPUs. Threads that are bound
/// to CPUs already stay so.
pub fn confined(workload: &Workload, applications: &[u32], cpus: &[u32]) -> Workload {
    let mut changed = workload.clone();
    for thread in &mut changed.threads {
        if applications.contains(&thread.application) && thread.affinity.cpus.is_empty() {
            thread.affinity = CpuSet { cpus: cpus.to_vec() };
        }
    }
    changed
}

/// The class that replaces a class of 512-bit code where a program may use 256 bits at most.
pub fn narrower(cpu: &CpuModel, class: Class) -> Class {
    let narrow = match class {
        Class::Avx512Light => Class::Avx2Light,
        Class::Avx512Heavy | Class::Amx => Class::Avx2Heavy,
        other => return other,
    };
    if cpu.supports(narrow) { narrow } else { Class::Scalar }
}

/// The workload in which an application uses 256-bit code instead of 512-bit code, and needs
/// `speedup` times as many cycles for the same work.
pub fn narrowed(workload: &Workload, application: u32, speedup: f64, cpu: &CpuModel) -> Workload {
    let mut changed = workload.clone();
    let of_application = |thread: &&mut scenarios::Thread| thread.application == application;
    for thread in changed.threads.iter_mut().filter(of_application) {
        thread.ruled_class = thread.ruled_class.map(|class| narrower(cpu, class));
        for work in thread.program.iter_mut().filter_map(Step::work_mut) {
            work.class = narrower(cpu, work.class);
            work.ref_cycles.mean = (work.ref_cycles.mean as f64 * speedup).round() as u64;
        }
    }
    let shown = &mut changed.applications[application as usize].class;
    *shown = narrower(cpu, *shown);
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cores_per_package: u32, threads_per_core: u32) -> Machine {
        Machine { packages: 1, cores_per_package, threads_per_core, turbo_cores: None, turbo: true }
    }

    #[test]
    fn cores_are_whole_and_some_are_left() {
        assert!(numbers_of_cores(&machine(1, 2)).is_empty());
        assert_eq!(numbers_of_cores(&machine(2, 1)), [1]);
        assert_eq!(numbers_of_cores(&machine(4, 1)), [1, 2, 3]);
        assert_eq!(numbers_of_cores(&machine(16, 2)), [4, 8, 12]);
        assert_eq!(last_cores(&machine(4, 2), 1), [6, 7]);
        assert_eq!(last_cores(&machine(2, 1), 5), [0, 1]);
    }
}
