//! Which pod of Kubernetes a control group belongs to, and what the names of its files say.
//!
//! The kubelet (kubernetes/kubernetes 1.31, pkg/kubelet/cm) names groups in two ways:
//!
//! - by systemd: `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice`, where
//!   `-` within the UID is `_` (`escapeSystemdCgroupName` of cgroup_manager_linux.go);
//! - by the file system: `kubepods/burstable/podUID`.
//!
//! Pods of class Guaranteed stand directly below `kubepods` (`GetPodContainerName` of
//! pod_container_manager_linux.go). kind puts `kubelet` before: `kubelet-kubepods-podUID.slice`
//! (netdata/netdata, src/collectors/cgroups.plugin/cgroup-name.sh.in).

use serde::{Deserialize, Serialize};

use super::container::is_container_id;

/// The quality of service class of a pod, spelt as in `status.qosClass` of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Qos {
    /// Limits equal requests, for all containers.
    Guaranteed,
    /// Some request or limit is stated.
    Burstable,
    /// No request and no limit is stated.
    BestEffort,
}

/// A pod by its UID, and its class.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PodGroup {
    pub uid: String,
    pub qos: Qos,
}

/// The innermost pod of a path.
pub(super) fn pod_group(components: &[&str]) -> Option<PodGroup> {
    let mut found = None;
    // The class so far, below a group `kubepods`.
    let mut class = None;
    for component in components {
        // A name such as `kubepods-podUID.slice:cri-containerd:ID` begins with its slice.
        let slice = component.split(':').next().unwrap_or(component);
        let name = slice.strip_suffix(".slice").unwrap_or(slice);
        let below = match name.rsplit_once("kubepods") {
            Some((before, rest)) if before.is_empty() || before.ends_with('-') => {
                class = Some(Qos::Guaranteed);
                rest
            }
            _ => name,
        };
        let Some(so_far) = class else { continue };
        let below = below.trim_start_matches('-');
        let (qos, rest) = [("burstable", Qos::Burstable), ("besteffort", Qos::BestEffort)]
            .into_iter()
            .find_map(|(word, qos)| Some((qos, below.strip_prefix(word)?)))
            .unwrap_or((so_far, below));
        class = Some(qos);
        let uid = rest.trim_start_matches('-').strip_prefix("pod").filter(|uid| is_uid(uid));
        found = uid.map(|uid| PodGroup { uid: uid.replace('_', "-"), qos }).or(found);
    }
    found
}

/// A UUID, or the 32 digits of a static pod (`applyDefaults` of pkg/kubelet/config/common.go).
fn is_uid(uid: &str) -> bool {
    !uid.is_empty() && uid.bytes().all(|c| c.is_ascii_hexdigit() || matches!(c, b'-' | b'_'))
}

/// The names of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pod {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// A container of Kubernetes, by the names that a pod's specification has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KubeContainer {
    /// Name of the container.
    pub name: String,
    /// The pod of the container.
    pub pod: Pod,
}

/// UID and names of a pod, by the name of a folder in `/var/log/pods`: `NAMESPACE_POD_UID`
/// (kubernetes/kubernetes 1.31, pkg/kubelet/kuberuntime/helpers.go, `BuildPodLogsDirectory`).
/// Names of Kubernetes hold no `_`.
#[must_use]
pub fn pod_of_log_folder(folder: &str) -> Option<(&str, Pod)> {
    let mut words = folder.split('_');
    let (namespace, name, uid) = (words.next()?, words.next()?, words.next()?);
    let whole = words.next().is_none() && is_uid(uid) && !namespace.is_empty() && !name.is_empty();
    whole.then(|| (uid, Pod { namespace: namespace.to_owned(), name: name.to_owned() }))
}

/// Id and names of a container, by the name of a link in `/var/log/containers`:
/// `POD_NAMESPACE_CONTAINER-ID.log` (kubernetes/kubernetes 1.31,
/// pkg/kubelet/kuberuntime/legacy.go, `logSymlink`, which cuts names of more than 255 bytes).
#[must_use]
pub fn container_of_log(link: &str) -> Option<(&str, KubeContainer)> {
    let mut words = link.strip_suffix(".log")?.split('_');
    let (pod, namespace, container) = (words.next()?, words.next()?, words.next()?);
    let (container, id) = container.rsplit_once('-')?;
    let whole = words.next().is_none() && is_container_id(id);
    let container = kube_container(container, pod, namespace)?;
    whole.then_some((id, container))
}

/// Names of a container, by the name that Docker or CRI-O know it by:
/// `k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT` (kubernetes/kubernetes 1.23,
/// pkg/kubelet/dockershim/naming.go; cri-o/cri-o, internal/factory/container). The container that
/// holds a pod's namespaces is `POD`.
#[must_use]
pub fn container_of_engine_name(name: &str) -> Option<KubeContainer> {
    let mut words = name.strip_prefix("k8s_")?.split('_');
    let (container, pod, namespace) = (words.next()?, words.next()?, words.next()?);
    let is_whole = words.next().is_some_and(is_uid) && words.next().is_some();
    kube_container(container, pod, namespace).filter(|_| is_whole && words.next().is_none())
}

fn kube_container(container: &str, pod: &str, namespace: &str) -> Option<KubeContainer> {
    let all = [container, pod, namespace].iter().all(|name| !name.is_empty());
    let pod = Pod { namespace: namespace.to_owned(), name: pod.to_owned() };
    all.then(|| KubeContainer { name: container.to_owned(), pod })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const UID: &str = "7881ed9e-c63e-4425-b5e0-ac55a08ae939";

    fn of(path: &str) -> Option<(String, Qos)> {
        let path = path.replace("UUID", UID).replace("U_ID", &UID.replace('-', "_"));
        let components: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        pod_group(&components).map(|pod| (pod.uid, pod.qos))
    }

    #[test]
    fn both_drivers_of_the_kubelet_name_a_pod_and_its_class() {
        for (path, qos) in [
            (
                "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podU_ID.slice/x.scope",
                Qos::Burstable,
            ),
            (
                "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-podU_ID.slice",
                Qos::BestEffort,
            ),
            ("/kubepods.slice/kubepods-podU_ID.slice", Qos::Guaranteed),
            ("/kubepods/burstable/podUUID/abc", Qos::Burstable),
            ("/kubepods/besteffort/podUUID", Qos::BestEffort),
            ("/kubepods/podUUID/abc", Qos::Guaranteed),
            ("/system.slice/kubepods-burstable-podU_ID.slice:cri-containerd:x", Qos::Burstable),
        ] {
            assert_eq!(of(path), Some((UID.to_owned(), qos)), "{path}");
        }
    }

    #[test]
    fn a_pod_of_kind_is_found_below_its_container() {
        let in_docker = "/docker/abc/kubelet.slice/kubelet-kubepods.slice/\
                         kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-podU_ID.slice";
        assert_eq!(of(in_docker), Some((UID.to_owned(), Qos::Burstable)));
        let in_pod = "/kubepods/burstable/pod01/abc/kubelet/kubepods/podUUID";
        assert_eq!(of(in_pod), Some((UID.to_owned(), Qos::Guaranteed)));
    }

    #[test]
    fn a_static_pod_has_digits_without_dashes() {
        let path = "/kubepods/burstable/pod3a5cd3e5f1b1c1a1d1e1f10213243546";
        assert_eq!(of(path).unwrap().0, "3a5cd3e5f1b1c1a1d1e1f10213243546");
    }

    #[test]
    fn what_is_not_below_kubepods_is_no_pod() {
        for path in ["/podUUID", "/mykubepods/podUUID", "/kubepods/podcast", "/kubepods/pod", "/"] {
            assert_eq!(of(path), None, "{path}");
        }
    }

    #[test]
    fn names_of_logs_name_pods_and_containers() {
        let folder = format!("kube-system_kindnet-x2v_{UID}");
        let (uid, pod) = pod_of_log_folder(&folder).unwrap();
        assert_eq!((uid, &pod.namespace[..], &pod.name[..]), (UID, "kube-system", "kindnet-x2v"));
        for bad in ["a_b", "a_b_c_d", "a_b_xyz", "_b_0f", ""] {
            assert_eq!(pod_of_log_folder(bad), None, "{bad}");
        }
        let id = "ab".repeat(32);
        let link = format!("web-5d_shop_nginx-front-{id}.log");
        let (found, container) = container_of_log(&link).unwrap();
        assert_eq!((found, &container.name[..]), (&id[..], "nginx-front"));
        assert_eq!((&container.pod.namespace[..], &container.pod.name[..]), ("shop", "web-5d"));
        for bad in ["web_shop_nginx-12.log", "web_shop_nginx.log", "web_shop", ""] {
            assert_eq!(container_of_log(bad), None, "{bad}");
        }
    }

    #[test]
    fn names_of_docker_name_pods_and_containers() {
        let container = container_of_engine_name(&format!("k8s_nginx_web-5d_shop_{UID}_0"));
        assert_eq!(container.unwrap().name, "nginx");
        for bad in ["k8s_nginx_web-5d_shop", "nginx", "k8s_a_b_c_zz_0", "k8s_a_b_c_0f_0_0"] {
            assert_eq!(container_of_engine_name(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn names_come_back_from_the_names_of_files(
            name in "[a-z0-9][a-z0-9.-]{0,40}",
            namespace in "[a-z0-9][a-z0-9-]{0,20}",
            container in "[a-z0-9][a-z0-9-]{0,20}",
            id in "[0-9a-f]{64}",
        ) {
            let pod = Pod { namespace: namespace.clone(), name: name.clone() };
            let folder = format!("{namespace}_{name}_{UID}");
            prop_assert_eq!(pod_of_log_folder(&folder), Some((UID, pod.clone())));
            let of_pod = KubeContainer { name: container.clone(), pod };
            let link = format!("{name}_{namespace}_{container}-{id}.log");
            prop_assert_eq!(container_of_log(&link), Some((&id[..], of_pod.clone())));
            let engine = format!("k8s_{container}_{name}_{namespace}_{UID}_12");
            prop_assert_eq!(container_of_engine_name(&engine), Some(of_pod));
        }

        #[test]
        fn any_name_is_read_without_a_panic(name in "(k8s|_|-|[0-9a-f]{0,9}|\\PC){0,20}") {
            let of_folder = pod_of_log_folder(&name).is_some();
            prop_assert!(!of_folder || name.matches('_').count() == 2);
            prop_assert!(container_of_log(&name).is_none());
            let of_engine = container_of_engine_name(&name).is_some();
            prop_assert!(!of_engine || name.starts_with("k8s_"));
        }
    }
}
