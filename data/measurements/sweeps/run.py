#!/usr/bin/env python3
"""Figures of docs/measurements/sweeps.md: run.py EVENKEEL [FOLDER]; some five minutes.

Writes shards.csv: CPU time of one grid in one process and in several shards, in alternation, on one
thread each."""

import csv
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

EVENKEEL = sys.argv[1]
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent)
# Work, steps of the axis, shards, pairs. A point of parsec-x265 is one scheduler on its 30 runs.
GRIDS = [("light512", 11, 8, 15), ("parsec-x265", 101, 4, 4)]
GRID = """schema = 1
compare = "{work}"
schedulers = ["fair", "fair-isolation"]
replicates = 1
axis = [ {{ set = "smt-share", from = 550, to = {end}, steps = {steps} }} ]
"""


def cpu_s(room, shards):
    shutil.rmtree(room / "parts", ignore_errors=True)

    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    begin = used()
    for shard in range(1, shards + 1):
        words = [EVENKEEL, "sweep", room / "grid.toml", "-o", room / "parts", "--jobs", "1"]
        words += ["--shard", f"{shard}/{shards}"]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return used() - begin


def main():
    rows = []
    with tempfile.TemporaryDirectory() as room:
        room = Path(room)
        for work, steps, shards, pairs in GRIDS:
            end = 550 + steps - 1
            (room / "grid.toml").write_text(GRID.format(work=work, steps=steps, end=end))
            for pair in range(pairs):
                one, several = cpu_s(room, 1), cpu_s(room, shards)
                rows.append([work, 2 * steps, shards, pair, f"{one:.3f}", f"{several:.3f}"])
    with open(FOLDER / "shards.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["work", "points", "shards", "pair", "one_process_s", "shards_s"])
        writer.writerows(rows)
    for work, steps, shards, _ in GRIDS:
        of = [(float(row[4]), float(row[5])) for row in rows if row[0] == work]
        least = min(one for one, _ in of)
        more_s = statistics.median(several - one for one, several in of)
        shard_ms = 1000 * more_s / (shards - 1)
        print(f"{work}: {2 * steps / least * 3600:.0f} points a core-hour at best; one process")
        several = min(several for _, several in of)
        print(f"  {least:.2f} s, {shards} shards {several:.2f} s at best;")
        print(f"  median difference a further shard {shard_ms:.0f} ms")


main()
