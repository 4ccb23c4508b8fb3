"""Who got time back, and who paid for it (DESIGN 4, D 7.4.3; docs/decisions/0002, Refunds)."""

from collections import Counter, defaultdict
from dataclasses import dataclass

RELATIVE, ISOLATION = "fair-relative", "fair-isolation"


@dataclass
class Slice:
    """What happened to a task since it was last accounted."""

    time_ns: int = 0
    lost_ns: float = 0.0
    error_ns: float = 0.0
    # The task that a policy which sees the truth is told of.
    culprit: object = None


class Sum:
    """A sum of amounts that a right simulator cuts to whole ns, one by one."""

    def __init__(self):
        self.ns = self.below_ns = self.above_ns = 0.0

    def add(self, ns, error_ns):
        self.ns += ns
        self.below_ns += error_ns + 1
        self.above_ns += error_ns

    def holds(self, stated_ns):
        doubles = 1e-9 * self.ns
        low, high = self.ns - self.below_ns - doubles, self.ns + self.above_ns + doubles
        return low <= stated_ns <= high

    def __str__(self):
        return f"{self.ns - self.below_ns:.0f}..{self.ns + self.above_ns:.0f}"


class Compensation:
    """Refunds and bills of a policy that is told the truth about every slice."""

    def __init__(self, scheduler):
        self.scheduler = scheduler
        self.refunds, self.bills, self.repaid = defaultdict(Sum), defaultdict(Sum), defaultdict(Sum)

    def account(self, task):
        """The task's slice ends: what it lost is refunded, if need be to be paid by the culprit."""
        ended, task.slice = task.slice, Slice()
        culprit = ended.culprit
        refunds = self.scheduler == RELATIVE
        bills = self.scheduler == ISOLATION and culprit is not None
        if ended.lost_ns == 0 or not (refunds or bills):
            return
        amount = min(ended.lost_ns, ended.time_ns), ended.error_ns
        self.refunds[task.tid].add(*amount)
        if bills:
            self.bills[culprit.tid].add(*amount)
        if culprit is not None:
            self.repaid[task.app, culprit.app].add(*amount)

    def compare(self, outcome):
        """Disagreements with what is stated, as (kind, words)."""
        for kind, sums, key in (
            ("refunded_ns", self.refunds, "refunded_ns"),
            ("billed_ns", self.bills, "billed_ns"),
        ):
            for task in outcome["tasks"]:
                ours = sums[task["tid"]]
                if not ours.holds(task[key]):
                    yield kind, f"task {task['tid']}: stated {task[key]}, not in {ours}"
        stated = by_pair(outcome["losses"], "repaid_ns")
        for pair in sorted(stated.keys() | self.repaid.keys()):
            ours = self.repaid[pair]
            if not ours.holds(stated[pair]):
                victim, culprit = pair
                words = f"{victim} by {culprit}: stated {stated[pair]}, not in {ours}"
                yield "repaid_ns", words


def by_pair(losses, key):
    """Stated amounts by victim and culprit."""
    amounts = Counter()
    for loss in losses:
        amounts[loss["victim"], loss["culprit"]] += loss[key]
    return amounts


def invariants(outcome):
    """What holds whatever the sensors reported, to the ns; breaches as (kind, words)."""
    tasks, scheduler = outcome["tasks"], outcome["scheduler"]
    repaid = by_pair(outcome["losses"], "repaid_ns")
    for task in tasks:
        refund_ns, bill_ns, tid = task["refunded_ns"], task["billed_ns"], task["tid"]
        if refund_ns > task["cpu_time_ns"]:
            yield "refunded_ns", f"task {tid}: {refund_ns} is more than it ran"
        if refund_ns > 0 and scheduler not in (RELATIVE, ISOLATION):
            yield "refunded_ns", f"task {tid}: {scheduler} refunds nothing, stated {refund_ns}"
        if bill_ns > 0 and scheduler != ISOLATION:
            yield "billed_ns", f"task {tid}: {scheduler} bills nobody, stated {bill_ns}"
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
    """Under `fair-isolation` nobody pays itself."""
    members = Counter(task["application"] for task in tasks)
    for app in sorted(app for app, count in members.items() if count == 1):
        if scheduler == ISOLATION and repaid[app, app] > 0:
            yield "repaid_ns", f"{app}, a single task, repays itself {repaid[app, app]}"


def by_application(tasks, key):
    amounts = Counter()
    for task in tasks:
        amounts[task["application"]] += task[key]
    return amounts
