"""What the kernel scheduler decided: hand-made files, and every planted error is found."""

import json
import os
import tempfile
import unittest

import cpu_table
import decisions
from history import BadInput
from tests.build import table

MS = 1_000_000
NO_TASK = decisions.NO_TASK


def slice_of(task, time_ns, **change):
    """A slice of 3 ms on an idle machine, or with other fields."""
    values = {
        "time_ns": time_ns, "slice_ns": 3 * MS, "lost_ns": 0, "refund_ns": 0, "bill_ns": 0,
        "paid_ns": 0, "vtime_ns": 3 * MS, "counted_ns": 0, "cycles": 0, "ref_cycles": 0,
        "level_cycles": (0,) * decisions.LEVELS, "stall_cycles": 0, "first_row": 0, "cpu": 0, "victim": task,
        "culprit": NO_TASK, "weight": 1024, "own_level": 0, "is_runnable": 1,
        "idle_compensation_ns": 0, "waited_ns": 0, "from_vtime_ns": 0, "group": 0,
    }
    assert change.keys() <= values.keys()
    return {**values, **change}


def packed(values):
    numbers = list(values.values())
    levels = list(values).index("level_cycles")
    return decisions.SLICE.pack(*numbers[:levels], *numbers[levels], *numbers[levels + 1:])


def framed(kind, body):
    return kind.to_bytes(4, "little") + len(body).to_bytes(4, "little") + body


def victim(**change):
    """3 ms at 3.3 GHz in level 2, halfway between two rows: 3.6 GHz would have been its clock."""
    cycles = round(3 * MS * 3.3)
    lost_ns = round(3 * MS * 0.3 / 3.6)
    values = {
        "lost_ns": lost_ns, "refund_ns": lost_ns, "bill_ns": lost_ns, "culprit": 9,
        "counted_ns": 3 * MS, "cycles": cycles, "ref_cycles": round(3 * MS * REF_GHZ),
        "level_cycles": (0, 0, cycles, 0, 0, 0),
        "from_vtime_ns": 100 * MS, "vtime_ns": 100 * MS + 3 * MS - lost_ns,
    }
    return slice_of(7, 20 * MS, **{**values, **change})


CPU = cpu_table.Cpu(table())
REF_GHZ = CPU.ref_khz / 1e6
LOST_NS = round(3 * MS * 0.3 / 3.6)


def run(*, first=None, second=None, payer=None, mode="fair-isolation", lost=0):
    """Task 7 runs twice, losing time the second time; task 9, who is to blame, pays for it."""
    payer = {"paid_ns": LOST_NS, **(payer or {})}
    slices = [
        slice_of(7, 10 * MS, **{"from_vtime_ns": 97 * MS, "vtime_ns": 100 * MS, **(first or {})}),
        victim(**(second or {})),
        slice_of(9, 30 * MS, **{"vtime_ns": 3 * MS + payer["paid_ns"], **payer}),
    ]
    head = {"schema": decisions.SCHEMA, "cpus": 1, "caches": 1, "mode": mode, "sensors": "d7", "kernel": "7.0"}
    data = json.dumps({"ekdecisions": head}).encode() + b"\n"
    data += framed(2, decisions.TASK.pack(7, 7, 0, 0, b"victim", b"victim"))
    data += b"".join(framed(1, packed(one)) for one in slices)
    return data + framed(3, decisions.END.pack(len(slices), lost))


def kinds(data, cpu=CPU):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.ekdec")
        with open(path, "wb") as file:
            file.write(data)
        check = decisions.Check(decisions.read(path), cpu)
    check.all()
    return sorted({violation["kind"] for violation in check.violations})


class Agrees(unittest.TestCase):
    def test_a_right_file(self):
        self.assertEqual(kinds(run()), [])

    def test_a_task_that_slept_may_be_placed_later(self):
        first = {"is_runnable": 0}
        second = {"from_vtime_ns": 147 * MS + LOST_NS, "vtime_ns": 150 * MS}
        self.assertEqual(kinds(run(first=first, second=second)), [])

    def test_virtual_time_goes_by_weight_and_is_rounded_down(self):
        # 2,750,000 * 1024 / 526 = 5,353,612.2
        second = {"weight": 526, "vtime_ns": 100 * MS + 5_353_612}
        self.assertEqual(kinds(run(second=second)), [])

    def test_slices_that_are_missing_are_not_held_against_the_others(self):
        second = {"from_vtime_ns": 50 * MS, "vtime_ns": 53 * MS - LOST_NS}
        self.assertEqual(kinds(run(second=second)), ["placement"])
        self.assertEqual(kinds(run(second=second, lost=1)), [])

    def test_another_affinity_group_has_another_virtual_time(self):
        second = {"group": 1, "from_vtime_ns": 50 * MS, "vtime_ns": 53 * MS - LOST_NS}
        self.assertEqual(kinds(run(second=second)), [])
        own = {"group": decisions.OWN_GROUP}
        self.assertEqual(kinds(run(first=own, second={**second, **own})), ["placement"])
        self.assertEqual(kinds(run(first=own, second={**second, **own, "cpu": 1})), [])

    def test_a_file_that_was_cut_is_judged_up_to_there(self):
        self.assertEqual(kinds(run()[:-10]), [])


class InKind(unittest.TestCase):
    """`even`: a part of the time lost is no refund, and a task that waited for a CPU in forced idle pays."""

    LESS = LOST_NS - 5000
    SECOND = {
        "refund_ns": LESS, "bill_ns": LESS, "idle_compensation_ns": 5000, "vtime_ns": 103 * MS - LESS,
    }

    def test_a_right_file(self):
        payer = {"paid_ns": self.LESS + 700, "waited_ns": 700}
        self.assertEqual(kinds(run(second=self.SECOND, payer=payer, mode="even")), [])

    def test_each_error_is_found(self):
        for kind, second, payer in [
            (["refund"], {"idle_compensation_ns": 5001}, {}),
            (["bill"], {"culprit": NO_TASK, "bill_ns": 0, "refund_ns": 0}, {"paid_ns": 0}),
            (["paid"], {}, {"paid_ns": self.LESS + 700, "waited_ns": 699}),
            (["paid"], {}, {"paid_ns": 0, "waited_ns": 1}),
        ]:
            second = {**self.SECOND, **second}
            if second["refund_ns"] == 0:
                second["vtime_ns"] = 103 * MS
            data = run(second=second, payer={"paid_ns": self.LESS, **payer}, mode="even")
            self.assertEqual(kinds(data), kind, (second, payer))

    def test_other_modes_have_no_idle_compensation(self):
        payer = {"paid_ns": self.LESS}
        self.assertEqual(kinds(run(second=self.SECOND, payer=payer)), ["mode"])


class Planted(unittest.TestCase):
    def test_each_error_is_found(self):
        less, more = LOST_NS - 1, LOST_NS + 1
        for kind, change in [
            (["charge"], {"second": {"vtime_ns": 103 * MS - less}}),
            (["charge"], {"second": {"vtime_ns": 103 * MS - more}}),
            (["charge"], {"second": {"weight": 1023}}),
            (["charge"], {"second": {"paid_ns": 1}}),
            (["bill"], {"second": {"bill_ns": less}, "payer": {"paid_ns": less}}),
            (["bill"], {"second": {"culprit": NO_TASK}, "payer": {"paid_ns": 0}}),
            (["bill"], {"second": {"culprit": 0}, "payer": {"paid_ns": 0}}),
            (["bill"], {"first": {"culprit": 9}}),
            (["paid"], {"payer": {"paid_ns": more}}),
            (["loss", "refund"], {"second": {"lost_ns": LOST_NS - 2000}}),
            (["loss"], {"second": {"lost_ns": LOST_NS + 2000}}),
            (["loss"], {"second": {"own_level": 2}}),
            (["loss"], {"second": {"first_row": 99}}),
            (["loss"], {"second": {"stall_cycles": 1_000_000}}),
            (["mode"], {"mode": "fair"}),
            (["mode"], {"mode": "fair-relative"}),
        ]:
            with self.subTest(change=change):
                found = kinds(run(**change))
                self.assertTrue(set(kind) <= set(found), f"{found} of {change}")

    def test_virtual_time_does_not_fall_between_slices(self):
        for first in [{"is_runnable": 0}, {}]:
            second = {"from_vtime_ns": 100 * MS - 1, "vtime_ns": 103 * MS - LOST_NS - 1}
            self.assertEqual(kinds(run(first=first, second=second)), ["placement"])

    def test_more_than_the_slice_is_not_given_back(self):
        second = {"lost_ns": 4 * MS, "refund_ns": 4 * MS, "bill_ns": 4 * MS}
        self.assertIn("refund", kinds(run(second=second)))

    def test_no_task_pays_itself(self):
        self.assertIn("bill", kinds(run(second={"culprit": 7})))


class BadFiles(unittest.TestCase):
    def test_what_is_no_such_file_is_refused(self):
        right = run()
        line = right.index(b"\n") + 1
        for data in [
            b"",
            b"{}\n",
            right.replace(b'"schema": 4', b'"schema": 5', 1),
            right.replace(b"fair-isolation", b"odd", 1),
            right[:line] + framed(9, b""),
            right[:line] + framed(1, b"short"),
            right[:line] + framed(3, decisions.END.pack(1, 0)),
        ]:
            with self.subTest(data=data[:40]), self.assertRaises(BadInput):
                kinds(data)
