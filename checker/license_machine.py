"""The license of one core or package: which level is in force, at what instruction rate.

Written from D 3.2.2, 3.2.3, 5.2.1 and 5.2.2. A transition is a queue of stages
that are run through to the end, whatever is demanded meanwhile. Then, and
whenever the domain is at rest, demand and expired holds decide what comes next.
"""

from dataclasses import dataclass, field

FULL = 1000


@dataclass(frozen=True)
class Demand:
    """What the code on a domain asks for."""

    level: int = 0
    width: int = 0
    heavy: bool = False


@dataclass
class Transition:
    """Stages yet to run, as (end, level, rate), and what is reached after the last."""

    kind: str
    goal: int
    stages: list = field(default_factory=list)


class LicenseMachine:
    """State of one domain; times are ns."""

    def __init__(self, cpu):
        self.cpu = cpu
        self.demand = Demand()
        self.granted = 0
        self.width = 0
        self.transition = None
        # When a level, or a width, without any demand may be given up.
        self.level_until = {}
        self.width_until = {}

    def effect(self):
        """Level in force and instruction rate in permille."""
        if self.transition is None:
            return self.granted, FULL
        _, level, rate = self.transition.stages[0]
        return level, rate

    def reached_level(self):
        """The highest of the level in force and the one a rise or fall leads to."""
        level, _ = self.effect()
        return level if self.transition is None else max(level, self.transition.goal)

    def is_widening(self):
        return self.transition is not None and self.transition.kind == "widen"

    def deadline(self):
        """When a stage or the hold of the granted level ends; None: nothing is due."""
        if self.transition is not None:
            return self.transition.stages[0][0]
        if self.granted > self.demand.level:
            return self.level_until[self.granted]
        return None

    def advance(self, active_cores, now):
        """Ends the stage or hold that is due."""
        due = self.deadline()
        if due is None or now < due:
            return
        if self.transition is not None:
            self.transition.stages.pop(0)
            if self.transition.stages:
                return
            self.granted = self.transition.goal
            self.transition = None
        self.rest(active_cores, now)

    def tell(self, demand, active_cores, now):
        """The code on the domain changed, or did not."""
        self.give_up_width(now)
        for level in range(demand.level + 1, self.demand.level + 1):
            self.level_until[level] = now + self.cpu.hold_ns[level]
        for width in range(demand.width + 1, self.demand.width + 1):
            self.width_until[width] = now + self.cpu.width_hold_ns
        self.demand = demand
        if self.transition is None:
            self.rest(active_cores, now)

    def give_up_width(self, now):
        """Registers wider than demanded lose their power when their hold is over."""
        while self.width > self.demand.width and self.width_until.get(self.width, 0) <= now:
            self.width -= 1

    def rest(self, active_cores, now):
        """Begins the transition that is called for, if any."""
        few = active_cores <= self.cpu.few_cores
        wanted = self.demand
        if wanted.level > self.granted:
            self.width = max(self.width, wanted.width)
            stages = self.cpu.rise(self.granted, wanted.level, wanted.heavy)
            self.begin("rise", wanted.level, [s.timed(few) for s in stages], now)
            return
        if wanted.width > self.width:
            self.width = wanted.width
            if self.cpu.widen is not None:
                duration, _, rate = self.cpu.widen.timed(few)
                self.begin("widen", self.granted, [(duration, self.granted, rate)], now)
                return
        floor = self.lowest_level(now)
        if floor < self.granted:
            self.begin("fall", floor, [(self.cpu.fall_halt_ns, self.granted, 0)], now)

    def lowest_level(self, now):
        """Of the granted levels, the lowest that demand and unexpired holds allow."""
        held = [level for level, until in self.level_until.items() if until > now]
        return max([self.demand.level, *(level for level in held if level <= self.granted)])

    def begin(self, kind, goal, stages, now):
        transition = Transition(kind, goal)
        end = now
        for duration, level, rate in stages:
            end += duration
            if duration > 0:
                transition.stages.append((end, level, rate))
        if transition.stages:
            self.transition = transition
        else:
            self.granted = goal
