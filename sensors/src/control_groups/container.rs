//! Which container a control group belongs to, by the names that runtimes give to groups.
//!
//! | Name of the group | Runtime |
//! |---|---|
//! | `PREFIX-ID.scope`, by systemd; `SLICE:PREFIX:ID` | by the prefix |
//! | prefix `docker`, or `docker/ID` | docker |
//! | prefix `cri-containerd`, and `nerdctl` outside of Kubernetes | containerd |
//! | prefix `crio` | cri-o |
//! | prefix `libpod`, or in a service `libpod-payload` | podman |
//! | `lxc.payload.NAME`; before LXC 4 `lxc/NAME` | lxc |
//! | `machine.slice/machine-NAME.scope` | systemd-nspawn |
//!
//! Sources, in this order: opencontainers/runc 1.1, libcontainer/cgroups/systemd/common.go
//! (`getUnitName`), and falcosecurity/libs, userspace/libsinsp/container_engine/cri.cpp (the form
//! with colons, where containerd and the kubelet disagree on systemd); moby/moby,
//! daemon/oci_linux.go (`scopePrefix`); netdata/netdata,
//! src/collectors/cgroups.plugin/cgroup-name.sh.in; google/cadvisor, container/crio/factory.go;
//! containers/podman, libpod/container_internal_linux.go; lxc/lxc, src/lxc/cgroups/cgroup.h
//! (`DEFAULT_PAYLOAD_CGROUP_PREFIX`); systemd 257, src/machine/machine.c (`machine_start_scope`).
//!
//! An id is 64 hexadecimal digits, or those of Amazon ECS, 32 of them and a number
//! (DataDog/datadog-agent, pkg/util/cgroups/reader.go, `ContainerRegexpStr`). LXD and Incus start
//! containers by liblxc and cannot be told from LXC by a path. Groups of `conmon`, which watches a
//! container, and mounts are not the container (the same reader, `ContainerFilter`).

use serde::{Deserialize, Serialize};

use super::systemd::unescaped;

/// A program that starts containers. Where Kubernetes has a word, as in the `containerID` of a
/// pod's status (`cri-o://…`), it is that word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// Docker, also below Kubernetes.
    Docker,
    /// containerd, by its interface for Kubernetes (CRI) or by nerdctl.
    Containerd,
    /// CRI-O.
    CriO,
    /// Podman.
    Podman,
    /// LXC, or LXD and Incus, which use its library.
    Lxc,
    /// systemd-nspawn.
    SystemdNspawn,
}

impl Runtime {
    /// The name, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Containerd => "containerd",
            Self::CriO => "cri-o",
            Self::Podman => "podman",
            Self::Lxc => "lxc",
            Self::SystemdNspawn => "systemd-nspawn",
        }
    }

    fn of_prefix(prefix: &str) -> Option<Self> {
        match prefix {
            "docker" => Some(Self::Docker),
            "cri-containerd" | "containerd" | "nerdctl" => Some(Self::Containerd),
            "crio" => Some(Self::CriO),
            "libpod" | "libpod-payload" => Some(Self::Podman),
            _ => None,
        }
    }
}

/// A container, by its id or by its name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Container {
    pub id: Option<String>,
    pub name: Option<String>,
    pub runtime: Option<Runtime>,
}

/// Whether a word is an id that container runtimes draw.
#[must_use]
pub fn is_container_id(word: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
    if word.len() == 64 {
        return is_hex(word);
    }
    // Amazon ECS on Fargate.
    word.split_once('-').is_some_and(|(task, number)| {
        let is_number = !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit());
        task.len() == 32 && is_hex(task) && is_number
    })
}

/// The innermost container of a path.
pub(super) fn container(components: &[&str]) -> Option<Container> {
    (0..components.len()).rev().find_map(|index| {
        let parent = index.checked_sub(1).map(|index| components[index]);
        of_component(components[index], parent)
    })
}

fn of_component(component: &str, parent: Option<&str>) -> Option<Container> {
    let stem = component.strip_suffix(".scope").unwrap_or(component);
    if is_container_id(stem) {
        let runtime = parent.and_then(Runtime::of_prefix);
        return Some(Container { id: Some(stem.to_owned()), runtime, name: None });
    }
    let split = if stem.contains(':') {
        stem.rsplit_once(':').map(|(rest, id)| (rest.rsplit(':').next().unwrap_or(rest), id))
    } else {
        stem.rsplit_once('-')
    };
    if let Some((prefix, id)) = split.filter(|(_, id)| is_container_id(id)) {
        let runtime = Runtime::of_prefix(prefix);
        let watches = prefix.ends_with("conmon");
        return (!watches).then(|| Container { id: Some(id.to_owned()), runtime, name: None });
    }
    let named = |name: &str, runtime| {
        (!name.is_empty()).then(|| Container {
            id: None,
            name: Some(name.to_owned()),
            runtime: Some(runtime),
        })
    };
    if let Some(name) = component.strip_prefix("lxc.payload.") {
        return named(name, Runtime::Lxc);
    }
    if matches!(parent, Some("lxc" | "lxc.payload")) {
        return named(component, Runtime::Lxc);
    }
    if parent != Some("machine.slice") {
        return None;
    }
    let machine =
        component
            .strip_prefix("machine-")
            .and_then(|rest| rest.strip_suffix(".scope"))
            .or_else(|| component.strip_prefix("systemd-nspawn@")?.strip_suffix(".service"))?;
    let machine = unescaped(machine);
    // libvirt registers its virtual machines and its own containers at the same place
    // (libvirt, src/util/virsystemd.c, `virSystemdMakeScopeName`).
    let of_libvirt = machine.starts_with("qemu-") || machine.starts_with("lxc-");
    if of_libvirt { None } else { named(&machine, Runtime::SystemdNspawn) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    #[track_caller]
    fn is(path: &str, runtime: Option<Runtime>, id: Option<&str>, name: Option<&str>) {
        let path = path.replace("ID", ID);
        let components: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let expected =
            Container { id: id.map(str::to_owned), name: name.map(str::to_owned), runtime };
        assert_eq!(container(&components), Some(expected), "{path}");
    }

    #[track_caller]
    fn is_none(path: &str) {
        let path = path.replace("ID", ID);
        let components: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        assert_eq!(container(&components), None, "{path}");
    }

    #[test]
    fn runtimes_are_known_by_their_prefixes() {
        for (path, runtime) in [
            ("/system.slice/docker-ID.scope", Some(Runtime::Docker)),
            ("/docker/ID", Some(Runtime::Docker)),
            ("/docker/ID/init.scope", Some(Runtime::Docker)),
            ("/kubepods.slice/p.slice/cri-containerd-ID.scope", Some(Runtime::Containerd)),
            ("/system.slice/kubepods-podab.slice:cri-containerd:ID", Some(Runtime::Containerd)),
            ("/system.slice/nerdctl-ID.scope", Some(Runtime::Containerd)),
            ("/kubepods.slice/p.slice/crio-ID.scope", Some(Runtime::CriO)),
            ("/kubepods/burstable/podab/crio-ID", Some(Runtime::CriO)),
            ("/machine.slice/libpod-ID.scope/container", Some(Runtime::Podman)),
            ("/system.slice/web.service/libpod-payload-ID", Some(Runtime::Podman)),
            ("/kubepods/burstable/podab/ID", None),
            ("/actions_job/ID", None),
            ("/user.slice/runc-ID.scope", None),
        ] {
            is(path, runtime, Some(ID), None);
        }
        let fargate = "0123456789abcdef0123456789abcdef-1234567890";
        is(&format!("/ecs/x/{fargate}"), None, Some(fargate), None);
    }

    #[test]
    fn the_innermost_container_counts() {
        let inner = ID.replace("0", "f");
        is(&format!("/docker/ID/docker/{inner}"), Some(Runtime::Docker), Some(&inner), None);
        is("/lxc.payload.web/docker/ID", Some(Runtime::Docker), Some(ID), None);
    }

    #[test]
    fn lxc_and_nspawn_have_names_instead_of_ids() {
        is("/lxc.payload.web/system.slice/a.service", Some(Runtime::Lxc), None, Some("web"));
        is("/lxc/101/ns/init.scope", Some(Runtime::Lxc), None, Some("101"));
        is("/lxc.payload/old", Some(Runtime::Lxc), None, Some("old"));
        let nspawn = Some(Runtime::SystemdNspawn);
        is(r"/machine.slice/machine-my\x2dbox.scope/payload", nspawn, None, Some("my-box"));
        is("/machine.slice/systemd-nspawn@box.service/payload", nspawn, None, Some("box"));
    }

    #[test]
    fn groups_beside_containers_are_not_containers() {
        for path in [
            "/machine.slice/libpod-conmon-ID.scope",
            "/kubepods.slice/p.slice/crio-conmon-ID.scope",
            "/system.slice/var-lib-docker-containers-ID-mounts-shm.mount",
            "/lxc.monitor.web",
            r"/machine.slice/machine-qemu\x2d1\x2ddebian.scope/libvirt/emulator",
            "/system.slice/docker.service",
            "/system.slice/docker-0123456789ab.scope",
            "/docker",
            "",
        ] {
            is_none(path);
        }
    }
}
