"""Who is to blame for what a task loses (docs/decisions/0002, Loss)."""

from collections import defaultdict

from model import CLASSES, class_levels

# The simulator splits a loss in 2^-20 ns.
LOST_UNIT_NS = 2.0**-20


class Holders:
    """Who demands each level of one license domain or, when none does, who did last."""

    def __init__(self, cpu):
        self.cpu = cpu
        self.of_level = [[] for _ in range(cpu.levels)]
        self.widest = []

    def update(self, cores):
        """What runs now: the tasks of each core of the domain, in the order of their CPUs."""
        levels = []
        for tasks in cores:
            by_class = class_levels(self.cpu, [task.phase for task in tasks])
            levels += [(task, by_class[task.phase.name]) for task in tasks]
        for level in range(1, self.cpu.levels):
            demanding = [task for task, demanded in levels if demanded >= level]
            if demanding:
                self.of_level[level] = demanding
        width = max((width_of(task) for task, _ in levels), default=0)
        self.widest = [task for task, _ in levels if width_of(task) == width]

    def culprits(self, victim, own_level, machine):
        """The others who hold the level in question; else those for whom the domain widens."""
        level = machine.reached_level()
        found = self.of_level[level] if level > own_level else self.widest
        return [task for task in found if task is not victim]


def width_of(task):
    return CLASSES[task.phase.name][0]


class Losses:
    """What applications lost to one another in ns, and how far a right simulator may be off."""

    def __init__(self):
        self.lost_ns = defaultdict(float)
        self.error_ns = defaultdict(float)

    def add(self, victim, culprits, lost_ns, error_ns):
        """A piece of time; a task that no other task slows has slowed itself."""
        blamed = culprits or [victim]
        for culprit in blamed:
            pair = (victim.app, culprit.app)
            self.lost_ns[pair] += lost_ns / len(blamed)
            # Every equal part is rounded down to the unit; one culprit gets the rest of all.
            self.error_ns[pair] += error_ns / len(blamed) + len(blamed) * LOST_UNIT_NS
