//! Files of rt-app: their workloads, and the features that are refused by name.

use std::collections::BTreeMap;

use cpu_model::Class;
use scenarios::{MachineDefaults, Role, Scenario, Step, Workload};

const MACHINE: MachineDefaults =
    MachineDefaults { ref_khz: 1_000_000, packages: 1, cores_per_package: 2, threads_per_core: 2 };

fn workload(text: &str, background: usize) -> Workload {
    let scenario = Scenario::parse(text, "folder/tasks.json").unwrap();
    assert_eq!(scenario.name, "tasks");
    let case = scenario.cases()[background];
    scenario.workload(case, None, &BTreeMap::new(), &MACHINE).unwrap()
}

fn refused(text: &str) -> String {
    Scenario::parse(text, "tasks.json").unwrap_err().to_string()
}

/// Steps in short: `c` microseconds, `s`leep, `t`imer, other steps by name.
fn program(workload: &Workload, thread: usize) -> String {
    let short = |step: &Step| match *step {
        Step::Compute(work) => format!("c{}", work.ref_cycles.mean / 1000),
        Step::Sleep(time) => format!("s{}", time.mean / 1000),
        Step::Timer { timer, period_ns, absolute } => {
            format!("t{timer}:{}{}", period_ns / 1000, if absolute { "!" } else { "" })
        }
        Step::Loop { to, times } => format!("loop{to}x{}", times.unwrap_or(0)),
        ref other => format!("{other:?}").replace(['(', ')'], "").to_lowercase(),
    };
    let steps: Vec<String> = workload.threads[thread].program.iter().map(short).collect();
    steps.join(" ")
}

#[test]
fn phases_events_comments_and_repeated_keys_become_programs() {
    let text = r#"{
        /* Two kinds of load, and a comment. */
        "tasks": {
            "worker": {
                "instance": 2, "priority": -5, "cpus": [0, 2], "delay": 3000, "loop": 2,
                "phases": {
                    "light": { "loop": 3, "run": 10, "timer": { "ref": "unique", "period": 40 } },
                    "heavy": {
                        "run": 70, "sleep": 5, "run": 30, // again
                        "timer0": { "ref": "uniqueB", "period": 200, "mode": "absolute" },
                    },
                },
            },
            "endless": { "run": 1000, "sleep": 1000 },
        },
        "global": { "duration": 1, "calibration": "CPU0", "gnuplot": true, },
    }"#;
    let workload = workload(text, 0);
    let names: Vec<&str> = workload.threads.iter().map(|thread| &thread.name[..]).collect();
    assert_eq!(workload.threads.len(), 3, "{names:?}");
    let worker = &workload.threads[0];
    assert_eq!(
        (worker.nice, worker.arrival_ns, &worker.affinity.cpus[..]),
        (-5, 3_000_000, &[0, 2][..])
    );
    let steps = "c10 t0:40 loop0x3 c70 s5 c30 t1:200! loop0x2";
    assert_eq!([program(&workload, 0), program(&workload, 1)], [steps, steps]);
    assert_eq!(program(&workload, 2), "c1000 s1000 loop0x500");
    assert!(workload.applications.iter().all(|one| one.role == Role::Foreground));
}

#[test]
fn tasks_wake_and_exclude_each_other_by_shared_names() {
    let text = r#"{ "tasks": {
        "a": { "loop": 4, "lock": "m", "run": 10, "unlock": "m", "resume": "b", "barrier": "x" },
        "b": { "loop": 4, "suspend", "run1": 5, "run2": 6, "barrier": "x" }
    } }"#;
    let workload = workload(text, 0);
    assert_eq!(program(&workload, 0), "lock0 c10 unlock0 wake0 barrier0 loop0x4");
    assert_eq!(program(&workload, 1), "wait0 c5 c6 barrier0 loop0x4");
    assert_eq!((workload.locks, workload.semaphores, workload.barriers[0].threads), (1, 1, 2));
}

#[test]
fn classes_are_scalar_in_the_control_and_as_described_beside_it() {
    let text = r#"{
        "x-evenkeel": { "cpu": "cascade-lake", "cores": 1 },
        "tasks": {
            "fft": {
                "loop": 3, "x-evenkeel": { "class": "avx512-heavy", "stall": 0.25 },
                "phases": {
                    "wide": { "run": 10 },
                    "narrow": { "x-evenkeel": { "class": "scalar" }, "run": 20 }
                }
            },
            "noise": { "run": 5, "x-evenkeel": { "role": "background", "class": "avx2-light" } }
        }
    }"#;
    assert_eq!(Scenario::parse(text, "t.json").unwrap().cpu, "cascade-lake");
    let classes = |workload: &Workload| -> Vec<Class> {
        let programs = workload.threads.iter().flat_map(|thread| &thread.program);
        let class = |step: &Step| match step {
            Step::Compute(work) => Some(work.class),
            _ => None,
        };
        programs.filter_map(class).collect()
    };
    assert_eq!(classes(&workload(text, 0)), [Class::Scalar; 3]);
    let described = workload(text, 1);
    assert_eq!(classes(&described), [Class::Avx512Heavy, Class::Scalar, Class::Avx2Light]);
    assert_eq!(described.machine.cores_per_package, 1);
    assert_eq!(described.applications[1].role, Role::Background);
    assert_eq!(program(&described, 1), "c5 loop0x0");
    let Step::Compute(work) = described.threads[0].program[0] else { panic!("it computes") };
    assert_eq!(work.stall_permille, 250);
}

#[test]
fn what_has_no_meaning_here_is_named_with_its_line() {
    let task = |events: &str| format!("{{ \"tasks\": {{\n \"a\": {{ {events} }} }} }}");
    for (text, sentence) in [
        (task("\"loop\": 1, \"mem\": 5"), "tasks.json:2: `tasks.a.mem` is not a field here"),
        (task("\"loop\": 1, \"runtime\": 5"), "`tasks.a.runtime`: expected no `runtime`"),
        (task("\"loop\": 1, \"signal\": \"c\""), "`tasks.a.signal` is not a field here"),
        (task("\"loop\": 1, \"policy\": \"SCHED_FIFO\", \"run\": 1"), "\"SCHED_OTHER\""),
        (task("\"loop\": 1, \"loop\": 2, \"run\": 1"), "`tasks.a.loop`: expected no second value"),
        (task("\"run\": 1"), "`tasks.a.loop`: expected a number of rounds, a `duration`"),
        (task("\"loop\": 0, \"run\": 1"), "`tasks.a.loop`: expected -1 or a number from 1"),
        (task("\"loop\": 1"), "`tasks.a`: expected at least one event of: run, sleep"),
        (task("\"loop\": 1, \"run\": 0"), "`tasks.a.run`: expected a number from 0.001"),
        (task("\"loop\": 1, \"run\": 1, \"phases\": {}"), "`tasks.a.run` is not a field here"),
        (
            task("\"loop\": 1, \"phases\": { \"p\": { \"run\": 1, \"cpus\": [0] } }"),
            "`tasks.a.phases.p.cpus` is not a field here",
        ),
        (
            task("\"loop\": 1, \"instance\": 2, \"timer\": { \"ref\": \"tick\", \"period\": 9 }"),
            "`tasks.a.timer`: expected a \"ref\" that begins with `unique`",
        ),
        (task("\"loop\": 1, \"suspend\": \"a\", \"run\": 1"), "tasks.json:2: "),
        ("{ \"resources\": {} }".to_owned(), "`resources` is not a field here"),
        ("{ \"global\": { \"pi_enabled\": true } }".to_owned(), "`global.pi_enabled`"),
        ("{}".to_owned(), "`tasks`: expected an object of tasks"),
    ] {
        let said = refused(&text);
        assert!(said.contains(sentence), "{text}: {said}");
    }
}

#[test]
fn broken_json_is_refused_with_its_line() {
    for (text, sentence) in [
        ("{\n\"tasks\" 1}", "tasks.json:2: `tasks`: expected `:`"),
        ("{ \"tasks\": {\n /* no end", "tasks.json:2: `tasks`: expected an end `*/`"),
        ("{ \"tasks\": { \"a\": { \"run\": 1 \"run\": 2 } } }", "expected `,` or `}`"),
        ("{ \"tasks\": nonsense }", "`tasks`: expected a value"),
        ("{ \"ta", "`file`: expected an end of the text in quotes"),
        ("{ tasks: 1 }", "expected a key in quotes"),
        ("{} x", "expected nothing after the last brace"),
    ] {
        let said = refused(text);
        assert!(said.contains(sentence), "{text}: {said}");
    }
    assert!(refused(&"{\"a\":".repeat(10_000)).contains("levels of nesting"));
}
