#!/usr/bin/env python3
"""How the threads of programs wait, from recordings: a line of CSV for each recording.

    python3 waits.py EVENKEEL NAME-THREADS.ektrace... > waits.csv

NAME begins with the program's, up to a hyphen. `workers` are threads with a tenth of the CPU time
of the busiest but one. `alone` is the share of the program's CPU time in which no other thread of
it could run. A wait begins where a worker blocks (state S or D) and ends with its wake-up;
`compute` is the CPU time between two waits of a worker (a preemption does not end it): its tenth
least, median, tenth greatest of ten, and mean. `spread` is the standard deviation of those
`compute` above 50 us, as a share of their mean. Times are in us.
"""
import collections
import os
import re
import statistics
import subprocess
import sys
import tempfile

LINE = re.compile(r"^\s*(.+)-(\d+)\s+\[\d+\]\s+\S+\s+([\d.]+): (\w+): (.*)$")
SWITCH = re.compile(r"prev_comm=(.+) prev_pid=(\d+) prev_prio=(-?\d+) prev_state=(\S+) ==> "
                    r"next_comm=(.+) next_pid=(\d+) next_prio=(-?\d+)")
WAKING = re.compile(r"comm=(.+) pid=(\d+) ")


class Thread:
    """What one thread did."""

    def __init__(self):
        self.since = self.blocked = None
        self.run = self.compute = 0
        self.computes, self.waits = [], []


class Program:
    """The threads of one name, and when only one of them could run."""

    def __init__(self, name):
        self.name = name
        self.threads = collections.defaultdict(Thread)
        self.runnable = set()
        self.alone = 0
        self.last = 0

    def advance(self, at):
        """Counts the time since the last event as alone where one thread could run and does."""
        if len(self.runnable) == 1:
            (tid,) = self.runnable
            if self.threads[tid].since is not None:
                self.alone += at - self.last
        self.last = at

    def read(self, text):
        """Follows ftrace's form of a recording."""
        for line in text:
            match = LINE.match(line)
            if not match:
                continue
            at = float(match[3]) * 1e6
            if match[4] == "sched_waking":
                self.waking(WAKING.match(match[5]), at)
            elif match[4] == "sched_switch":
                self.switch(SWITCH.match(match[5]), at)

    def waking(self, woken, at):
        """A thread may run again."""
        if woken[1] != self.name:
            return
        self.advance(at)
        thread = self.threads[woken[2]]
        self.runnable.add(woken[2])
        if thread.blocked is not None:
            thread.waits.append(at - thread.blocked)
            thread.blocked = None

    def switch(self, switch, at):
        """One thread leaves a CPU, another begins."""
        self.advance(at)
        if switch[1] == self.name:
            thread = self.threads[switch[2]]
            if thread.since is not None:
                thread.run += at - thread.since
                thread.compute += at - thread.since
                thread.since = None
            if switch[4][0] in "SDXZ":
                self.runnable.discard(switch[2])
            if switch[4][0] in "SD":
                thread.computes.append(thread.compute)
                thread.compute, thread.blocked = 0, at
        if switch[5] == self.name:
            self.runnable.add(switch[6])
            self.threads[switch[6]].since = at


def quantiles(values):
    """The tenth least, the median and the tenth greatest of ten, and the mean."""
    if not values:
        return ["", "", "", ""]
    values = sorted(values)
    at = [values[min(len(values) - 1, int(len(values) * part))] for part in (0.1, 0.5, 0.9)]
    return [f"{value:.0f}" for value in [*at, statistics.mean(values)]]


def main():
    """Prints the table."""
    evenkeel, *files = sys.argv[1:]
    print("program,threads,workers,cpu_ms,alone,waits,per_cpu_ms,compute_10,compute_50,compute_90,"
          "compute_mean,spread,wait_10,wait_50,wait_90,wait_mean")
    for name in files:
        called, threads = os.path.basename(name).removesuffix(".ektrace").rsplit("-", 1)
        program = Program(called.split("-")[0][:15])
        with tempfile.NamedTemporaryFile("r", suffix=".txt") as text:
            subprocess.run([evenkeel, "trace", "export", "--format", "ftrace", "-o", text.name,
                            name], check=True, stdout=subprocess.DEVNULL)
            program.read(open(text.name, encoding="utf-8", errors="replace"))
        runs = sorted((thread.run for thread in program.threads.values()), reverse=True)
        least = runs[min(1, len(runs) - 1)] / 10
        workers = [thread for thread in program.threads.values() if thread.run >= least]
        cpu = sum(runs)
        computes = [compute for thread in workers for compute in thread.computes]
        waits = [wait for thread in workers for wait in thread.waits]
        long = [compute for compute in computes if compute > 50]
        spread = statistics.pstdev(long) / statistics.mean(long) if long else 0
        row = [called, threads, len(workers), f"{cpu / 1000:.1f}", f"{program.alone / cpu:.3f}",
               len(computes), f"{len(computes) / (cpu / 1000):.4f}", *quantiles(computes),
               f"{spread:.2f}", *quantiles(waits)]
        print(",".join(str(cell) for cell in row), flush=True)


main()
