#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Busy tasks get CPU time in proportion to their weights, each within 2 % of its share."""

import os
import subprocess
import sys
import time

TOLERANCE = 0.02
# kernel/sched/core.c, sched_prio_to_weight; nearly 4 : 2 : 1.
WEIGHT = {0: 1024, 3: 526, 6: 272}
BUSY = ["sh", "-c", "while :; do :; done"]


def state():
    """What sched_ext does."""
    with open("/sys/kernel/sched_ext/state", encoding="ascii") as file:
        return file.read().strip()


def cpu_time_ns(task):
    """Of a process, by the kernel."""
    with open(f"/proc/{task.pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0])


def times_ns(tasks):
    """Of each task, the mean over three seconds: when the host stops a CPU of the machine for a
    while, its task is ahead until the others have caught up."""
    looks = []
    for _ in range(30):
        looks.append([cpu_time_ns(task) for task in tasks])
        time.sleep(0.1)
    return [sum(look) / len(looks) for look in zip(*looks)]


def start(nice, cpus):
    """A busy task on these CPUs."""
    task = subprocess.Popen(BUSY)
    os.setpriority(os.PRIO_PROCESS, task.pid, nice)
    os.sched_setaffinity(task.pid, cpus)
    return task


def worst(name, nices, cpus, seconds):
    """How far the share that is furthest off is from the expected one, relatively."""
    tasks = [start(nice, cpus) for nice in nices]
    time.sleep(1)
    before = times_ns(tasks)
    time.sleep(seconds)
    used = [after - ns for after, ns in zip(times_ns(tasks), before)]
    for task in tasks:
        task.kill()
        task.wait()
    weights = [WEIGHT[nice] for nice in nices]
    found = [ns / sum(used) for ns in used]
    wanted = [weight / sum(weights) for weight in weights]
    print(name, *(f"{a:.4f}/{b:.4f}" for a, b in zip(found, wanted)), flush=True)
    return max(abs(a / b - 1) for a, b in zip(found, wanted))


def main():
    """Loads the scheduler and compares."""
    loader = subprocess.Popen(["scx_evenkeel", "--watchdog", "5s"])
    while state() != "enabled":
        assert loader.poll() is None, "it was not loaded"
        time.sleep(0.1)
    every = sorted(os.sched_getaffinity(0))
    off = [
        worst("one CPU ", [0, 3, 6], every[:1], 15),
        worst("all CPUs", [0, 3, 6] * len(every), every, 25),
    ]
    loader.terminate()
    assert loader.wait() == 0, "it was ejected"
    print(f"off by at most {100 * max(off):.2f} %")
    sys.exit(max(off) > TOLERANCE)


main()
