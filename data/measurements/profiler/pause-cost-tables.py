#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tables of the CSV files that pause-cost.py wrote beside this script; the looks are packed by xz.

The cost of a pair is how much longer the run with pauses took; the interval is that of the median,
by 10,000 bootstrap samples of the pairs. A machine without licenses has no loss, so each loss that
a look shows is false.
"""

import collections
import csv
import lzma
import pathlib
import random
import statistics

HERE = pathlib.Path(__file__).parent
BUCKET_US = 50


def rows(name):
    """The rows of a file."""
    unpack = lzma.open if name.endswith(".xz") else open
    with unpack(HERE / name, "rt", newline="", encoding="ascii") as file:
        yield from csv.DictReader(file)


def interval(values):
    """The 95 % interval of the median."""
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(10_000))
    return medians[250], medians[9749]


def costs():
    """Of each workload and rate."""
    runs = [row for row in rows("pause-cost.csv") if row["workload"] != "idle"]
    found = collections.defaultdict(list)
    # The two runs of a pair follow each other.
    for pair in zip(runs[::2], runs[1::2]):
        without, paused = sorted(pair, key=lambda row: float(row["samples_a_second"]))
        assert without["pair"] == paused["pair"] and float(without["samples_a_second"]) == 0, pair
        ratio = float(paused["seconds"]) / float(without["seconds"])
        found[paused["workload"], float(paused["samples_a_second"])].append(100 * (ratio - 1))
    print("| Workload | Samples a second | Pairs | Median cost, % | 95 % interval | Range |")
    print("|---|---|---|---|---|---|")
    for (workload, rate), values in found.items():
        low, high = interval(values)
        print(f"| {workload} | {rate:g} | {len(values)} | {statistics.median(values):+.2f} | "
              f"{low:+.2f} to {high:+.2f} | {min(values):+.2f}, {max(values):+.2f} |")


def spread(values):
    """The standard deviation in %, and a robust one from the median absolute deviation."""
    middle = statistics.median(values)
    robust = 1.4826 * statistics.median(abs(value - middle) for value in values)
    return 100 * statistics.pstdev(values) / middle, 100 * robust / middle


def above(shares):
    """The part of shares above 1 %, in %."""
    return f"{100 * sum(share > 0.01 for share in shares) / len(shares):.2f}"


def accuracy():
    """How far clocks spread, and which losses a machine shows that has none."""
    groups = collections.defaultdict(list)
    for row in rows("pause-cost-looks.csv.xz"):
        groups[row["workload"], row["samples_a_second"]].append(row)
    print("\n| Workload | Rate | Samples | Taken, % | Spread of first, last, again, % (robust) | "
          "Spread of a loss, points (robust) | Median spread of a block, % | Losses > 1 %, % | "
          "Gains > 1 %, % | Rises, % |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for (workload, rate), samples in groups.items():
        looks = [row for row in samples if row["outcome"] == "taken"]
        names = ("first_hz", "last_hz", "again_hz")
        clocks = [[float(row[name]) for row in looks] for name in names]
        losses = [1 - first / again for first, again in zip(clocks[0], clocks[2])]
        rises = [last / first - 1 for first, last in zip(clocks[0], clocks[1])]
        blocks = [float(row.get("block_rel_sd") or 0) for row in looks]
        middle = statistics.median(losses)
        robust = 1.4826 * statistics.median(abs(loss - middle) for loss in losses)
        spreads = ", ".join("{:.2f} ({:.2f})".format(*spread(values)) for values in clocks)
        print(f"| {workload} | {rate} | {len(samples)} | {100 * len(looks) / len(samples):.1f} | "
              f"{spreads} | {100 * statistics.pstdev(losses):.2f} ({100 * robust:.2f}) | "
              f"{100 * statistics.median(blocks):.2f} | "
              f"{above(losses)} | {above([-loss for loss in losses])} | {above(rises)} |")
        print(dict(collections.Counter(row["outcome"] for row in samples)))


def pauses():
    """How long the sampled CPU's tasks were paused in one sample, in steps of 50 us."""
    counts = collections.Counter(int(row["paused_ns"]) // 1000 // BUCKET_US * BUCKET_US
                                 for row in rows("pause-cost-looks.csv.xz"))
    print("\n| Paused, us | Samples |\n|---|---|")
    for start, count in sorted(counts.items()):
        print(f"| {start} to {start + BUCKET_US} | {count} |")


if __name__ == "__main__":
    costs()
    accuracy()
    pauses()
