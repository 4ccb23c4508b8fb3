//! Which container, pod, virtual machine or unit are the groups of a recording?

use std::collections::BTreeMap;

use profiler::By;
use sensors::control_groups::{Labels, recorded};
use trace::TaskInfo;

use super::VictimReport;

/// Names each control group so that only groups of the same owner have its name, and the program of
/// a virtual machine of libvirt as the machine. Returns the labels of control groups by that name.
pub fn tell_apart(tasks: &mut [TaskInfo]) -> BTreeMap<String, Labels> {
    let groups = tasks.iter().filter_map(|task| task.control_group.as_ref());
    let found = recorded(groups);
    for task in tasks {
        let Some(group) = &mut task.control_group else { continue };
        let Some(known) = found.get(&group.path) else { continue };
        group.name.clone_from(&known.name);
        if let Some(machine) = known.labels.virtual_machine.as_ref().filter(|_| !task.kernel) {
            task.app.clone_from(machine);
        }
    }
    found.into_values().map(|group| (group.name, group.labels)).collect()
}

/// Gives victims their labels, if they are control groups.
pub fn add(victims: &mut [VictimReport], all: &BTreeMap<String, Labels>, by: By) {
    if by == By::ControlGroup {
        victims.iter_mut().for_each(|victim| victim.labels = all.get(&victim.name).cloned());
    }
}

/// Names and values of labels, as JSON has them, without the path.
pub fn pairs(labels: &Labels) -> Vec<(String, String)> {
    let json = serde_json::to_value(labels).unwrap_or_default();
    let Some(fields) = json.as_object() else { return Vec::new() };
    let text = |(key, value): (&String, &serde_json::Value)| {
        Some((key.clone(), value.as_str()?.to_owned())).filter(|(key, _)| key != "path")
    };
    fields.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use trace::ControlGroup;

    use super::*;

    fn task(tid: u32, path: &str, name: &str) -> TaskInfo {
        let control_group =
            Some(ControlGroup { path: path.to_owned(), name: name.to_owned(), pod: None });
        let app = "qemu-system-x86".to_owned();
        let comm = app.clone();
        TaskInfo { tid, pid: Some(tid), comm, app, nice: 0, kernel: false, control_group }
    }

    #[test]
    fn containers_of_one_name_are_two_groups_with_labels_of_their_own() {
        let [one, two] = ["a", "b"].map(|digit| digit.repeat(64));
        let scope = r"/machine.slice/machine-qemu\x2d1\x2ddebian.scope";
        let mut tasks = [
            task(1, &format!("/kubepods/podab/{one}"), "proxy"),
            task(2, &format!("/kubepods/podcd/{two}/init.scope"), "proxy"),
            task(3, &format!("{scope}/libvirt/vcpu0"), "debian"),
        ];
        let labels = tell_apart(&mut tasks);
        let name = |task: &TaskInfo| task.control_group.as_ref().unwrap().name.clone();
        assert_eq!(name(&tasks[1]), format!("proxy ({})", &two[..12]));
        let second = labels[&name(&tasks[1])].clone();
        assert_eq!(second.container_id, Some(two));
        assert_eq!(second.container_name.as_deref(), Some("proxy"));
        assert!(pairs(&second).contains(&("kube_pod_uid".to_owned(), "cd".to_owned())));
        assert_eq!((tasks[2].app.as_str(), labels["debian"].path.as_str()), ("debian", scope));
    }
}
