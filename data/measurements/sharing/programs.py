"""The measured workload, for the simulator and as lists of steps for loads.c.

    python3 programs.py THREADS FOLDER

It is parsec-x265 and parsec-synthetic on THREADS / 2 cores, without a turbo: with --set
smt-share=1000 the simulated work then takes as much CPU time as it says, whatever runs beside it,
as work of loads.c does. Writes FOLDER/encoder/NAME.steps and FOLDER/loop/NAME.steps for each
program and for the background's application.
"""

import pathlib
import re
import sys
import tomllib

SHIPPED = pathlib.Path(__file__).parents[3] / "scenarios/files"
SYNC = {"barrier": "b", "lock": "l", "unlock": "u", "wait": "w", "wake_others": "p"}
# The background is started that much earlier, as by guest.sh.
ARRIVAL_MS = 50


def scenario(background, threads, nice=0, flat=True, arrival_ms=ARRIVAL_MS):
    """The text of a scenario file: `background` is encoder or loop."""
    text = (SHIPPED / "parsec-x265.toml").read_text()
    other = (SHIPPED / "parsec-synthetic.toml").read_text()
    begin = text.index("\n# The builds have one program")
    programs, encoder = text[:begin], text[begin:]
    loop = other[other.index("[[background]]"):]
    chosen = encoder if background == "encoder" else loop
    chosen = re.sub(r"(?ms)^(# [^\n]*\n)*\[\[claim\]\].*", "", chosen)
    chosen = re.sub(r'(?m)^threads = "@\w+"$', rf"\g<0>\nnice = {nice}", chosen)
    turbo = "turbo = false" if flat else "turbo_cores = 16"
    machine = f"[machine]\npackages = 1\ncores = {threads // 2}\nthreads_per_core = 2\n{turbo}\n\n"
    programs = re.sub(r"(?ms)^\[machine\].*?\n\n", machine, programs)
    programs = programs.replace("threads = 32", f"threads = {threads}")
    programs = programs.replace("x265_threads = 8", f"x265_threads = {threads // 4}")
    arrival = f'threads = "@threads"\narrival_ms = {arrival_ms}'
    return programs.replace('threads = "@threads"', arrival) + chosen


class Writer:
    """Lists of steps of one application."""

    def __init__(self, parameters):
        self.parameters = parameters
        self.names = []

    def number(self, value):
        """A number, or `@parameter` with a factor."""
        if not isinstance(value, str):
            return value
        name, _, factor = value.removeprefix("@").partition(" * ")
        return self.number(self.parameters[name]) * float(factor or 1)

    def amount(self, what, body, key):
        """A step of work or sleep."""
        spread = "e" if body.get("spread") == "exponential" else "f"
        percent = self.number(body.get("spread_pct", 0))
        return f"{what} {'u' if percent else spread} {self.number(body[key]):.3f} {percent}"

    def steps(self, phases, is_first):
        """The steps of the first thread, or of another one."""
        lines = []
        for phase in phases:
            (kind, body), = phase.items()
            if kind == "compute":
                lines.append(self.amount("c", body, "work_us"))
            elif kind == "sleep":
                lines.append(self.amount("s", body, "us"))
            elif kind == "repeat":
                lines += self.steps(body["phases"], is_first) * int(self.number(body["times"]))
            elif kind == "forever":
                lines += self.steps(body, is_first) + ["j f 0 0"]
            elif kind in ("first", "others"):
                lines += self.steps(body, is_first) if is_first == (kind == "first") else []
            else:
                if body not in self.names:
                    self.names.append(body)
                lines.append(f"{SYNC[kind]} f {self.names.index(body)} 0")
        return lines


def main():
    threads, output = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    for background in ("encoder", "loop"):
        folder = output / background
        folder.mkdir()
        table = tomllib.loads(scenario(background, threads))
        control = next(one for one in table["background"] if one.get("control"))
        for application in table["foreground"] + control["application"]:
            writer = Writer(table["parameters"])
            lists = [writer.steps(application["phases"], is_first) for is_first in (True, False)]
            text = "\n".join([*lists[0], "others", *lists[1]]) + "\n"
            (folder / f"{application['name']}.steps").write_text(text)


if __name__ == "__main__":
    main()
