"""Every planted error is found, and found for what it is."""

import copy
import unittest

from tests.build import (
    US, RUN, frequency, header, heavy_rise_few, in_time, judge, license, overhead, phase, starts,
    switch, wake,
)

END = 2000 * US


def history():
    """An AVX-512 task gives its core to a scalar one after 1 ms, which ends at 1.9 ms."""
    return in_time([
        *starts(0, 0, 1, "avx512-heavy", 1000), *heavy_rise_few(),
        wake(500 * US, 2),
        switch(1000 * US, 0, 1, 2, "blocked"),
        phase(1000 * US, 2),
        license(1670 * US, 0, 2, 0),
        license(1680 * US, 0, 0),
        frequency(1680 * US, 0, 3700),
        switch(1900 * US, 0, 2, 0, "dead"),
    ])


def outcome():
    """What a right simulator states about it; 670 us at 3.5 GHz and 220 us at 3.7 GHz."""
    same = {"slices": 1, "migrations": 0, "refunded_ns": 0, "billed_ns": 0, "ref_cycles_before": 0}
    first = {"cpu_time_ns": 1_000_000, "lost_ns": 0, "ref_cycles": 3_318_749, **same}
    second = {"cpu_time_ns": 900_000, "lost_ns": 46_216, "ref_cycles": 3_158_999, **same}
    return {
        **copy.deepcopy(RUN),
        "tasks": [
            {"tid": 1, "name": "a", "application": "a1", **first, "completion_ns": None},
            {"tid": 2, "name": "b", "application": "a2", **second, "completion_ns": 1_400_000},
        ],
        "losses": [{
            "victim": "a2", "culprit": "a1", "lost_ns": 46_216, "repaid_ns": 0,
            "idle_compensation_ns": 0,
        }],
        "level_ns": [260_000, 30_000, 1_610_000, 0, 0, 0],
        "throttled_ns": 80_000,
        "busy_ns": 1_900_000,
        "idle_ns": 62_100_000,
        "switches": 2,
        "migrations": 0,
        "simulated_ns": END,
    }


def kinds(records, stated=None):
    _, _, violations = judge(header(END, 2), records, stated or outcome())
    return {violation["kind"] for violation in violations}


def index(event, time):
    return next(i for i, r in enumerate(history()) if r["e"] == event and r["t"] == time)


class PlantedErrors(unittest.TestCase):
    def test_the_unspoilt_history_agrees(self):
        self.assertEqual(kinds(history()), set())

    def test_work_before_the_end_of_the_warm_up_is_recomputed(self):
        stated = {**outcome(), "counted_from_ns": 600 * US}
        # 30 us at 3.7/4, 20 us at 3.6/2, 530 us at 3.5.
        stated["tasks"][0]["ref_cycles_before"] = 27_750 + 36_000 + 1_855_000 - 1
        self.assertEqual(kinds(history(), stated), set())
        stated["tasks"][0]["ref_cycles_before"] += 1000
        self.assertEqual(kinds(history(), stated), {"ref_cycles_before"})

    def test_every_record_that_is_taken_away_is_missed(self):
        for number, record in enumerate(history()):
            records = history()
            del records[number]
            self.assertTrue(kinds(records), f"without {record}")

    def test_every_record_that_moves_by_a_microsecond_is_noticed(self):
        for number, record in enumerate(history()):
            for shift in (US, -US):
                records = history()
                records[number]["t"] += shift
                # Events of a task that waits may move to any time before the task runs.
                waits = record["e"] == "wake" and record["task"] == 2
                waits |= record["e"] == "phase" and record["task"] == 2 and shift < 0
                if record["t"] + shift < 0 or waits:
                    continue
                self.assertTrue(kinds(in_time(records)), f"{record} moved by {shift}")

    def test_a_wrong_level_or_frequency_is_a_license_or_frequency_error(self):
        changes = [
            ("license", 70 * US, "level", 1, "license"),
            ("license", 1670 * US, "rate_permille", 250, "license"),
            ("frequency", 70 * US, "khz", 3_499_999, "frequency"),
            ("license", 0, "core", 1, "license"),
            ("frequency", 0, "core", 99, "frequency"),
        ]
        for event, time, key, value, kind in changes:
            records = history()
            records[index(event, time)][key] = value
            self.assertIn(kind, kinds(records), f"{event} at {time}: {key} = {value}")

    def test_events_too_many_are_noticed(self):
        extra = [
            (license(1200 * US, 0, 2), "license"),
            (license(1200 * US, 5, 1), "license"),
            (frequency(1200 * US, 0, 3500), "frequency"),
            (frequency(1200 * US, 3, 3700), "frequency"),
            (wake(1200 * US, 2), "wake"),
            (wake(1200 * US, 9), "task"),
            (overhead(1200 * US, 4, 1), "overhead"),
            (overhead(1200 * US, 0, 10), "ref_cycles"),
            (phase(1200 * US, 2, "avx9"), "phase"),
            (phase(1950 * US, 2), "phase"),
            (switch(1950 * US, 0, 0, 2), "switch"),
            (switch(1200 * US, 2, 0, 2), "switch"),
            (switch(1200 * US, 0, 1, 0), "switch"),
            (switch(1200 * US, 99, 0, 1), "cpu"),
            ({"t": 1200 * US, "e": "fork", "task": 1, "by": 0}, "fork"),
            ({"t": 1200 * US, "e": "migrate", "task": 2, "from": 0, "to": 1}, "migrate"),
            ({"t": 1200 * US, "e": "runtime", "task": 2, "ns": 1}, "event"),
        ]
        for record, kind in extra:
            self.assertIn(kind, kinds(in_time([*history(), record])), f"{record}")

    def test_a_task_on_two_cpus_is_said_to_run_twice(self):
        records = in_time([*history(), switch(1200 * US, 2, 0, 2)])
        _, _, violations = judge(header(END, 2), records)
        self.assertTrue(any("still runs on cpu 0" in found["what"] for found in violations))

    def test_two_changes_of_a_core_at_one_instant_are_noticed(self):
        records = history()
        at = index("license", 70 * US)
        records.insert(at, license(70 * US, 0, 1, 1000))
        self.assertIn("license", kinds(records))

    def test_a_deadline_after_the_last_record_is_missed(self):
        records = [record for record in history() if record["t"] < 1500 * US]
        _, _, violations = judge(header(END, 2), records)
        self.assertIn("license", {found["kind"] for found in violations})

    def test_a_frequency_is_stated_again_after_idleness_only(self):
        records = in_time([
            *starts(0, 0, 1), frequency(0, 0, 3700), switch(10 * US, 0, 1, 0),
            switch(20 * US, 0, 0, 1), frequency(20 * US, 0, 3700),
        ])
        self.assertEqual(judge(header(END, 1), records)[2], [])

    def test_what_would_be_in_force_after_the_end_is_not_asked_for(self):
        records = [*history(), wake(END, 1), switch(END, 0, 0, 1)]
        stated = outcome()
        stated["tasks"][0]["slices"] = 2
        stated["switches"] = 3
        self.assertEqual(kinds(records, stated), set())

    def test_time_that_goes_back_or_past_the_end_is_noticed(self):
        records = history()
        records[-1]["t"] = 10
        self.assertIn("time", kinds(records))
        records[-1]["t"] = END + 1
        self.assertIn("time", kinds(records))

    def test_another_class_than_the_one_that_ran_is_noticed(self):
        records = history()
        records[index("phase", 0)]["class"] = "avx512-light"
        self.assertIn("license", kinds(records))
        records = history()
        records[index("phase", 1000 * US)]["stall_permille"] = 10
        self.assertEqual(kinds(records), {"ref_cycles", "lost_ns", "losses"})

    def test_every_number_stated_wrong_is_noticed_by_name(self):
        for task in (0, 1):
            for key in ("cpu_time_ns", "slices", "migrations", "completion_ns"):
                stated = outcome()
                stated["tasks"][task][key] = (stated["tasks"][task][key] or 0) + 1
                self.assertEqual(kinds(history(), stated), {key})
        whole = ("throttled_ns", "busy_ns", "idle_ns", "switches", "migrations", "simulated_ns")
        for key in whole:
            stated = outcome()
            stated[key] -= 1
            self.assertEqual(kinds(history(), stated), {key})
        stated = outcome()
        stated["level_ns"][4] = 1
        self.assertEqual(kinds(history(), stated), {"level_ns"})

    def test_progress_inflated_by_a_hundred_thousandth_is_noticed(self):
        for change in (34, -34):
            stated = outcome()
            stated["tasks"][0]["ref_cycles"] += change
            self.assertEqual(kinds(history(), stated), {"ref_cycles"})

    def test_loss_halved_or_off_by_five_ns_is_noticed(self):
        for lost_ns in (23_108, 46_211, 46_221):
            stated = outcome()
            stated["tasks"][1]["lost_ns"] = lost_ns
            self.assertEqual(kinds(history(), stated), {"lost_ns"})

    def test_another_machine_than_stated_is_noticed(self):
        for key, value in (("turbo", False), ("turbo_cores", 16)):
            stated = {**outcome(), key: value}
            self.assertIn("frequency", kinds(history(), stated))

    def test_a_task_too_many_or_too_few_is_noticed(self):
        stated = copy.deepcopy(outcome())
        stated["tasks"].pop()
        self.assertEqual(kinds(history(), stated), {"tasks"})


if __name__ == "__main__":
    unittest.main()
