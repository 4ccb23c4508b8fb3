#!/usr/bin/env python3
"""Figures of docs/decisions/0034, Warm-up and arrivals: run.py EVENKEEL [FOLDER]; four minutes.

Writes warm-up.csv: 40 mixes of the development half and parsec-x265, each with several warm-ups
and windows of arrivals."""

import csv
import json
import math
import subprocess
import sys
from pathlib import Path

EVENKEEL = sys.argv[1]
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent)
SCHEDULERS = "cfs,eevdf,muqss,fair,fair-isolation,even"
WARM_UPS_MS = (0, 20, 50, 100, 200, 500)
WINDOWS_MS = (0, 20)
FIGURES = ("isolation_slowdown_pct", "signed_slowdown_pct", "slowdown_only_pct",
           "culprit_rate_pct", "throughput_pct", "cpu_time_vs_sse_pct")


def results(words, warm_up_ms, window_ms):
    command = [EVENKEEL, *words, "--scheduler", SCHEDULERS, "--json", "-"]
    command += ["--set", f"warm-up-ms={warm_up_ms}", "--set", f"arrival-window-ms={window_ms}"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def mean_and_half_width(values):
    """The mean, and half of its 95 % interval."""
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, 1.96 * math.sqrt(variance / len(values))


def mixes(words, *start):
    groups = {}
    for mix in results(words, *start)["mixes"]:
        for run in mix["runs"]:
            group = groups.setdefault((run["scheduler"], run["background"]), {})
            for figure in FIGURES:
                if run.get(figure) is not None:
                    group.setdefault(figure, []).append(run[figure])
    for (scheduler, background), figures in groups.items():
        for figure, values in figures.items():
            yield scheduler, background, figure, *mean_and_half_width(values)


def scenario(words, *start):
    for run in results(words, *start)["runs"]:
        if run["control"]:
            continue
        for figure in FIGURES:
            if run.get(figure) is not None:
                half_width = run["ci95_half_width_pct"] if figure == FIGURES[0] else None
                yield run["scheduler"], run["background"], figure, run[figure], half_width


def main():
    works = [("mixes", mixes, ["mixes", "--mixes", "40"]),
             ("parsec-x265", scenario, ["compare", "parsec-x265", "--replicates", "8"])]
    with open(FOLDER / "warm-up.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["work", "warm_up_ms", "arrival_window_ms", "scheduler", "background",
                         "figure", "value", "ci95_half_width"])
        for name, rows, words in works:
            for warm_up_ms in WARM_UPS_MS:
                for window_ms in WINDOWS_MS:
                    for *of, value, half_width in rows(words, warm_up_ms, window_ms):
                        half_width = "" if half_width is None else f"{half_width:.2f}"
                        writer.writerow([name, warm_up_ms, window_ms, *of, f"{value:.2f}",
                                         half_width])


main()
