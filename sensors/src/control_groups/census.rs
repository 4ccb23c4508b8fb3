//! How many control groups, containers and pods does a machine have?

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::hierarchy::Version;
use super::labels::Labels;

/// Numbers of groups and of what is in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Census {
    /// How the machine mounts control groups.
    pub version: Version,
    /// Number of groups. A path in several hierarchies of v1 is one group.
    pub groups: usize,
    /// Whether the count ended before the last group.
    pub is_cut: bool,
    /// Containers outside of pods, by the name of their runtime, `unknown` where paths have none.
    pub containers: BTreeMap<String, usize>,
    /// Pods of Kubernetes.
    pub kubernetes_pods: usize,
}

impl Census {
    /// Counts groups. A container counts once, whatever groups are below its own.
    #[must_use]
    pub fn of<'a>(version: Version, is_cut: bool, all: impl Iterator<Item = &'a Labels>) -> Self {
        let (mut paths, mut pods) = (BTreeSet::new(), BTreeSet::new());
        let mut containers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for labels in all {
            paths.insert(&labels.path);
            let container = labels.container_id.as_ref().or(labels.container_name.as_ref());
            match (&labels.kube_pod_uid, container) {
                (Some(uid), _) => _ = pods.insert(uid),
                (None, Some(container)) => {
                    let runtime = labels.container_runtime.map_or("unknown", |known| known.name());
                    containers.entry(runtime).or_default().insert(container);
                }
                (None, None) => {}
            }
        }
        let count = |(runtime, ids): (&str, BTreeSet<&str>)| (runtime.to_owned(), ids.len());
        Self {
            version,
            groups: paths.len(),
            is_cut,
            containers: containers.into_iter().map(count).collect(),
            kubernetes_pods: pods.len(),
        }
    }

    /// In one line: `v2, 93 groups; containers: 2 docker, 3 kubernetes pods`.
    #[must_use]
    pub fn sentence(&self) -> String {
        if self.version == Version::None {
            return "not mounted".to_owned();
        }
        let at_least = if self.is_cut { "at least " } else { "" };
        let plural = if self.groups == 1 { "" } else { "s" };
        let mut found: Vec<String> =
            self.containers.iter().map(|(runtime, count)| format!("{count} {runtime}")).collect();
        if self.kubernetes_pods > 0 {
            let plural = if self.kubernetes_pods == 1 { "" } else { "s" };
            found.push(format!("{} kubernetes pod{plural}", self.kubernetes_pods));
        }
        let found = if found.is_empty() { "none".to_owned() } else { found.join(", ") };
        let version = self.version.word();
        format!("{version}, {at_least}{} group{plural}; containers: {found}", self.groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_count_once_and_those_of_pods_as_pods() {
        let (one, two) = ("1".repeat(64), "2".repeat(64));
        let labels: Vec<Labels> = [
            "/".to_owned(),
            format!("/system.slice/docker-{one}.scope"),
            format!("/system.slice/docker-{one}.scope/init.scope"),
            format!("/system.slice/docker-{two}.scope"),
            format!("/jobs/{one}"),
            "/lxc.payload.web".to_owned(),
            format!("/kubepods/podab/{one}"),
            format!("/kubepods/podab/{two}"),
            "/kubepods/burstable/podcd".to_owned(),
            "/".to_owned(),
        ]
        .iter()
        .map(|path| Labels::of_path(path))
        .collect();
        let census = Census::of(Version::V2, false, labels.iter());
        assert_eq!(
            census.sentence(),
            "v2, 9 groups; containers: 2 docker, 1 lxc, 1 unknown, 2 kubernetes pods"
        );
        let cut = Census { is_cut: true, ..census };
        assert!(cut.sentence().starts_with("v2, at least 9 groups;"));
    }

    #[test]
    fn a_machine_without_containers_or_groups_says_so() {
        let root = [Labels::of_path("/")];
        let census = Census::of(Version::V1, false, root.iter());
        assert_eq!(census.sentence(), "v1, 1 group; containers: none");
        assert_eq!(Census::default().sentence(), "not mounted");
    }
}
