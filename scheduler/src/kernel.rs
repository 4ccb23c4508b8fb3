//! Can a kernel run the scheduler, and if not, which kernel can?

use std::fmt;
use std::path::Path;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Func, FuncProto, Struct, Typedef};
use libbpf_rs::{Error, ReferencesType};

/// The types and functions of a kernel, by its BTF.
pub struct Kernel(Btf<'static>);

/// Why a kernel cannot take the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// Built without sched_ext, or too old for it.
    NoSchedExt,
    /// The kernel lacks a function that the scheduler calls.
    NoFunction(&'static str),
    /// The BTF gives a function another number of arguments than the scheduler passes.
    WrongPrototype {
        /// Its name.
        function: &'static str,
        /// Arguments that the scheduler passes.
        expected: usize,
        /// Arguments by the BTF.
        found: usize,
    },
}

/// The functions that the scheduler calls on every kernel, with their numbers of arguments
/// (kernel/sched/ext.c, ext_idle.c, kernel/bpf/cpumask.c and helpers.c, Linux 6.18 to 7.3).
const FUNCTIONS: [(&str, usize); 26] = [
    ("scx_bpf_create_dsq", 2),
    ("scx_bpf_dsq_nr_queued", 1),
    ("scx_bpf_select_cpu_dfl", 4),
    ("scx_bpf_pick_idle_cpu", 2),
    ("scx_bpf_test_and_clear_cpu_idle", 1),
    ("scx_bpf_get_idle_cpumask", 0),
    ("scx_bpf_put_idle_cpumask", 1),
    ("scx_bpf_kick_cpu", 2),
    ("scx_bpf_task_cpu", 1),
    ("scx_bpf_get_online_cpumask", 0),
    ("scx_bpf_put_cpumask", 1),
    ("scx_bpf_now", 0),
    ("scx_bpf_dsq_insert", 4),
    ("scx_bpf_dsq_insert_vtime", 5),
    ("scx_bpf_dsq_move", 4),
    ("scx_bpf_dsq_move_to_local", 1),
    ("bpf_iter_scx_dsq_new", 3),
    ("bpf_iter_scx_dsq_next", 1),
    ("bpf_iter_scx_dsq_destroy", 1),
    ("scx_bpf_dump_bstr", 3),
    ("bpf_cpumask_test_cpu", 2),
    ("bpf_cpumask_first", 1),
    ("bpf_cpumask_empty", 1),
    ("bpf_cpumask_intersects", 2),
    ("bpf_task_from_pid", 1),
    ("bpf_task_release", 1),
];

impl Kernel {
    /// The running kernel.
    ///
    /// # Errors
    /// If the kernel has no BTF.
    pub fn running() -> Result<Self, Error> {
        Btf::from_vmlinux().map(Self)
    }

    /// The kernel of an uncompressed image, or of a file with its BTF.
    ///
    /// # Errors
    /// If the kernel has no BTF.
    pub fn of_file(file: &Path) -> Result<Self, Error> {
        Btf::from_path(file).map(Self)
    }

    /// Whether BPF programs can attach to a tracepoint.
    #[must_use]
    pub fn has_tracepoint(&self, name: &str) -> bool {
        self.0.type_by_name::<Typedef>(&format!("btf_trace_{name}")).is_some()
    }

    /// Whether `struct fpu` follows `struct task_struct` in memory (x86, Linux 6.16 on), where the
    /// scheduler reads saved registers, and is not a member of `thread_struct`.
    #[must_use]
    pub fn keeps_registers(&self) -> bool {
        let has_fpu = |thread: Struct<'_>| {
            thread.iter().any(|member| member.name.is_some_and(|name| name == "fpu"))
        };
        self.0.type_by_name::<Struct>("fpstate").is_some()
            && self.0.type_by_name::<Struct>("thread_struct").is_some_and(|it| !has_fpu(it))
    }

    /// Whether a scheduler may enqueue the tasks of a local DSQ again from any operation, and not
    /// only from `cpu_release` (Linux 6.19 on).
    #[must_use]
    pub fn reenqueues_anywhere(&self) -> bool {
        self.0.type_by_name::<Func>("scx_bpf_reenqueue_local___v2").is_some()
    }

    /// All defects that keep this kernel from running the scheduler.
    #[must_use]
    pub fn defects(&self) -> Vec<Defect> {
        if self.0.type_by_name::<Struct>("sched_ext_ops").is_none() {
            return vec![Defect::NoSchedExt];
        }
        FUNCTIONS
            .iter()
            .filter_map(|&(function, expected)| self.defect(function, expected))
            .collect()
    }

    fn defect(&self, function: &'static str, expected: usize) -> Option<Defect> {
        let Some(found) = self.0.type_by_name::<Func>(function) else {
            return Some(Defect::NoFunction(function));
        };
        let prototype: FuncProto = found.referenced_type().try_into().ok()?;
        let found = prototype.len();
        (found != expected).then_some(Defect::WrongPrototype { function, expected, found })
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSchedExt => out.write_str(
                "this kernel has no sched_ext: it needs Linux 6.18 or newer, built with \
                 CONFIG_SCHED_CLASS_EXT=y (Debian: linux-image-amd64 from trixie-backports)",
            ),
            Self::NoFunction(name) => {
                write!(out, "this kernel's sched_ext lacks {name}: it needs Linux 6.18 or newer")
            }
            Self::WrongPrototype { function, expected, found } => write!(
                out,
                "this kernel describes {function} with {found} arguments and not {expected}: some \
                 builds of 7.1 and 7.2 have such wrong BTF; take another version"
            ),
        }
    }
}
