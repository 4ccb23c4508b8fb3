"""What the threads of one program did in a recording: for waits.py here and in x265-waits."""
import collections
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
        self.nice = 0
        self.since = self.blocked = None
        self.run = self.compute = self.preempted = 0
        self.computes, self.waits = [], []

    def leave(self, at, state):
        """The thread leaves a CPU in this state."""
        if self.since is not None:
            self.run += at - self.since
            self.compute += at - self.since
            self.since = None
        if state[0] in "SD":
            self.computes.append(self.compute)
            self.compute, self.blocked = 0, at
        else:
            self.preempted += 1


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

    def follow(self, evenkeel, recording):
        """Reads a recording, in ftrace's form."""
        with tempfile.NamedTemporaryFile("r", suffix=".txt") as text:
            subprocess.run([evenkeel, "trace", "export", "--format", "ftrace", "-o", text.name,
                            recording], check=True, stdout=subprocess.DEVNULL)
            self.read(open(text.name, encoding="utf-8", errors="replace"))

    def read(self, text):
        """Follows the lines of ftrace."""
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
            thread.nice = int(switch[3]) - 120
            thread.leave(at, switch[4])
            if switch[4][0] in "SDXZ":
                self.runnable.discard(switch[2])
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
