#!/usr/bin/env python3
"""Figures of docs/measurements/frequency-policies.md: run.py EVENKEEL [FOLDER]; some five minutes.

Writes open.csv (`evenkeel dvfs`: D's study by program), closed.csv (the same policies where
schedulers react) and hardware.csv (what D's proposed hardware gives beside the counters and traps
of today), and prints the tables of the page."""

import csv
import json
import subprocess
import sys
from pathlib import Path

EVENKEEL = sys.argv[1]
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent)
POLICIES = ["stock", "2-competitive", "adaptive", "oracle"]
# T068 to T071: with hyper-threads, and without.
PUBLISHED = {"": [18.2, 15.2, None, 14.2], "-no-ht": [8.5, None, None, None]}
# The setting of `compare` for each policy but the oracle.
CLOSED = {"stock": [], "2-competitive": ["hold-us=150"], "adaptive": ["adaptive-holds=true"]}


def run(*words):
    words = [EVENKEEL, *words, "--json", "-"]
    return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)


def write(name, rows):
    with open(FOLDER / name, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def open_loop():
    rows, shown = [], []
    for suffix, published in PUBLISHED.items():
        overheads = {policy: [] for policy in POLICIES}
        ratios = {policy: [] for policy in POLICIES}
        for work in ("parsec-onednn-four-cores", "nginx-crypto-four-cores"):
            for policy in run("dvfs", work + suffix, "--replicates", "8")["policies"]:
                name = policy["policy"]
                ratios[name].append(policy["worst_ratio"])
                for program, overhead in policy["overhead_pct"].items():
                    overheads[name].append(overhead)
                    rows.append({"scenario": work + suffix, "program": program, "policy": name,
                                 "overhead_pct": round(overhead, 2)})
        threads = "without" if suffix else "with"
        for name, figure in zip(POLICIES, published):
            mean = sum(overheads[name]) / len(overheads[name])
            shown.append((f"{threads} hyper-threads", name, figure or "", f"{mean:.1f}",
                          f"{max(ratios[name]):.2f}"))
    write("open.csv", rows)
    table(["", "policy", "published, %", "ours, %", "largest ratio of a core"], shown)


def closed_loop():
    rows, shown = [], []
    schedulers = ["cfs", "fair", "fair-isolation", "even", "fair-specialize"]
    for work in ("parsec-x265", "parsec-onednn", "nginx-crypto"):
        for policy, settings in CLOSED.items():
            words = [word for setting in settings for word in ("--set", setting)]
            found = run("compare", work, "--background", "avx512", "--replicates", "4",
                        "--scheduler", ",".join(schedulers), *words)["runs"]
            by_scheduler = {}
            for one in found:
                if one["background"] != "avx512":
                    continue
                by_scheduler[one["scheduler"]] = one
                rows.append({"scenario": work, "policy": policy, "scheduler": one["scheduler"],
                             "isolation_slowdown_pct": round(one["isolation_slowdown_pct"], 2),
                             "remote_avx_overhead_pct": round(one["remote_avx_overhead_pct"], 2)})
            figure = lambda name: by_scheduler[name]["isolation_slowdown_pct"]
            shown.append((work, policy, *(f"{figure(name):.1f}" for name in schedulers)))
    write("closed.csv", rows)
    table(["", "policy", *schedulers], shown)


def missed_points(run_of):
    """How far the time that was given back is from the time lost, in points of CPU time."""
    lost, repaid = {}, {}
    for loss in run_of["losses"]:
        lost[loss["victim"]] = lost.get(loss["victim"], 0) + loss["lost_s"]
        repaid[loss["victim"]] = repaid.get(loss["victim"], 0) + loss["repaid_s"]
    cpu = {task["name"]: task["cpu_time_s"] for task in run_of["tasks"]}
    errors = [100 * abs(repaid[name] - lost[name]) / cpu[name] for name in lost if cpu.get(name)]
    return sum(errors) / len(errors) if errors else 0.0


def hardware():
    rows, shown = [], []
    for work in ("parsec-x265", "parsec-onednn", "light512"):
        for build in ("avx2", "avx512"):
            for sensors in ("d7", "proposed"):
                found = run("compare", work, "--replicates", "4", "--sensors", sensors,
                            "--scheduler", "fair-isolation,even,specialize")["runs"]
                of = {one["scheduler"]: one for one in found if one["background"] == build}
                if not of:
                    continue
                row = {"scenario": work, "background": build, "sensors": sensors,
                       "missed_points": round(missed_points(of["fair-isolation"]), 2)}
                for name, one in of.items():
                    row[f"{name}_pct"] = round(one["isolation_slowdown_pct"], 2)
                row["specialize_overhead_pct"] = round(
                    of["specialize"]["remote_avx_overhead_pct"], 2)
                rows.append(row)
                shown.append(row.values())
    write("hardware.csv", rows)
    table(rows[0].keys(), shown)


open_loop()
closed_loop()
hardware()
