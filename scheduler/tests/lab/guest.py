# SPDX-License-Identifier: MIT OR Apache-2.0
"""What tests in Python ask of the virtual machine: tasks, their CPUs, and sched_ext's state."""

import time

PATIENCE_S = 100
# Runs until it is killed.
HOG = ["-c", "while :; do :; done"]


def until(what, holds):
    """Waits for a condition; `what` says that it never held."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.05)


def state():
    """Of sched_ext: enabled or disabled, or on the way."""
    with open("/sys/kernel/sched_ext/state", encoding="ascii") as file:
        return file.read().strip()


def field(task, name, index):
    """A number of a file of a process's folder in /proc; after the name, if the file has one."""
    with open(f"/proc/{task.pid}/{name}", encoding="ascii") as file:
        return int(file.read().rpartition(")")[2].split()[index])


def cpus_of(task):
    """The CPUs that a task is seen on in two seconds: field 39 of its stat."""
    seen = set()
    for _ in range(40):
        seen.add(field(task, "stat", 36))
        time.sleep(0.05)
    return seen


def kill(tasks):
    """Ends tasks."""
    for task in tasks:
        task.kill()
        task.wait()
