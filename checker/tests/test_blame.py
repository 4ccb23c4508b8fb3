"""Who is to blame: histories whose losses are worked out by hand."""

import unittest

from tests.build import (
    US, frequency, header, heavy_rise_few, in_time, judge, license, phase, starts, switch, table,
    wake,
)

# The cost to a scalar task of a rise to level 2, with one or two active cores (D 3.2.2).
RISE_FEW = 22_500 + 10_000 + 20_000 * (1 - 0.5 * 3.6 / 3.7) + 10_000


class Blame(unittest.TestCase):
    def losses(self, head, records, **more):
        """Lost ns by numbers of victim and culprit."""
        _, result, violations = judge(head, records, **more)
        self.assertEqual(violations, [])
        pairs = {}
        for loss in result["losses"]:
            pairs[int(loss["victim"][1:]), int(loss["culprit"][1:])] = loss["lost_ns"]
        return pairs

    def agrees(self, found, expected):
        self.assertEqual(found.keys(), expected.keys())
        for pair, lost_ns in expected.items():
            self.assertAlmostEqual(found[pair], lost_ns, places=3, msg=f"{pair}")

    def test_the_sibling_that_demands_the_level_answers_for_it(self):
        records = in_time([
            *starts(0, 0, 1, "avx512-heavy", 1000), *starts(0, 1, 2), *heavy_rise_few(),
        ])
        found = self.losses(header(170 * US, 2), records)
        self.agrees(found, {(2, 1): RISE_FEW + 100_000 * 0.2 / 3.7})

    def test_who_demanded_a_level_last_answers_for_it_after_leaving(self):
        # Task 2 demands level 1 from 300 us on, while level 2 is still held for task 1.
        records = in_time([
            *starts(0, 0, 1, "avx512-heavy", 1000), *starts(0, 1, 3), *heavy_rise_few(),
            wake(200 * US, 2), switch(300 * US, 0, 1, 2, "blocked"),
            phase(300 * US, 2, "avx512-light", 1000),
            license(970 * US, 0, 2, 0), license(980 * US, 0, 1), frequency(980 * US, 0, 3600),
        ])
        found = self.losses(header(1080 * US, 3), records)
        held = 900_000 * 0.2 / 3.7 + 10_000
        self.agrees(found, {
            (3, 1): RISE_FEW + held, (3, 2): 100_000 * 0.1 / 3.7,
            (2, 1): 670_000 * 0.1 / 3.6 + 10_000,
        })

    def test_a_new_demand_takes_the_blame_over(self):
        records = in_time([
            *starts(0, 0, 1, "avx512-heavy", 1000), *starts(0, 1, 3), *heavy_rise_few(),
            wake(0, 2), switch(170 * US, 0, 1, 2, "blocked"),
            phase(170 * US, 2, "avx512-heavy", 1000),
        ])
        found = self.losses(header(570 * US, 3), records)
        self.agrees(found, {
            (3, 1): RISE_FEW + 100_000 * 0.2 / 3.7, (3, 2): 400_000 * 0.2 / 3.7,
        })

    def test_a_higher_demand_takes_over_the_blame_for_the_levels_below(self):
        # Task 2 comes in the midst of the rise to level 1 that task 1 began.
        records = in_time([
            *starts(0, 0, 1, "avx512-light", 1000), *starts(0, 1, 3),
            license(0, 0, 0, 250), frequency(0, 0, 3700),
            wake(0, 2), switch(10 * US, 0, 1, 2, "blocked"),
            phase(10 * US, 2, "avx512-heavy", 1000),
            license(30 * US, 0, 0, 0),
            license(40 * US, 0, 1, 250), frequency(40 * US, 0, 3600),
            license(70 * US, 0, 1, 0),
        ])
        found = self.losses(header(80 * US, 3), records)
        second = 20_000 * 0.75 + 10_000 + 30_000 * (1 - 0.25 * 3.6 / 3.7) + 10_000
        self.agrees(found, {(3, 1): 10_000 * 0.75, (3, 2): second})

    def test_those_who_demand_a_level_together_share_the_blame(self):
        shared = table()
        shared["license"]["domain"] = "package"
        records = []
        for core, task in ((0, 1), (1, 2)):
            records += starts(0, 2 * core, task, "avx512-heavy", 1000)
        records += starts(0, 4, 3)
        for core in range(3):
            records += [
                license(0, core, 0, 250), frequency(0, core, 3500),
                license(20 * US, core, 0, 0),
                license(30 * US, core, 1, 500), frequency(30 * US, core, 3400),
                license(50 * US, core, 1, 0),
                license(60 * US, core, 2), frequency(60 * US, core, 3100),
            ]
        head = header(160 * US, 3, cpus=6, package=3)
        found = self.losses(head, in_time(records), cpu=shared)
        rise = 15_000 + 10_000 + 20_000 * (1 - 0.5 * 3.4 / 3.5) + 10_000
        half = (rise + 100_000 * 0.4 / 3.5) / 2
        self.agrees(found, {(3, 1): half, (3, 2): half})

    def test_a_package_is_not_to_blame_for_another(self):
        shared = table()
        shared["license"]["domain"] = "package"
        records = in_time([
            *starts(0, 0, 1, "avx512-heavy", 1000), *starts(0, 1, 2), *heavy_rise_few(),
            *starts(0, 2, 3), *starts(0, 3, 4, "avx512-heavy", 1000), *heavy_rise_few(1),
        ])
        found = self.losses(header(70 * US, 4, cpus=4, package=1), records, cpu=shared)
        self.agrees(found, {(2, 1): RISE_FEW, (3, 4): RISE_FEW})

    def test_siblings_that_reach_a_rate_together_blame_each_other(self):
        records = [
            *starts(0, 0, 1, "avx2-heavy", 300), *starts(0, 1, 2, "avx2-heavy", 300),
            license(0, 0, 0, 250), frequency(0, 0, 3700),
            license(30 * US, 0, 0, 500), license(50 * US, 0, 0, 0),
            license(60 * US, 0, 1), frequency(60 * US, 0, 3600),
        ]
        lost = 22_500 + 10_000 + 10_000 + 100_000 * 0.1 / 3.7
        self.agrees(self.losses(header(160 * US, 2), records), {(1, 2): lost, (2, 1): lost})

    def test_a_task_that_only_its_own_past_slows_blames_itself(self):
        records = in_time([
            *starts(0, 0, 1, "avx512-heavy", 1000), *heavy_rise_few(), phase(170 * US, 1),
        ])
        found = self.losses(header(270 * US, 1), records)
        self.agrees(found, {(1, 1): 100_000 * 0.2 / 3.7})

    def test_the_task_with_wider_registers_answers_for_the_widening(self):
        records = [
            *starts(0, 0, 1, "avx2-light", 900), *starts(0, 1, 2),
            license(0, 0, 0, 250), frequency(0, 0, 3700), license(30 * US, 0, 0),
        ]
        self.agrees(self.losses(header(100 * US, 2), records), {(2, 1): 30_000 * 0.75})

    def test_a_widening_that_no_task_needs_any_more_has_no_culprit(self):
        records = [
            *starts(0, 0, 1, "avx2-light", 900), *starts(0, 1, 2),
            license(0, 0, 0, 250), frequency(0, 0, 3700),
            switch(10 * US, 0, 1, 0, "blocked"), license(30 * US, 0, 0),
        ]
        self.agrees(self.losses(header(100 * US, 2), records), {(2, 1): 10_000 * 0.75})


if __name__ == "__main__":
    unittest.main()
