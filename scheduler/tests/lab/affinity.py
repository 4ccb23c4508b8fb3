#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Affinities that change while tasks run, wait and sleep: none is lost, and each obeys its last."""

import os
import random
import subprocess
import sys
import time

BUSY = ["sh", "-c", "while :; do :; done"]
SLEEPY = ["perl", "-e", "select undef, undef, undef, 0.01 while 1"]
SECONDS = 20
PATIENCE = 10


def field(task, name, index):
    """A number of a file of /proc."""
    with open(f"/proc/{task.pid}/{name}", encoding="ascii") as file:
        return int(file.read().rpartition(")")[2].split()[index])


def ran(task):
    """How often it came to a CPU."""
    return field(task, "schedstat", 2)


def last_cpu(task):
    """Where it ran last: field 39 of its stat, counted from the state, field 3."""
    return field(task, "stat", 36)


def main():
    """Changes affinities at random, then looks whether every task goes on where it may."""
    chance = random.Random(1)
    loader = subprocess.Popen(["scx_evenkeel", "--watchdog", "5s"])
    with open("/sys/kernel/sched_ext/state", encoding="ascii") as state:
        while state.read().strip() != "enabled":
            assert loader.poll() is None, "it was not loaded"
            time.sleep(0.1)
            state.seek(0)
    cpus = sorted(os.sched_getaffinity(0))
    choices = [{cpu} for cpu in cpus] + [set(cpus)]
    tasks = [subprocess.Popen(command) for command in [BUSY] * 6 + [SLEEPY] * 6]
    end = time.monotonic() + SECONDS
    changes = 0
    while time.monotonic() < end:
        os.sched_setaffinity(chance.choice(tasks).pid, chance.choice(choices))
        changes += 1
    last = [chance.choice(choices[:-1]) for _ in tasks]
    for task, allowed in zip(tasks, last):
        os.sched_setaffinity(task.pid, allowed)
    time.sleep(1)
    before = [ran(task) for task in tasks]
    waits = list(zip(tasks, before))
    end = time.monotonic() + PATIENCE
    while waits and time.monotonic() < end:
        time.sleep(0.5)
        waits = [(task, runs) for task, runs in waits if ran(task) == runs]
    lost = [task.args[2] for task, _ in waits]
    astray = [task.args[2] for task, allowed in zip(tasks, last) if last_cpu(task) not in allowed]
    for task in tasks:
        task.kill()
        task.wait()
    loader.terminate()
    assert loader.wait() == 0, "it was ejected"
    print(f"{changes} changes; lost {lost}, astray {astray}")
    sys.exit(bool(lost or astray))


main()
