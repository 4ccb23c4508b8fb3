#!/usr/bin/env python3
"""Writes the tables of docs/measurements/reproduction.md anew: tables.py FOLDER PAGE

FOLDER holds the four files of run.py. A table is known by its first line;
what stands in its columns of published figures, tolerances and other text is kept.
"""

import csv
import re
import sys

SIGNED = ("cfs", "eevdf")
PUBLISHED = ("cfs", "fair", "fair-relative", "fair-isolation")
CASES = ("avx2", "avx512")


def read(folder):
    """Figures by scenario, setting, scheduler, sensors and background; the other files likewise."""
    figures, claims, programs, alone = {}, {}, {}, {}
    for row in csv.DictReader(open(f"{folder}/figures.csv")):
        key = (row["scenario"], row["setting"], row["scheduler"], row["sensors"])
        figures[(*key, row["background"])] = row
    for row in csv.DictReader(open(f"{folder}/claims.csv")):
        if row["figure"] in ("isolation_slowdown_pct", "signed_slowdown_pct"):
            claims[row["scenario"], row["scheduler"], row["background"]] = row
    for row in csv.DictReader(open(f"{folder}/programs.csv")):
        key = (row["scheduler"], row["background"], row["program"])
        programs[key] = float(row["slowdown_pct"])
    for row in csv.DictReader(open(f"{folder}/alone.csv")):
        alone[row["scenario"], row["scheduler"], row["background"]] = float(row["busy_cpus"])
    return figures, claims, programs, alone


def slowdown(row, scheduler):
    """In percent: signed for stock schedulers, as D has it."""
    return float(row["signed_slowdown_pct" if scheduler in SIGNED else "isolation_slowdown_pct"])


def figure(row, scheduler, width):
    """A slowdown as text, with half of its interval where `width` says so."""
    signed = scheduler in SIGNED
    value = round(slowdown(row, scheduler), 1) + 0.0
    half = row["signed_ci95_half_width_pct" if signed else "ci95_half_width_pct"]
    return f"{value:.1f}" + (f" ±{float(half):.1f}" if width else "")


def pair(figures, scenario, setting, scheduler, sensors="d7", width=False):
    """AVX2 / AVX-512."""
    rows = [figures[scenario, setting, scheduler, sensors, case] for case in CASES]
    return " / ".join(figure(row, scheduler, width) for row in rows)


def verdict(claims, scenario, scheduler):
    """Whether both figures are within the tolerances of the scenario's claims, if it has any."""
    said = []
    for case in CASES:
        claim = claims.get((scenario, scheduler, case))
        if claim is None or not claim["max"]:
            return ""
        least, most, found = (float(claim[key]) for key in ("min", "max", "found"))
        off = max(least - found, found - most)
        said.append("hit" if off <= 0 else f"**MISS by {off:.2g}**")
    return " / ".join(said)


def rows(first, old, data):
    """The rows of the table whose first line is `first`, or `None` for others."""
    figures, claims, programs, alone = data
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in old]
    name = [row[0].strip("`") for row in cells]
    if first.startswith("| Scheduler | Published | Tolerance | Classes alone"):
        made = []
        for row, scheduler in zip(cells, name):
            made.append(row[:3])
            for scenario in ("parsec-x265", "parsec-x265-builds"):
                made[-1] += [pair(figures, scenario, "", scheduler, width=True),
                             verdict(claims, scenario, scheduler)]
        return made
    if first.startswith("| | `cfs` | `fair` | `fair-relative`"):
        scenario = "parsec-x265-builds" if "SSE4 build 1.8 times as long" in name else "parsec-x265"
        settings = ["" if label == "as shipped" else label for label in name]
        return [[label] + [pair(figures, scenario, setting, scheduler) for scheduler in PUBLISHED]
                for label, setting in zip(name, settings)]
    if first.startswith("| | `cfs` | `fair` |"):
        return [[f"`{base}`"] + [" / ".join(f"{alone[base, scheduler, case]:.1f}"
                                            for case in ("sse4", *CASES))
                                 for scheduler in ("cfs", "fair")] for base in name]
    if first.startswith("| | blackscholes |"):
        shown = [cell.strip() for cell in first.strip("|").split("|")][1:-1]
        every = sorted({program for _, _, program in programs})
        made = []
        for scheduler in name:
            of = [" / ".join(f"{programs[scheduler, case, program]:+.1f}" for case in CASES)
                  for program in shown]
            mean = [sum(abs(programs[scheduler, case, program]) for program in every) / len(every)
                    for case in CASES]
            made.append([f"`{scheduler}`"] + of + [" / ".join(f"{value:.1f}" for value in mean)])
        return made
    if first.startswith("| Sensors |"):
        of = ("parsec-x265", "sensors")
        return [[f"`{sensors}`"] + [pair(figures, *of, scheduler, sensors, True)
                                    for scheduler in ("fair-isolation", "even")]
                for sensors in name]
    if first.startswith("| Case | Published | Ours"):
        for row in cells:
            match = re.match(r"(x265|synthetic), (two cores|32 CPUs), `?([\w-]+)`?", row[0])
            base = "parsec-" + match[1] + ("-two-cores" if match[2] == "two cores" else "")
            row[2] = pair(figures, base, "", match[3].lower(), width=True)
        return cells
    return None


def main():
    folder, page = sys.argv[1:]
    data = read(folder)
    lines = open(page).read().split("\n")
    out, at = [], 0
    while at < len(lines):
        end = at
        while lines[at].startswith("|") and end < len(lines) and lines[end].startswith("|"):
            end += 1
        if end == at:
            out.append(lines[at])
            at += 1
            continue
        made = rows(lines[at], lines[at + 2:end], data)
        out += lines[at:at + 2]
        if made is None:
            out += lines[at + 2:end]
        else:
            out += ["| " + " | ".join(row) + " |" for row in made]
        at = end
    open(page, "w").write("\n".join(out))


main()
