//! Groups of a profile: control groups with their labels, virtual machines, kernel threads; and
//! what a merge of profiles of different CPUs does with them.

use std::collections::BTreeMap;

use serde_json::Value;
use trace::{ControlGroup, Event, Header, History, Record, Source, SwitchState, TaskInfo};

use crate::harness::Folder;

const POD: &str = "/kubepods/burstable/pod7881ed9e-c63e-4425-b5e0-ac55a08ae939";
const ZMM: u64 = 1 << 6;
const STEP_NS: u64 = 1_000_000;

fn task(tid: u32, pid: u32, comm: &str, app: &str, group: Option<(&str, &str)>) -> TaskInfo {
    let of = |(path, name): (&str, &str)| ControlGroup {
        path: path.into(),
        name: name.into(),
        pod: None,
    };
    TaskInfo {
        tid,
        pid: Some(pid),
        comm: comm.to_owned(),
        app: app.to_owned(),
        nice: 0,
        kernel: comm.starts_with('k'),
        control_group: group.map(of),
    }
}

/// Tasks that take turns on one CPU, of which the first leaves 512-bit registers.
fn recording(machine: &str, tasks: Vec<TaskInfo>, step_ns: u64) -> Vec<u8> {
    let mut records = Vec::new();
    let mut add = |time_ns, event| records.push(Record { time_ns, event });
    for task in &tasks {
        add(0, Event::Wake { task: task.tid, by: 0, cpu: 0, on: None, sync: None });
    }
    let (first, state) = (tasks[0].tid, SwitchState::Runnable);
    add(0, Event::Switch { cpu: 0, prev: 0, state: SwitchState::Blocked, next: first });
    for turn in 0..299 {
        let [prev, next] = [turn, turn + 1].map(|turn| tasks[turn as usize % tasks.len()].tid);
        let turn = turn + 1;
        add(turn * step_ns, Event::Switch { cpu: 0, prev, state, next });
        if prev == tasks[0].tid {
            add(turn * step_ns, Event::Registers { task: prev, xfeatures: ZMM });
        }
    }
    let header = Header {
        schema: trace::SCHEMA,
        source: Source::Recorded,
        cpus: 1,
        start_ns: 0,
        end_ns: 300 * step_ns,
        threads_per_core: Some(1),
        cores_per_package: Some(1),
        cpu: None,
        facts: BTreeMap::from([("machine".to_owned(), machine.to_owned())]),
        tasks,
        stacks: Vec::new(),
    };
    History { header, records }.write(Vec::new()).unwrap()
}

const GOLD: &str = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz";

/// Containers of one name in a pod and beside it, a unit of a service, and a kernel thread.
fn containers(machine: &str, step_ns: u64) -> Vec<u8> {
    let [one, two] = ["1", "2"].map(|digit| format!("{POD}/{}", digit.repeat(64)));
    let tasks = vec![
        task(10, 10, "wide", "wide", Some((&one, "proxy"))),
        task(20, 20, "narrow", "narrow", Some((&format!("{two}/init.scope"), "proxy"))),
        task(30, 30, "web", "web", Some(("/system.slice/web.service", "web.service"))),
        task(40, 40, "kworker/0:1", "kworker/0:1", None),
        task(50, 50, "ksoftirqd/0", "ksoftirqd/0", None),
    ];
    recording(machine, tasks, step_ns)
}

fn profile(folder: &Folder, args: &[&str]) -> Value {
    let text = folder.succeed(&[&["profile"], args, &["--json", "-"]].concat());
    serde_json::from_str(&text).unwrap()
}

fn names(found: &Value) -> Vec<&str> {
    found["victims"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[test]
fn control_groups_have_labels_and_equal_names_are_told_apart() {
    let folder = Folder::new();
    folder.write("a.ektrace", containers(GOLD, STEP_NS));
    let found = profile(&folder, &["--replay", "a.ektrace", "--by", "control-group"]);
    let [one, two] = ["proxy (111111111111)", "proxy (222222222222)"];
    assert_eq!(names(&found), [one, two, "web.service", "(kernel threads)"]);
    let labels = &found["victims"][1]["labels"];
    assert_eq!(labels["container_id"], "2".repeat(64));
    assert_eq!(labels["container_name"], "proxy");
    assert_eq!(labels["kube_pod_uid"], POD.rsplit_once("pod").unwrap().1);
    assert_eq!(labels["path"], format!("{POD}/{}", "2".repeat(64)));
    assert_eq!(found["victims"][2]["labels"]["systemd_unit"], "web.service");
    assert!(found["victims"][3].get("labels").is_none());
    let first = &found["losses"][0];
    assert_eq!((&first["victim"], &first["culprit"]), (&two.into(), &one.into()));
    let path = format!("{POD}/{}", "2".repeat(64));
    let by = ["--by", "control-group"];
    let asked =
        profile(&folder, &[&["--replay", "a.ektrace", "--cgroup", &path], &by[..]].concat());
    assert_eq!(asked["focus"], serde_json::json!([two]), "named as in the table");
    let programs = profile(&folder, &["--replay", "a.ektrace"]);
    assert!(programs["victims"][0].get("labels").is_none());
    let page = ["profile", "--replay", "a.ektrace", "--by", "control-group", "--page", "p.html"];
    folder.succeed(&page);
    let page = folder.read("p.html");
    assert!(page.contains(&format!("<span title=\"{POD}/{}\">{two}</span>", "2".repeat(64))));
    assert!(page.contains("container_id=222222222222,") && page.contains("level of core 0"));
}

#[test]
fn each_virtual_machine_is_a_program_and_only_the_wide_one_a_culprit() {
    let folder = Folder::new();
    let qemu = "qemu-system-x86";
    let tasks = vec![
        task(11, 10, "CPU 0/KVM", qemu, None),
        task(21, 20, "CPU 0/KVM", qemu, None),
        task(
            31,
            30,
            "CPU 0/KVM",
            qemu,
            Some((r"/machine.slice/machine-qemu\x2d1\x2ddb.scope", "db")),
        ),
    ];
    folder.write("vm.ektrace", recording(GOLD, tasks, STEP_NS));
    let found = profile(&folder, &["--replay", "vm.ektrace"]);
    assert_eq!(names(&found), ["qemu-system-x86/10", "qemu-system-x86/20", "db"]);
    let demands: Vec<&Value> =
        found["victims"].as_array().unwrap().iter().map(|it| &it["demands"]).collect();
    assert!(demands[0] != demands[1] && demands[1] == demands[2], "{demands:?}");
}

#[test]
fn a_merge_keeps_cpus_apart_and_says_which() {
    let folder = Folder::new();
    let machines = [("a", GOLD), ("b", GOLD), ("c", "AMD EPYC 9R14"), ("d", "Other CPU")];
    for (step_ns, (name, machine)) in (STEP_NS..).zip(machines) {
        let file = format!("{name}.ektrace");
        folder.write(&file, containers(machine, step_ns));
        let json = format!("{name}.json");
        folder.succeed(&["profile", "--replay", &file, "--by", "control-group", "--json", &json]);
    }
    folder.write("replay.json", folder.read("a.json"));
    folder.refused(
        &["profile", "merge", "a.json", "b.json", "replay.json"],
        "a and replay are of one recording: a machine would count twice",
    );
    let one = folder.succeed(&["profile", "merge", "a.json", "b.json"]);
    assert!(one.contains(&format!("CPU: {GOLD}, by its table xeon-gold-6130\n")), "{one}");
    let merge = ["profile", "merge", "a.json", "b.json", "c.json", "d.json"];
    let text = folder.succeed(&merge);
    for line in [
        "CPU 1: AMD EPYC 9R14, which has no license levels; 1 machine\n",
        "CPU 2: Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz, by its table xeon-gold-6130; 2 machines",
        "CPU 3: Other CPU, as if on xeon-gold-6130; 1 machine\n",
        "Losses on different CPUs are not added up",
        "to proxy, on 2 of 4 machines (CPU 2).",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let merged: Value =
        serde_json::from_str(&folder.succeed(&[&merge[..], &["--json", "-"]].concat())).unwrap();
    let pairs = merged["losses"].as_array().unwrap().iter();
    let of_web = pairs.filter(|it| it["victim"] == "web.service" && it["culprit"] == "proxy");
    assert_eq!(of_web.count(), 3);
    assert_eq!(merged["labels"]["proxy"]["container_name"], "proxy");
    assert!(merged["labels"]["proxy"].get("container_id").is_none());
}
