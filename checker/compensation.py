"""Who got time back, and who paid for it (D 7.4.3; docs/decisions/0002, Sensors)."""

from collections import Counter, defaultdict

RELATIVE, ISOLATION, EVEN = "fair-relative", "fair-isolation", "even"
# Refunds that `even` banks as virtual time at most (docs/decisions/0018, Idle compensation).
BANK_NS = 9_000_000


def is_even(scheduler):
    """`even`, or `even` without one of its parts."""
    return scheduler == EVEN or (scheduler or "").startswith(EVEN + "-without-")


def bills_culprits(scheduler):
    return scheduler == ISOLATION or is_even(scheduler)


def has_idle_compensation(scheduler):
    """A part of a loss is repaid by forced idle of siblings and not by virtual time."""
    return is_even(scheduler) and scheduler != EVEN + "-without-repayment"


class Sum:
    """A sum of amounts of whole ns, each known within bounds."""

    def __init__(self):
        self.low_ns = self.high_ns = 0.0

    def add(self, low_ns, high_ns):
        self.low_ns += low_ns
        self.high_ns += high_ns

    def holds(self, stated_ns):
        doubles = 1e-9 * self.high_ns
        return self.low_ns - doubles <= stated_ns and self.bounds(stated_ns)

    def bounds(self, stated_ns):
        """Whether the stated amount is no more than this one."""
        return stated_ns <= self.high_ns * (1 + 1e-9)

    def __str__(self):
        return f"{self.low_ns:.0f}..{self.high_ns:.0f}"


class Compensation:
    """Refunds and bills of a policy, by what it learns of every slice."""

    def __init__(self, scheduler, shows_decisions=False):
        self.scheduler = scheduler
        # Histories show decisions since schema 2.
        self.shows_decisions = shows_decisions
        self.decided = {"refunded_ns": Counter(), "billed_ns": Counter()}
        self.refunds, self.bills, self.repaid = defaultdict(Sum), defaultdict(Sum), defaultdict(Sum)

    def account(self, task, report):
        """The task's slice ends: what it lost is refunded, if need be to be paid by the culprit."""
        culprit = report.culprit
        refunds = self.scheduler == RELATIVE
        bills = bills_culprits(self.scheduler) and culprit not in (None, task)
        if report.high_ns == 0 or not (refunds or bills):
            return
        amount = min(report.low_ns, task.slice.time_ns), min(report.high_ns, task.slice.time_ns)
        self.refunds[task.tid].add(*amount)
        if bills:
            self.bills[culprit.tid].add(*amount)
        if culprit is not None:
            self.repaid[task.app, culprit.app].add(*amount)

    def decide(self, victim, culprit, record):
        """The history says who got time back, and who is to pay for it."""
        self.decided["refunded_ns"][victim.tid] += record["refund_ns"]
        if culprit is not None:
            self.decided["billed_ns"][culprit.tid] += record["bill_ns"]

    def compare_decisions(self, outcome):
        """Disagreements of decisions with what is stated, to the ns, as (kind, words)."""
        if not self.shows_decisions:
            return
        for key, decided in self.decided.items():
            for task in outcome["tasks"]:
                tid = task["tid"]
                if task[key] != decided[tid]:
                    words = f"task {tid}: stated {task[key]}, decided {decided[tid]}"
                    yield f"decision {key}", words

    def compare(self, outcome):
        """Disagreements with what is stated, as (kind, words)."""
        # The history does not show how much of one slice's loss became idle compensation. So a
        # task's own sums are bounded from above, and the sums of both for two applications exact.
        is_split = has_idle_compensation(self.scheduler)
        for key, sums in (("refunded_ns", self.refunds), ("billed_ns", self.bills)):
            for task in outcome["tasks"]:
                ours, stated_ns = sums[task["tid"]], task[key]
                if not (ours.bounds(stated_ns) if is_split else ours.holds(stated_ns)):
                    yield key, f"task {task['tid']}: stated {stated_ns}, not in {ours}"
        stated = by_pair(outcome["losses"], "repaid_ns", "idle_compensation_ns")
        for pair in sorted(stated.keys() | self.repaid.keys()):
            ours = self.repaid[pair]
            if not ours.holds(stated[pair]):
                victim, culprit = pair
                words = f"{victim} by {culprit}: stated {stated[pair]}, not in {ours}"
                yield "repaid_ns", words


def by_pair(losses, *keys):
    """Stated amounts by victim and culprit."""
    amounts = Counter()
    for loss in losses:
        amounts[loss["victim"], loss["culprit"]] += sum(loss[key] for key in keys)
    return amounts


def banked(scheduler, tasks, outcome):
    """Of a task that never slept, the refunds beyond the bank were used up by waits, to the ns."""
    if not has_idle_compensation(scheduler):
        return
    for stated in outcome["tasks"]:
        task, refund_ns = tasks.get(stated["tid"]), stated["refunded_ns"]
        if task is None or task.has_slept or refund_ns <= BANK_NS + task.waited_ns:
            continue
        words = f"task {task.tid}: {refund_ns} refunded, but it waited only {task.waited_ns}"
        yield "refunded_ns", words


def invariants(outcome):
    """What holds whatever the sensors reported, to the ns; breaches as (kind, words)."""
    tasks, scheduler = outcome["tasks"], outcome["scheduler"]
    repaid = by_pair(outcome["losses"], "repaid_ns")
    for task in tasks:
        refund_ns, bill_ns, tid = task["refunded_ns"], task["billed_ns"], task["tid"]
        if refund_ns > task["cpu_time_ns"]:
            yield "refunded_ns", f"task {tid}: {refund_ns} is more than it ran"
        if refund_ns > 0 and scheduler != RELATIVE and not bills_culprits(scheduler):
            yield "refunded_ns", f"task {tid}: {scheduler} refunds nothing, stated {refund_ns}"
        if bill_ns > 0 and not bills_culprits(scheduler):
            yield "billed_ns", f"task {tid}: {scheduler} bills no task, stated {bill_ns}"
    for (victim, culprit), ns in by_pair(outcome["losses"], "idle_compensation_ns").items():
        if ns > 0 and not has_idle_compensation(scheduler):
            words = f"{victim} by {culprit}: {scheduler} has no idle compensation, stated {ns}"
            yield "idle_compensation_ns", words
    refunded, billed = by_application(tasks, "refunded_ns"), by_application(tasks, "billed_ns")
    received, paid = Counter(), Counter()
    for (victim, culprit), ns in repaid.items():
        received[victim] += ns
        paid[culprit] += ns
    for app in sorted(refunded.keys() | received.keys() | paid.keys()):
        # Only `fair-relative` refunds what it knows no culprit for.
        whole = scheduler != RELATIVE
        if received[app] > refunded[app] or (whole and received[app] < refunded[app]):
            words = f"{app}: {refunded[app]} refunded, {received[app]} repaid by culprits"
            yield "repaid_ns", words
        if scheduler != RELATIVE and paid[app] != billed[app]:
            yield "billed_ns", f"{app}: {billed[app]} billed, {paid[app]} repaid by it"
    yield from self_payers(tasks, repaid, scheduler)


def self_payers(tasks, repaid, scheduler):
    """Where culprits are billed, no task pays itself."""
    members = Counter(task["application"] for task in tasks)
    for app in sorted(app for app, count in members.items() if count == 1):
        if bills_culprits(scheduler) and repaid[app, app] > 0:
            yield "repaid_ns", f"{app}, a single task, repays itself {repaid[app, app]}"


def by_application(tasks, key):
    amounts = Counter()
    for task in tasks:
        amounts[task["application"]] += task[key]
    return amounts
