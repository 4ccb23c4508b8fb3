"""What a policy learns of a slice: numbers worked out by hand from D 7.3 and 7.4."""

import unittest

import cpu_table
from model import Run, Slice
from replay import Replay
from sensors import Counters
from tests.build import US, header, in_time, phase, starts, switch, table

# Cycles of a ms at 1 GHz.
GHZ = 1_000_000


def counters(turbo=True):
    return Counters(cpu_table.Cpu(table()), Run(turbo=turbo), 1)


def ms(level_ghz, stalled=0.0):
    """A slice of a ms, with cycles by level in millions."""
    cycles = {level: count * GHZ for level, count in level_ghz.items()}
    stall_cycles = stalled * sum(cycles.values())
    return Slice(1000 * US, level_cycles=cycles, counted_ns=1000 * US, stall_cycles=stall_cycles)


class Lost(unittest.TestCase):
    def loses(self, ended, own, expected_ns, within_ns=10, turbo=True):
        low, high = counters(turbo).lost_ns(ended, own)
        self.assertLessEqual(low, expected_ns)
        self.assertGreaterEqual(high, expected_ns)
        self.assertLess(high - low, 2 * within_ns)

    def test_between_two_rows_the_ideal_lies_as_far_between_them(self):
        # Level 2 has 3.5 and 3.1 GHz in the first rows, level 0 has 3.7 and 3.5.
        self.loses(ms({2: 3.3}), 0, 1_000_000 * 0.3 / 3.6)

    def test_stalled_cycles_lose_nothing(self):
        self.loses(ms({2: 3.3}, 0.25), 0, 750_000 * 0.3 / 3.6)

    def test_a_task_that_demands_level_1_loses_against_level_1(self):
        # Half of the cycles at 3.7 GHz, half at 3.5; those above level 1 belong at 3.6.
        half = 1 / (1 / 3.7 + 1 / 3.5)
        ideal = 2 / (1 / 3.7 + 1 / 3.6)
        self.loses(ms({0: half, 2: half}), 1, 1_000_000 * (1 - 2 * half / ideal))

    def test_beyond_the_table_its_end_is_meant(self):
        self.loses(ms({2: 3.6}), 0, 1_000_000 * 0.1 / 3.7)
        self.loses(ms({2: 1.5}), 0, 1_000_000 * 1.3 / 2.8)

    def test_without_cycles_above_its_level_a_task_loses_nothing(self):
        for own, cycles in ((0, {0: 2.0}), (1, {0: 1.0, 1: 1.0}), (2, {2: 1.0})):
            self.assertEqual(counters().lost_ns(ms(cycles), own), (0, 0))

    def test_without_turbo_level_0_is_the_base_frequency(self):
        self.loses(ms({2: 1.9}), 0, 1_000_000 * 0.2 / 2.1, turbo=False)

    def test_where_a_rounded_cycle_decides_between_rows_both_are_within_the_bounds(self):
        # With level 2 alike in the first two rows, 3.5 GHz may mean either.
        alike = table()
        alike["turbo"]["rows"][1]["mhz"].update({"avx-512": 3500})
        alike = Counters(cpu_table.Cpu(alike), Run(), 1)
        low, high = alike.lost_ns(ms({2: 3.5}), 0)
        self.assertLess(low, 1)
        self.assertAlmostEqual(high, 1_000_000 * 0.2 / 3.7, delta=10)


class Counted(unittest.TestCase):
    def test_cycles_count_at_the_level_in_force_unless_halted_and_some_of_them_wait(self):
        records = in_time([
            *starts(0, 0, 1, "avx512-heavy", 1000), *starts(0, 1, 2, "scalar", 0, 500),
            phase(70 * US, 1, "avx512-heavy", 1000),
        ])
        replay = Replay(header(1000 * US, 2), cpu_table.Cpu(table()), Run(sensors="d7"))
        replay.play(records)
        counted = replay.tasks[2].slice
        self.assertEqual(counted.counted_ns, 980_000)
        expected = {0: 30 * 3700, 1: 20 * 3600, 2: 930 * 3500}
        self.assertEqual(counted.level_cycles, expected)

        # Half of the time at the reference frequency waits; faster code waits for more of it.
        def waiting(ghz, permille):
            return 0.5 / (0.5 + 0.5 * 2.1 / ghz / 0.625 / permille * 1000)

        stalled = 111_000 * waiting(3.7, 250) + 72_000 * waiting(3.6, 500)
        stalled += 3_255_000 * waiting(3.5, 1000)
        self.assertAlmostEqual(counted.stall_cycles, stalled, places=3)


class LastUser(unittest.TestCase):
    def users(self, records, renewals=(), end_us=1000):
        """Tasks that last used registers of 256 bits or more, and of 512, on core 0."""
        run = Run(scheduler="fair-isolation", sensors="d7", renewals=list(renewals))
        replay = Replay(header(end_us * US, 3), cpu_table.Cpu(table()), run)
        replay.play(records)
        return [task and task.tid for task in replay.sensors.last_user[0]]

    def both(self):
        """Task 1 uses 512 bits; then task 2 beside it; then task 1 again, in the same slice."""
        return [
            *starts(0, 0, 1, "avx512-light", 10), *starts(100 * US, 1, 2, "avx512-heavy", 10),
            phase(200 * US, 1), phase(300 * US, 1, "avx512-light", 10),
        ]

    def test_only_the_first_use_in_a_slice_traps(self):
        self.assertEqual(self.users(self.both()), [2, 2])

    def test_a_task_that_used_wide_registers_is_noted_again_when_the_slice_ends(self):
        records = [*self.both(), switch(400 * US, 0, 1, 0)]
        self.assertEqual(self.users(records), [1, 1])
        self.assertEqual(self.users(self.both(), [{"t": 400 * US, "task": 1}]), [1, 1])

    def test_a_task_that_goes_on_after_its_slice_has_what_it_executes_noted(self):
        records = in_time([
            *self.both(), phase(350 * US, 1, "avx2-light", 10),
        ])
        renewals = [{"t": 400 * US, "task": 1}, {"t": 450 * US, "task": 2}]
        self.assertEqual(self.users(records, renewals), [2, 2])
        renewals.append({"t": 500 * US, "task": 1})
        self.assertEqual(self.users(records, renewals), [1, 2])

    def test_a_task_that_comes_back_in_the_midst_of_wide_code_is_noted(self):
        records = in_time([
            *self.both(), switch(400 * US, 0, 1, 0), switch(450 * US, 1, 2, 0),
            switch(500 * US, 0, 0, 1),
        ])
        self.assertEqual(self.users(records), [1, 1])

    def test_wide_code_of_256_bits_is_no_use_of_512(self):
        records = in_time([
            *starts(0, 0, 1, "avx512-light", 10), *starts(100 * US, 1, 2, "avx2-heavy", 10),
        ])
        self.assertEqual(self.users(records), [2, 1])


class Culprit(unittest.TestCase):
    def culprit(self, ended, own):
        sensors = counters()
        sensors.last_user[0] = ["wide", "widest"]
        return sensors.culprit(ended, own, 0)

    def test_the_level_seen_says_whose_registers_it_was(self):
        self.assertEqual(self.culprit(ms({0: 1.0, 1: 1.0}), 0), "wide")
        self.assertEqual(self.culprit(ms({1: 1.0, 2: 1.0}), 0), "widest")
        self.assertEqual(self.culprit(ms({1: 1.0, 2: 1.0}), 1), "widest")
        self.assertIsNone(self.culprit(ms({0: 1.0, 1: 1.0}), 1))
        self.assertIsNone(self.culprit(ms({2: 1.0}), 2))


if __name__ == "__main__":
    unittest.main()
