"""What a CPU table (cpu-model/tables/*.toml) says, in ns, kHz and permille."""

import tomllib
from dataclasses import dataclass

from history import BadInput


@dataclass(frozen=True)
class Stage:
    """One stage of a transition."""

    ns: int
    few_ns: int
    rate_permille: int
    level: int

    def timed(self, few):
        """Duration, level and rate; a few active cores may take another time."""
        return self.few_ns if few else self.ns, self.level, self.rate_permille


class Cpu:
    """A CPU; what the table leaves out stops the run that needs it."""

    def __init__(self, table, name="table"):
        self.name = name
        try:
            self.read(table)
        except KeyError as error:
            raise BadInput(f"{name}: {error.args[0]} is missing") from error
        except (TypeError, ValueError, AttributeError, IndexError) as error:
            raise BadInput(f"{name}: {error}") from error

    def read(self, table):
        names = table["levels"]["names"]
        self.levels = len(names)
        self.number = {level: number for number, level in enumerate(names)}
        self.ref_khz = table["machine"]["ref_mhz"] * 1000
        self.rows = [
            (*row["cores"], [row["mhz"][level] * 1000 for level in names])
            for row in table["turbo"]["rows"]
        ]
        self.fastest = max(max(khz) for _, _, khz in self.rows) / self.ref_khz
        off = table.get("turbo_off", {}).get("mhz", {})
        self.off_khz = {self.number[level]: mhz * 1000 for level, mhz in off.items()}
        demand = table["demand"]
        self.unsupported = set(demand.get("unsupported", []))
        self.rules = sorted(
            (
                (permille(rule.get("rate", 0)), rule["class"], self.number[rule["level"]])
                for rule in demand["rules"]
            ),
            reverse=True,
        )
        self.read_license(table)

    def read_license(self, table):
        license = table["license"]
        self.license_domain = license["domain"]
        self.few_cores = license.get("few_cores", 0)
        self.fall_halt_ns = nanoseconds(license["fall_halt_us"])
        holds = license["hold_us"]
        self.hold_ns = {self.number[level]: nanoseconds(us) for level, us in holds.items()}
        widen = table["widen"]
        self.width_hold_ns = nanoseconds(widen["hold_us"])
        self.widen = self.stage({"kind": "throttle-a", **widen}, 0) if widen["us"] else None
        self.rises = table.get("rise", [])

    def stage(self, stage, level):
        rate = 0 if stage["kind"] == "halt" else permille(stage["rate"])
        few_us = stage.get("few_us", stage["us"])
        if "level" in stage:
            level = self.number[stage["level"]]
        return Stage(nanoseconds(stage["us"]), nanoseconds(few_us), rate, level)

    def rise(self, low, high, heavy):
        """The stages from one level to a higher one: the rule that says most about it."""

        def fits(rise):
            start = rise.get("from")
            right = self.number[rise["to"]] == high and rise.get("heavy", heavy) == heavy
            return right and (start is None or self.number[start] == low)

        found = [rise for rise in self.rises if fits(rise)]
        if not found:
            raise BadInput(f"{self.name}: no rise from level {low} to {high}")
        best = max(found, key=lambda rise: ("from" in rise, "heavy" in rise))
        return [self.stage(stage, low) for stage in best["stages"]]

    def level_demanded(self, name, rate_permille):
        """The level that a class demands at a rate."""
        if name in self.unsupported:
            raise BadInput(f"{self.name}: does not support {name}")
        for threshold, rule_class, level in self.rules:
            if rule_class == name and rate_permille >= threshold:
                return level
        return 0

    def row(self, active_cores):
        """The turbo row for that many active cores of the package."""
        for number, (first, last, _) in enumerate(self.rows):
            if active_cores <= last:
                if 0 < active_cores < first:
                    raise BadInput(f"{self.name}: no turbo row for {active_cores} active cores")
                return number
        return len(self.rows) - 1

    def khz(self, row, level, turbo):
        """Frequency; without turbo a level is no faster than any before it."""
        khz = self.rows[row][2]
        if turbo:
            return khz[level]
        if 0 not in self.off_khz:
            raise BadInput(f"{self.name}: says nothing of turbo off")
        return min(self.off_khz.get(lower, khz[lower]) for lower in range(level + 1))


def nanoseconds(us):
    return round(us * 1000)


def permille(share):
    return round(share * 1000)


def parse(text, name):
    """The CPU of a table's text."""
    try:
        return Cpu(tomllib.loads(text), name)
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{name}: {error}") from error
