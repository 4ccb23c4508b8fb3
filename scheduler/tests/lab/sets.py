#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Virtual CPUs: 4
# Limit in seconds: 400
"""Busy tasks bound to sets of CPUs, as containers are, get shares by weight within their set, and
the scheduler is not ejected; a real-time task leaves no task waiting on the CPU that it takes.

With the argument `eevdf` no scheduler is loaded, and nothing is judged."""

import os
import subprocess
import sys
import time

# Of a share. What the host takes from a virtual CPU counts as work of the task there.
TOLERANCE = 0.05
BUSY = ["sh", "-c", "while :; do :; done"]
LEFT, RIGHT = [0, 1], [2, 3]


def cpu_time_s(task):
    """Of a process, by the kernel."""
    with open(f"/proc/{task.pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


def start(nice, cpus):
    """A busy task on these CPUs."""
    task = subprocess.Popen(BUSY)
    os.sched_setaffinity(task.pid, cpus)
    os.setpriority(os.PRIO_PROCESS, task.pid, nice)
    return task


def shares(tasks, seconds):
    """Of the CPU time of these tasks together, within a while."""
    before = [cpu_time_s(task) for task in tasks]
    time.sleep(seconds)
    used = [cpu_time_s(task) - ran for task, ran in zip(tasks, before)]
    return [ran / sum(used) for ran in used]


def end(tasks):
    """Ends tasks."""
    for task in tasks:
        task.kill()
    for task in tasks:
        task.wait()


def off(name, tasks, wanted, seconds):
    """How far the share that is furthest off is from what it should be."""
    found = shares(tasks, seconds)
    print(name, *(f"{a:.3f}/{b:.3f}" for a, b in zip(found, wanted)), flush=True)
    return max(abs(a - b) for a, b in zip(found, wanted))


def weights():
    """Nice 0 and nice 10 on a CPU beside six tasks elsewhere; and two and two on two CPUs."""
    beside = [start(0, LEFT) for _ in range(6)]
    one = [start(nice, [2]) for nice in (0, 10)]
    time.sleep(2)
    yield off("one CPU:", one, [0.903, 0.097], 10)
    end(one)
    # A task has one CPU at most, and 1024 : 110 is worth 0.903 of one to each of nice 0.
    two = [start(nice, RIGHT) for nice in (0, 0, 10, 10)]
    time.sleep(2)
    yield off("two CPUs:", two, [0.4515, 0.4515, 0.0485, 0.0485], 10)
    end(two + beside)


def newcomers():
    """Two old tasks and two new ones share two CPUs beside eight tasks elsewhere."""
    beside = [start(0, LEFT) for _ in range(8)]
    old = [start(0, RIGHT) for _ in range(2)]
    time.sleep(6)
    new = [start(0, RIGHT) for _ in range(2)]
    time.sleep(2)
    yield off("old, new:", old + new, [0.25] * 4, 8)
    end(beside + old + new)


def light():
    """Light tasks of a set wait, but not for ever, beside heavy ones there and tasks elsewhere."""
    tasks = [start(0, LEFT) for _ in range(4)]
    tasks += [start(-10, RIGHT) for _ in range(6)] + [start(19, RIGHT) for _ in range(10)]
    before = [cpu_time_s(task) for task in tasks]
    time.sleep(15)
    slept = [cpu_time_s(task) - ran for task, ran in zip(tasks, before)]
    print("light tasks ran for", *(f"{ran:.3f}" for ran in slept[-10:]), "s", flush=True)
    yield 0 if min(slept) > 0 else 1
    end(tasks)


def real_time():
    """Of busy tasks that may run everywhere none stands still while a real-time task has a CPU."""
    tasks = [start(0, LEFT + RIGHT) for _ in range(4)]
    time.sleep(2)
    fifo = subprocess.Popen(["taskset", "-c", "1", "chrt", "-f", "10", *BUSY])
    time.sleep(0.2)
    longest, ran, since = 0, [cpu_time_s(task) for task in tasks], [time.monotonic()] * 4
    until = time.monotonic() + 0.7
    while time.monotonic() < until:
        time.sleep(0.01)
        for index, task in enumerate(tasks):
            now_s = cpu_time_s(task)
            if now_s > ran[index]:
                ran[index], since[index] = now_s, time.monotonic()
            longest = max(longest, time.monotonic() - since[index])
    print(f"beside a real-time task none ran for {longest:.3f} s at most", flush=True)
    end([fifo] + tasks)
    yield 0 if longest < 0.2 else 1


def main():
    """Loads the scheduler and compares."""
    is_ours = sys.argv[1:] != ["eevdf"]
    # What judges must not wait for what is judged.
    os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(50))
    if is_ours:
        loader = subprocess.Popen(["scx_evenkeel", "--watchdog", "5s"])
        while open("/sys/kernel/sched_ext/state", encoding="ascii").read().strip() != "enabled":
            assert loader.poll() is None, "it was not loaded"
            time.sleep(0.1)
    found = [distance for test in (weights, newcomers, light, real_time) for distance in test()]
    if is_ours:
        loader.terminate()
        assert loader.wait() == 0, "it was ejected"
        sys.exit(max(found) > TOLERANCE)


main()
