//! Tasks that create tasks in their place: a serial program could have had the same order.

use evenkeel_runtime::internal::lock_std;
use evenkeel_runtime::{Config, Data, Memory, Runtime, Scope};
use proptest::prelude::*;

/// A step of a program with its two cells.
#[derive(Clone, Debug)]
enum Step {
    /// The first into the second, or the second into the first.
    Mix(bool),
    /// One alone.
    Turn(bool),
    /// A task that reads the first cell, and leaves the value unchanged.
    Look,
    /// A task that does all this, with the cells changed for each other or not.
    Nest(bool, Vec<Step>),
}

fn mixed(from: u64, to: u64) -> u64 {
    to.wrapping_mul(31).wrapping_add(from.rotate_left(7))
}

fn turned(cell: u64) -> u64 {
    (cell ^ seeded::GOLDEN).wrapping_mul(3)
}

fn serial(one: &mut u64, other: &mut u64, steps: &[Step]) {
    for step in steps {
        match step {
            Step::Mix(true) => *other = mixed(*one, *other),
            Step::Mix(false) => *one = mixed(*other, *one),
            Step::Turn(true) => *one = turned(*one),
            Step::Turn(false) => *other = turned(*other),
            Step::Look => {}
            Step::Nest(true, inside) => serial(one, other, inside),
            Step::Nest(false, inside) => serial(other, one, inside),
        }
    }
}

fn parallel<'scope>(
    s: &Scope<'scope>,
    one: &'scope Data<u64>,
    other: &'scope Data<u64>,
    steps: &'scope [Step],
) {
    for step in steps {
        let (to, from) = match step {
            Step::Mix(false) | Step::Turn(true) | Step::Nest(false, _) => (one, other),
            _ => (other, one),
        };
        match step {
            Step::Mix(_) => {
                s.task().input(from).inout(to).spawn(|from, to| *to = mixed(*from, *to))
            }
            Step::Turn(_) => s.task().inout(to).spawn(|to| *to = turned(*to)),
            Step::Look => s.task().input(one).spawn(|one| _ = std::hint::black_box(*one)),
            Step::Nest(_, inside) => s
                .task()
                .weak_inout(from)
                .weak_inout(to)
                .spawn_with(move |s, from, to| parallel(s, from, to, inside)),
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Step::Mix),
        any::<bool>().prop_map(Step::Turn),
        Just(Step::Look),
    ];
    let step = leaf.prop_recursive(3, 60, 6, |inner| {
        (any::<bool>(), prop::collection::vec(inner, 0..6))
            .prop_map(|(same, inside)| Step::Nest(same, inside))
    });
    prop::collection::vec(step, 0..20)
}

/// Every task is queued, or some run at once; blocks are used again, or not.
fn runtimes() -> [Runtime; 3] {
    let plain = Config { cutoff: false, memory: Memory::System, ..Config::default() };
    let central = "central-fifo-successor-nocutoff".parse().unwrap();
    [(plain, 3), (Config::default(), 2), (central, 4)]
        .map(|(rules, workers)| Runtime::builder().config(rules).workers(workers).build().unwrap())
}

proptest! {
    #[test]
    fn nested_tasks_yield_what_a_serial_program_does(steps in steps()) {
        let mut expected = (1, 2);
        serial(&mut expected.0, &mut expected.1, &steps);
        for runtime in runtimes() {
            let (one, other) = (Data::new(1), Data::new(2));
            runtime.scope(|s| parallel(s, &one, &other, &steps));
            prop_assert_eq!((one.into_inner(), other.into_inner()), expected);
        }
    }
}

/// An earlier task holds up only tasks that need its data.
#[test]
fn a_task_whose_children_are_not_done_with_one_cell_has_passed_on_the_other() {
    let rules = Config { cutoff: false, ..Config::default() };
    let runtime = Runtime::builder().config(rules).workers(3).build().unwrap();
    let (slow, quick) = (Data::new(0), Data::new(0));
    let (tell, told) = std::sync::mpsc::channel();
    let told = std::sync::Mutex::new(told);
    runtime.scope(|s| {
        let told = &told;
        s.task().weak_inout(&slow).weak_inout(&quick).spawn_with(move |s, slow, quick| {
            // This task ends only after a later sibling of its parent has begun.
            s.task().inout(slow).spawn(move |_| lock_std(told).recv().unwrap());
            s.task().inout(quick).spawn(|quick| *quick += 1);
        });
        s.task().inout(&quick).spawn(move |quick| {
            assert_eq!(*quick, 1);
            tell.send(()).unwrap();
        });
    });
}

#[test]
#[should_panic(expected = "in a way that the task around it did not say")]
fn a_task_that_only_reads_has_no_children_that_write() {
    let rules = Config { cutoff: false, ..Config::default() };
    let runtime = Runtime::builder().config(rules).workers(2).build().unwrap();
    let data = Data::new(0);
    runtime.scope(|s| {
        s.task()
            .weak_input(&data)
            .spawn_with(|s, data| s.task().inout(data).spawn(|data| *data = 1));
    });
}
