"""Histories whose numbers are worked out by hand from D Table 3.1 and D 3.2.

Cycles are frequency times time times instruction rate; at a stall share of 0
that is the progress in reference cycles.
"""

import unittest

from tests.build import (
    US, RUN, frequency, header, heavy_rise_few, in_time, judge, license, overhead, phase, starts,
    switch, table, wake,
)


class Numbers(unittest.TestCase):
    def agrees(self, head, records, **more):
        tasks, result, violations = judge(head, records, **more)
        self.assertEqual(violations, [])
        return tasks, result

    def test_a_lone_scalar_task_runs_at_the_top_frequency(self):
        records = [*starts(0, 0, 1), frequency(0, 0, 3700)]
        tasks, result = self.agrees(header(1000 * US, 1), records)
        self.assertAlmostEqual(tasks[1]["ref_cycles"], 3_700_000, places=3)
        self.assertEqual(tasks[1]["cpu_time_ns"], 1_000_000)
        self.assertEqual(tasks[1]["lost_ns"], 0)
        self.assertEqual(result["idle_ns"], 31_000_000)
        self.assertEqual(result["level_ns"], [1_000_000, 0, 0])

    def test_an_avx512_burst_pays_its_own_transition(self):
        records = in_time([*starts(0, 0, 1, "avx512-heavy", 1000), *heavy_rise_few()])
        tasks, result = self.agrees(header(1000 * US, 1), records)
        # 30 us at 3.7/4, 20 us at 3.6/2, 930 us at 3.5.
        self.assertAlmostEqual(tasks[1]["ref_cycles"], 27_750 + 36_000 + 3_255_000, places=3)
        self.assertEqual(tasks[1]["lost_ns"], 0)
        self.assertEqual(result["throttled_ns"], 70_000)
        self.assertEqual(result["level_ns"], [40_000, 30_000, 930_000])

    def test_a_transition_costs_a_scalar_sibling_45_us(self):
        records = [
            *starts(0, 0, 1, "avx512-heavy", 1000),
            *starts(0, 1, 2),
            *starts(0, 2, 3),
            *starts(0, 4, 4),
            license(0, 0, 0, 250),
            *[frequency(0, core, 3500) for core in (0, 1, 2)],
            license(20 * US, 0, 0, 0),
            license(30 * US, 0, 1, 500),
            frequency(30 * US, 0, 3400),
            license(50 * US, 0, 1, 0),
            license(60 * US, 0, 2),
            frequency(60 * US, 0, 3100),
        ]
        tasks, _ = self.agrees(header(160 * US, 4), records)
        # 20 * 3/4 + 10 + 20 * (1 - 3.4 / 3.5 / 2) + 10 us, then 100 us at 3.1 of 3.5 GHz.
        transition = 15_000 + 10_000 + 20_000 * (1 - 0.5 * 3.4 / 3.5) + 10_000
        self.assertAlmostEqual(transition, 45_285.714, places=3)
        self.assertAlmostEqual(tasks[2]["lost_ns"], transition + 100_000 * 0.4 / 3.5, places=3)
        self.assertEqual([tasks[tid]["lost_ns"] for tid in (1, 3, 4)], [0, 0, 0])

    def test_siblings_share_a_core_five_to_eight(self):
        records = [*starts(0, 0, 1), *starts(0, 1, 2), frequency(0, 0, 3700)]
        tasks, _ = self.agrees(header(1000 * US, 2), records)
        self.assertAlmostEqual(tasks[1]["ref_cycles"], 0.625 * 3_700_000, places=3)
        self.assertAlmostEqual(tasks[2]["ref_cycles"], 0.625 * 3_700_000, places=3)

    def test_a_stalled_sibling_takes_less(self):
        records = [*starts(0, 0, 1), *starts(0, 1, 2, "scalar", 0, 500), frequency(0, 0, 3700)]
        tasks, _ = self.agrees(header(1000 * US, 2), records)
        self.assertAlmostEqual(tasks[1]["ref_cycles"], 3_700_000 / 1.3, places=3)
        # Half the time is stalled whatever the clock does; the rest runs at 3.7/2.1 of 0.625.
        rate = 1 / (0.5 + 0.5 * 2.1 / 3.7 / 0.625)
        self.assertAlmostEqual(tasks[2]["ref_cycles"], rate * 2_100_000, places=3)

    def test_the_successor_pays_for_the_hold_and_the_halt(self):
        records = in_time([
            *starts(0, 0, 1, "avx512-heavy", 1000), *heavy_rise_few(),
            wake(500 * US, 2),
            switch(1000 * US, 0, 1, 2, "blocked"),
            phase(1000 * US, 2),
            license(1670 * US, 0, 2, 0),
            license(1680 * US, 0, 0),
            frequency(1680 * US, 0, 3700),
        ])
        tasks, _ = self.agrees(header(2000 * US, 2), records)
        self.assertAlmostEqual(tasks[2]["ref_cycles"], 670 * 3500 + 320 * 3700, places=3)
        self.assertAlmostEqual(tasks[2]["lost_ns"], 670_000 * 0.2 / 3.7 + 10_000, places=3)

    def test_overhead_is_worked_off_before_progress(self):
        records = [*starts(0, 0, 1), overhead(0, 0, 2100), frequency(0, 0, 3700)]
        tasks, _ = self.agrees(header(1000 * US, 1), records)
        self.assertAlmostEqual(tasks[1]["ref_cycles"], 3_700_000 - 2100 * 2.1, places=3)
        self.assertAlmostEqual(tasks[1]["overhead_ns"], 2100)

    def test_overhead_before_the_first_phase_is_scalar_code(self):
        # 1.5 us of overhead take 851.35 ns; at the next whole ns the phase begins.
        records = [
            wake(0, 1), switch(0, 0, 0, 1), overhead(0, 0, 1500), frequency(0, 0, 3700),
            phase(852, 1, "avx512-light", 100), license(852, 0, 0, 250),
        ]
        self.agrees(header(5 * US, 1), records)

    def test_overhead_that_is_left_waits_for_the_next_slice(self):
        records = [
            *starts(0, 0, 1), overhead(0, 0, 3700), frequency(0, 0, 3700),
            switch(1 * US, 0, 1, 0), switch(10 * US, 0, 0, 1), frequency(10 * US, 0, 3700),
        ]
        tasks, _ = self.agrees(header(12 * US, 1), records)
        # 3.7 us of overhead take 2.1 us at 3.7/2.1; 0.9 us of the 3 us are left.
        self.assertAlmostEqual(tasks[1]["ref_cycles"], 900 * 3.7, places=3)
        self.assertAlmostEqual(tasks[1]["overhead_ns"], 3700)

    def test_a_victim_with_a_level_of_its_own_loses_against_that_level(self):
        records = in_time([
            *starts(0, 0, 1, "avx512-heavy", 1000), *starts(0, 1, 2, "avx512-heavy", 100),
            *heavy_rise_few(),
        ])
        tasks, _ = self.agrees(header(170 * US, 2), records)
        # Its own level is 1, 3.6 GHz with one or two cores.
        rise = 30_000 * (1 - 0.25 * 3.7 / 3.6) + 10_000 + 10_000 + 10_000
        self.assertAlmostEqual(tasks[2]["lost_ns"], rise + 100_000 * 0.1 / 3.6, places=3)

    def test_a_light_class_at_the_demanded_level_makes_no_rise_heavy(self):
        records = [
            # Light 512-bit code demands level 1; sparse heavy 256-bit code demands none.
            *starts(0, 0, 1, "avx512-light", 100), *starts(0, 1, 2, "avx2-heavy", 100),
            license(0, 0, 0, 250), frequency(0, 0, 3700), license(30 * US, 0, 0, 0),
            license(40 * US, 0, 1), frequency(40 * US, 0, 3600),
        ]
        self.agrees(header(100 * US, 2), records)

    def test_a_light_core_at_the_demanded_level_makes_no_package_heavy(self):
        shared = table()
        shared["license"]["domain"] = "package"
        records = [*starts(0, 0, 1, "avx512-light", 100), *starts(0, 2, 2, "avx2-heavy", 100)]
        for core in (0, 1):
            records += [
                license(0, core, 0, 250), frequency(0, core, 3700),
                license(30 * US, core, 0, 0),
                license(40 * US, core, 1), frequency(40 * US, core, 3600),
            ]
        self.agrees(header(100 * US, 2, cpus=4, package=2), in_time(records), cpu=shared)

    def test_wider_registers_throttle_without_a_change_of_level(self):
        records = [
            *starts(0, 0, 1, "avx2-light", 900), *starts(0, 1, 2),
            license(0, 0, 0, 250), frequency(0, 0, 3700), license(30 * US, 0, 0),
        ]
        tasks, _ = self.agrees(header(100 * US, 2), records)
        self.assertAlmostEqual(tasks[2]["lost_ns"], 30_000 * 0.75, places=3)
        self.assertEqual(tasks[1]["lost_ns"], 0)

    def test_power_for_wide_registers_lasts_as_long_as_the_hold(self):
        for pause_us, throttled in ((669, False), (671, True)):
            again = (100 + pause_us) * US
            records = [
                *starts(0, 0, 1, "avx2-light", 900),
                license(0, 0, 0, 250), frequency(0, 0, 3700), license(30 * US, 0, 0),
                phase(100 * US, 1), phase(again, 1, "avx2-light", 900),
            ]
            if throttled:
                records += [license(again, 0, 0, 250), license(again + 30 * US, 0, 0)]
            self.agrees(header(1000 * US, 1), records)

    def test_two_siblings_reach_a_rate_that_neither_reaches_alone(self):
        records = [
            *starts(0, 0, 1, "avx2-heavy", 300), *starts(0, 1, 2, "avx2-heavy", 300),
            license(0, 0, 0, 250), frequency(0, 0, 3700),
            license(30 * US, 0, 0, 500), license(50 * US, 0, 0, 0),
            license(60 * US, 0, 1), frequency(60 * US, 0, 3600),
        ]
        tasks, _ = self.agrees(header(160 * US, 2), records)
        # Alone each would run at level 0: throttle A, throttle B, halt, then 3.6 of 3.7 GHz.
        lost = 22_500 + 10_000 + 10_000 + 100_000 * 0.1 / 3.7
        self.assertAlmostEqual(tasks[1]["lost_ns"], lost, places=3)

    def test_the_turbo_row_follows_the_active_cores(self):
        records = [
            *starts(0, 0, 1), frequency(0, 0, 3700),
            *starts(100 * US, 2, 2), frequency(100 * US, 1, 3700),
            *starts(200 * US, 4, 3),
            *[frequency(200 * US, core, 3500) for core in (0, 1, 2)],
            switch(300 * US, 4, 3, 0, "dead"),
            *[frequency(300 * US, core, 3700) for core in (0, 1)],
        ]
        tasks, _ = self.agrees(header(400 * US, 3), records)
        self.assertAlmostEqual(tasks[1]["ref_cycles"], 300 * 3700 + 100 * 3500, places=3)
        self.assertEqual(tasks[3]["completion_ns"], 100_000)

    def test_without_turbo_level_0_runs_at_the_base_frequency(self):
        head, records = header(1000 * US, 1), [*starts(0, 0, 1), frequency(0, 0, 2100)]
        outcome = {"tasks": [], **RUN, "turbo": False}
        tasks, _, _ = judge(head, records, outcome)
        self.assertAlmostEqual(tasks[1]["ref_cycles"], 2_100_000, places=3)
        outcome = {"tasks": [], **RUN, "turbo_cores": 16}
        tasks, _, _ = judge(head, records, outcome)
        self.assertAlmostEqual(tasks[1]["ref_cycles"], 2_800_000, places=3)

    def test_a_package_that_shares_its_license_slows_every_core(self):
        shared = table()
        shared["license"]["domain"] = "package"
        records = in_time([
            *starts(0, 0, 1, "avx512-heavy", 1000), *starts(0, 2, 2),
            *heavy_rise_few(0), *heavy_rise_few(1),
        ])
        head = header(70 * US, 2, cpus=4, package=2)
        tasks, _ = self.agrees(head, records, cpu=shared)
        lost = 22_500 + 10_000 + 20_000 * (1 - 0.5 * 3.6 / 3.7) + 10_000
        self.assertAlmostEqual(tasks[2]["lost_ns"], lost, places=3)


if __name__ == "__main__":
    unittest.main()
