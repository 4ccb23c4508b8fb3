#!/usr/bin/env python3
"""Checks what the kernel scheduler decided, slice by slice, from its file of decisions.

Exit code 0: everything agrees; 1: something does not; 2: the input cannot be judged.
"""

import argparse
import json
import struct
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass

import cpu_table
from history import BadInput, read_text
from model import Run
from model import Slice as Counted
from sensors import Counters

SHOWN = 20
SCHEMA = 4
LEVELS = 6
NO_TASK = 0xFFFFFFFF
NOT_TASKS = (NO_TASK, 0)
# Weight of nice 0 (kernel/sched/core.c, sched_prio_to_weight).
WEIGHT_ONE = 1024
# The group of tasks that may use one CPU only: each CPU has one (enum ek_group_number).
OWN_GROUP = 15
# `struct ek_decision` of the scheduler's interface.h.
SLICE = struct.Struct(f"<7Q Q Q Q {LEVELS}Q Q Q 6I 2Q Q I 4x")
TASK = struct.Struct("<I I i I 16s 16s")
END = struct.Struct("<Q Q")
MODES = ("fair", "fair-relative", "fair-isolation", "even")


@dataclass
class Slice:
    number: int
    time_ns: int
    slice_ns: int
    lost_ns: int
    refund_ns: int
    bill_ns: int
    paid_ns: int
    vtime_ns: int
    counted_ns: int
    cycles: int
    ref_cycles: int
    level_cycles: tuple
    stall_cycles: int
    first_row: int
    cpu: int
    victim: int
    culprit: int
    weight: int
    own_level: int
    is_runnable: int
    idle_compensation_ns: int
    waited_ns: int
    from_vtime_ns: int
    group: int


@dataclass
class File:
    head: dict
    slices: list
    names: dict
    lost: int
    is_whole: bool


def read(path):
    """The slices of a file, and what else it says."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    end = data.find(b"\n")
    head = read_head(data[:end] if end >= 0 else data, path)
    found = File(head, [], {}, 0, False)
    at = end + 1
    while at + 8 <= len(data) and not found.is_whole:
        kind, length = struct.unpack_from("<II", data, at)
        body = data[at + 8:at + 8 + length]
        if len(body) < length:
            break
        take(found, kind, body, path)
        at += 8 + length
    return found


def read_head(line, path):
    try:
        head = json.loads(line)["ekdecisions"]
        schema, cpus, mode = head["schema"], head["cpus"], head["mode"]
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}:1: no file of scx_evenkeel --decisions: {error}") from error
    if schema != SCHEMA or mode not in MODES or not isinstance(cpus, int):
        raise BadInput(f"{path}:1: schema {schema!r}, mode {mode!r}; this checker reads {SCHEMA}")
    return head


def take(found, kind, body, path):
    if kind == 1 and len(body) == SLICE.size:
        values = SLICE.unpack(body)
        levels = slice(10, 10 + LEVELS)
        found.slices.append(
            Slice(len(found.slices), *values[:10], values[levels], *values[levels.stop:])
        )
    elif kind == 2 and len(body) == TASK.size:
        tid, _, _, _, name, _ = TASK.unpack(body)
        found.names[tid] = name.split(b"\0")[0].decode(errors="replace")
    elif kind == 3 and len(body) == END.size:
        slices, found.lost = END.unpack(body)
        found.is_whole = True
        if slices != len(found.slices):
            raise BadInput(f"{path}: {len(found.slices)} slices, and the end says {slices}")
    else:
        raise BadInput(f"{path}: kind {kind} with {len(body)} bytes is no record")


class Check:
    """What does not agree, by kind."""

    def __init__(self, found, cpu=None):
        self.file = found
        self.cpu = cpu
        self.counters = Counters(cpu, Run(), 1) if cpu else None
        self.violations = []
        self.judged = Counter()

    def say(self, kind, one, words):
        self.violations.append({"kind": kind, "slice": one.number, "what": words})

    def all(self):
        for one in self.file.slices:
            self.amounts(one)
            self.lost(one)
        self.virtual_time()
        if self.file.head["mode"] in ("fair-isolation", "even"):
            self.bills()

    def amounts(self, one):
        """Nobody gets back more than it lost or used; who pays is somebody else (D 7.4.3)."""
        mode = self.file.head["mode"]
        if one.refund_ns > one.slice_ns:
            self.say("refund", one, f"{one.refund_ns} ns of a slice of {one.slice_ns} ns")
        if one.refund_ns + one.idle_compensation_ns > one.lost_ns:
            self.say("refund", one, f"{one.refund_ns} ns of {one.lost_ns} ns lost")
        if mode != "even" and (one.idle_compensation_ns or one.waited_ns):
            self.say("mode", one, "only even has idle compensation")
        if one.waited_ns > one.paid_ns:
            self.say("paid", one, f"{one.waited_ns} ns of {one.paid_ns} ns paid")
        if mode == "fair" and (one.lost_ns or one.refund_ns or one.bill_ns or one.paid_ns):
            self.say("mode", one, "fair knows neither losses nor bills")
        if mode == "fair-relative" and (one.bill_ns or one.paid_ns):
            self.say("mode", one, "fair-relative bills no task")
        if mode == "fair-relative" and one.refund_ns != min(one.lost_ns, one.slice_ns):
            self.say("refund", one, f"{one.refund_ns} ns for {one.lost_ns} ns lost")
        if mode in ("fair-isolation", "even") and one.bill_ns != one.refund_ns:
            self.say("bill", one, f"{one.bill_ns} ns billed for {one.refund_ns} ns given back")
        if (one.bill_ns + one.idle_compensation_ns > 0) != (one.culprit not in NOT_TASKS):
            self.say("bill", one, f"{one.bill_ns} ns billed to {one.culprit}")
        if one.culprit == one.victim:
            self.say("bill", one, f"task {one.victim} pays itself")
        self.judged["amounts"] += 1

    def lost(self, one):
        """Eq. D 7.3 from the cycles of the slice and the CPU table."""
        if self.counters is None:
            return
        low, high = self.bounds(one)
        if not low <= one.lost_ns <= high:
            words = f"{one.lost_ns} ns lost, by Eq. D 7.3 {low:.0f} to {high:.0f}"
            self.say("loss", one, words)
        self.judged["losses"] += 1

    def bounds(self, one):
        """What the slice lost by its cycles: nothing where none were read or inferred."""
        if one.cycles == 0 or one.ref_cycles == 0:
            return 0, 0
        above = {level: one.level_cycles[level] for level in range(1, self.cpu.levels)}
        # Counters of levels and that of all cycles are not read at one time.
        level_cycles = {0: max(one.cycles - sum(above.values()), 0), **above}
        counted_ns = one.ref_cycles / (self.cpu.ref_khz / 1e6)
        counted = Counted(
            one.counted_ns, level_cycles=level_cycles, counted_ns=counted_ns,
            stall_cycles=one.stall_cycles,
        )
        return self.counters.lost_ns(counted, one.own_level, one.first_row)

    def virtual_time(self):
        """
        Virtual time advances by (CPU time - refund + paid) * 1024 / weight, rounded down.

        Between two slices of a task it does not fall: a task is placed anew when it wakes, and
        what it did not use of its share may be forgotten. A change of its affinity group or of
        its cache moves it to another virtual time, and slices that are missing say nothing.
        """
        last = {}
        for one in sorted(self.file.slices, key=lambda one: one.time_ns):
            due_ns = max(one.slice_ns - one.refund_ns, 0) + one.paid_ns
            charge_ns = due_ns * WEIGHT_ONE // one.weight
            found_ns = one.vtime_ns - one.from_vtime_ns
            if found_ns != charge_ns:
                words = f"task {one.victim} is charged {found_ns} ns and not {charge_ns}"
                self.say("charge", one, words)
            self.judged["charges"] += 1
            before = last.get(one.victim)
            last[one.victim] = one
            if before is None or not self.has_same_time(before, one):
                continue
            if one.from_vtime_ns < before.vtime_ns:
                fell_ns = before.vtime_ns - one.from_vtime_ns
                words = f"task {one.victim} loses {fell_ns} ns of virtual time between slices"
                self.say("placement", one, words)
            self.judged["placements"] += 1

    def has_same_time(self, before, one):
        """Whether virtual times of two slices of a task are of the same group."""
        if self.file.head.get("caches", 1) > 1 or self.file.lost > 0:
            return False
        return before.group == one.group and (one.group != OWN_GROUP or before.cpu == one.cpu)

    def bills(self):
        """Nobody pays what was not billed to it."""
        billed, paid = Counter(), defaultdict(int)
        for one in self.file.slices:
            billed[one.culprit] += one.bill_ns
            paid[one.victim] += one.paid_ns - one.waited_ns
        if self.file.lost > 0:
            return
        for task, paid_ns in paid.items():
            if paid_ns > billed[task]:
                self.violations.append({
                    "kind": "paid",
                    "what": f"task {task} paid {paid_ns} ns, and was billed {billed[task]} ns",
                })
        self.judged["tasks that paid"] += sum(paid_ns > 0 for paid_ns in paid.values())


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", metavar="FILE", help="what scx_evenkeel --decisions wrote")
    parser.add_argument("--cpu", metavar="TABLE.toml", help="the CPU table that it used")
    args = parser.parse_args(arguments)
    try:
        found = read(args.file)
        cpu = None
        if args.cpu is not None:
            cpu = cpu_table.parse(read_text(args.cpu), args.cpu)
        check = Check(found, cpu)
        check.all()
    except BadInput as error:
        print(f"decisions: {error}", file=sys.stderr)
        return 2
    print_result(found, check)
    return 1 if check.violations else 0


def print_result(found, check):
    slices = found.slices
    refund_ns = sum(one.refund_ns for one in slices)
    paid_ns = sum(one.paid_ns for one in slices)
    print(
        f"{len(slices)} slices, {sum(one.slice_ns for one in slices) / 1e9:.6f} s, "
        f"{refund_ns / 1e9:.6f} s given back in {sum(one.refund_ns > 0 for one in slices)}, "
        f"{paid_ns / 1e9:.6f} s paid, {found.lost} lost"
        + ("" if found.is_whole else "; the file was cut")
    )
    print("judged: " + ", ".join(f"{count} {what}" for what, count in check.judged.items()))
    for violation in check.violations[:SHOWN]:
        at = f"slice {violation['slice']}: " if "slice" in violation else ""
        print(f"{violation['kind']}: {at}{violation['what']}")
    if not check.violations:
        print("agrees")
        return
    kinds = Counter(violation["kind"] for violation in check.violations)
    counts = ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items()))
    print(f"{len(check.violations)} disagreements: {counts}")


if __name__ == "__main__":
    sys.exit(main())
