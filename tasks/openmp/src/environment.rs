//! What do the environment variables of OpenMP, gcc's and LLVM's runtimes say?
//!
//! OpenMP 5.2, chapter 21 (Environment Variables); the manuals of libgomp and of libomp for theirs.
//! As with libgomp, a wrong value is told once, and counts as not given.

use std::fmt;

use evenkeel_runtime::{Config, Topology};

mod binding;
pub(crate) mod display;
mod places;
mod value;

use crate::allocate::traits::{self, Words};
pub(crate) use places::{Places, Unit};

/// How the iterations of `schedule(runtime)` are given out. The numbers are `omp_sched_t`'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Static = 1,
    Dynamic = 2,
    Guided = 3,
    Auto = 4,
}

/// `run-sched-var`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Schedule {
    pub kind: Kind,
    pub is_monotonic: bool,
    /// Iterations; 0 where none was given.
    pub chunk: i32,
}

/// Where the threads of a team go. The numbers are `omp_proc_bind_t`'s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Bind {
    False = 0,
    True = 1,
    Primary = 2,
    Close = 3,
    Spread = 4,
}

/// How much of the environment is shown at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    Nothing,
    Standard,
    Verbose,
}

/// How long a thread that waits keeps its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    Active,
    Passive,
    /// `GOMP_SPINCOUNT`.
    Spins(u64),
    /// `KMP_BLOCKTIME`.
    For {
        us: u64,
    },
}

/// Whether target regions may run on the host. The numbers are libomp's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offload {
    Disabled = 0,
    Default = 1,
    Mandatory = 2,
}

/// `omp_invalid_device`: the default device if `OMP_TARGET_OFFLOAD` demands one that the machine
/// lacks.
const INVALID_DEVICE: i32 = -4;

/// Everything that was asked for; `None` and empty lists where nothing was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// One a level of nesting.
    pub num_threads: Vec<u32>,
    pub schedule: Schedule,
    pub dynamic: bool,
    /// One a level of nesting.
    pub proc_bind: Vec<Bind>,
    pub places: Option<Places>,
    pub stack_bytes: Option<usize>,
    pub wait: Option<Wait>,
    pub max_active_levels: Option<u32>,
    pub thread_limit: Option<u32>,
    pub cancellation: bool,
    pub show: Show,
    pub show_affinity: bool,
    pub affinity_format: Option<String>,
    pub max_task_priority: u32,
    pub default_device: i32,
    pub offload: Offload,
    pub allocator: Option<Words>,
    pub num_teams: u32,
    pub teams_thread_limit: u32,
    /// Of the runtime below.
    pub rules: Config,
    /// The machine as declared.
    pub topology: Option<Topology>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            num_threads: Vec::new(),
            // The schedule of libgomp.
            schedule: Schedule { kind: Kind::Dynamic, is_monotonic: false, chunk: 1 },
            dynamic: false,
            proc_bind: Vec::new(),
            places: None,
            stack_bytes: None,
            wait: None,
            max_active_levels: None,
            thread_limit: None,
            cancellation: false,
            show: Show::Nothing,
            show_affinity: false,
            affinity_format: None,
            max_task_priority: 0,
            default_device: 0,
            offload: Offload::Default,
            allocator: None,
            num_teams: 0,
            teams_thread_limit: 0,
            rules: Config::default(),
            topology: None,
        }
    }
}

/// A value that the variable does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    variable: &'static str,
    value: String,
    expected: &'static str,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { variable, value, expected } = self;
        write!(f, "{variable} is `{value}`, not {expected}; it is ignored")
    }
}

/// Reads variables and collects their mistakes.
struct Reader<L> {
    lookup: L,
    mistakes: Vec<Mistake>,
}

impl<L: Fn(&str) -> Option<String>> Reader<L> {
    /// The value of a variable that is given, and right.
    fn get<T>(
        &mut self,
        variable: &'static str,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let value = (self.lookup)(variable)?;
        let parsed = parse(value.trim());
        if parsed.is_none() {
            self.mistakes.push(Mistake { variable, value, expected });
        }
        parsed
    }
}

/// The settings of an environment, and its mistakes.
pub(crate) fn read(lookup: impl Fn(&str) -> Option<String>) -> (Settings, Vec<Mistake>) {
    let mut reader = Reader { lookup, mistakes: Vec::new() };
    let mut settings = Settings::default();
    read_teams(&mut reader, &mut settings);
    read_threads(&mut reader, &mut settings);
    read_rest(&mut reader, &mut settings);
    (settings, reader.mistakes)
}

const POSITIVE: &str = "a number above 0";
const NUMBER: &str = "a number from 0";
const YES_NO: &str = "`true` or `false`";

/// How many threads, at which levels, with what work.
fn read_teams<L: Fn(&str) -> Option<String>>(reader: &mut Reader<L>, settings: &mut Settings) {
    let numbers = "a list of numbers above 0, such as `4,2`";
    let list = reader.get("OMP_NUM_THREADS", numbers, |v| value::list(v, value::positive));
    settings.num_threads = list.unwrap_or_default();
    let dynamic = reader.get("OMP_DYNAMIC", YES_NO, value::boolean);
    settings.dynamic = dynamic.unwrap_or_default();
    let schedule = "[monotonic:|nonmonotonic:]static|dynamic|guided|auto[,CHUNK]";
    if let Some(schedule) = reader.get("OMP_SCHEDULE", schedule, value::schedule) {
        settings.schedule = schedule;
    }
    let bind = "`true`, `false` or a list of `primary`, `close` and `spread`";
    let bind = reader.get("OMP_PROC_BIND", bind, binding::bind);
    settings.proc_bind = bind.unwrap_or_default();

    let nested = reader.get("OMP_NESTED", YES_NO, value::boolean);
    let levels = reader.get("OMP_MAX_ACTIVE_LEVELS", NUMBER, value::number);
    let lists = settings.num_threads.len() > 1 || settings.proc_bind.len() > 1;
    // `OMP_NESTED` and lists allow nesting; OpenMP 5.2, 21.1.3.
    settings.max_active_levels = levels.or(match nested {
        Some(true) => Some(i32::MAX as u32),
        Some(false) => Some(1),
        None => lists.then_some(i32::MAX as u32),
    });
    let of_kmp = ["KMP_DEVICE_THREAD_LIMIT", "KMP_ALL_THREADS"];
    let of_kmp = of_kmp.map(|name| reader.get(name, POSITIVE, value::positive));
    let limit = reader.get("OMP_THREAD_LIMIT", POSITIVE, value::positive);
    settings.thread_limit = limit.or(of_kmp[0]).or(of_kmp[1]);
    let teams = reader.get("OMP_NUM_TEAMS", POSITIVE, value::positive);
    settings.num_teams = teams.unwrap_or_default();
    let limit = reader.get("OMP_TEAMS_THREAD_LIMIT", POSITIVE, value::positive);
    settings.teams_thread_limit = limit.unwrap_or_default();
}

/// Where threads run, how they wait, and how much stack they have.
fn read_threads<L: Fn(&str) -> Option<String>>(reader: &mut Reader<L>, settings: &mut Settings) {
    let size = "a size such as `4M`";
    let of_gcc = reader.get("GOMP_STACKSIZE", size, |v| value::size(v, 1 << 10));
    let of_kmp = reader.get("KMP_STACKSIZE", size, |v| value::size(v, 1));
    let stack = reader.get("OMP_STACKSIZE", size, |v| value::size(v, 1 << 10));
    settings.stack_bytes = stack.or(of_gcc).or(of_kmp);

    let spins = "a number, with `k`, `M`, `G` or `T` if wanted, or `infinite`";
    let spins = reader.get("GOMP_SPINCOUNT", spins, value::spins).map(Wait::Spins);
    let blocktime = "milliseconds, or a time such as `20us`, or `infinite`";
    let blocktime = reader.get("KMP_BLOCKTIME", blocktime, value::time_us);
    let policy = reader.get("OMP_WAIT_POLICY", "`active` or `passive`", value::wait);
    // A time is more exact than a policy.
    settings.wait = spins.or(blocktime.map(|us| Wait::For { us })).or(policy);

    let cpus = "a list of CPUs such as `0-3 8-15:2`";
    let of_gcc = reader.get("GOMP_CPU_AFFINITY", cpus, places::cpu_list);
    let kinds = "`none`, `compact`, `scatter` or `balanced`, with modifiers";
    let of_kmp = reader.get("KMP_AFFINITY", kinds, binding::kmp_affinity);
    let grammar = "a name such as `cores` or `sockets(2)`, or places such as `{0:4}:8:4`";
    settings.places = reader.get("OMP_PLACES", grammar, places::parse).or(of_gcc);
    if settings.proc_bind.is_empty() {
        let bind = of_kmp.map(|(bind, _)| bind);
        let bind = bind.or(settings.places.as_ref().map(|_| Bind::True));
        settings.proc_bind = bind.into_iter().collect();
    }
    if let Some((_, unit)) = of_kmp.filter(|&(bind, _)| bind != Bind::False) {
        settings.places.get_or_insert(Places::Each { unit, count: None });
    }
}

/// Everything else.
fn read_rest<L: Fn(&str) -> Option<String>>(reader: &mut Reader<L>, settings: &mut Settings) {
    let cancellation = reader.get("OMP_CANCELLATION", YES_NO, value::boolean);
    settings.cancellation = cancellation.unwrap_or_default();
    let show = "`true`, `false` or `verbose`";
    let show = reader.get("OMP_DISPLAY_ENV", show, value::show);
    settings.show = show.unwrap_or(Show::Nothing);
    let affinity = reader.get("OMP_DISPLAY_AFFINITY", YES_NO, value::boolean);
    settings.show_affinity = affinity.unwrap_or_default();
    settings.affinity_format = reader.get("OMP_AFFINITY_FORMAT", "", |v| Some(v.to_owned()));
    let priority = reader.get("OMP_MAX_TASK_PRIORITY", NUMBER, value::number);
    settings.max_task_priority = priority.unwrap_or_default();
    let device = reader.get("OMP_DEFAULT_DEVICE", NUMBER, value::number);
    let offload = "`mandatory`, `disabled` or `default`";
    let offload = reader.get("OMP_TARGET_OFFLOAD", offload, value::offload);
    settings.offload = offload.unwrap_or(Offload::Default);
    let allocator = "an allocator such as `omp_default_mem_alloc`, or a space with traits";
    settings.allocator = reader.get("OMP_ALLOCATOR", allocator, traits::parse);
    let by_default = if settings.offload == Offload::Mandatory { INVALID_DEVICE } else { 0 };
    settings.default_device = device.map_or(by_default, |device| device as i32);

    let rules = "rules such as `tree`, `tree-fifo-static20` or `central-lifo-polling`";
    let rules = reader.get("EVENKEEL_RULES", rules, |v| v.parse().ok());
    settings.rules = rules.unwrap_or_default();
    let throttles = reader.get("KMP_ENABLE_TASK_THROTTLING", YES_NO, value::boolean);
    settings.rules.cutoff &= throttles.unwrap_or(true);
    let topology = "a machine such as `8` or `2x24`";
    settings.topology = reader.get("EVENKEEL_TOPOLOGY", topology, |v| v.parse().ok());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> (Settings, Vec<Mistake>) {
        read(|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn right(variables: &[(&str, &str)]) -> Settings {
        let (settings, mistakes) = with(variables);
        assert_eq!(mistakes, []);
        settings
    }

    #[test]
    fn an_empty_environment_changes_nothing() {
        assert_eq!(right(&[]), Settings::default());
    }

    #[test]
    fn a_mistake_names_variable_value_and_what_was_expected() {
        let (settings, mistakes) = with(&[("OMP_NUM_THREADS", "4,x"), ("OMP_DYNAMIC", "true")]);
        assert_eq!(settings.num_threads, []);
        assert!(settings.dynamic);
        let said: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
        let list = "a list of numbers above 0, such as `4,2`";
        assert_eq!(said, [format!("OMP_NUM_THREADS is `4,x`, not {list}; it is ignored")]);
    }

    #[test]
    fn a_list_of_threads_allows_nesting_unless_levels_are_given() {
        let settings = right(&[("OMP_NUM_THREADS", " 4 , 2 ")]);
        assert_eq!(settings.num_threads, [4, 2]);
        assert_eq!(settings.max_active_levels, Some(i32::MAX as u32));
        let settings = right(&[("OMP_NUM_THREADS", "4,2"), ("OMP_MAX_ACTIVE_LEVELS", "1")]);
        assert_eq!(settings.max_active_levels, Some(1));
        assert_eq!(right(&[("OMP_NESTED", "FALSE")]).max_active_levels, Some(1));
    }

    #[test]
    fn the_standard_goes_before_gccs_and_llvms_own() {
        let all = [("KMP_STACKSIZE", "3000"), ("GOMP_STACKSIZE", "2"), ("OMP_STACKSIZE", "1m")];
        assert_eq!(right(&all).stack_bytes, Some(1 << 20));
        assert_eq!(right(&all[..2]).stack_bytes, Some(2 << 10));
        assert_eq!(right(&all[..1]).stack_bytes, Some(3000));
    }

    #[test]
    fn places_bind_unless_binding_is_refused() {
        assert_eq!(right(&[("OMP_PLACES", "cores")]).proc_bind, [Bind::True]);
        let both = [("OMP_PLACES", "cores"), ("OMP_PROC_BIND", "false")];
        assert_eq!(right(&both).proc_bind, [Bind::False]);
        assert_eq!(right(&[("KMP_AFFINITY", "scatter")]).proc_bind, [Bind::Spread]);
    }

    #[test]
    fn a_time_is_more_exact_than_a_policy() {
        let both = [("OMP_WAIT_POLICY", "PASSIVE"), ("KMP_BLOCKTIME", "20us")];
        assert_eq!(right(&both).wait, Some(Wait::For { us: 20 }));
        assert_eq!(right(&both[..1]).wait, Some(Wait::Passive));
    }
}
