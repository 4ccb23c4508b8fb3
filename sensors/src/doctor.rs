//! Abilities of a machine, and the way to each missing one. Judged from [`Facts`] alone.

use cpu_model::Class;
use serde::Serialize;

use crate::control_groups::Version;
use crate::facts::{Access, CpuidFaulting, Facts, SchedExt, Scheduler};
use crate::pmu::{Offer, Question, Refusal};
use crate::remedies;

pub use crate::remedies::rights_remedy;

/// Whether something can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Now, by this user.
    Yes,
    /// By root, or with rights that can be had.
    AsRoot,
    /// Not on this machine.
    No,
}

impl Answer {
    /// As a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::AsRoot => "as root",
            Self::No => "no",
        }
    }
}

/// Something that the machine can or cannot do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ability {
    /// The ability, as a verb.
    pub what: &'static str,
    /// Whether the machine has the ability.
    pub answer: Answer,
    /// The facts behind the answer.
    pub found: String,
    /// The use of the ability.
    pub good_for: &'static str,
    /// The way to a missing ability: a command, or a request to the owner of the machine.
    pub remedy: Option<String>,
}

/// The abilities of a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Version of this form.
    pub schema: u32,
    /// The abilities.
    pub abilities: Vec<Ability>,
    /// The machine: names and facts.
    pub machine: Vec<(&'static str, String)>,
    /// Properties of this machine that mislead.
    pub caveats: Vec<String>,
    /// The facts that the report was judged by.
    pub facts: Facts,
}

impl Report {
    /// The answer in one line.
    #[must_use]
    pub fn sentence(&self) -> String {
        let can = |ability: &Ability| format!("{} ({})", ability.what, ability.answer.word());
        let abilities: Vec<String> = self.abilities.iter().map(can).collect();
        format!("this machine can: {}", abilities.join(", "))
    }
}

/// Judges the facts.
#[must_use]
pub fn assess(facts: &Facts) -> Report {
    let record = record(facts);
    let registers = registers(facts, &record);
    Report {
        schema: 1,
        abilities: vec![
            record,
            registers,
            counters(facts),
            aperf(facts),
            offered(facts, "count license levels", LEVELS_USE, &LEVELS),
            offered(facts, "count wide instructions", WIDE_USE, &WIDE),
            offered(facts, "count stalls", STALLS_USE, &STALLS),
            energy(facts),
            chains(facts),
            bpf_schedulers(facts),
            wide(facts, "run AVX2", &[Class::Avx2Light, Class::Avx2Heavy]),
            wide(facts, "run AVX-512", &[Class::Avx512Light, Class::Avx512Heavy]),
            wide(facts, "run AMX", &[Class::Amx]),
            hide(facts),
            perf(facts),
        ],
        machine: machine(facts),
        caveats: caveats(facts),
        facts: facts.clone(),
    }
}

fn ability(what: &'static str, good_for: &'static str) -> impl Fn(Answer, String) -> Ability {
    move |answer, found| Ability { what, answer, found, good_for, remedy: None }
}

impl Ability {
    fn with(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }
}

fn record(facts: &Facts) -> Ability {
    let says = ability(
        "record schedules",
        "evenkeel trace record: who ran where and when, for replay under other schedulers",
    );
    if !facts.recorder {
        let found = "this build of the command has no recorder".to_owned();
        return says(Answer::No, found).with("cargo build --release --package evenkeel");
    }
    if facts.kernel_version() < (5, 11) {
        let found = format!("Linux {} is older than 5.11", facts.kernel);
        return says(Answer::No, found).with(remedies::perf_remedy(facts));
    }
    if !facts.btf {
        let found = "the kernel was built without CONFIG_DEBUG_INFO_BTF".to_owned();
        return says(Answer::No, found).with(remedies::perf_remedy(facts));
    }
    if let Some(mode) = facts.lockdown.as_deref().filter(|&mode| mode == "confidentiality") {
        let found = format!("the kernel is locked down ({mode})");
        return says(Answer::No, found).with("boot with lockdown=integrity or without lockdown=");
    }
    if !facts.may_trace() {
        let found = "this user lacks CAP_BPF and CAP_PERFMON".to_owned();
        return says(Answer::AsRoot, found).with(rights_remedy(facts));
    }
    says(Answer::Yes, "the kernel describes itself, and this user may trace".to_owned())
}

fn registers(facts: &Facts, record: &Ability) -> Ability {
    const EVENT: &str = "x86_fpu_regs_deactivated";
    let says = ability(
        "see register states",
        "evenkeel trace marks: which programs use AVX and AVX-512 registers",
    );
    if record.answer == Answer::No {
        let same = says(Answer::No, record.found.clone());
        return Ability { remedy: record.remedy.clone(), ..same };
    }
    if !facts.has_tracepoint(EVENT) {
        let found = format!("the kernel has no tracepoint {EVENT}");
        return says(Answer::No, found).with("a kernel for x86 with CONFIG_TRACEPOINTS=y");
    }
    let found = format!("by the tracepoint {EVENT}");
    Ability { remedy: record.remedy.clone(), ..says(record.answer, found) }
}

fn counters(facts: &Facts) -> Ability {
    let says = ability(
        "measure frequencies by counters",
        "cycles of each task, hence its average frequency and what it lost",
    );
    match facts.cycles {
        Access::Open => says(Answer::Yes, "the CPU's cycle counter opens".to_owned()),
        Access::Forbidden => {
            let level = facts.paranoid.map_or_else(|| "set".to_owned(), |level| level.to_string());
            says(Answer::AsRoot, format!("kernel.perf_event_paranoid is {level}"))
                .with("sudo sysctl kernel.perf_event_paranoid=2")
        }
        Access::Absent => match &facts.hypervisor {
            Some(hypervisor) => says(Answer::No, format!("{hypervisor} shows no counters"))
                .with("ask the host for a virtual PMU (QEMU: -cpu host,pmu=on), or use bare metal"),
            None => says(Answer::No, "perf knows no counters of this CPU".to_owned())
                .with("a newer kernel, which knows this CPU"),
        },
    }
}

fn aperf(facts: &Facts) -> Ability {
    let says = ability(
        "measure frequencies by APERF/MPERF",
        "the average frequency of a CPU without programming a counter",
    );
    let listed = facts.msr_events.iter().any(|event| event == "aperf");
    match facts.aperf {
        Access::Open => says(Answer::Yes, "the msr device of perf has aperf".to_owned()),
        _ if listed => says(Answer::AsRoot, "this user may not open aperf".to_owned())
            .with("sudo sysctl kernel.perf_event_paranoid=-1, or sudo evenkeel"),
        _ if facts.perf_devices.iter().any(|device| device == "msr") => {
            let found = "the msr device of perf has no aperf here".to_owned();
            match facts.hypervisor {
                Some(_) => says(Answer::No, found)
                    .with("ask the host to pass APERF and MPERF on, or use bare metal"),
                None => says(Answer::No, found),
            }
        }
        _ => says(Answer::No, "perf has no msr device".to_owned()).with("sudo modprobe msr"),
    }
}

const LEVELS: [Question; 4] =
    [Question::License0, Question::License1, Question::License2, Question::Throttle];
const LEVELS_USE: &str = "how long each core was at a lower clock for wide instructions";
const WIDE: [Question; 6] = [
    Question::Fp256,
    Question::Fp512,
    Question::Fp16x256,
    Question::Fp16x512,
    Question::Int256,
    Question::Avx256,
];
const WIDE_USE: &str = "which tasks demand a lower clock";
const STALLS: [Question; 2] = [Question::StallsL2Miss, Question::BoundOnStores];
const STALLS_USE: &str = "which part of a task's time a lower clock does not stretch";

/// Whether events of the PMU that answer questions can be counted on every CPU.
fn offered(
    facts: &Facts,
    what: &'static str,
    good_for: &'static str,
    questions: &[Question],
) -> Ability {
    let says = ability(what, good_for);
    let refused = |refusal| refused(facts, refusal, says(Answer::No, String::new()));
    let cpu = match facts.pmu() {
        Ok(cpu) => cpu,
        Err(refusal) => return refused(refusal),
    };
    let Some(offer) = Offer::of(cpu, questions, facts.has_hyper_threading()) else {
        return refused(Refusal::NoEvent);
    };
    let watchdog = if facts.nmi_watchdog { "; kernel.nmi_watchdog takes a counter" } else { "" };
    let found = format!("{offer}{watchdog}");
    if facts.may_count_cpus() {
        return says(Answer::Yes, found);
    }
    let denied = refused(Refusal::NotPermitted);
    Ability { answer: Answer::AsRoot, found, ..denied }
}

fn energy(facts: &Facts) -> Ability {
    let says = ability("measure energy", "what a package takes under each scheduler");
    if !facts.power_events.iter().any(|event| event == "energy-pkg") {
        return refused(facts, Refusal::NoDevice("power"), says(Answer::No, String::new()));
    }
    let found = "energy-pkg of perf's device power, which takes no counter; it misses which core \
                 took the energy"
        .to_owned();
    if facts.may_count_cpus() {
        return says(Answer::Yes, found);
    }
    let denied = refused(facts, Refusal::NotPermitted, says(Answer::AsRoot, String::new()));
    Ability { found, ..denied }
}

/// The ability with cause and remedy of a refusal.
fn refused(facts: &Facts, refusal: Refusal, ability: Ability) -> Ability {
    let sentence = refusal.sentence(&facts.circumstances());
    match sentence.split_once(": ") {
        Some((found, remedy)) => Ability { found: found.to_owned(), ..ability }.with(remedy),
        None => Ability { found: sentence, ..ability },
    }
}

fn chains(facts: &Facts) -> Ability {
    let says = ability(
        "measure frequencies by chains of additions",
        "evenkeel characterize: is this machine affected, without any privilege",
    );
    if facts.steady_tsc {
        return says(Answer::Yes, "the TSC runs at one rate".to_owned());
    }
    says(Answer::No, "the TSC changes its rate or stops".to_owned())
        .with("a CPU or virtual machine with an invariant TSC (QEMU: -cpu host,+invtsc)")
}

fn bpf_schedulers(facts: &Facts) -> Ability {
    let says =
        ability("load BPF schedulers", "scx_evenkeel: the policies of the simulator in the kernel");
    let built = match facts.sched_ext {
        SchedExt::TooOld => {
            let found = format!("sched_ext came with Linux 6.12; this is {}", facts.kernel);
            return says(Answer::No, found).with(remedies::kernel_remedy(facts));
        }
        SchedExt::NotBuilt => {
            let found = "the kernel was built without CONFIG_SCHED_CLASS_EXT".to_owned();
            return says(Answer::No, found).with(remedies::kernel_remedy(facts));
        }
        SchedExt::Ready => "sched_ext is there, and no scheduler is loaded".to_owned(),
        SchedExt::Active => format!("{} is loaded", facts.scheduler_name()),
    };
    if facts.may_administer() {
        return says(Answer::Yes, built);
    }
    says(Answer::AsRoot, built).with("sudo scx_evenkeel")
}

fn wide(facts: &Facts, what: &'static str, classes: &[Class]) -> Ability {
    let says = ability(what, "this width's effect on frequencies can be measured here");
    if classes.iter().all(|class| facts.classes.contains(class)) {
        return says(Answer::Yes, "CPU and kernel allow it".to_owned());
    }
    says(Answer::No, "CPU, hypervisor or kernel do not offer it".to_owned())
}

fn hide(facts: &Facts) -> Ability {
    let says = ability(
        "hide wide instructions by CPUID",
        "evenkeel trial --hide: a control for programs whose libraries have no switch",
    );
    match facts.cpuid_faulting {
        CpuidFaulting::Offered => {
            says(Answer::Yes, "CPUID can fault, and this user may follow programs".to_owned())
        }
        CpuidFaulting::KernelTooOld => {
            let found = format!("CPUID can fault since Linux 4.12; this is {}", facts.kernel);
            says(Answer::No, found).with("a newer kernel")
        }
        CpuidFaulting::Refused => {
            let found = "this user may not forbid CPUID to programs and follow them".to_owned();
            says(Answer::No, found).with(
                "sudo sysctl kernel.yama.ptrace_scope=1; in a container, a seccomp profile that \
                 allows ptrace and arch_prctl",
            )
        }
        CpuidFaulting::Absent => {
            let (found, remedy) = remedies::cpuid_fault(facts);
            says(Answer::No, found).with(remedy)
        }
    }
}

fn perf(facts: &Facts) -> Ability {
    let says = ability(
        "record with perf",
        "recordings on kernels that our recorder does not support (evenkeel trace import)",
    );
    let Some(version) = &facts.perf else {
        return says(Answer::No, "perf is not installed".to_owned())
            .with(remedies::perf_package(facts));
    };
    match facts.tracefs {
        Access::Open => says(Answer::Yes, version.clone()),
        Access::Forbidden => says(Answer::AsRoot, format!("{version}; tracefs is root's"))
            .with("sudo perf sched record …"),
        Access::Absent => says(Answer::No, format!("{version}; tracefs is not mounted"))
            .with("sudo mount -t tracefs tracefs /sys/kernel/tracing"),
    }
}

fn machine(facts: &Facts) -> Vec<(&'static str, String)> {
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let distribution = facts.distribution.as_deref().unwrap_or("unknown distribution");
    let scheduler = match &facts.scheduler {
        Scheduler::SchedExt(ops) => format!("{ops}, a BPF scheduler"),
        _ => facts.scheduler_name().to_owned(),
    };
    let threads = facts.cores.iter().map(Vec::len).max().unwrap_or(1);
    let smt = if threads > 1 { "siblings share cores" } else { "no siblings" };
    let virtual_note = if facts.hypervisor.is_some() { " that the hypervisor shows" } else { "" };
    let mhz = facts.mhz.map_or_else(String::new, |mhz| format!(", {mhz} MHz stated"));
    let hz = facts.hz.map_or_else(|| "unknown".to_owned(), |hz| format!("{hz} a second"));
    vec![
        ("kernel", format!("Linux {}, {distribution}", facts.kernel)),
        ("scheduler", scheduler),
        ("ticks", hz),
        ("preemption", known(&facts.preemption)),
        ("CPU", format!("{}{mhz}", facts.cpu)),
        (
            "topology",
            format!(
                "{} on {} in {}; {smt}{virtual_note}",
                counted(facts.online.len(), "CPU"),
                counted(facts.cores.len(), "core"),
                counted(facts.packages as usize, "package")
            ),
        ),
        ("virtual", facts.hypervisor.clone().unwrap_or_else(|| "no".to_owned())),
        ("control groups", control_groups(facts)),
        ("frequencies", facts.cpufreq.clone().unwrap_or_else(|| "not set by this kernel".into())),
    ]
}

fn control_groups(facts: &Facts) -> String {
    let Some(census) = &facts.control_groups else { return "unknown".to_owned() };
    // The root group tells nothing: a container with a cgroup namespace of its own shows that, too.
    let own = facts.own_group.as_ref().filter(|own| own.path != "/");
    let own = own.map(|own| format!("; this command: {}", own.short_name()));
    let limit = match census.version {
        Version::V1 | Version::Hybrid => "; profile and top tell only groups of v2 apart",
        Version::V2 | Version::None => "",
    };
    census.sentence() + &own.unwrap_or_default() + limit
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// glibc's string functions use EVEX registers from this version on (sysdeps/x86_64/multiarch).
const GLIBC_EVEX: (u32, u32) = (2, 34);

fn caveats(facts: &Facts) -> Vec<String> {
    let mut caveats = Vec::new();
    let hidden = facts.tunables.as_deref().is_some_and(|set| set.contains("-AVX512VL"));
    if facts.evex && facts.glibc.is_some_and(|version| version >= GLIBC_EVEX) && !hidden {
        caveats.push(
            "the C library's string functions set opmask and hi16-zmm in every program; only \
             zmm-hi256 tells of 512-bit code. To have clean marks, record with \
             GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512VL,-AVX512F,-AVX512BW in the programs' \
             environment"
                .to_owned(),
        );
    }
    if facts.hypervisor.is_some() {
        caveats.push(
            "in a virtual machine neighbours take time and lower clocks unseen: compare \
             interleaved runs only"
                .to_owned(),
        );
    }
    if facts.online.len() > 1 && facts.has_hyper_threading() {
        caveats.push("a task can be slowed by what runs on its core's sibling".to_owned());
    }
    caveats
}
