"""The license machine by itself, where histories are long-winded."""

import unittest

import cpu_table
from license_machine import Demand, LicenseMachine
from tests.build import US, table


def machine(cpu="xeon-gold-6130", **license):
    words = table(cpu)
    words["license"].update(license)
    return LicenseMachine(cpu_table.Cpu(words))


def run_until(license, end, cores=8):
    """Advances through every deadline up to `end`; the effects with their times."""
    effects = []
    while license.deadline() is not None and license.deadline() <= end:
        now = license.deadline()
        license.advance(cores, now)
        effects.append((now, *license.effect()))
    return effects


class License(unittest.TestCase):
    def test_a_level_that_was_never_granted_holds_no_lower_one(self):
        license = machine()
        license.tell(Demand(1, 1, True), 8, 0)
        license.tell(Demand(0, 1, True), 8, 10 * US)
        # Level 2 is demanded for 5 us while the rise to level 1 is under way.
        license.tell(Demand(2, 2, True), 8, 40 * US)
        license.tell(Demand(0, 0, False), 8, 45 * US)
        self.assertEqual(run_until(license, 50 * US)[-1], (50 * US, 1, 1000))
        # The last demand for level 1 ended with that for level 2.
        falls = run_until(license, 2000 * US)
        self.assertEqual(falls, [(715 * US, 1, 0), (725 * US, 0, 1000)])

    def test_an_unexpired_hold_above_the_granted_level_does_not_stop_a_fall(self):
        words = table()
        words["license"]["hold_us"] = {"avx2": 100, "avx-512": 670}
        license = LicenseMachine(cpu_table.Cpu(words))
        license.tell(Demand(1, 1, True), 8, 0)
        license.tell(Demand(2, 2, True), 8, 40 * US)
        license.tell(Demand(0, 0, False), 8, 45 * US)
        falls = run_until(license, 2000 * US)
        self.assertEqual(falls[-2:], [(145 * US, 1, 0), (155 * US, 0, 1000)])

    def test_demand_during_a_fall_rises_after_it(self):
        license = machine()
        license.tell(Demand(1, 2, False), 8, 0)
        run_until(license, 30 * US)
        license.tell(Demand(0, 0, False), 8, 100 * US)
        run_until(license, 770 * US)
        self.assertEqual(license.effect(), (1, 0))
        license.tell(Demand(1, 2, False), 8, 771 * US)
        self.assertEqual(run_until(license, 780 * US), [(780 * US, 0, 250)])

    def test_each_level_has_its_own_hold(self):
        license = machine("granite-rapids")
        license.tell(Demand(4, 2, True), 8, 0)
        self.assertEqual(run_until(license, 2600), [(2600, 4, 1000)])
        license.tell(Demand(2, 2, False), 8, 10_000)
        self.assertEqual(run_until(license, 20_000), [(16_100, 2, 1000)])

    def test_stages_and_halts_of_no_length_are_passed_over(self):
        license = machine(fall_halt_us=0)
        license.tell(Demand(1, 2, False), 8, 0)
        run_until(license, 30 * US)
        license.tell(Demand(0, 0, False), 8, 100 * US)
        self.assertEqual(run_until(license, 900 * US), [(770 * US, 0, 1000)])


if __name__ == "__main__":
    unittest.main()
