#!/usr/bin/env python3
"""Prints the tables of docs/measurements/even.md: tables.py EVIDENCE.csv"""

import csv
import math
import statistics
import sys
from collections import defaultdict

CASES = ("avx2", "avx512")
ALL = ("fair", "cfs", "eevdf", "muqss", "fair-relative", "fair-isolation", "even", "fair-cycles",
       "fair-energy")
SCENARIOS = ("x265, 32 CPUs", "x265, two cores", "synthetic, 32 CPUs", "synthetic, two cores",
             "half load")
# Student's t of 95 % for 200 mixes.
T = 1.972
# As in report/src/mixes/summary.rs: with fewer wake-ups a percentile is chance.
WAKES_MIN = 100


def mean(values):
    """Mean and half of its interval."""
    values = list(values)
    half = T * statistics.stdev(values) / math.sqrt(len(values))
    half = f"{half:.1f}" if half >= 0.05 else "<0.1"
    return f"{round(statistics.mean(values), 1) + 0.0:.1f} ±{half}"


def number(row, name):
    return float(row[name])


def wake(row):
    """The 99th percentile of wake-up latencies, at least 5 us."""
    return max(number(row, "wake_p99_us"), 5)


def schedulers(mixes, case):
    """All schedulers over the mixes, a row each."""
    fair = {seed: row for (scheduler, seed, of), row in mixes.items()
            if scheduler == "fair" and of == case}
    for scheduler in ALL:
        rows = {seed: mixes[scheduler, seed, case] for seed in fair}
        slowdowns = [number(row, "slowdown_pct") for row in rows.values()]
        worst = max(rows.values(), key=lambda row: abs(number(row, "worst_pct")))
        attributed = sum(number(row, "attributed_s") for row in rows.values())
        lost = sum(number(row, "lost_s") for row in rows.values())
        right = sum(number(row, "right_s") for row in rows.values())
        judged = attributed > 0
        wakes = [wake(rows[seed]) / wake(fair[seed]) for seed in fair
                 if min(int(of["wake_count"]) for of in (rows[seed], fair[seed])) >= WAKES_MIN]
        yield [f"`{scheduler}`", mean(slowdowns),
               mean(number(row, "slower_pct") for row in rows.values()),
               f"{statistics.median(slowdowns):.1f}",
               f"{worst['worst_program']} {number(worst, 'worst_pct'):+.1f}",
               mean(number(row, "culprit_rate_pct") for row in rows.values()),
               mean(number(row, "throughput_pct") for row in rows.values()),
               f"{100 * right / attributed:.1f}" if judged else "–",
               f"{100 * right / lost:.1f}" if judged else "–",
               f"{statistics.geometric_mean(wakes):.2f}"]


def parts(mixes):
    """`even` without each part, less `even`, in the same mix."""
    seeds = {seed for _, seed, _ in mixes}
    for part in ("matching", "placing", "swaps", "repayment"):
        cells = [part]
        for case in CASES:
            for name in ("slowdown_pct", "slower_pct", "culprit_rate_pct", "throughput_pct"):
                cells.append(mean(number(mixes[f"even-without-{part}", seed, case], name) -
                                  number(mixes["even", seed, case], name) for seed in seeds))
        yield cells


def both(row):
    """Slowdown, in brackets with speed-ups as 0."""
    return f"{number(row, 'slowdown_pct'):.1f} ({number(row, 'slower_pct'):.1f})"


def experiments(rows):
    """Scenarios and recordings, a row for each background."""
    seen = {}
    for row in rows:
        if row["variant"] == "" and row["work"] != "mixes":
            seen.setdefault((row["work"], row["background"]), {})[row["scheduler"]] = row
    names = {"avx2": "AVX2", "avx512": "AVX-512", "amx": "AMX"}
    for (work, case), by in seen.items():
        yield [work, names.get(case, case)] + [
            both(by[scheduler]) if scheduler in by else "–"
            for scheduler in ("fair", "eevdf", "fair-isolation", "even")]


def variants(rows):
    """What `even` leaves where what it knows is wrong."""
    found, order = defaultdict(list), []
    for row in rows:
        if row["scheduler"] == "even" and row["background"] in CASES:
            found[row["variant"], row["work"], row["background"]].append(row)
            if row["variant"] not in order:
                order.append(row["variant"])
    for variant in order:
        cells = [variant or "nothing"]
        for work in (*SCENARIOS, "mixes"):
            if (variant, work, "avx512") not in found:
                cells.append("–")
                continue
            pair = []
            for case in CASES:
                of = found.get((variant, work, case), [])
                means = [statistics.mean(number(row, name) for row in of)
                         for name in ("slowdown_pct", "slower_pct")] if of else None
                pair.append(f"{means[0]:.1f} ({means[1]:.1f})" if means else "–")
            cells.append(", ".join(pair))
        yield cells


def main():
    rows = list(csv.DictReader(open(sys.argv[1])))
    mixes = {(row["scheduler"], row["seed"], row["background"]): row for row in rows
             if row["variant"] == "" and row["work"] == "mixes"}
    tables = [schedulers(mixes, case) for case in CASES]
    for table in (*tables, parts(mixes), experiments(rows), variants(rows)):
        for cells in table:
            print("| " + " | ".join(cells) + " |")
        print()


main()
