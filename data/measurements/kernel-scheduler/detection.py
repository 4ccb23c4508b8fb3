#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""How much of a program's CPU time did the kernel scheduler know as wide?

Takes files of scx_evenkeel --decisions. The time of all threads of a name counts as one program's;
the first second of each program is told apart, since everything is unknown then.
"""

import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "checker"))

import decisions  # noqa: E402 (the reader of these files)

LEAST_NS = 200_000_000
SECOND_NS = 1_000_000_000


def main():
    for path in sys.argv[1:]:
        found = decisions.read(path)
        began = {}
        times = defaultdict(lambda: [0, 0, 0, 0])
        for one in found.slices:
            name = found.names.get(one.victim, "?").split("/")[0]
            began.setdefault(name, one.time_ns)
            late = 2 * (one.time_ns - began[name] > SECOND_NS)
            times[name][late] += one.slice_ns
            times[name][late + 1] += one.slice_ns if one.own_level else 0
        print(f"{path}: {found.head['mode']}, {len(found.slices)} slices")
        for name, (early, early_wide, late, late_wide) in sorted(times.items()):
            if early + late < LEAST_NS:
                continue
            first = f"{100 * early_wide / early:6.1f} %" if early else "       -"
            then = f"{100 * late_wide / late:6.1f} %" if late else "       -"
            seconds = (early + late) / 1e9
            print(f"  {name:16} {seconds:7.2f} s, wide {first} of its first second, {then} after")


main()
