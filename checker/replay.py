"""Runs a history through the machine model and adds up what every task got."""

import heapq
from itertools import groupby
from operator import itemgetter

import rules
from blame import Holders, Losses
from compensation import Compensation
from license_machine import LicenseMachine
from model import CLASSES, Core, Slice, Task, core_demand, domain_demand, pace
from sensors import sensors

STATED = ("license", "frequency")


class Replay:
    """The machine. `violations` says what cannot be, as (time, kind, words)."""

    def __init__(self, header, cpu, run):
        self.cpu, self.run = cpu, run
        self.cpus, self.threads = header["cpus"], header["threads_per_core"]
        self.per_package = header["cores_per_package"]
        self.start_ns = self.now = header["start_ns"]
        self.end_ns = header["end_ns"]
        self.tasks = {task["tid"]: Task(task["tid"], task["app"]) for task in header["tasks"]}
        cores = self.cpus // self.threads
        self.cores = [
            Core([None] * self.threads, [0] * cpu.levels, self.now) for _ in range(cores)
        ]
        self.active = [0] * (cores // self.per_package)
        self.domain_size = self.per_package if cpu.license_domain == "package" else 1
        self.licenses = [LicenseMachine(cpu) for _ in range(cores // self.domain_size)]
        self.holders = [Holders(cpu) for _ in self.licenses]
        self.losses = Losses()
        self.sensors = sensors(run.sensors, cpu, run, cores)
        self.compensation = Compensation(run.scheduler, shows_decisions=header["schema"] >= 2)
        self.deadlines = []
        # Changes at this instant: occupied cores or phases, and license domains.
        self.touched_cores, self.touched_domains = set(), set()
        self.throttled_ns = 0
        self.switches = 0
        self.violations = []
        self.paces = {}

    def complain(self, kind, words):
        self.violations.append((self.now, kind, words))

    def play(self, records):
        """All records, then what is left until the end of the history."""
        at = itemgetter("t")
        renewals = [{**renewal, "e": "renewal"} for renewal in self.run.renewals]
        everything = heapq.merge(self.in_order(records), sorted(renewals, key=at), key=at)
        for time, instant in groupby(everything, key=at):
            self.run_until(time)
            self.at(time, list(instant))
        if self.now > self.end_ns:
            self.complain("time", f"a record lies after the end, {self.end_ns} ns")
            self.end_ns = self.now
        self.run_until(self.end_ns)
        self.now = self.end_ns
        for core in self.cores:
            self.book(core)
        for task in self.tasks.values():
            # The overhead ends within a ns, that much at most is too much.
            if task.phaseless_ns > task.slices * self.cpu.fastest:
                self.complain("phase", f"task {task.tid} gets on without a phase")

    def in_order(self, records):
        """The records; one that goes back in time is moved to the last instant."""
        last = self.start_ns
        for record in records:
            if record["t"] < last:
                self.now = last
                self.complain("time", f"goes back to {record['t']} ns: {record}")
                record = {**record, "t": last}
            last = record["t"]
            yield record

    def run_until(self, time):
        """License deadlines until then, and the work done until counting begins."""
        counted_from = self.run.counted_from_ns
        if self.now < counted_from <= time:
            self.run_deadlines(counted_from)
            self.now = counted_from
            for core in self.cores:
                self.book(core)
            for task in self.tasks.values():
                task.before = task.work_bounds(self.cpu)
        self.run_deadlines(time)

    def run_deadlines(self, before):
        """License deadlines at which the history says nothing."""
        while self.deadlines and self.deadlines[0][0] < before:
            due, domain = self.deadlines[0]
            if self.licenses[domain].deadline() == due:
                self.at(due, [])
            else:
                heapq.heappop(self.deadlines)

    # One instant: license deadlines, events, demand, then the frequencies in force from now on.

    def at(self, time, records):
        self.now = time
        self.advance_licenses()
        for record in records:
            if record["e"] not in STATED:
                rules.apply(self, record)
        packages = {core // self.per_package for core in self.touched_cores}
        were_active = {package: self.active[package] for package in packages}
        self.count_active(packages)
        self.tell_demand()
        self.put_in_force(were_active)
        # Frequencies in force after the end appear in no record.
        if time < self.end_ns:
            self.hear([record for record in records if record["e"] in STATED])
        for index in self.touched_cores:
            self.cores[index].was_active = bool(self.cores[index].tasks())
        self.touched_cores.clear()
        self.touched_domains.clear()

    def advance_licenses(self):
        while self.deadlines and self.deadlines[0][0] <= self.now:
            _, domain = heapq.heappop(self.deadlines)
            machine = self.licenses[domain]
            if machine.deadline() is not None and machine.deadline() <= self.now:
                machine.advance(self.active[self.package_of(domain)], self.now)
                self.touched_domains.add(domain)

    def package_of(self, domain):
        return domain * self.domain_size // self.per_package

    def count_active(self, packages):
        for package in packages:
            first = package * self.per_package
            cores = self.cores[first : first + self.per_package]
            self.active[package] = sum(1 for core in cores if core.tasks())

    def tell_demand(self):
        for core in self.touched_cores:
            self.touched_domains.add(core // self.domain_size)
        for domain in sorted(self.touched_domains):
            first = domain * self.domain_size
            running = [core.tasks() for core in self.cores[first : first + self.domain_size]]
            demands = [core_demand(self.cpu, [task.phase for task in tasks]) for tasks in running]
            self.holders[domain].update(running)
            machine = self.licenses[domain]
            machine.tell(domain_demand(demands), self.active[self.package_of(domain)], self.now)
            if machine.deadline() is not None:
                heapq.heappush(self.deadlines, (machine.deadline(), domain))

    def put_in_force(self, were_active):
        """New effect, frequency and pace for every core that something changed for."""
        changed = set(self.touched_cores)
        for domain in self.touched_domains:
            changed.update(range(domain * self.domain_size, (domain + 1) * self.domain_size))
        for package, count in were_active.items():
            if self.row(count) != self.row(self.active[package]):
                first = package * self.per_package
                changed.update(range(first, first + self.per_package))
        self.changed_cores = changed
        for index in changed:
            core = self.cores[index]
            self.book(core)
            machine = self.licenses[index // self.domain_size]
            row = self.row(self.active[index // self.per_package])
            core.effect = machine.effect()
            core.khz = self.cpu.khz(row, core.effect[0], self.run.turbo)
            core.paces = [self.pace(core, thread, row, machine) for thread in range(self.threads)]
            core.culprits = self.culprits(core, index // self.domain_size)

    def row(self, active_cores):
        return self.cpu.row(self.run.turbo_cores or active_cores)

    def pace(self, core, thread, row, machine):
        task = core.running[thread]
        if task is None:
            return None
        siblings = [other.phase for other in core.tasks() if other is not task]
        sibling = siblings[0] if siblings else None
        key = (row, machine.effect(), machine.reached_level(), machine.is_widening())
        key += (machine.demand.width, task.phase, sibling)
        if key not in self.paces:
            self.paces[key] = pace(self.cpu, self.run, row, machine, task.phase, sibling)
        return self.paces[key]

    def culprits(self, core, domain):
        """By thread: who answers for what its task loses from now on."""
        machine, holders = self.licenses[domain], self.holders[domain]
        culprits = []
        for task, pace_now in zip(core.running, core.paces):
            found = []
            if pace_now is not None and pace_now.loss > 0:
                own = self.cpu.level_demanded(task.phase.name, task.phase.rate_permille)
                found = holders.culprits(task, own, machine)
            culprits.append(found)
        return culprits

    def hear(self, records):
        """Compares the licenses and frequencies that the history states with those in force."""
        heard = set()
        for record in records:
            kind, index = record["e"], record["core"]
            if index >= len(self.cores):
                self.complain(kind, f"there is no core {index}")
                continue
            core = self.cores[index]
            if (kind, index) in heard:
                self.complain(kind, f"core {index} changes twice at one instant")
            heard.add((kind, index))
            if kind == "license":
                stated = (record["level"], record["rate_permille"])
                if stated == core.stated_effect:
                    self.complain(kind, f"core {index}: {stated} was in force already")
                core.stated_effect = stated
            else:
                if not core.tasks():
                    self.complain(kind, f"core {index} is idle")
                elif core.was_active and core.stated_khz == record["khz"]:
                    self.complain(kind, f"core {index}: {record['khz']} kHz was in force already")
                core.stated_khz = record["khz"]
        for index in sorted(self.changed_cores | {index for _, index in heard}):
            self.agree(index, self.cores[index])

    def agree(self, index, core):
        if core.stated_effect != core.effect:
            stated, ours = core.stated_effect, core.effect
            self.complain("license", f"core {index}: stated {stated}, by the table {ours}")
            core.stated_effect = ours
        if core.tasks() and core.stated_khz != core.khz:
            stated, ours = core.stated_khz, core.khz
            self.complain("frequency", f"core {index}: stated {stated} kHz, by the table {ours}")
            core.stated_khz = ours

    # The running task of each CPU.

    def on(self, cpu):
        return self.cores[cpu // self.threads].running[cpu % self.threads]

    def touch(self, cpu):
        """What runs on this CPU is about to change: books the time until now."""
        self.book(self.cores[cpu // self.threads])
        self.touched_cores.add(cpu // self.threads)

    def put(self, cpu, task):
        self.touch(cpu)
        self.cores[cpu // self.threads].running[cpu % self.threads] = task

    def book(self, core):
        """Adds the time since the last booking to the tasks and, CPU by CPU, to the level."""
        dt = self.now - core.since_ns
        core.since_ns = self.now
        running = len(core.tasks())
        if dt == 0 or running == 0:
            return
        level, permille = core.effect
        core.level_ns[level] += dt * running
        if permille < 1000:
            self.throttled_ns += dt * running
        for task, task_pace, culprits in zip(core.running, core.paces, core.culprits):
            if task is None:
                continue
            task.runs(dt, task_pace)
            if permille > 0:
                stalled = task.phase.stall_permille / 1000 * task_pace.rate
                task.slice.counts(dt, level, core.khz, stalled)
            if task_pace.loss > 0:
                lost_ns, error_ns = dt * task_pace.loss, dt * task_pace.loss_error
                self.losses.add(task, culprits, lost_ns, error_ns)
                if culprits:
                    task.slice.culprit = culprits[-1]

    def uses_registers(self, task):
        """What the task executes from now on may use wider registers than its slice did so far."""
        width = CLASSES[task.phase.name][0]
        if self.sensors is not None and width > task.slice.width:
            task.slice.width = width
            self.sensors.uses(task, task.cpu // self.threads, width)

    def account(self, task):
        """The task leaves its CPU or begins another slice there."""
        core = task.cpu // self.threads
        self.book(self.cores[core])
        if self.sensors is not None:
            self.compensation.account(task, self.sensors.report(task, core))
        task.slice = Slice()
