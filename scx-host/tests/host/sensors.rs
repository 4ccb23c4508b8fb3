//! Our scheduler learns classes and levels from registers and counters of the host.

use cpu_model::{CpuTable, TurboMode};
use policy::Mode;
use scx_host::{
    Compensation, Config, CoreRule, Counted, EVENTS, Faults, HardwareEvent, Host, Object, Sensor,
    Specialization, TaskSpec, Topology, Waker, evenkeel, load_evenkeel,
};

/// Upper halves of ZMM 0 to 15 in use (SDM 13.1).
const ZMM_HI256: u64 = 1 << 6;
const MS: u64 = 1_000_000;

fn host(sensors: &[Sensor], events: &[HardwareEvent]) -> (Host, Object) {
    host_of(sensors, events, [None, None])
}

/// Two tasks on one CPU of a Xeon Gold 6130, the first of which runs; `process` as in
/// [`TaskSpec`].
fn host_of(
    sensors: &[Sensor],
    events: &[HardwareEvent],
    process: [Option<usize>; 2],
) -> (Host, Object) {
    let model = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
    start(Compensation::on(&model, Mode::Relative, sensors, events), process)
}

fn start(compensation: Compensation, process: [Option<usize>; 2]) -> (Host, Object) {
    let topology = Topology::regular(1, 1, 1);
    let compensation = Some(compensation);
    let config = Config { compensation, emits_decisions: true, ..Config::default() };
    let object = evenkeel(&config, &topology);
    let mut host = load_evenkeel(&object, &config, topology, Faults::default()).unwrap();
    for (name, process) in ["first", "second"].into_iter().zip(process) {
        let spec = TaskSpec { name: name.into(), process, ..TaskSpec::default() };
        let task = host.add_task(&spec, Some(spec.cpu)).unwrap();
        host.wake(task, Waker { cpu: 0, is_fork: true, is_sync: false });
        if host.take_reschedules() == [0] {
            host.schedule(0, 0);
        }
    }
    assert_eq!(host.current(0), Some(0));
    (host, object)
}

fn word(object: &Object, bytes: &[u8], structure: &str, field: &str) -> u64 {
    let at = object.offset_of(structure, field).unwrap();
    u64::from_ne_bytes(*bytes[at..].first_chunk().unwrap())
}

/// Until when a task is believed to demand more than level 0.
fn wide_until_ns(host: &Host, object: &Object, task: usize) -> u64 {
    let bytes = host.storage("tasks", task).unwrap();
    word(object, &bytes, "task", "wide_until_ns")
}

#[test]
fn registers_that_show_when_a_task_has_left_are_evidence_about_that_task() {
    let (mut host, object) = host(&[Sensor::Registers], &[]);
    host.set_now(20 * MS);
    assert_eq!(host.schedule(0, 20 * MS).task, Some(1));
    host.save_registers(0, ZMM_HI256);
    let until_ns = |host: &Host, task| wide_until_ns(host, &object, task);
    assert_eq!(until_ns(&host, 0), 0, "it is looked at when the task begins again");
    host.set_now(40 * MS);
    assert_eq!(host.schedule(0, 20 * MS).task, Some(0));
    assert!(until_ns(&host, 0) > 40 * MS, "{}", until_ns(&host, 0));
    assert_eq!(until_ns(&host, 1), 0, "the other has shown nothing");
    // The task has not left its CPU since, so the saved registers are those that were read.
    host.set_now(60 * MS);
    let before = until_ns(&host, 0);
    assert_eq!(host.schedule(0, 40 * MS).task, Some(1));
    host.set_now(80 * MS);
    assert_eq!(host.schedule(0, 40 * MS).task, Some(0));
    assert_eq!(until_ns(&host, 0), before);
}

#[test]
fn what_registers_of_a_thread_show_is_evidence_about_all_threads_of_its_process() {
    let (mut host, object) = host_of(&[Sensor::Registers], &[], [None, Some(0)]);
    let turn = |host: &mut Host, at_ms: u64, ran_ms: u64| {
        host.set_now(at_ms * MS);
        host.schedule(0, ran_ms * MS).task.unwrap()
    };
    assert_eq!(turn(&mut host, 20, 20), 1);
    assert_eq!(turn(&mut host, 40, 20), 0);
    host.save_registers(1, ZMM_HI256);
    assert_eq!(wide_until_ns(&host, &object, 0), 0);
    // The scheduler reads the registers when the second task begins again, and then knows the
    // class of the first task too.
    assert_eq!(turn(&mut host, 60, 40), 1);
    assert_eq!(turn(&mut host, 80, 40), 0);
    let until_ns = wide_until_ns(&host, &object, 0);
    assert!(until_ns > 80 * MS, "{until_ns}");
    // When the first task ends before its process, the evidence of the process stays.
    host.block(0, 60 * MS);
    assert_eq!(turn(&mut host, 100, 60), 1);
    host.remove_task(0);
    assert!(host.storage("tasks", 0).is_some());
    host.block(0, 60 * MS);
    host.set_now(120 * MS);
    host.schedule(0, 60 * MS);
    host.remove_task(1);
    assert_eq!(host.storage("tasks", 0), None);
    assert_eq!(host.exit(), None);
}

/// With core specialization (D 6.3.2). A task that no task forks is of no parent's kind.
#[test]
fn a_task_is_as_wide_as_the_task_that_forks_it() {
    let model = CpuTable::by_name("xeon-gold-6130").unwrap().model(TurboMode::On).unwrap();
    let mut compensation = Compensation::on(&model, Mode::None, &[Sensor::Registers], &[]);
    compensation.specialization = Some(Specialization {
        rule: CoreRule::Load,
        wide_cores: None,
        ends_by_call: false,
        enrols_declared: false,
    });
    let (mut host, object) = start(compensation, [None, None]);
    for (turn, task) in [(1, 1), (2, 0)] {
        host.set_now(turn * 20 * MS);
        assert_eq!(host.schedule(0, 20 * MS).task, Some(task));
        host.save_registers(0, ZMM_HI256);
    }
    let until_ns = wide_until_ns(&host, &object, 0);
    assert!(until_ns > 40 * MS, "{until_ns}");
    let spec = TaskSpec { name: "child".into(), ..TaskSpec::default() };
    for (forked_on, expected_ns) in [(Some(0), until_ns), (None, 0)] {
        let task = host.add_task(&spec, forked_on).unwrap();
        assert_eq!(wide_until_ns(&host, &object, task), expected_ns, "{forked_on:?}");
    }
}

/// The refunds by task, with the counters of a CPU: slices of 20 ms by turns, those of the first
/// task at level 2 throughout, those of the second for the hold of level 2.
fn refunds(cpu: usize) -> Vec<(u64, u64)> {
    let events = [
        HardwareEvent::License1,
        HardwareEvent::License2,
        HardwareEvent::Cycles,
        HardwareEvent::RefCycles,
    ];
    let (mut host, object) = host(&[Sensor::Licenses], &events);
    let mut counted = [0; EVENTS as usize];
    let mut refunds = Vec::new();
    for slice in 1..=10_u64 {
        let level_2_us = if host.current(0) == Some(0) { 20_000 } else { 670 };
        let level_2 = level_2_us * 1_900;
        counted[HardwareEvent::License2 as usize] += level_2;
        counted[HardwareEvent::Cycles as usize] += level_2 + (20_000 - level_2_us) * 2_800;
        counted[HardwareEvent::RefCycles as usize] += 42_000_000;
        for event in events {
            let counter = counted[event as usize];
            let value = Counted { cpu, counter, ..Counted::default() };
            host.set_event("events", event as u32, value).unwrap();
        }
        host.set_now(slice * 20 * MS);
        host.schedule(0, slice.div_ceil(2) * 20 * MS);
        while let Some(record) = host.take_record("decisions").unwrap() {
            // Numbers of processes begin with 1.
            let victim = object.offset_of("ek_decision", "victim").unwrap();
            let victim = u32::from_ne_bytes(*record[victim..].first_chunk().unwrap()) - 1;
            refunds.push((victim.into(), word(&object, &record, "ek_decision", "refund_ns")));
        }
    }
    assert_eq!(host.exit(), None);
    refunds
}

#[test]
fn what_a_slice_lost_while_the_level_of_another_was_held_is_refunded() {
    let refunds = refunds(0);
    // The ideal frequency is 2.8 GHz: the refund is a third of 0.67 ms, from the slice on in which
    // the scheduler knows the task's level.
    let full = refunds.iter().filter(|&&(task, ns)| task == 1 && ns / 1000 == 215).count();
    assert!(full >= 2, "{refunds:?}");
    assert_eq!(refunds.iter().find(|&&(task, ns)| task == 0 && ns > 0), None, "{refunds:?}");
}

#[test]
fn counters_of_another_cpu_cannot_be_read() {
    assert_eq!(refunds(1).iter().map(|&(_, ns)| ns).sum::<u64>(), 0);
}
