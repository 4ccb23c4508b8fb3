//! What the path of a control group says, in the words of tools that watch containers.

use serde::{Deserialize, Serialize};

use super::container::{Runtime, container};
use super::kubernetes::{Pod, Qos, pod_group};
use super::systemd::{place, unescaped};
use super::text::shown;
use super::virtual_machine::virtual_machine;

/// Digits of a container's id in a table, as Docker shows them.
const SHORT_ID: usize = 12;

/// The container, the pod and the unit of a control group. All text is safe to print.
///
/// Fields are called as in DataDog/datadog-agent, comp/core/tagger/tags/tags.go, where that has
/// them (`container_id`, `container_name`, `kube_namespace`, `kube_qos`), and as in systemd's
/// journal, `_SYSTEMD_UNIT` and `_SYSTEMD_SLICE` (`man systemd.journal-fields`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Labels {
    /// Path of the group below the root of its hierarchy, beginning with `/`.
    pub path: String,
    /// Id of the container: 64 hexadecimal digits, or those of Amazon ECS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_id: Option<String>,
    /// Name of the container. A path has those of LXC and systemd-nspawn, files have the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_name: Option<String>,
    /// Program that started the container, where the path names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_runtime: Option<Runtime>,
    /// Namespace of the pod, which no path has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kube_namespace: Option<String>,
    /// Name of the pod, which no path has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kube_pod_name: Option<String>,
    /// UID of the pod, `metadata.uid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kube_pod_uid: Option<String>,
    /// Quality of service class of the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kube_qos: Option<Qos>,
    /// Name of the virtual machine, as `virsh list` shows it, where libvirt started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_machine: Option<String>,
    /// Unit as `systemctl` takes it; in a user's session, that of the user's manager.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub systemd_unit: Option<String>,
    /// Slice that holds the unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub systemd_slice: Option<String>,
}

impl Labels {
    /// What a path says: of cgroup v2 or v1, as `/proc/PID/cgroup` shows it or relative to the
    /// mount. Any text has labels; in the worst case these are the path alone.
    #[must_use]
    pub fn of_path(path: &str) -> Self {
        let path = shown(path);
        // A group outside the reader's cgroup namespace begins with `..` (`man cgroup_namespaces`).
        let is_name = |part: &&str| !matches!(*part, "" | "." | "..");
        let components: Vec<&str> = path.split('/').filter(is_name).collect();
        let container = container(&components).unwrap_or_default();
        let pod = pod_group(&components);
        let unit = place(&components);
        let (systemd_unit, systemd_slice) =
            (unit.unit.map(str::to_owned), unit.slice.map(str::to_owned));
        Self {
            container_id: container.id,
            // Escapes of a unit's name can stand for any character.
            container_name: container.name.as_deref().map(shown),
            container_runtime: container.runtime,
            kube_namespace: None,
            kube_pod_name: None,
            kube_qos: pod.as_ref().map(|pod| pod.qos),
            kube_pod_uid: pod.map(|pod| pod.uid),
            virtual_machine: virtual_machine(&components).as_deref().map(shown),
            systemd_unit,
            systemd_slice,
            path: format!("/{}", path.trim_start_matches('/')),
        }
    }

    /// Adds the names of the pod.
    pub fn set_pod(&mut self, pod: &Pod) {
        self.kube_namespace = Some(shown(&pod.namespace));
        self.kube_pod_name = Some(shown(&pod.name));
    }

    /// Adds the name of the container.
    pub fn set_container_name(&mut self, name: &str) {
        self.container_name = Some(shown(name));
    }

    /// A name for a table: of the container, else 12 digits of its id, else of the pod, else of
    /// the virtual machine, else of the unit without escapes, else the last component of the path.
    #[must_use]
    pub fn short_name(&self) -> String {
        if let Some(name) = &self.container_name {
            return name.clone();
        }
        if let Some(id) = &self.container_id {
            return id.chars().take(SHORT_ID).collect();
        }
        let pod = self.kube_pod_name.as_ref().or(self.kube_pod_uid.as_ref());
        if let Some(name) = pod.or(self.virtual_machine.as_ref()) {
            return name.clone();
        }
        let last = self.path.rsplit('/').find(|part| !part.is_empty());
        match self.systemd_unit.as_deref().or(last) {
            Some(name) => shown(&unescaped(name)),
            None => "/".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[test]
    fn a_container_of_a_pod_has_all_labels_that_a_path_has() {
        let labels = Labels::of_path(&format!(
            "/kubepods.slice/kubepods-burstable.slice/\
             kubepods-burstable-pod7881ed9e_c63e_4425_b5e0_ac55a08ae939.slice/\
             cri-containerd-{ID}.scope"
        ));
        assert_eq!(labels.container_id.as_deref(), Some(ID));
        assert_eq!(labels.container_runtime, Some(Runtime::Containerd));
        assert_eq!(labels.kube_qos, Some(Qos::Burstable));
        let uid = "7881ed9e-c63e-4425-b5e0-ac55a08ae939";
        assert_eq!(labels.kube_pod_uid.as_deref(), Some(uid));
        assert_eq!(labels.systemd_unit, Some(format!("cri-containerd-{ID}.scope")));
        let slice = "kubepods-burstable-pod7881ed9e_c63e_4425_b5e0_ac55a08ae939.slice";
        assert_eq!(labels.systemd_slice.as_deref(), Some(slice));
        assert_eq!(labels.short_name(), "0123456789ab");
    }

    #[test]
    fn the_short_name_is_the_one_that_a_person_gave() {
        for (path, name) in [
            ("/system.slice/nginx.service", "nginx.service"),
            ("/user.slice/user-1000.slice/user@1000.service/app.slice/x.service/sub", "x.service"),
            (r"/system.slice/systemd-fsck@dev-sda\x2d1.service", "systemd-fsck@dev-sda-1.service"),
            ("/lxc.payload.web/init.scope", "web"),
            (
                "/kubepods/pod7881ed9e-c63e-4425-b5e0-ac55a08ae939",
                "7881ed9e-c63e-4425-b5e0-ac55a08ae939",
            ),
            ("/system.slice", "system.slice"),
            ("/slurm/job_7", "job_7"),
            (r"/machine.slice/machine-qemu\x2d1\x2ddebian.scope/libvirt/vcpu0", "debian"),
            ("/../../a.slice/b", "b"),
            ("/", "/"),
            ("", "/"),
        ] {
            assert_eq!(Labels::of_path(path).short_name(), name, "{path}");
        }
        let mut labels = Labels::of_path(&format!("/docker/{ID}"));
        labels.set_container_name("db\u{1b}[1m");
        assert_eq!(labels.short_name(), "db\u{fffd}[1m");
    }

    #[test]
    fn an_escape_cannot_bring_a_control_character_back() {
        let labels = Labels::of_path(r"/machine.slice/machine-a\x1b\x5b2J.scope");
        assert_eq!(labels.container_name.as_deref(), Some("a\u{fffd}[2J"));
        let labels = Labels::of_path(r"/system.slice/a\x1bb.service");
        assert_eq!(labels.short_name(), "a\u{fffd}b.service");
    }

    #[test]
    fn labels_are_the_same_after_json() {
        let labels = Labels::of_path(&format!("/system.slice/docker-{ID}.scope"));
        let json = serde_json::to_string(&labels).unwrap();
        assert!(json.contains(r#""container_runtime":"docker""#), "{json}");
        assert_eq!(serde_json::from_str::<Labels>(&json).unwrap(), labels);
    }

    /// Words that the rules look at, in any order, between any bytes.
    fn path() -> impl Strategy<Value = Vec<u8>> {
        let word = prop_oneof![
            proptest::sample::select(vec![
                "/",
                "-",
                "_",
                ":",
                ".",
                "..",
                ".slice",
                ".scope",
                ".service",
                "kubepods",
                "pod",
                "burstable",
                "docker",
                "docker-",
                "crio-conmon-",
                "lxc.payload.",
                "machine-",
                "user@1000.service",
                "user-1000",
                "\\x2d",
                "\\x1b",
                "\\x",
                ID,
                "0f-e",
                "é",
                "\u{1b}",
            ])
            .prop_map(|word: &str| word.as_bytes().to_vec()),
            proptest::collection::vec(any::<u8>(), 0..8),
        ];
        proptest::collection::vec(word, 0..24).prop_map(|words| words.concat())
    }

    proptest! {
        #[test]
        fn any_path_has_labels_that_are_safe_to_print(path in path()) {
            let labels = Labels::of_path(&String::from_utf8_lossy(&path));
            prop_assert!(!labels.short_name().is_empty());
            let all = serde_json::to_value(&labels).unwrap();
            for value in all.as_object().unwrap().values().filter_map(|value| value.as_str()) {
                prop_assert!(!value.chars().any(char::is_control), "{:?}", value);
            }
            prop_assert!(!labels.short_name().chars().any(char::is_control));
        }

        #[test]
        fn a_container_is_found_below_any_prefix(prefix in "[a-z/.]{0,40}") {
            let labels = Labels::of_path(&format!("{prefix}/docker-{ID}.scope/a/b"));
            prop_assert_eq!(labels.container_id.as_deref(), Some(ID));
        }
    }
}
