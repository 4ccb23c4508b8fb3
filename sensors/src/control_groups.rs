//! Which container, pod and systemd unit a control group (cgroup) belongs to.
//!
//! Everything here is decided from text: the path of a group, the lines of `/proc/PID/cgroup`, the
//! name of a file. The command reads the files.
//!
//! | Question | Where |
//! |---|---|
//! | What does a path say, and how is a group called in a table? | `labels.rs` |
//! | Which container, by which runtime? | `container.rs` |
//! | Which pod of Kubernetes, and which names do its files have? | `kubernetes.rs` |
//! | Which unit of systemd? | `systemd.rs` |
//! | Which virtual machine of libvirt? | `virtual_machine.rs` |
//! | How are the groups of a recording called? | `recorded.rs` |
//! | Where are hierarchies mounted, and which group has a process? | `hierarchy.rs` |
//! | How many containers does a machine run, by which runtimes? | `census.rs` |
//! | Which characters are shown? | `text.rs` |

mod census;
mod container;
mod hierarchy;
mod kubernetes;
mod labels;
mod recorded;
mod systemd;
mod text;
mod virtual_machine;

pub use census::Census;
pub use container::{Runtime, is_container_id};
pub use hierarchy::{Hierarchy, Version, hierarchies, path_of_process, version};
pub use kubernetes::{
    KubeContainer, Pod, Qos, container_of_engine_name, container_of_log, pod_of_log_folder,
};
pub use labels::Labels;
pub use recorded::{Recorded, recorded};
pub use systemd::uid_of;
pub use text::shown;
