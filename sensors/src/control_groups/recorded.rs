//! How are the control groups of a recording called, which keeps a path and a name of each?
//!
//! A group below that of a container, a virtual machine, a pod or a unit belongs to it: a systemd
//! in a container has groups of its own. Names are those that the recorded machine had for them.
//! Two containers may have one name, as those of one image in two pods do, so equal names get what
//! tells their owners apart.

use std::collections::{BTreeMap, BTreeSet};

use trace::{ControlGroup, Pod};

use super::labels::Labels;
use super::systemd::uid_of;
use super::text::shown;

/// The name of the root, of which a path has none.
const ROOT: &str = "(root group)";

/// A control group of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// A name that only groups of the same owner have.
    pub name: String,
    /// Labels of the owner; their path is the owner's.
    pub labels: Labels,
}

/// The groups of a recording by their paths.
#[must_use]
pub fn recorded<'a>(groups: impl Iterator<Item = &'a ControlGroup>) -> BTreeMap<String, Recorded> {
    let of = |group: &ControlGroup| {
        let labels = Labels::of_recorded(group);
        let name = if labels.path == "/" { ROOT.to_owned() } else { labels.short_name() };
        (group.path.clone(), Recorded { name, labels })
    };
    let mut all: BTreeMap<String, Recorded> = groups.map(of).collect();
    let owner = |it: &Recorded| it.labels.path.clone();
    for add in [detail, owner] {
        let mut owners: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for it in all.values() {
            owners.entry(&it.name).or_default().insert(&it.labels.path);
        }
        let is_shared = |it: &Recorded| owners[it.name.as_str()].len() > 1;
        let shared: Vec<String> =
            all.iter().filter(|(_, it)| is_shared(it)).map(|(path, _)| path.clone()).collect();
        for path in shared {
            if let Some(it) = all.get_mut(&path) {
                it.name = format!("{} ({})", it.labels.short_name(), add(it));
            }
        }
    }
    all
}

/// What most likely tells an owner from others of its name.
fn detail(group: &Recorded) -> String {
    let labels = &group.labels;
    if labels.container_id.is_some() {
        let unnamed = Labels { container_name: None, ..labels.clone() };
        return unnamed.short_name();
    }
    match (&labels.kube_pod_uid, uid_of(&labels.path), &labels.systemd_slice) {
        (Some(uid), _, _) => uid.clone(),
        (None, Some(uid), _) => format!("user {uid}"),
        (None, None, Some(slice)) => slice.clone(),
        (None, None, None) => labels.path.clone(),
    }
}

impl Labels {
    /// What a recording keeps of the group.
    #[must_use]
    pub fn to_recorded(&self) -> ControlGroup {
        let pod = self.kube_namespace.clone().zip(self.kube_pod_name.clone());
        let pod = pod.map(|(namespace, name)| Pod { namespace, name });
        ControlGroup { path: self.path.clone(), name: self.short_name(), pod }
    }

    /// What a recording says of a group. The path is that of the group's owner.
    #[must_use]
    pub fn of_recorded(group: &ControlGroup) -> Self {
        let name = group.name.as_str();
        let mut labels = Self::of_path(&group.path).of_owner();
        if let Some(pod) = group.pod.as_ref().filter(|_| labels.kube_pod_uid.is_some()) {
            labels.kube_namespace = Some(shown(&pod.namespace));
            labels.kube_pod_name = Some(shown(&pod.name));
        }
        let by_path = labels.short_name();
        // Readers of recordings cut names.
        let is_cut = name.len() >= trace::COMM_MAX - char::MAX.len_utf8();
        if name.is_empty() || name == by_path || (is_cut && by_path.starts_with(name)) {
            return labels;
        }
        if labels.container_id.is_some() {
            labels.set_container_name(name);
        } else if labels.kube_pod_uid.is_some() {
            labels.kube_pod_name = Some(shown(name));
        }
        labels
    }

    /// The same labels at the outermost group that has them; a group without an owner stays.
    fn of_owner(self) -> Self {
        let has_owner = self.container_id.is_some()
            || self.container_name.is_some()
            || self.virtual_machine.is_some()
            || self.kube_pod_uid.is_some()
            || self.systemd_unit.is_some();
        if !has_owner {
            return self;
        }
        let ends = self.path.match_indices('/').map(|(at, _)| at).skip(1);
        let outer = ends.map(|end| Self::of_path(&self.path[..end]));
        let is_owner = |outer: &Self| Self { path: self.path.clone(), ..outer.clone() } == self;
        outer.into_iter().find(is_owner).unwrap_or_else(|| self.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn group(path: &str, name: &str) -> ControlGroup {
        ControlGroup { path: path.to_owned(), name: name.to_owned(), pod: None }
    }

    fn names(groups: &[(&str, &str)]) -> Vec<String> {
        let groups: Vec<ControlGroup> =
            groups.iter().map(|(path, name)| group(path, name)).collect();
        let found = recorded(groups.iter());
        groups.iter().map(|group| found[&group.path].name.clone()).collect()
    }

    #[test]
    fn a_recording_keeps_the_names_of_a_container_and_of_its_pod() {
        let mut labels = Labels::of_path(&format!("/kubepods/burstable/podab/{ID}"));
        labels.set_container_name("nginx");
        labels.kube_namespace = Some("shop".to_owned());
        labels.kube_pod_name = Some("web-5d".to_owned());
        assert_eq!(Labels::of_recorded(&labels.to_recorded()), labels);
        // What a file says of a group that is in no pod is no pod.
        let unit =
            ControlGroup { path: "/system.slice/x.service".to_owned(), ..labels.to_recorded() };
        assert_eq!(Labels::of_recorded(&unit).kube_pod_name, None);
    }

    #[test]
    fn groups_below_a_container_or_a_unit_are_its_own() {
        let inner = format!("/docker/{ID}/system.slice/a.service");
        let labels = Labels::of_recorded(&group(&inner, "db"));
        assert_eq!(labels.path, format!("/docker/{ID}"));
        assert_eq!(labels.container_name.as_deref(), Some("db"));
        assert_eq!(names(&[(&inner, "db"), (&labels.path, "db")]), ["db", "db"]);
        let user = "/user.slice/user-7.slice/user@7.service/app.slice/x.service";
        let labels = Labels::of_recorded(&group(&format!("{user}/sub/sub"), "x.service"));
        assert_eq!((labels.path.as_str(), labels.container_name), (user, None));
        for path in ["/slurm/job_7/step_0", "/system.slice", "/"] {
            assert_eq!(Labels::of_recorded(&group(path, "a name that a path has not")).path, path);
        }
    }

    #[test]
    fn equal_names_of_different_owners_are_told_apart() {
        let other = ID.replace('0', "f");
        let pod = "/kubepods/burstable/podab";
        let (one, two) = (format!("{pod}/{ID}"), format!("/kubepods/podcd/{other}/init.scope"));
        let found = names(&[(&one, "proxy"), (&two, "proxy"), (pod, "web")]);
        assert_eq!(found, ["proxy (0123456789ab)", "proxy (f123456789ab)", "web"]);
        let of_user =
            |uid| format!("/user.slice/user-{uid}.slice/user@{uid}.service/app.slice/x.service");
        let (one, two) = (of_user(1), of_user(2));
        let system = "/system.slice/x.service";
        let all = [(one.as_str(), "x.service"), (&two, "x.service"), (system, "x.service")];
        let expected = ["x.service (user 1)", "x.service (user 2)", "x.service (system.slice)"];
        assert_eq!(names(&all), expected);
        assert_eq!(names(&[("/a/b", "b"), ("/c/b", "b")]), ["b (/a/b)", "b (/c/b)"]);
        assert_eq!(names(&[("/", "/"), ("/b", "b")]), [ROOT, "b"]);
        // One user's unit in two slices.
        let (one, two) = (of_user(1), of_user(1).replace("app.slice", "b.slice"));
        let found = names(&[(&one, "x.service"), (&two, "x.service")]);
        assert_eq!(found, [format!("x.service ({one})"), format!("x.service ({two})")]);
    }

    proptest! {
        #[test]
        fn any_groups_have_a_name_for_each_owner(
            groups in proptest::collection::vec(("\\PC{0,12}(/[ab](.service|.slice)?){0,4}",
                "[ab]{0,2}\\PC{0,2}"), 0..12)
        ) {
            let groups: Vec<ControlGroup> =
                groups.iter().map(|(path, name)| group(path, name)).collect();
            let found = recorded(groups.iter());
            for one in found.values() {
                prop_assert!(!one.name.chars().any(char::is_control) && !one.name.is_empty());
                for other in found.values() {
                    let is_one_owner = one.labels.path == other.labels.path;
                    prop_assert!(is_one_owner || one.name != other.name, "{:?} {:?}", one, other);
                }
            }
        }
    }
}
