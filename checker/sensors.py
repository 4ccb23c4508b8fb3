"""What a policy learns of a slice: its loss and a culprit (docs/decisions/0002, Sensors)."""

from dataclasses import dataclass

from model import CLASSES, RATE_STEP

FULL_RATE_PERMILLE = 1000
# A share of cycles is kept in 2^-30, and a mean frequency is right to 2e-8 (policy headers).
MEAN_ERROR = 1e-7
# A counter is cut to whole cycles; a level, the sum and the reference clock are counted.
CYCLES_CUT = 4


@dataclass(frozen=True)
class Report:
    """Bounds of a loss as it is reported, and the task that is said to answer for it."""

    low_ns: float = 0.0
    high_ns: float = 0.0
    culprit: object = None


class Truth:
    """`truth`: the loss itself, cut to whole ns, and the last culprit of the slice."""

    def uses(self, task, core, width):
        """Nothing is learned from it."""

    def report(self, task, _core):
        ended = task.slice
        low, high = ended.lost_ns - ended.error_ns - 1, ended.lost_ns + ended.error_ns
        return Report(max(0.0, low), high, ended.culprit) if ended.lost_ns > 0 else Report()


class Counters:
    """`d7`: cycles by level, stalls, and a trap at the first use of wide registers (D 7.4)."""

    def __init__(self, cpu, run, cores):
        self.levels = cpu.levels
        rows = range(len(cpu.rows))
        self.ghz = [
            [cpu.khz(row, level, run.turbo) / 1e6 for level in range(cpu.levels)] for row in rows
        ]
        self.ref_ghz = cpu.ref_khz / 1e6
        # By core: the last user of registers of 256 bits or more, and of 512 bits.
        self.last_user = [[None, None] for _ in range(cores)]
        self.level_of_width = [0, 0, 0]
        for name, (width, _) in CLASSES.items():
            if name not in cpu.unsupported:
                level = cpu.level_demanded(name, FULL_RATE_PERMILLE)
                self.level_of_width[width] = max(self.level_of_width[width], level)

    def uses(self, task, core, width):
        """Registers of a width, first in its slice or known when the slice ends."""
        for number in range(width):
            self.last_user[core][number] = task

    def report(self, task, core):
        own = self.level_of_width[task.slice.width]
        low, high = self.lost_ns(task.slice, own)
        culprit = self.culprit(task.slice, own, core)
        self.uses(task, core, task.slice.width)
        return Report(low, high, culprit)

    def culprit(self, ended, own, core):
        """The last user of registers that demand the highest level above the task's own."""
        top = max((level for level, cycles in ended.level_cycles.items() if cycles > 0), default=0)
        if top > max(own, self.level_of_width[1]):
            return self.last_user[core][1]
        return self.last_user[core][0] if top > own else None

    def lost_ns(self, ended, own, first_row=0):
        """Eq. D 7.3, within what rounding may do to it."""
        cycles = sum(ended.level_cycles.values())
        above = sum(count for level, count in ended.level_cycles.items() if level > own)
        if above == 0:
            return 0.0, 0.0
        actual_ghz = cycles / ended.counted_ns
        shares = [ended.level_cycles.get(level, 0) / cycles for level in range(self.levels)]
        ref_cycles = ended.counted_ns * self.ref_ghz
        error = CYCLES_CUT / cycles + CYCLES_CUT / ref_cycles + MEAN_ERROR
        busy_ns = ended.time_ns * (1 - ended.stall_cycles / cycles)
        lost = []
        for ghz in (actual_ghz * (1 - error), actual_ghz, actual_ghz * (1 + error)):
            ideal_ghz = self.ideal_ghz(shares, own, ghz, first_row)
            lost.append(max(0.0, busy_ns * (ideal_ghz - actual_ghz) / ideal_ghz))
        # The stalled share of the time is kept in 2^-20, like the rate that it follows.
        width = ended.time_ns * (error + 2 * RATE_STEP) + 1
        return max(0.0, min(lost) - width), max(lost) + width

    def ideal_ghz(self, shares, own, actual_ghz, first_row):
        """The rows that enclose the actual frequency, with the shares that the task demands."""
        first_row = min(first_row, len(self.ghz) - 1)
        ideal = [share if level < own else 0.0 for level, share in enumerate(shares)]
        ideal[own] = sum(shares[own:])
        means = [mean_ghz(row, shares) for row in self.ghz]
        rows = range(first_row, len(means))
        slow = next((row for row in rows if means[row] <= actual_ghz), None)
        if slow is None:
            return mean_ghz(self.ghz[-1], ideal)
        slow_ghz = mean_ghz(self.ghz[slow], ideal)
        if slow == first_row:
            return slow_ghz
        factor = (actual_ghz - means[slow]) / (means[slow - 1] - means[slow])
        return slow_ghz + factor * (mean_ghz(self.ghz[slow - 1], ideal) - slow_ghz)


def mean_ghz(row, shares):
    """Eq. D 7.7: shares of cycles weigh periods."""
    return 1 / sum(share / ghz for share, ghz in zip(shares, row))


def sensors(name, cpu, run, cores):
    """Those whose reports can be recomputed; None: others, or none."""
    if run.sensors_faulty:
        return None
    if name == "truth":
        return Truth()
    return Counters(cpu, run, cores) if name == "d7" else None
