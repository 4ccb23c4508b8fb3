#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The model of a scheduler beside the kernel's source, on every scenario.

Writes a CSV to standard output and says on standard error where the bounds do not hold. Takes the
evenkeel program to run (built with the feature `scx`).
"""

import argparse
import csv
import json
import re
import subprocess
import sys

SWITCHES_MIN, SWITCHES_MAX = 0.6, 1.3
COLUMNS = [
    "scenario",
    "background",
    "model_slowdown_pct",
    "source_slowdown_pct",
    "model_switches_s",
    "source_switches_s",
    "model_migrations",
    "source_migrations",
    "model_wake_p99_us",
    "source_wake_p99_us",
]


def scenarios(program):
    listed = subprocess.run([program, "scenarios"], stdout=subprocess.PIPE, check=True)
    return re.findall(r"^[a-z][a-z0-9-]*", listed.stdout.decode(), re.MULTILINE)


def compare(args, scenario):
    """Figures by background, then by scheduler."""
    both = f"{args.scheduler},scx:{args.scheduler}"
    command = [args.program, "compare", scenario, "--scheduler", both, "--set", "queues=llc"]
    command += ["--set", "hz=1000", "--sensors", args.sensors, "--json", "-"]
    command += ["--replicates", str(args.replicates)] if args.replicates else []
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    found = {}
    for run in json.loads(done.stdout)["runs"]:
        found.setdefault(run["background"], {})[run["scheduler"]] = [
            run["isolation_slowdown_pct"] or 0.0,
            run["switches"] / run["simulated_s"],
            run["migrations"],
            (run["wake_latency"] or {}).get("p99_us") or 0.0,
        ]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="evenkeel, built with the feature scx")
    parser.add_argument("--scheduler", default="fair", help="fair, fair-isolation, even")
    parser.add_argument("--sensors", default="rules", help="what tells classes")
    parser.add_argument("--points", type=float, default=5.0, help="bound of the slowdowns")
    parser.add_argument("--replicates", type=int, default=1, help="0: as many as the scenario has")
    args = parser.parse_args()
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    rows = missed = 0
    for scenario in scenarios(args.program):
        for background, found in compare(args, scenario).items():
            pairs = list(zip(found[args.scheduler], found[f"scx:{args.scheduler}"]))
            (slow, source_slow), (switches, source_switches) = pairs[:2]
            figures = [f"{figure:.2f}" for pair in pairs for figure in pair]
            writer.writerow([scenario, background, *figures])
            rows += 1
            ratio = source_switches / switches
            is_near = abs(source_slow - slow) <= args.points
            if not is_near or not SWITCHES_MIN <= ratio <= SWITCHES_MAX:
                missed += 1
                print(
                    f"{scenario}, {background}: {slow:.1f} and {source_slow:.1f} %, "
                    f"switches {ratio:.2f} times the model's",
                    file=sys.stderr,
                )
    print(f"{rows - missed} of {rows} within bounds", file=sys.stderr)


main()
