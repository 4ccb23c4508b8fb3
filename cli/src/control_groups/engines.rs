//! Names of containers and pods, from the files that container engines and the kubelet keep.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::libc;
use sensors::control_groups::{
    KubeContainer, Labels, Pod, Runtime, container_of_engine_name, container_of_log,
    pod_of_log_folder, uid_of,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Docker's folders, as `data-root` of Debian's package and of Canonical's snap.
const DOCKER: [&str; 2] = ["var/lib/docker", "var/snap/docker/common/var-lib-docker"];
/// Docker's folder of a user who runs the daemon without root
/// (moby/moby, contrib/dockerd-rootless.sh).
const DOCKER_OF_USER: &str = ".local/share/docker";
/// Podman's and CRI-O's folder, and that of a user (`man containers-storage.conf`, `graphroot`).
const STORAGE: &str = "var/lib/containers/storage";
const STORAGE_OF_USER: &str = ".local/share/containers/storage";
/// Lists of containers below a storage folder: those that stay, and those of `podman run --rm`
/// (containers/storage 1.46, containers.go). The folder has the name of the storage driver.
const STORED: [&str; 4] = [
    "overlay-containers/containers.json",
    "overlay-containers/volatile-containers.json",
    "vfs-containers/containers.json",
    "vfs-containers/volatile-containers.json",
];
/// The kubelet's folders (kubernetes/kubernetes 1.31, pkg/kubelet/kuberuntime).
const POD_LOGS: &str = "var/log/pods";
const CONTAINER_LOGS: &str = "var/log/containers";
/// Most bytes of a file that are read. A container's entry has some 700 bytes.
const FILE_MAX: u64 = 16 << 20;

/// What the engines of a machine know now. Each file is read once, when it is first needed.
pub struct Engines<'r> {
    /// Root of the machine: `/`, or a folder in tests.
    root: &'r Path,
    pods: OnceCell<HashMap<String, Pod>>,
    logs: OnceCell<HashMap<String, KubeContainer>>,
    /// By storage folder: names by id.
    stored: RefCell<HashMap<PathBuf, HashMap<String, String>>>,
}

/// `config.v2.json` of Docker (moby/moby, container/container.go).
#[derive(Deserialize)]
struct DockerContainer {
    #[serde(rename = "Name")]
    name: String,
}

/// An entry of `containers.json` (containers/storage 1.46, containers.go).
#[derive(Deserialize)]
struct StoredContainer {
    id: String,
    #[serde(default)]
    names: Vec<String>,
}

impl<'r> Engines<'r> {
    /// The engines of the machine with this root.
    pub fn new(root: &'r Path) -> Self {
        let (pods, logs, stored) = (OnceCell::new(), OnceCell::new(), RefCell::default());
        Self { root, pods, logs, stored }
    }

    /// Adds to the labels of a group the names that engines have for its container and pod.
    pub fn name(&self, labels: &mut Labels) {
        if let Some(uid) = &labels.kube_pod_uid
            && let Some(pod) = self.pods.get_or_init(|| pods(self.root)).get(uid)
        {
            labels.set_pod(pod);
        }
        let Some(id) = labels.container_id.clone().filter(|_| labels.container_name.is_none())
        else {
            return;
        };
        if labels.kube_pod_uid.is_some()
            && let Some(container) = self.logs.get_or_init(|| logs(self.root)).get(&id)
        {
            labels.set_pod(&container.pod);
            labels.set_container_name(&container.name);
            return;
        }
        let home = uid_of(&labels.path).and_then(|uid| home(self.root, uid));
        let (docker, stored) = match labels.container_runtime {
            Some(Runtime::Docker) => (true, false),
            Some(Runtime::Podman | Runtime::CriO) => (false, true),
            // A group that another program chose as parent: `docker run --cgroup-parent`.
            None => (true, true),
            Some(_) => return,
        };
        let of_docker = || docker_name(self.root, home.as_deref(), &id).filter(|_| docker);
        let of_storage = || self.stored_name(home.as_deref(), &id).filter(|_| stored);
        let Some(name) = of_docker().or_else(of_storage) else { return };
        match container_of_engine_name(&name) {
            Some(container) => {
                labels.set_pod(&container.pod);
                labels.set_container_name(&container.name);
            }
            None => labels.set_container_name(&name),
        }
    }

    fn stored_name(&self, home: Option<&Path>, id: &str) -> Option<String> {
        let of_user = home.map(|home| home.join(STORAGE_OF_USER));
        let mut all = self.stored.borrow_mut();
        [Some(self.root.join(STORAGE)), of_user].into_iter().flatten().find_map(|storage| {
            let names = all.entry(storage).or_insert_with_key(|storage| stored(storage));
            names.get(id).cloned()
        })
    }
}

fn docker_name(root: &Path, home: Option<&Path>, id: &str) -> Option<String> {
    let of_root = DOCKER.into_iter().map(|folder| root.join(folder));
    let of_user = home.map(|home| home.join(DOCKER_OF_USER));
    of_root.chain(of_user).find_map(|folder| {
        let file = folder.join("containers").join(id).join("config.v2.json");
        let name = json::<DockerContainer>(&file)?.name;
        Some(name.strip_prefix('/').unwrap_or(&name).to_owned()).filter(|name| !name.is_empty())
    })
}

fn stored(storage: &Path) -> HashMap<String, String> {
    let lists =
        STORED.into_iter().filter_map(|list| json::<Vec<StoredContainer>>(&storage.join(list)));
    let named =
        |container: StoredContainer| Some((container.id, container.names.into_iter().next()?));
    lists.flatten().filter_map(named).collect()
}

fn pods(root: &Path) -> HashMap<String, Pod> {
    let folders = names(&root.join(POD_LOGS));
    let pods = folders.iter().filter_map(|folder| pod_of_log_folder(folder));
    pods.map(|(uid, pod)| (uid.to_owned(), pod)).collect()
}

fn logs(root: &Path) -> HashMap<String, KubeContainer> {
    let links = names(&root.join(CONTAINER_LOGS));
    let containers = links.iter().filter_map(|link| container_of_log(link));
    containers.map(|(id, container)| (id.to_owned(), container)).collect()
}

/// The names in a folder that are text.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The home of a user (`man 5 passwd`).
fn home(root: &Path, uid: u32) -> Option<PathBuf> {
    let users = text(&root.join("etc/passwd"))?;
    users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let is_user = fields.get(2)?.parse() == Ok(uid);
        let home = fields.get(5)?.strip_prefix('/')?;
        is_user.then(|| root.join(home))
    })
}

fn json<T: DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_str(&text(file)?).ok()
}

/// The text of a file. Files below a home are another user's, who could have put a named pipe
/// there: nothing but a regular file is read, and opening does not wait.
fn text(file: &Path) -> Option<String> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(file).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(FILE_MAX).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const UID: &str = "7881ed9e-c63e-4425-b5e0-ac55a08ae939";

    fn write(root: &Path, file: &str, text: &str) {
        let file = root.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn named(root: &Path, path: &str) -> Labels {
        let mut labels = Labels::of_path(path);
        Engines::new(root).name(&mut labels);
        labels
    }

    #[test]
    fn a_container_of_docker_has_the_name_of_its_configuration() {
        let root = tempfile::tempdir().unwrap();
        let file = format!("var/lib/docker/containers/{ID}/config.v2.json");
        write(root.path(), &file, r#"{"ID":"x","Name":"/shop-db\u001b[2J","State":{}}"#);
        let labels = named(root.path(), &format!("/system.slice/docker-{ID}.scope/init.scope"));
        assert_eq!(labels.short_name(), "shop-db\u{fffd}[2J");
        assert_eq!(
            named(root.path(), &format!("/jobs/{ID}")).container_name,
            labels.container_name
        );
        write(root.path(), &file, "{");
        assert_eq!(named(root.path(), &format!("/docker/{ID}")).container_name, None);
        let kube = format!(r#"{{"Name":"/k8s_nginx_web-5d_shop_{UID}_0"}}"#);
        write(root.path(), &file, &kube);
        let labels = named(root.path(), &format!("/kubepods/pod{UID}/docker-{ID}.scope"));
        assert_eq!(labels.container_name.as_deref(), Some("nginx"));
        assert_eq!(labels.kube_pod_name.as_deref(), Some("web-5d"));
    }

    #[test]
    fn a_container_of_podman_is_named_by_the_storage_of_root_or_of_its_user() {
        let root = tempfile::tempdir().unwrap();
        let list = |name: &str| format!(r#"[{{"id":"{ID}","names":["{name}"],"layer":"x"}}]"#);
        let all = "var/lib/containers/storage/overlay-containers/containers.json";
        write(root.path(), all, &list("of-root"));
        let path = format!("/machine.slice/libpod-{ID}.scope/container");
        assert_eq!(named(root.path(), &path).short_name(), "of-root");
        fs::remove_file(root.path().join(all)).unwrap();
        write(root.path(), "etc/passwd", "root:x:0:0::/root:/bin/sh\nme:x:1000:1:,:/home/me:/x\n");
        let storage = "home/me/.local/share/containers/storage/overlay-containers";
        write(root.path(), &format!("{storage}/volatile-containers.json"), &list("of-user"));
        let of_user = format!(
            "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{ID}.scope/container"
        );
        assert_eq!(named(root.path(), &of_user).short_name(), "of-user");
        assert_eq!(named(root.path(), &path).container_name, None);
    }

    #[test]
    fn a_container_of_kubernetes_is_named_by_the_folders_of_its_logs() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join(format!("var/log/pods/shop_web-5d_{UID}"))).unwrap();
        write(root.path(), &format!("var/log/containers/web-5d_shop_nginx-{ID}.log"), "");
        let pod = format!("/kubepods.slice/kubepods-pod{}.slice", UID.replace('-', "_"));
        let labels = named(root.path(), &pod);
        assert_eq!(labels.kube_namespace.as_deref(), Some("shop"));
        assert_eq!(
            (labels.kube_pod_name.as_deref(), &labels.container_name),
            (Some("web-5d"), &None)
        );
        assert_eq!(labels.short_name(), "web-5d");
        let labels = named(root.path(), &format!("{pod}/cri-containerd-{ID}.scope"));
        assert_eq!(labels.short_name(), "nginx");
        assert_eq!(labels.kube_pod_uid.as_deref(), Some(UID));
    }

    #[test]
    fn a_named_pipe_of_a_user_does_not_block_the_reader() {
        let root = tempfile::tempdir().unwrap();
        let pipe = root.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR).unwrap();
        assert_eq!(text(&pipe), None);
    }
}
