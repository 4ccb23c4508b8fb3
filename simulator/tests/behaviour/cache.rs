//! What a move of a task to another core costs that had not yet fetched its working set.

use cpu_model::Class;
use scenarios::{CpuSet, Role, Step, Work};
use simulator::{Compensation, Config, Costs};

use crate::build::{MS, add, empty, fair, machine, run, work};

/// A busy task on two CPUs, beside two tasks of high weight that take turns, each on its own CPU:
/// for 0.4 ms the busy task has the first CPU, then for 1.6 ms the second. To fetch its working set
/// takes 0.8 ms: on the first CPU it does not get that far. On the second it works for half of the
/// time, or for a quarter if the rest of the earlier fetch came on top.
#[test]
fn a_move_fetches_the_working_set_once_and_not_what_was_left_as_well() {
    const TURNS: u64 = 200;
    let mut workload = empty(machine(2, 1));
    workload.semaphores = 2;
    let busy = Step::Compute(Work { working_set_kib: 20_000, ..work(Class::Scalar, MS) });
    add(&mut workload, Role::Background, 1, &[busy, Step::Loop { to: 0, times: None }]);
    for (cpu, turn_ns) in [(0, 1_600_000), (1, 400_000)] {
        let turn = Step::Compute(work(Class::Scalar, turn_ns));
        let program = [Step::Wait(cpu), turn, Step::Wake(1 - cpu)];
        let again = Step::Loop { to: 0, times: Some(TURNS) };
        add(&mut workload, Role::Foreground, 1, &[&program[..], &[again]].concat());
        let thread = workload.threads.last_mut().unwrap();
        thread.nice = -20;
        thread.affinity = CpuSet { cpus: vec![cpu] };
    }
    // The first turn.
    workload.threads[2].program.insert(0, Step::Wake(0));
    workload.threads[2].program[4] = Step::Loop { to: 1, times: Some(TURNS) };
    let outcome = run(&workload, &Config { costs: Costs::USUAL, ..fair(Compensation::None) });
    // 0.8 of each 2 ms at the reference frequency.
    let most = TURNS * 2 * 2_100_000 * 4 / 10;
    let done = outcome.tasks[0].ref_cycles;
    assert!(done > most * 3 / 4, "{done} of {most} cycles");
}
