"""What others read in exports, and that a difference is found for what it is."""

import copy
import unittest

import exports
from tests.build import header, in_time, license, switch, wake

AB = "comm=a b pid=1 prio=121"


def line(task, cpu, time_ns, event, fields):
    """As `trace-cmd report -t -N` prints it."""
    return f"{task:>16}     [{cpu:03}]     0.{time_ns:09}: {event + ':':21} {fields}"


def switch_fields(cpu, comes, state):
    one = "{0}_comm=a b {0}_pid=1 {0}_prio=121"
    idle = "{0}_comm=swapper/" + str(cpu) + " {0}_pid=0 {0}_prio=120"
    prev, following = (idle, one) if comes else (one, idle)
    return f"{prev.format('prev')} prev_state={state} ==> {following.format('next')}"


REPORT = [
    "cpus=2",
    line("<idle>-0", 0, 0, "sched_waking", AB + " target_cpu=000"),
    line("<idle>-0", 0, 0, "sched_wakeup", AB + " target_cpu=000"),
    line("<idle>-0", 0, 10, "sched_switch", switch_fields(0, True, "R")),
    line("a b-1", 0, 20, "license", "core=0 level=2 rate_permille=1000"),
    line("a b-1", 0, 30, "decision", "victim=1 culprit=0 slice_ns=20 refund_ns=5 bill_ns=0"),
    line("a b-1", 0, 30, "sched_switch", switch_fields(0, False, "S")),
    line("<idle>-0", 1, 70, "sched_waking", AB + " target_cpu=001"),
    line("<idle>-0", 1, 90, "sched_switch", switch_fields(1, True, "R")),
]
PROFILE = """
task: <idle>-0
  Event: sched_switch:R (2) Total: 60 Avg: 30 Max: 60(ts:0.000000) Min:60(ts:0.000000)

task: a b-1
  Event: sched_switch:S (1) Total: 40 Avg: 40 Max: 40(ts:0.000000) Min:40(ts:0.000000)
  Event: sched_wakeup:0x1 (1) Total: 20 Avg: 20 Max: 20(ts:0.000000) Min:20(ts:0.000000)
  Event: sched_waking:0x0 (2)
"""


def ours():
    head = header(100, 1, cpus=2, threads=1, package=2)
    head["tasks"][0].update(comm="a b", nice=1)
    decision = {
        "t": 30, "e": "decision", "cpu": 0, "victim": 1, "culprit": 0, "slice_ns": 20,
        "refund_ns": 5, "bill_ns": 0,
    }
    second = {**wake(70, 1), "cpu": 1}
    return head, in_time([
        wake(0, 1), switch(10, 0, 0, 1), license(20, 0, 2), decision,
        switch(30, 0, 1, 0, "blocked"), second, switch(90, 1, 0, 1),
    ])


def found(head, records):
    seen, _ = exports.of_report(REPORT)
    differences = exports.of_history(head, records, 15).differences(seen, head["end_ns"])
    return {words.split(":")[0] for words in differences}


class Report(unittest.TestCase):
    def test_what_agrees_agrees(self):
        self.assertEqual(found(*ours()), set())

    def test_each_difference_is_found(self):
        def changed(index, **fields):
            head, records = copy.deepcopy(ours())
            records[index].update(fields)
            return found(head, records)

        self.assertEqual(changed(0, t=1), {"wake-ups"})
        self.assertEqual(changed(1, t=11), {"switches", "run times"})
        self.assertEqual(changed(4, state="runnable"), {"switches"})
        self.assertEqual(changed(2, level=1), {"levels"})
        self.assertEqual(changed(3, refund_ns=6), {"decisions"})
        head, records = copy.deepcopy(ours())
        head["tasks"][0].update(comm="a", nice=0)
        self.assertEqual(found(head, records), {"names", "priorities"})

    def test_flags_of_newer_versions_change_nothing(self):
        flagged = [line.replace("] ", "] ..h.. ", 1) for line in REPORT]
        self.assertNotEqual(flagged, REPORT)
        (seen, order), (plain, expected) = exports.of_report(flagged), exports.of_report(REPORT)
        self.assertEqual((vars(seen), order), (vars(plain), expected))

    def test_intervals_are_those_of_the_profile(self):
        _, order = exports.of_report(REPORT)
        profile = exports.of_profile(PROFILE.splitlines())
        self.assertEqual(exports.intervals(order), profile)
        expected = {(1, "sched_switch:S"): (1, 40), (1, "sched_wakeup:0x1"): (1, 20)}
        self.assertEqual(profile, expected)

    def test_a_line_that_is_not_as_expected_is_named(self):
        with self.assertRaises(exports.BadInput):
            exports.of_report([REPORT[1].replace("prio=121", "prio=x")])


if __name__ == "__main__":
    unittest.main()
