#!/usr/bin/env python3
"""How the threads of x265 wait, from recordings: a line of CSV for each thread.

    python3 waits.py EVENKEEL NAME.ektrace... > waits.csv

A wait begins where a thread blocks (state S or D) and ends with its wake-up. `compute` is the CPU
time between two waits of a thread; a preemption does not end it. Times are in microseconds.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

LINE = re.compile(r"^\s*(.+)-(\d+)\s+\[\d+\]\s+\S+\s+([\d.]+): (\w+): (.*)$")
SWITCH = re.compile(r"prev_comm=(.+) prev_pid=(\d+) prev_prio=(-?\d+) prev_state=(\S+) ==> "
                    r"next_comm=(.+) next_pid=(\d+) next_prio=(-?\d+)")
WAKING = re.compile(r"comm=(.+) pid=(\d+) ")


class Thread:
    """What one thread of x265 did."""

    def __init__(self):
        self.nice = 0
        self.since = self.blocked = None
        self.run = self.compute = self.preempted = 0
        self.computes, self.waits = [], []


def threads_of(text):
    """The threads of x265 in ftrace's form of a recording."""
    threads = collections.defaultdict(Thread)
    for line in text:
        match = LINE.match(line)
        if not match:
            continue
        at = float(match[3]) * 1e6
        if match[4] == "sched_waking":
            woken = WAKING.match(match[5])
            thread = threads.get(woken[2])
            if thread and thread.blocked is not None:
                thread.waits.append(at - thread.blocked)
                thread.blocked = None
        elif match[4] == "sched_switch":
            switch = SWITCH.match(match[5])
            if switch[1] == "x265":
                leave(threads[switch[2]], at, switch[4], int(switch[3]) - 120)
            if switch[5] == "x265":
                threads[switch[6]].since = at
    return threads


def leave(thread, at, state, nice):
    """The thread leaves a CPU in this state."""
    thread.nice = nice
    if thread.since is not None:
        thread.run += at - thread.since
        thread.compute += at - thread.since
        thread.since = None
    if state[0] in "SD":
        thread.computes.append(thread.compute)
        thread.compute, thread.blocked = 0, at
    else:
        thread.preempted += 1


def quantiles(values):
    """The tenth least, the median and the tenth greatest of ten, and the mean."""
    if not values:
        return ["", "", "", ""]
    values = sorted(values)
    at = [values[min(len(values) - 1, int(len(values) * part))] for part in (0.1, 0.5, 0.9)]
    return [f"{value:.0f}" for value in [*at, sum(values) / len(values)]]


def main():
    """Prints the table."""
    evenkeel, *files = sys.argv[1:]
    print("recording,thread,nice,run_ms,waits,preempted,compute_10,compute_50,compute_90,"
          "compute_mean,wait_10,wait_50,wait_90,wait_mean")
    for name in files:
        with tempfile.NamedTemporaryFile("r", suffix=".txt") as text:
            subprocess.run([evenkeel, "trace", "export", "--format", "ftrace", "-o", text.name,
                            name], check=True, stdout=subprocess.DEVNULL)
            threads = threads_of(open(text.name, encoding="utf-8", errors="replace"))
        recording = os.path.basename(name).removesuffix(".ektrace")
        for tid, thread in sorted(threads.items(), key=lambda item: -item[1].run):
            if thread.run < 1000:
                continue
            row = [recording, tid, thread.nice, f"{thread.run / 1000:.1f}", len(thread.waits),
                   thread.preempted, *quantiles(thread.computes), *quantiles(thread.waits)]
            print(",".join(str(cell) for cell in row))


main()
