//! Recordings that misled earlier readers, each reduced to a few lines.

use trace::import::{ImportError, ImportReport, Place, stream_history};
use trace::{Event, History, SwitchState, info, validate};

pub(super) fn import(text: impl AsRef<[u8]>) -> (History, ImportReport) {
    let (history, report) = stream_history(text.as_ref()).expect("the recording is read");
    assert_eq!(validate(&history), []);
    (history, report)
}

fn refused(text: impl AsRef<[u8]>) -> ImportError {
    stream_history(text.as_ref()).expect_err("the recording is refused")
}

/// A switch on CPU 0 in the kernel's style; a task is `(name, pid)`.
pub(super) fn switch(time: &str, prev: (&str, u32), state: &str, next: (&str, u32)) -> String {
    switch_on(0, time, prev, state, next)
}

fn switch_on(cpu: u32, time: &str, prev: (&str, u32), state: &str, next: (&str, u32)) -> String {
    format!(
        "{0:>16}  {1}/{1}  [{cpu:03}]  {time}: sched:sched_switch: prev_comm={0} prev_pid={1} \
         prev_prio=120 prev_state={state} ==> next_comm={2} next_pid={3} next_prio=120\n",
        prev.0, prev.1, next.0, next.1
    )
}

pub(super) const IDLE: (&str, u32) = ("swapper/0", 0);

/// Switches as `(time, cpu, prev, next)`.
fn switches(history: &History) -> Vec<(u64, u32, u32, u32)> {
    let switch = |record: &trace::Record| match record.event {
        Event::Switch { cpu, prev, next, .. } => Some((record.time_ns, cpu, prev, next)),
        _ => None,
    };
    history.records.iter().filter_map(switch).collect()
}

fn comm(history: &History, tid: u32) -> &str {
    &history.header.tasks.iter().find(|task| task.tid == tid).expect("the task is listed").comm
}

fn run_ns(history: &History, tid: u32) -> u64 {
    info(history).tasks.iter().find(|task| task.tid == tid).expect("the task is listed").run_ns
}

#[test]
fn names_that_look_like_fields_are_names() {
    for name in [
        "a b",
        "a:b",
        "==> x",
        "==> next_comm=",
        "prev_pid=7",
        " prev_pid=7 x",
        "x next_pid=7",
        "123/45 [000]",
        ")] 1.5: s:e:",
        "[x] [000] 1.5:",
        "a\tb",
        "<b>x</b>",
    ] {
        let text = switch("1.000000000", IDLE, "R", (name, 40))
            + &switch("1.000000500", (name, 40), "S", IDLE);
        let (history, report) = import(text);
        assert_eq!(comm(&history, 40), name.replace('\t', "\u{fffd}"), "{name:?}");
        assert_eq!(run_ns(&history, 40), 500, "{name:?}");
        assert_eq!((report.unreadable, report.repaired_switches), (0, 0), "{name:?}");
    }
}

#[test]
fn names_that_look_like_fields_of_wakes_are_names() {
    for name in ["x pid=7", "pid=7 prio=3", "a target_cpu=1", "x:7 [120]"] {
        let text = switch("1.0", IDLE, "R", ("a", 5))
            + &format!(
                "a 5/5 [000] 1.1: sched:sched_waking: comm={name} pid=40 prio=130 target_cpu=001\n"
            );
        let (history, _) = import(text);
        assert_eq!(comm(&history, 40), name);
        let wake = Event::Wake { task: 40, by: 5, cpu: 1, on: None, sync: None };
        assert!(history.records.iter().any(|record| record.event == wake), "{name}");
        assert_eq!(history.header.cpus, 2);
    }
}

#[test]
fn a_name_that_is_not_utf8_is_cleaned() {
    let text = b"swapper 0/0 [000] 1.0: sched:sched_switch: prev_comm=swapper/0 prev_pid=0 \
        prev_prio=120 prev_state=R ==> next_comm=a\xff\x1b[2Jb next_pid=9 next_prio=120\n";
    let (history, _) = import(text);
    assert_eq!(comm(&history, 9), "a\u{fffd}\u{fffd}[2Jb");
}

#[test]
fn a_name_with_line_breaks_is_joined() {
    let text =
        switch("1.0", IDLE, "R", ("e\nvi\nl", 40)) + &switch("1.5", ("e\nvi\nl", 40), "S", IDLE);
    let (history, report) = import(text);
    assert_eq!(comm(&history, 40), "e\u{fffd}vi\u{fffd}l");
    assert_eq!(run_ns(&history, 40), 500_000_000);
    assert_eq!(report.joined_lines, 4);
    assert_eq!(report.unreadable_lines, [4, 5]);
}

#[test]
fn the_plugin_style_is_read() {
    let (history, report) = import(
        "swapper 0/0 [001] 5.000000001: sched:sched_switch: swapper/1:0 [120] R ==> worker:2001 \
        [130]\n\
         worker 2001/2001 [001] 5.000000101: sched:sched_wakeup: other one:7 [120] success=1 \
         CPU:000\n\
         worker 2001/2001 [001] 5.000000151: sched:sched_waking: z:8 [120] CPU:000\n\
         worker 2001/2001 [001] 5.000000201: sched:sched_switch: worker:2001 [130] R+ ==> a ==> \
         b:9 [98]\n",
    );
    assert_eq!(switches(&history), [(5_000_000_001, 1, 0, 2001), (5_000_000_201, 1, 2001, 9)]);
    assert_eq!(comm(&history, 9), "a ==> b");
    assert_eq!(comm(&history, 7), "other one");
    assert_eq!(
        history.header.tasks.iter().map(|task| task.nice).collect::<Vec<_>>(),
        [0, 0, -20, 10]
    );
    assert_eq!(report.unreadable, 0);
}

#[test]
fn the_running_task_decides_between_two_readings_of_the_plugin_style() {
    let (history, _) = import(
        "x 40/40 [000] 5.0: sched:sched_switch: :7 [1] R ==> x:40 [120] S ==> swapper/0:0 [120]\n",
    );
    assert_eq!(comm(&history, 40), ":7 [1] R ==> x");
}

#[test]
fn all_states_are_distinguished() {
    for (letters, state) in [
        ("R", SwitchState::Runnable),
        ("R+", SwitchState::Runnable),
        ("S", SwitchState::Blocked),
        ("D", SwitchState::Blocked),
        ("D|K", SwitchState::Blocked),
        ("I", SwitchState::Blocked),
        ("T", SwitchState::Blocked),
        ("t", SwitchState::Blocked),
        ("P", SwitchState::Blocked),
        ("X", SwitchState::Dead),
        ("Z", SwitchState::Dead),
    ] {
        let (history, _) = import(switch("1.0", ("a", 4), letters, IDLE));
        let Some(Event::Switch { state: found, .. }) = history.records.last().map(|it| &it.event)
        else {
            panic!("the last record is the switch")
        };
        assert_eq!(*found, state, "{letters}");
    }
}

#[test]
fn headers_without_process_or_cpu_are_read() {
    let (history, report) = import(
        "swapper 0 1.0: sched:sched_switch: prev_comm=swapper/3 prev_pid=0 prev_prio=120 \
         prev_state=R ==> next_comm=a next_pid=4 next_prio=120\n\
         a 4 1.1: sched:sched_waking: comm=b pid=5 prio=120 target_cpu=003\n\
         a 4 1.5: sched:sched_switch: prev_comm=a prev_pid=4 prev_prio=120 \
         prev_state=S ==> next_comm=b next_pid=5 next_prio=120\n\
         x 9 1.6: sched:sched_switch: prev_comm=x prev_pid=9 prev_prio=120 \
         prev_state=S ==> next_comm=y next_pid=6 next_prio=120\n",
    );
    assert_eq!(switches(&history), [(1_000_000_000, 3, 0, 4), (1_500_000_000, 3, 4, 5)]);
    assert_eq!(report.without_cpu, 1);
    assert!(
        history
            .records
            .iter()
            .any(|it| it.event == Event::Wake { task: 5, by: 4, cpu: 3, on: None, sync: None })
    );
}

#[test]
fn ftrace_distinguishes_interrupts() {
    let (history, report) = import(
        "# tracer: nop\n#\n\
         \x20 <idle>-0     [000] d..2. 1.000000000: sched_switch: prev_comm=swapper/0 prev_pid=0 \
         prev_prio=120 prev_state=R ==> next_comm=my-a next_pid=4 next_prio=120\n\
         \x20 my-a-4       (     4) [000] d.h2. 1.000000010: sched_waking: comm=b pid=5 prio=120 \
         target_cpu=000\n\
         \x20 my-a-4       [000] d..2. 1.000000020: sched_waking: comm=b pid=6 prio=120 \
         target_cpu=000\n\
         CPU:0 [LOST 5 EVENTS]\n",
    );
    let by = |record: &trace::Record| match record.event {
        Event::Wake { by, .. } => Some(by),
        _ => None,
    };
    let wakes: Vec<u32> = history.records.iter().filter_map(by).collect();
    assert_eq!(wakes, [0, 4]);
    assert_eq!((report.lost_events, report.unreadable), (5, 0));
}

#[test]
fn an_exited_thread_has_no_number_in_the_header() {
    let (history, report) = import(
        switch("1.0", IDLE, "R", ("a", 4))
            + ":-1 2562/-1 [000] 1.2: sched:sched_stat_runtime: comm=a pid=4 runtime=7 [ns]\n\
               :-1 2562/-1 [000] 1.5: sched:sched_switch: prev_comm=a prev_pid=4 prev_prio=120 \
               prev_state=X ==> next_comm=b next_pid=5 next_prio=120\n",
    );
    assert_eq!(run_ns(&history, 4), 500_000_000);
    assert_eq!(history.header.tasks[0].pid, Some(2562));
    assert_eq!((report.repaired_switches, report.namespaced), (0, false));
}

#[test]
fn a_missing_switch_is_added_where_the_next_event_shows_it() {
    let (history, report) = import(
        switch("1.000000000", ("a", 4), "S", ("hidden", 5))
            + "b 6/6 [000] 1.000000400: sched:sched_waking: comm=c pid=9 prio=120 target_cpu=000\n"
            + &switch("1.000001000", ("b", 6), "S", IDLE),
    );
    assert_eq!(run_ns(&history, 5), 400);
    assert_eq!(run_ns(&history, 6), 600);
    assert_eq!(report.repaired_switches, 1);
}

#[test]
fn accounted_time_gives_the_time_of_a_hidden_switch() {
    let (history, _) = import(
        switch("1.000000000", ("a", 4), "S", ("hidden", 5))
            + "b 6/6 [000] 1.000000900: sched:sched_stat_runtime: comm=b pid=6 runtime=700 [ns]\n"
            + &switch("1.000001000", ("b", 6), "S", IDLE),
    );
    assert_eq!((run_ns(&history, 5), run_ns(&history, 6)), (200, 800));
}

#[test]
fn accounted_time_gives_the_time_of_a_hidden_switch_even_after_other_events() {
    let waking = |time: &str| {
        format!("b 6/6 [000] {time}: sched:sched_waking: comm=c pid=9 prio=120 target_cpu=000\n")
    };
    let text = switch("1.000000000", ("a", 4), "S", ("hidden", 5))
        + &waking("1.000000800")
        + "b 6/6 [000] 1.000000900: sched:sched_stat_runtime: comm=b pid=6 runtime=700 [ns]\n"
        + &switch("1.000001000", ("b", 6), "S", IDLE);
    let (history, report) = import(text);
    assert_eq!((run_ns(&history, 5), run_ns(&history, 6)), (200, 800));
    assert!(
        history
            .records
            .iter()
            .any(|it| it.event == Event::Wake { task: 9, by: 6, cpu: 0, on: None, sync: None })
    );
    assert_eq!(report.repaired_switches, 1);
}

#[test]
fn a_task_that_only_events_named_does_not_leave_where_it_came_by_a_switch() {
    let text = switch("1.000000000", ("a", 4), "S", ("hidden", 5))
        + "b 6/6 [000] 1.000000400: sched:sched_waking: comm=c pid=9 prio=120 target_cpu=000\n"
        + &switch_on(1, "1.000000500", ("swapper/1", 0), "R", ("b", 6))
        + &switch("1.000000700", ("d", 7), "S", IDLE)
        + &switch_on(1, "1.000000900", ("b", 6), "S", ("swapper/1", 0));
    let (history, _) = import(text);
    assert_eq!(run_ns(&history, 6), 400);
}

#[test]
fn a_missing_switch_out_ends_when_the_task_runs_elsewhere() {
    let (history, report) = import(
        switch_on(0, "1.0", IDLE, "R", ("a", 4))
            + &switch_on(1, "1.5", ("swapper/1", 0), "R", ("a", 4))
            + &switch_on(1, "1.6", ("a", 4), "S", ("swapper/1", 0)),
    );
    assert_eq!(run_ns(&history, 4), 600_000_000);
    assert_eq!(report.repaired_switches, 1);
}

#[test]
fn numbers_of_a_namespace_are_not_taken_for_the_kernels() {
    let line = |time: &str, ns: u32, prev: u32, next: u32| {
        format!(
            "x {ns}/{ns} [000] {time}: sched:sched_switch: prev_comm=x prev_pid={prev} \
             prev_prio=120 prev_state=S ==> next_comm=x next_pid={next} next_prio=120\n"
        )
    };
    let (history, report) = import(
        line("1.0", 3, 1003, 1004)
            + "x 4/4 [000] 1.1: sched:sched_waking: comm=y pid=1009 prio=120 target_cpu=000\n"
            + &line("1.5", 4, 1004, 1003)
            + "x 3/3 [000] 1.500000002: x86_fpu:x86_fpu_regs_deactivated: x86/fpu: 0xffff888100 \
               load: 1 xfeatures: 2e7 xcomp_bv: 80000000000002ff\n",
    );
    assert!(report.namespaced);
    assert_eq!(report.repaired_switches, 0);
    let tids: Vec<u32> = history.header.tasks.iter().map(|task| task.tid).collect();
    assert_eq!(tids, [1003, 1004, 1009]);
    let mark = Event::Registers { task: 1004, xfeatures: 0x2e7 };
    assert_eq!(history.records.last().unwrap().event, mark);
}

#[test]
fn marks_belong_to_the_switch_right_before_them() {
    let mark = |time: &str, cpu: u32, load: u32| {
        format!(
            "a 4/4 [{cpu:03}] {time}: x86_fpu:x86_fpu_regs_deactivated: x86/fpu: \
            0xffff8881043c6ac0 \
             load: {load} xfeatures: 202 xcomp_bv: 80000000000002ff\n"
        )
    };
    let (history, report) = import(
        mark("0.5", 0, 1)
            + &switch("1.0", ("a", 4), "S", IDLE)
            + &mark("1.1", 1, 1)
            + &mark("1.2", 0, 1)
            + &switch("2.0", IDLE, "R", ("a", 4))
            + &switch("3.0", ("a", 4), "X", IDLE)
            + &mark("3.1", 0, 0)
            + &mark("3.2", 0, 1),
    );
    let marks: Vec<u64> = history
        .records
        .iter()
        .filter(|record| matches!(record.event, Event::Registers { .. }))
        .map(|record| record.time_ns)
        .collect();
    assert_eq!(marks, [1_200_000_000]);
    assert_eq!((report.unmatched_marks, report.skipped_marks), (3, 1));
}

#[test]
fn a_number_used_again_is_another_task() {
    let fork = "p 3/3 [000] 2.0: sched:sched_process_fork: comm=p pid=3 child_comm=new \
    child_pid=40\n\
                p 3/3 [000] 2.1: sched:sched_wakeup_new: comm=new pid=40 prio=120 target_cpu=000\n";
    let (history, _) = import(
        switch("1.0", IDLE, "R", ("old", 40))
            + &switch("1.5", ("old", 40), "X", ("p", 3))
            + fork
            + &switch("2.5", ("p", 3), "S", ("new", 40))
            + &switch("2.75", ("new", 40), "X", IDLE),
    );
    let tids: Vec<u32> = history.header.tasks.iter().map(|task| task.tid).collect();
    assert_eq!(tids, [3, 40, 1 << 22]);
    assert_eq!((comm(&history, 40), comm(&history, 1 << 22)), ("old", "new"));
    assert_eq!(run_ns(&history, 40), 500_000_000);
    assert_eq!(run_ns(&history, 1 << 22), 250_000_000);
    assert!(history.records.iter().any(|it| it.event == Event::Fork { task: 1 << 22, by: 3 }));
}

#[test]
fn stolen_time_is_what_slices_have_and_accounts_lack() {
    let (history, report) = import(
        switch("1.000000000", IDLE, "R", ("a", 4))
            + "a 4/4 [000] 1.000000900: sched:sched_stat_runtime: comm=a pid=4 runtime=300 [ns]\n\
               a 4/4 [000] 1.000000950: sched:sched_stat_runtime: comm=a pid=4 runtime=50 [ns] \
               vruntime=9 [ns]\n"
            + &switch("1.000001000", ("a", 4), "S", IDLE),
    );
    assert_eq!((report.slices_ns, report.runtime_ns), (1000, 350));
    assert_eq!(report.runtime_per_wall_permille, Some(350));
    assert_eq!(report.tasks[0].stolen_ns(), 650);
    assert!(history.records.iter().any(|it| it.event == Event::Runtime { task: 4, ns: 350 }));
}

#[test]
fn lost_events_are_counted() {
    let (_, report) =
        import(switch("1.0", IDLE, "R", ("a", 4)) + "a 4/4 [000] 1.5: PERF_RECORD_LOST lost 52\n");
    assert_eq!((report.lost_events, report.unreadable), (52, 0));
}

#[test]
fn little_disorder_is_sorted() {
    let (history, report) = import(
        switch("1.000000500", ("a", 4), "S", ("b", 5))
            + &switch("1.000000000", IDLE, "R", ("a", 4)),
    );
    assert_eq!(switches(&history), [(1_000_000_000, 0, 0, 4), (1_000_000_500, 0, 4, 5)]);
    assert_eq!((report.reordered_lines, report.repaired_switches), (1, 0));
}

#[test]
fn great_disorder_is_refused_with_its_line() {
    let mut text = String::new();
    for index in 0..600 {
        text += &format!(
            "a 4/4 [000] 2.{index:09}: sched:sched_stat_runtime: comm=a pid=4 runtime=1 [ns]\n"
        );
    }
    text += &switch("1.0", ("a", 4), "S", IDLE);
    let error = refused(&text);
    assert!(
        matches!(
            error,
            ImportError::OutOfOrder { place: Place::Line(601), behind_ns: 1_000_000_087 }
        ),
        "{error}"
    );
    assert!(error.to_string().starts_with("line 601, field time: 1000000087 ns before"));
}

#[test]
fn a_cut_off_last_line_is_counted() {
    let whole = switch("1.0", IDLE, "R", ("a", 4));
    for rest in ["a 4/4 [000] 1.5: sched:sched_switch: prev_comm=a prev_pi", "a 4/4 [00"] {
        let (history, report) = import(whole.clone() + rest);
        assert!(report.truncated, "{rest}");
        assert_eq!((report.unreadable, switches(&history).len()), (0, 1));
    }
}

#[test]
fn interleaved_garbage_is_counted_and_bounded() {
    let good = switch("1.0", IDLE, "R", ("a", 4)) + &switch("1.5", ("a", 4), "S", IDLE);
    let noise = "'trace' not valid for sched:sched_switch. Ignoring.\n";
    let (_, report) =
        import(format!("{good}{noise}{}{good}", "x".repeat(100_000) + "\n").replace("1.", "3."));
    assert_eq!((report.unreadable, report.unreadable_lines), (2, vec![3, 4]));
    let error = refused(good + &noise.repeat(3));
    assert!(matches!(error, ImportError::Unreadable { first: 3, others: 2, lines: 5 }), "{error}");
}

#[test]
fn a_payload_that_garbage_interrupts_is_unreadable() {
    let line = switch("1.0", IDLE, "R", ("a", 4));
    let (cut, _) = line.split_at(line.len() - 20);
    let (_, report) = import(format!("{line}{cut}garbage\n{line}{line}"));
    assert_eq!(report.unreadable_lines, [2]);
}

#[test]
fn files_without_a_switch_are_refused() {
    for text in ["", "\n\n# nothing\n", "a 4/4 [000] 1.5: cycles:  1234\n"] {
        assert!(matches!(refused(text), ImportError::NoSwitch { .. }), "{text:?}");
    }
    assert!(refused("PERFILE2\0\0\0\n").to_string().contains("file of perf"));
}

#[test]
fn hostile_numbers_are_unreadable() {
    let good = switch("1.0", IDLE, "R", ("a", 4)).repeat(4);
    for line in [
        "a 4/4 [8192] 1.5: sched:sched_stat_runtime: comm=a pid=4 runtime=7 [ns]",
        "a 4/4 [000] 1.5: sched:sched_stat_runtime: comm=a pid=4294967295 runtime=7 [ns]",
        "a 4/4 [000] 1.5: sched:sched_stat_runtime: comm=a pid=-1 runtime=7 [ns]",
        "a 4/4 [000] 1.5: sched:sched_waking: comm=a pid=4 prio=120 target_cpu=4000000000",
        "a 4/4 [000] 99999999999999.5: sched:sched_stat_runtime: comm=a pid=4 runtime=7 [ns]",
        "a 4/4 [000] 1.5: sched:sched_stat_runtime: comm=a pid=4 runtime=99999999999999999999 [ns]",
    ] {
        let (history, report) = import(format!("{good}{line}\n"));
        assert_eq!((report.unreadable, history.header.cpus), (1, 1), "{line}");
    }
}

#[test]
fn a_second_wake_line_of_one_wake_is_dropped() {
    let wake = |time: &str, event: &str| {
        format!("a 4/4 [000] {time}: sched:{event}: comm=b pid=5 prio=120 target_cpu=000\n")
    };
    let (history, _) = import(
        switch("1.0", IDLE, "R", ("a", 4))
            + &wake("1.1", "sched_waking")
            + &wake("1.2", "sched_wakeup")
            + &switch("1.3", ("a", 4), "S", ("b", 5))
            + &switch("1.4", ("b", 5), "S", IDLE)
            + &wake("1.5", "sched_wakeup"),
    );
    let wakes = history.records.iter().filter(|it| matches!(it.event, Event::Wake { .. })).count();
    assert_eq!(wakes, 2);
}

#[test]
fn frequencies_and_migrations_are_read() {
    let (history, _) = import(
        switch("1.0", IDLE, "R", ("a", 4))
            + "a 4/4 [000] 1.1: power:cpu_frequency: state=2100000 cpu_id=1\n\
               a 4/4 [000] 1.2: sched:sched_migrate_task: comm=b pid=5 prio=120 orig_cpu=0 \
               dest_cpu=3\n",
    );
    let events: Vec<&Event> = history.records[1..].iter().map(|record| &record.event).collect();
    assert_eq!(
        events,
        [
            &Event::Frequency { core: 1, khz: 2_100_000 },
            &Event::Migrate { task: 5, from: 0, to: 3 }
        ]
    );
    assert_eq!(history.header.cpus, 4);
}

#[test]
fn a_program_that_begins_is_the_running_tasks() {
    let exec = "a 5/5 [000] 1.1: sched:sched_process_exec: filename=/bin/b pid=5 old_pid=5\n";
    let (history, _) = import(switch("1.0", IDLE, "R", ("a", 5)) + exec);
    assert_eq!(history.records.last().unwrap().event, Event::Exec { task: 5 });
}

#[test]
fn threads_whose_leader_only_waits_are_one_application() {
    let thread = |time: &str, name: &str, tid: u32, next: &str, next_tid: u32| {
        format!(
            "{name} 60/{tid} [000] {time}: sched:sched_switch: prev_comm={name} prev_pid={tid} \
             prev_prio=120 prev_state=S ==> next_comm={next} next_pid={next_tid} next_prio=120\n"
        )
    };
    let (history, _) =
        import(thread("1.0", "b", 62, "a", 61) + &thread("1.1", "a", 61, "swapper/0", 0));
    let apps: Vec<&str> = history.header.tasks.iter().map(|task| &task.app[..]).collect();
    assert_eq!(apps, ["a", "a"]);
}
