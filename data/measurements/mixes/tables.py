#!/usr/bin/env python3
"""Rows and a table of docs/measurements/mixes.md from results: tables.py DEVELOPMENT SOURCE PAGE.

DEVELOPMENT is the --json of `evenkeel mixes`, SOURCE that of the command on the page. Writes
development.csv and source.csv beside this file and the table of the source into PAGE.
"""

import csv
import json
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
BACKGROUNDS = ["avx2", "avx512"]
FIGURES = ["isolation_slowdown_pct", "slowdown_only_pct", "culprit_rate_pct"]


def write_rows(results, name, columns):
    """A row for each mix, scheduler, sensors and background."""
    with open(FOLDER / name, "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["seed", *columns])
        for mix in results["mixes"]:
            for run in mix["runs"]:
                cells = [run[column] for column in columns]
                cells = [round(cell, 3) if isinstance(cell, float) else cell for cell in cells]
                rows.writerow([mix["seed"], *cells])


def mean(value):
    """A mean and half its interval."""
    return f"{value['mean']:.1f} ±{value['ci95_half_width']:.1f}"


def source_table(results):
    """The table of the source: slowdowns alone and the culprits' rate of work."""
    summaries, lines = {}, ["| | Sensors | slower | culprits |", "|---|---|---|---|"]
    for summary in results["summaries"]:
        key = (summary["scheduler"], summary["sensors"])
        summaries.setdefault(key, {})[summary["background"]] = summary
    for (scheduler, sensors), both in summaries.items():
        cells = [
            ", ".join(mean(both[background][key]) for background in BACKGROUNDS)
            for key in ("slowdown_only_pct", "culprit_rate_pct")
        ]
        lines.append(f"| `{scheduler}` | `{sensors}` | {cells[0]} | {cells[1]} |")
    return "\n".join(lines) + "\n"


def main():
    """Writes rows and tables."""
    development, source = (json.loads(Path(path).read_text("utf-8")) for path in sys.argv[1:3])
    page = Path(sys.argv[3])
    write_rows(development, "development.csv",
               ["scheduler", "background", *FIGURES, "throughput_pct", "wake_p99_us"])
    write_rows(source, "source.csv",
               ["scheduler", "sensors", "background", *FIGURES, "wake_p99_us"])
    text = page.read_text("utf-8")
    text, found = re.subn(r"\| \| Sensors \| slower \| culprits \|\n(\|.*\n)+",
                          lambda _: source_table(source), text)
    assert found == 1, "the page has no table of the source"
    page.write_text(text, "utf-8")


main()
