//! Loads the program of the sums, attaches its probes and reads its tables.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::fd::AsFd;

use libbpf_rs::btf::Btf;
use libbpf_rs::btf::types::{Func, Struct, Typedef};
use libbpf_rs::{
    ErrorKind, Iter, Link, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, OpenObject,
    ProgramInput, ProgramMut,
};

use super::layout::{self, GroupValue, State};
use super::{By, Costs, CpuSum, Group, Sums};

/// The program that `build.rs` compiled.
const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sums.bpf.o"));
/// A helper that came with Linux 5.11, as a measure of the kernel's age.
const NEWEST_HELPER: &str = "bpf_get_current_task_btf";
/// The event that shows wide registers, which some kernels lack, and its program.
const REGISTERS: (&str, &str) = ("on_registers", "btf_trace_x86_fpu_regs_deactivated");
/// `BPF_F_TEST_RUN_ON_CPU`, include/uapi/linux/bpf.h.
const ON_CPU: u32 = 1;
/// Where the program has its own numbers.
const STATE: &str = ".bss";

/// Keys and values of a table.
type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// Why nothing can be collected.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// Neither root nor the two capabilities.
    #[error("no right to load a BPF program: run it with sudo (CAP_BPF and CAP_PERFMON)")]
    NoRights(#[source] libbpf_rs::Error),
    /// The kernel was built without BTF.
    #[error("this kernel does not describe itself (/sys/kernel/btf/vmlinux)")]
    NoBtf(#[source] libbpf_rs::Error),
    /// A kernel without the helpers that the program calls.
    #[error("this kernel is older than 5.11, and the sums need at least that")]
    TooOld,
    /// The kernel does not sum how long tasks wait.
    #[error("this kernel does not measure waits (CONFIG_SCHED_INFO), and the sums need that")]
    NoWaits,
    /// Any other refusal.
    #[error("{doing}")]
    Refused {
        /// The operation.
        doing: &'static str,
        /// The error of the kernel or of libbpf.
        source: libbpf_rs::Error,
    },
}

fn refused(doing: &'static str) -> impl Fn(libbpf_rs::Error) -> CollectError {
    move |source| match source.kind() {
        ErrorKind::PermissionDenied => CollectError::NoRights(source),
        _ => CollectError::Refused { doing, source },
    }
}

/// A running collection. Its probes hang on file descriptors and go with the process.
pub struct Collector {
    _links: Vec<Link>,
    /// Books the running tasks of all cores, each time it is read through.
    book: Link,
    object: Object,
    /// By CPU: its core and its thread; `None` where no CPU is online.
    places: Vec<Option<(u32, u32)>>,
    costs: Option<Costs>,
    /// The turbo row of which the program has the costs.
    row: Option<usize>,
    /// When the CPUs were read last, and for how long each had been busy.
    before: (u64, Vec<u64>),
    names: BTreeMap<Group, String>,
    /// Processes that had exited by the last reading, and by the one before too.
    exited: BTreeSet<Group>,
    ended: BTreeSet<Group>,
    /// Whether this kernel shows the registers that tasks leave with.
    pub shows_registers: bool,
}

impl Collector {
    /// Begins to collect on the CPUs that are `online`. `siblings`: by CPU the other CPU of its
    /// core, or the CPU itself (two are the most that x86 has), as `topology::Groups::ring` says.
    /// Without `costs` no loss of clock is summed.
    ///
    /// # Errors
    /// [`CollectError`].
    pub fn start(
        online: &[u32],
        siblings: &[u32],
        by: By,
        costs: Option<&Costs>,
    ) -> Result<Self, CollectError> {
        libbpf_rs::set_print(None);
        let btf = Btf::from_vmlinux().map_err(CollectError::NoBtf)?;
        if btf.type_by_name::<Func>(NEWEST_HELPER).is_none() {
            return Err(CollectError::TooOld);
        }
        let waits = btf.type_by_name::<Struct>("sched_info");
        if waits.is_none_or(|waits| waits.is_empty()) {
            return Err(CollectError::NoWaits);
        }
        let shows_registers = btf.type_by_name::<Typedef>(REGISTERS.1).is_some();
        let places = places(online, siblings);
        let mut object = ObjectBuilder::default()
            .open_memory(OBJECT)
            .map_err(refused("opening the program of the sums"))?;
        prepare(&mut object, places.len(), by, costs, shows_registers)?;
        let object = object.load().map_err(refused("loading the program of the sums"))?;
        let doing = refused("telling the program of the sums about CPUs");
        for (cpu, place) in (0u32..).zip(&places) {
            let Some((core, thread)) = *place else { continue };
            let place = layout::place(core, thread);
            map(&object, "places")
                .update(&cpu.to_ne_bytes(), &place, MapFlags::ANY)
                .map_err(&doing)?;
        }
        let list = |name| program(&object, name).attach().map_err(refused("listing the tasks"));
        run(&list("list_task")?)?;
        let links = attach(&object)?;
        run(&list("list_running")?)?;
        let cores = MapHandle::try_from(&map(&object, "cores")).map_err(&doing)?;
        let book = program(&object, "book_core").attach_iter(cores.as_fd()).map_err(&doing)?;
        let before = (0, vec![0; places.len()]);
        let mut collector = Self {
            _links: links,
            book,
            object,
            places,
            costs: costs.cloned(),
            row: None,
            before,
            names: BTreeMap::new(),
            exited: BTreeSet::new(),
            ended: BTreeSet::new(),
            shows_registers,
        };
        collector.set_row(collector.places.len() as f64)?;
        Ok(collector)
    }

    /// The sums until now, those of the running tasks too; without the waits of running tasks,
    /// which are added when a task leaves.
    ///
    /// # Errors
    /// [`CollectError`].
    pub fn read(&mut self) -> Result<Sums, CollectError> {
        run(&self.book)?;
        let mut sums = Sums { cpus: self.cpus()?, ..Sums::default() };
        self.flush(&sums.cpus)?;
        for (key, value) in self.table("groups")? {
            let (Some(group), Some(value)) = (layout::group(&key), GroupValue::parse(&value))
            else {
                continue;
            };
            sums.groups.insert(group, value.sum);
            if let Some(comm) = value.comm {
                self.names.insert(group, comm);
            }
        }
        self.names.retain(|group, _| sums.groups.contains_key(group));
        for (key, value) in self.table("wide")? {
            let sum = layout::group(&key).and_then(|group| sums.groups.get_mut(&group));
            if let (Some(sum), Some(leaves)) = (sum, layout::wide_leaves(&value)) {
                sum.wide_leaves = leaves;
            }
        }
        for (key, value) in self.table("pairs")? {
            sums.pairs.extend(layout::pair(&key).zip(layout::pair_sum(&value)));
        }
        let ended = self.table("ended")?;
        let ended: BTreeSet<Group> =
            ended.iter().filter_map(|(key, _)| layout::group(key)).collect();
        // The last stay of a process ends after its exit was told.
        self.ended = self.exited.intersection(&ended).copied().collect();
        self.exited = ended;
        let state = map(&self.object, STATE).lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let state = state.map_err(refused("reading the state of the sums"))?;
        if let Some(state) = state.and_then(|state| State::parse(&state)) {
            sums.time_ns = state.booked_ns;
            sums.without_room = state.without_room;
        }
        self.follow_clock(&sums)?;
        Ok(sums)
    }

    /// The name of a process that was in the last sums, as the kernel has it: any bytes, at most
    /// 15. `None` until one of its tasks has left a CPU, and for control groups, whose folders
    /// have names.
    #[must_use]
    pub fn name(&self, group: Group) -> Option<String> {
        self.names.get(&group).cloned()
    }

    /// The processes whose sums are final: they had ended before the reading before the last.
    #[must_use]
    pub fn ended(&self) -> &BTreeSet<Group> {
        &self.ended
    }

    /// Makes room: deletes groups and their pairs, as the last `sums` have them, and pairs of
    /// groups that were deleted before. What such a group does from now on is summed anew.
    ///
    /// # Errors
    /// [`CollectError`].
    pub fn forget(&mut self, groups: &BTreeSet<Group>, sums: &Sums) -> Result<(), CollectError> {
        let doing = refused("deleting sums");
        let delete = |table: &str, key: &[u8]| match map(&self.object, table).delete(key) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(doing(error)),
            _ => Ok(()),
        };
        // A task may still have waited for one that ended long ago.
        let is_gone = |group: &Group| {
            *group != 0 && (groups.contains(group) || !sums.groups.contains_key(group))
        };
        for pair in sums.pairs.keys() {
            if is_gone(&pair.0) || is_gone(&pair.1) {
                delete("pairs", &layout::pair_key(*pair))?;
            }
        }
        for group in groups {
            for table in ["groups", "wide", "ended"] {
                delete(table, &group.to_ne_bytes())?;
            }
        }
        Ok(())
    }
}

impl Collector {
    fn table(&self, name: &str) -> Result<Entries, CollectError> {
        let table = map(&self.object, name);
        // In one batch: libbpf-rs 0.27 takes a batch that a large bucket cut short for the last.
        let all = table.lookup_batch(table.max_entries(), MapFlags::ANY, MapFlags::ANY);
        Ok(all.map_err(refused("reading sums"))?.collect())
    }

    fn cpus(&self) -> Result<Vec<CpuSum>, CollectError> {
        let cores = map(&self.object, "cores");
        let of_cpu = |place: &Option<(u32, u32)>| {
            let Some((core, thread)) = *place else { return Ok(CpuSum::default()) };
            let core = cores.lookup(&core.to_ne_bytes(), MapFlags::ANY);
            let core = core.map_err(refused("reading the sums of a CPU"))?;
            Ok(core.and_then(|core| layout::cpu_sum(&core, thread as usize)).unwrap_or_default())
        };
        self.places.iter().map(of_cpu).collect()
    }

    /// Has each CPU that was busy since the last reading add its cached sums to the tables. The
    /// others stay asleep.
    fn flush(&self, cpus: &[CpuSum]) -> Result<(), CollectError> {
        let program = program(&self.object, "flush");
        for ((cpu, place), (now, before_ns)) in
            (0u32..).zip(&self.places).zip(cpus.iter().zip(&self.before.1))
        {
            if place.is_none() || now.busy_ns == *before_ns {
                continue;
            }
            let input = ProgramInput { cpu, flags: ON_CPU, ..ProgramInput::default() };
            match program.test_run(input) {
                // A CPU that went offline keeps its last sums until it is back.
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::Other => {}
                Err(error) => return Err(refused("collecting the sums of a CPU")(error)),
            }
        }
        Ok(())
    }

    /// Goes over to the turbo row of the cores that were active on average since the last sums.
    fn follow_clock(&mut self, sums: &Sums) -> Result<(), CollectError> {
        let busy_ns: Vec<u64> = sums.cpus.iter().map(|cpu| cpu.busy_ns).collect();
        let mut of_cores = vec![0; self.places.len()];
        for (place, (now, before)) in self.places.iter().zip(busy_ns.iter().zip(&self.before.1)) {
            let Some((core, _)) = *place else { continue };
            let of_core: &mut u64 = &mut of_cores[core as usize];
            *of_core = now.saturating_sub(*before).max(*of_core);
        }
        let passed_ns = sums.time_ns.saturating_sub(self.before.0);
        let is_first = self.before.0 == 0;
        self.before = (sums.time_ns, busy_ns);
        if is_first || passed_ns == 0 {
            return Ok(());
        }
        self.set_row(of_cores.iter().sum::<u64>() as f64 / passed_ns as f64)
    }

    fn set_row(&mut self, active_cores: f64) -> Result<(), CollectError> {
        let Some(costs) = &self.costs else { return Ok(()) };
        let row = costs.row(active_cores);
        if self.row != Some(row) {
            let clock = layout::clock(&costs.slower(row));
            let doing = refused("telling the program of the sums about frequencies");
            let first = 0u32.to_ne_bytes();
            map(&self.object, "clock").update(&first, &clock, MapFlags::ANY).map_err(doing)?;
            self.row = Some(row);
        }
        Ok(())
    }
}

/// By CPU: its core, which has the number of its first CPU, and its thread.
fn places(online: &[u32], siblings: &[u32]) -> Vec<Option<(u32, u32)>> {
    let cpus = online.iter().max().map_or(0, |&last| last + 1);
    let place = |cpu: u32| {
        let sibling = siblings.get(cpu as usize).copied().unwrap_or(cpu);
        let sibling = if sibling < cpus { sibling } else { cpu };
        online.contains(&cpu).then_some((cpu.min(sibling), u32::from(cpu > sibling)))
    };
    (0..cpus).map(place).collect()
}

/// Gives the program its constants and makes room for the CPUs.
fn prepare(
    object: &mut OpenObject,
    cpus: usize,
    by: By,
    costs: Option<&Costs>,
    shows_registers: bool,
) -> Result<(), CollectError> {
    for mut program in object.progs_mut() {
        if program.name() == REGISTERS.0 {
            program.set_autoload(shows_registers);
        }
    }
    for mut map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if name == "places" || name == "cores" {
            let cpus = u32::try_from(cpus).unwrap_or(u32::MAX).max(1);
            map.set_max_entries(cpus).map_err(refused("making room for CPUs"))?;
        } else if name.ends_with(".rodata") {
            let setup = layout::setup(by, costs);
            let values = map.initial_value_mut().expect("constants have values");
            values[..setup.len()].copy_from_slice(&setup);
        }
    }
    Ok(())
}

fn attach(object: &Object) -> Result<Vec<Link>, CollectError> {
    let is_event = |program: &ProgramMut<'_>| {
        program.autoload() && program.section().to_string_lossy().starts_with("tp_btf/")
    };
    let attach = |program: ProgramMut<'_>| program.attach_trace();
    let links = object.progs_mut().filter(is_event).map(attach).collect::<Result<_, _>>();
    links.map_err(refused("attaching the program of the sums"))
}

/// Lets the kernel go through all elements of an iterator, whose program writes no text.
fn run(iterator: &Link) -> Result<(), CollectError> {
    let refused = refused("letting the kernel go through its tasks or cores");
    let mut elements = Iter::new(iterator).map_err(&refused)?;
    let mut nothing = [0; 64];
    while elements.read(&mut nothing).map_err(|error| refused(error.into()))? > 0 {}
    Ok(())
}

fn program<'o>(object: &'o Object, name: &str) -> ProgramMut<'o> {
    object.progs_mut().find(|program| program.name() == name).expect("the object has this program")
}

fn map<'o>(object: &'o Object, name: &str) -> libbpf_rs::Map<'o> {
    let is_it = |map: &libbpf_rs::Map<'_>| map.name().to_string_lossy().ends_with(name);
    object.maps().find(is_it).expect("the object has this map")
}
