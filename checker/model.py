"""Tasks and cores, and the rate at which a task's work gets done (docs/decisions/0002)."""

from dataclasses import dataclass, field

from license_machine import FULL, Demand

CLASSES = {
    # name: (register width, heavy)
    "scalar": (0, False),
    "avx2-light": (1, False),
    "avx2-heavy": (1, True),
    "avx512-light": (2, False),
    "avx512-heavy": (2, True),
    "amx": (2, True),
}
# The simulator keeps rates in 2^-20, rounded down.
RATE_STEP = 2.0**-20
# Relative error of sums of up to a million doubles, far above what they can reach.
DOUBLES = 1e-9


@dataclass
class Run:
    """What a run was told besides the table."""

    smt_share_permille: int = 625
    turbo_cores: int | None = None
    turbo: bool = True
    scheduler: str | None = None
    sensors: str | None = None
    # Whether counters are noisy or string functions trap: then the counts are unknown.
    sensors_faulty: bool = False
    # Ends of slices that the history does not show: (time, task).
    renewals: list = field(default_factory=list)
    # From when on rates of work count; 0: always.
    counted_from_ns: int = 0


@dataclass(frozen=True)
class Phase:
    """What a task executes."""

    name: str
    rate_permille: int
    stall_permille: int


# The class of a task before its first phase: the kernel's code that brings the task to the CPU.
NO_PHASE = Phase("scalar", 0, 0)


@dataclass
class Slice:
    """What happened to a task since it was last accounted."""

    time_ns: int = 0
    lost_ns: float = 0.0
    error_ns: float = 0.0
    # The last culprit of the last part of the loss.
    culprit: object = None
    # While not halted: cycles by the level in force, time, and cycles that waited for memory.
    level_cycles: dict = field(default_factory=dict)
    counted_ns: int = 0
    stall_cycles: float = 0.0
    # Widest registers used.
    width: int = 0

    def counts(self, dt, level, khz, stalled):
        """The counters run."""
        cycles = dt * khz / 1e6
        self.level_cycles[level] = self.level_cycles.get(level, 0) + cycles
        self.counted_ns += dt
        self.stall_cycles += cycles * min(1.0, stalled)


@dataclass(frozen=True)
class Work:
    """Reference cycles, and the bounds within which a right simulator states them (README)."""

    done: float = 0.0
    at_least: float = 0.0
    at_most: float = 0.0


@dataclass(eq=False)
class Task:
    """A task's state, and what it got so far."""

    tid: int
    app: str
    state: str = "new"
    cpu: int | None = None
    last_cpu: int | None = None
    phase: Phase = NO_PHASE
    overhead_left: float = 0.0
    began_ns: int | None = None
    # Since when the task waits for a CPU, how long it waited in all, and whether it ever slept.
    runnable_ns: int = 0
    waited_ns: int = 0
    has_slept: bool = False
    ended_ns: int | None = None
    cpu_time_ns: int = 0
    progress_ns: float = 0.0
    overhead_done_ns: float = 0.0
    lost_ns: float = 0.0
    slices: int = 0
    migrations: int = 0
    slice: Slice = field(default_factory=Slice)
    # For the bounds of compare.py.
    steps: int = 0
    phaseless_ns: float = 0.0
    # The work done until counting began.
    before: Work = Work()
    losing_pieces: int = 0
    lost_error_ns: float = 0.0

    def runs(self, dt, pace):
        """The task runs for `dt` at that pace."""
        self.cpu_time_ns += dt
        self.slice.time_ns += dt
        work = dt * pace.rate
        overhead = min(work, self.overhead_left)
        self.overhead_left -= overhead
        self.overhead_done_ns += overhead
        self.progress_ns += work - overhead
        if self.phase is NO_PHASE:
            self.phaseless_ns += work - overhead
        if pace.losing:
            self.loses(dt * pace.loss, dt * pace.loss_error)

    def work_bounds(self, cpu):
        """The work done so far."""
        cycles_per_ns = cpu.ref_khz / 1e6
        done = self.progress_ns * cycles_per_ns
        doubles = (self.progress_ns + self.overhead_done_ns) * cycles_per_ns * DOUBLES
        rates_ns = self.cpu_time_ns * RATE_STEP
        below = (rates_ns + self.steps * cpu.fastest) * cycles_per_ns + self.steps
        return Work(done, done - below - doubles - 1, done + doubles + 1)

    def loses(self, lost_ns, error_ns):
        self.lost_ns += lost_ns
        self.lost_error_ns += error_ns
        self.losing_pieces += 1
        self.slice.lost_ns += lost_ns
        self.slice.error_ns += error_ns


@dataclass(frozen=True)
class Pace:
    """Reference ns per ns, and the share of the time that is lost to others' licenses."""

    rate: float
    losing: bool = False
    loss: float = 0.0
    loss_error: float = 0.0


@dataclass
class Core:
    """Who runs on the CPUs of a core, and what its clock does."""

    running: list
    level_ns: list
    since_ns: int
    effect: tuple = (0, FULL)
    khz: int = 0
    stated_effect: tuple = (0, FULL)
    stated_khz: int | None = None
    # Whether a task ran on the core until this instant.
    was_active: bool = False
    # By thread: the pace of its task, and the culprits of the task's losses.
    paces: list = field(default_factory=list)
    culprits: list = field(default_factory=list)

    def tasks(self):
        return [task for task in self.running if task is not None]


def class_levels(cpu, phases):
    """The level that each class on one core demands; the rates of siblings add up."""
    sums = {}
    for phase in phases:
        sums[phase.name] = sums.get(phase.name, 0) + phase.rate_permille
    return {name: cpu.level_demanded(name, rate) for name, rate in sums.items()}


def core_demand(cpu, phases):
    """What the phases that run on one core demand together."""
    levels = class_levels(cpu, phases)
    level = max(levels.values(), default=0)
    heavy = any(CLASSES[name][1] for name in levels if levels[name] == level)
    return Demand(level, max((CLASSES[name][0] for name in levels), default=0), heavy)


def domain_demand(demands):
    """What the cores of one license domain demand together."""
    level = max(demand.level for demand in demands)
    heavy = any(demand.heavy for demand in demands if demand.level == level)
    return Demand(level, max(demand.width for demand in demands), heavy)


def rate(phase, sibling, share_permille, slowness, permille=FULL):
    """Reference ns per ns; `slowness` = reference frequency / frequency."""
    if permille == 0:
        return 0.0
    sigma = 1.0
    if sibling is not None:
        busy = 1 - sibling.stall_permille / 1000
        sigma = 1 / (1 + (1000 / share_permille - 1) * busy)
    stalled = phase.stall_permille / 1000
    return 1 / (stalled + (1 - stalled) * slowness / (sigma * permille / FULL))


def pace(cpu, run, row, machine, phase, sibling):
    """How fast a phase gets on under a license, and what it loses to others' demand."""
    level, permille = machine.effect()

    def at(level, permille):
        slowness = cpu.ref_khz / cpu.khz(row, level, run.turbo)
        return rate(phase, sibling, run.smt_share_permille, slowness, permille)

    actual = at(level, permille)
    own = cpu.level_demanded(phase.name, phase.rate_permille)
    needless = machine.is_widening() and CLASSES[phase.name][0] < machine.demand.width
    if machine.reached_level() <= own and not needless:
        return Pace(actual)
    ideal = at(own, FULL)
    error = RATE_STEP * (2 / ideal + 1)
    return Pace(actual, True, max(0.0, 1 - actual / ideal), error)
