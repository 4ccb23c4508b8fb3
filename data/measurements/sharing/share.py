"""What runs beside and before the threads of a program, from traces of sched_switch.

    python3 share.py THREADS TRACE PROGRAM CULPRIT

TRACE is text of ftrace: of the kernel, or of `evenkeel trace export --format ftrace`. The other
functions are for tables.py. CPUs 2k and 2k + 1 are siblings.
"""

import bisect
import re
import statistics
import sys

LINE = re.compile(
    r"\[(\d+)\] \S+\s+(\d+\.\d+): sched_switch: prev_comm=(.*?) prev_pid=(\d+) prev_prio=\d+"
    r" prev_state=(\S+) ==> next_comm=(.*?) next_pid=(\d+) ")
HOLD_S = 670e-6
VICTIM, CULPRIT, OTHER, IDLE = "victim", "culprit", "other", "idle"


def kind(comm, pid, program, culprit):
    """What a thread is, by its name; the simulator appends its number."""
    if pid == 0:
        return IDLE
    for name, result in ((program, VICTIM), (culprit, CULPRIT)):
        # Fifteen letters are kept of a name.
        if comm.split("/")[0].split(".")[0] == name[:15]:
            return result
    return OTHER


def runs(path, cpus, program, culprit):
    """By CPU a list of (begin, end, kind, pid, state at the end)."""
    found = [[] for _ in range(cpus)]
    since = [(None, IDLE, 0)] * cpus
    with open(path) as file:
        for line in file:
            match = LINE.search(line)
            if not match:
                continue
            cpu, time = int(match[1]), float(match[2])
            begin, what, pid = since[cpu]
            if begin is None:
                what, pid = kind(match[3], int(match[4]), program, culprit), int(match[4])
            else:
                found[cpu].append((begin, time, what, pid, match[5]))
            since[cpu] = (time, kind(match[6], int(match[7]), program, culprit), int(match[7]))
    return found


def pieces(busy, cpu):
    """Pieces of the CPU's victim runs in which the sibling does one thing: (begin, end, what)."""
    beside = busy[cpu ^ 1]
    ends = [run[1] for run in beside]
    for begin, end, what, _, _ in busy[cpu]:
        if what != VICTIM:
            continue
        at = begin
        i = bisect.bisect_right(ends, begin)
        while at < end:
            if i >= len(beside):
                break
            other = beside[i]
            until = min(end, other[1])
            if other[0] < end and until > at:
                yield max(at, other[0]), until, other[2]
            at = max(at, until)
            i += 1


def wide_before(busy, core):
    """Ends of culprit runs on the core, sorted."""
    return sorted(run[1] for cpu in (2 * core, 2 * core + 1) for run in busy[cpu]
                  if run[2] == CULPRIT)


def summary(path, cpus, program, culprit):
    """Shares of the program's CPU time, and counts."""
    busy = runs(path, cpus, program, culprit)
    victims = [run for cpu in busy for run in cpu if run[2] == VICTIM]
    first, last = min(run[0] for run in victims), max(run[1] for run in victims)
    time = {VICTIM: 0.0, CULPRIT: 0.0, OTHER: 0.0, IDLE: 0.0}
    held = 0.0
    for cpu in range(cpus):
        ends = wide_before(busy, cpu // 2)
        for begin, end, what in pieces(busy, cpu):
            time[what] += end - begin
            if what == CULPRIT:
                continue
            # The level of a culprit that stopped on this core is still in force.
            i = bisect.bisect_right(ends, begin)
            covered = begin
            for stop in ends[max(0, i - 1):bisect.bisect_left(ends, end)]:
                low, high = max(covered, stop), min(end, stop + HOLD_S)
                if high > low:
                    held += high - low
                    covered = high
    slices = [run[1] - run[0] for run in victims if run[4].startswith("R")]
    total = sum(time.values())
    cpu_time = sum(run[1] - run[0] for run in victims)
    inside = [run for cpu in busy for run in cpu if run[1] > first and run[0] < last]

    def used(what):
        return sum(min(run[1], last) - max(run[0], first) for run in inside if run[2] == what)

    return {
        "beside_culprit": time[CULPRIT] / total,
        "beside_victim": time[VICTIM] / total,
        "beside_idle": (time[IDLE] + time[OTHER]) / total,
        "held": held / total,
        "wide": (time[CULPRIT] + held) / total,
        "victim_cpus": used(VICTIM) / (last - first),
        "culprit_cpus": used(CULPRIT) / (last - first),
        "other_cpus": used(OTHER) / (last - first),
        "switches": sum(1 for run in victims),
        "preempted": sum(1 for run in victims if run[4].startswith("R")),
        "slice_ms": 1000 * statistics.median(slices) if slices else 0,
        "cpu_time_s": cpu_time,
        "elapsed_s": last - first,
    }


if __name__ == "__main__":
    for key, value in summary(sys.argv[2], int(sys.argv[1]), sys.argv[3], sys.argv[4]).items():
        print(f"{key:16} {value:10.4f}")
