#!/usr/bin/env python3
"""How the threads of x265 wait, from recordings: a line of CSV for each thread.

    python3 waits.py EVENKEEL NAME.ektrace... > waits.csv

A wait begins where a thread blocks (state S or D) and ends with its wake-up. `compute` is the CPU
time between two waits of a thread; a preemption does not end it. Times are in microseconds.
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program-waits"))
from recorded import Program, quantiles


def main():
    """Prints the table."""
    evenkeel, *files = sys.argv[1:]
    print("recording,thread,nice,run_ms,waits,preempted,compute_10,compute_50,compute_90,"
          "compute_mean,wait_10,wait_50,wait_90,wait_mean")
    for name in files:
        program = Program("x265")
        program.follow(evenkeel, name)
        recording = os.path.basename(name).removesuffix(".ektrace")
        for tid, thread in sorted(program.threads.items(), key=lambda item: -item[1].run):
            if thread.run < 1000:
                continue
            row = [recording, tid, thread.nice, f"{thread.run / 1000:.1f}", len(thread.waits),
                   thread.preempted, *quantiles(thread.computes), *quantiles(thread.waits)]
            print(",".join(str(cell) for cell in row))


main()
