//! Which tasks of a recording count as one: the groups that losses are told for.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use trace::TaskInfo;

/// What makes tasks one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Their program; each virtual machine is one, and so are all kernel threads together.
    #[default]
    Program,
    /// Their process.
    Process,
    /// Nothing: each thread is a group.
    Thread,
    /// Their control group: a container, a pod, a unit.
    ControlGroup,
}

/// The group of all kernel threads, which run no user code of their own. Longer than the name of a
/// task may be, so that no program has it.
const KERNEL: &str = "(kernel threads)";

/// Names of the groups of a recording's tasks.
///
/// A virtual machine is a program of its own: what its virtual CPUs run is the guest's, and two
/// machines have no more in common than two programs (D 4.4 asks which task is the culprit).
#[derive(Clone, Debug)]
pub struct Names {
    by: By,
    /// Programs of virtual machines, by process.
    machines: BTreeMap<u32, String>,
}

impl Names {
    /// The names for all tasks of a recording.
    #[must_use]
    pub fn of(tasks: &[TaskInfo], by: By) -> Self {
        let has_cpu = |task: &&TaskInfo| !task.kernel && is_virtual_cpu(&task.comm);
        let machines: BTreeSet<u32> =
            tasks.iter().filter(has_cpu).filter_map(|task| task.pid).collect();
        let mut processes: BTreeMap<&str, BTreeSet<Option<u32>>> = BTreeMap::new();
        for task in tasks.iter().filter(|task| !task.kernel) {
            processes.entry(program(task)).or_default().insert(task.pid);
        }
        let name = |task: &TaskInfo| {
            let pid = task.pid.filter(|pid| machines.contains(pid))?;
            let program = program(task);
            let is_alone = processes[program].len() == 1;
            let name = if is_alone { program.to_owned() } else { format!("{program}/{pid}") };
            Some((pid, name))
        };
        Self { by, machines: tasks.iter().filter(|task| !task.kernel).filter_map(name).collect() }
    }

    /// The name of a task's group.
    #[must_use]
    pub fn name(&self, task: &TaskInfo) -> String {
        match self.by {
            By::Thread => format!("{}/{}", task.comm, task.tid),
            _ if task.kernel => KERNEL.to_owned(),
            By::Program => {
                let machine = task.pid.and_then(|pid| self.machines.get(&pid));
                machine.unwrap_or(&task.app).clone()
            }
            By::Process => match task.pid {
                Some(pid) => format!("{}/{pid}", program(task)),
                None => task.app.clone(),
            },
            By::ControlGroup => match &task.control_group {
                Some(group) => group.name.clone(),
                None => "(no control group)".to_owned(),
            },
        }
    }
}

/// The program of a task; where the leader of a QEMU process never ran, a recording names the
/// process by a thread of a virtual CPU, as if each were another program.
fn program(task: &TaskInfo) -> &str {
    if is_virtual_cpu(&task.app) { "qemu" } else { &task.app }
}

/// Whether a thread of that name runs a virtual CPU of QEMU: `CPU 3/KVM`, or `CPU 3/TCG` where the
/// CPU is emulated (QEMU 9.0, accel/kvm/kvm-accel-ops.c, `kvm_start_vcpu_thread`, and
/// accel/tcg/tcg-accel-ops-mttcg.c and -rr.c). libvirt asks for these names
/// (`-name debug-threads=on`).
fn is_virtual_cpu(comm: &str) -> bool {
    let Some((cpu, "KVM" | "TCG")) = comm.split_once('/') else { return false };
    let number = cpu.strip_prefix("CPU ").unwrap_or_default();
    cpu == "ALL CPUs" || !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
}

/// Names of groups, and by task its group.
pub(crate) fn groups(tasks: &[TaskInfo], by: By) -> (Vec<String>, Vec<u32>) {
    let of_tasks = Names::of(tasks, by);
    let mut names: Vec<String> = Vec::new();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut of_task = Vec::with_capacity(tasks.len());
    for task in tasks {
        let name = of_tasks.name(task);
        let next = names.len() as u32;
        let number = *numbers.entry(name.clone()).or_insert(next);
        if number == next {
            names.push(name);
        }
        of_task.push(number);
    }
    (names, of_task)
}

#[cfg(test)]
mod tests {
    use trace::ControlGroup;

    use super::*;

    fn task(tid: u32, pid: u32, comm: &str, app: &str) -> TaskInfo {
        let (comm, app) = (comm.to_owned(), app.to_owned());
        TaskInfo { tid, pid: Some(pid), comm, app, nice: 0, kernel: false, control_group: None }
    }

    #[test]
    fn tasks_are_one_by_what_was_asked_for() {
        let group =
            ControlGroup { path: "/a/b.service".to_owned(), name: "b".to_owned(), pod: None };
        let mut tasks = [
            task(1, 1, "x", "x"),
            task(2, 1, "pool", "x"),
            task(3, 3, "x", "x"),
            task(4, 4, "k", "k"),
        ];
        tasks[2].control_group = Some(group);
        tasks[3].kernel = true;
        let all = |by| groups(&tasks, by).0.join(" ");
        assert_eq!(all(By::Program), "x (kernel threads)");
        assert_eq!(all(By::Process), "x/1 x/3 (kernel threads)");
        assert_eq!(all(By::Thread), "x/1 pool/2 x/3 k/4");
        assert_eq!(all(By::ControlGroup), "(no control group) b (kernel threads)");
        assert_eq!(groups(&tasks, By::Process).1, [0, 0, 1, 2]);
    }

    #[test]
    fn each_virtual_machine_is_a_program() {
        let tasks = [
            task(10, 10, "qemu-system-x86", "qemu-system-x86"),
            task(11, 10, "CPU 0/KVM", "qemu-system-x86"),
            task(12, 10, "CPU 1/KVM", "qemu-system-x86"),
            task(21, 20, "CPU 0/KVM", "qemu-system-x86"),
            // Its leader never ran.
            task(31, 30, "CPU 0/TCG", "CPU 0/TCG"),
            task(32, 30, "worker", "CPU 0/TCG"),
            task(40, 40, "CPU x/KVM", "tool"),
            // No virtual machine, as far as is known.
            task(50, 50, "qemu-img", "qemu-img"),
        ];
        let (names, of_task) = groups(&tasks, By::Program);
        let expected = ["qemu-system-x86/10", "qemu-system-x86/20", "qemu", "tool", "qemu-img"];
        assert_eq!(names, expected);
        assert_eq!(of_task, [0, 0, 0, 1, 2, 2, 3, 4]);
        assert_eq!(groups(&tasks[..3], By::Program).0, ["qemu-system-x86"]);
        assert_eq!(groups(&tasks[4..6], By::Process).0, ["qemu/30"]);
        assert!(is_virtual_cpu("ALL CPUs/TCG") && !is_virtual_cpu("CPU /KVM"));
    }

    #[test]
    fn a_kernel_thread_with_the_name_of_a_virtual_cpu_is_a_kernel_thread() {
        let mut tasks = [task(1, 1, "CPU 0/KVM", "CPU 0/KVM"), task(2, 2, "x", "x")];
        tasks[0].kernel = true;
        assert_eq!(groups(&tasks, By::Program).0, ["(kernel threads)", "x"]);
    }
}
