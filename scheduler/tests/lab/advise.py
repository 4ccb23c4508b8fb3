#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Virtual CPUs: 3
# Limit in seconds: 420
"""`evenkeel advise --live` switches core specialization of the scheduler that runs, and says so.

Three wide tasks with one core for them lose two thirds of their CPU time, and one wide task loses
none. Whether `advise` ends or is killed, specialization is on again.
"""

import json
import shutil
import signal
import subprocess
import time

from guest import HOG, cpus_of, kill, state, until

LOADER = ["scx_evenkeel", "--watchdog", "5s", "--cpu", "xeon-gold-6130"]
LOADER += ["--rule", "wide*=avx512-heavy"]


def load(*arguments):
    """Loads the scheduler."""
    loader = subprocess.Popen(LOADER + list(arguments))
    until("it was not loaded", lambda: state() == "enabled")
    until("no statistics", lambda: "no scx_evenkeel runs" not in complaint("--progress", "echo 1"))
    return loader


def unload(loader):
    """Ends the scheduler."""
    loader.send_signal(signal.SIGTERM)
    assert loader.wait() == 0
    until("it is still loaded", lambda: state() == "disabled")


def start(narrow, wide):
    """Starts tasks, each of which would use a CPU for itself."""
    programs = ["sh"] * narrow + ["./wide-hog"] * wide
    return [subprocess.Popen([program] + HOG) for program in programs]


def command(tasks, *arguments):
    """`advise`, for which the work is the CPU time of tasks."""
    files = " ".join(f"/proc/{task.pid}/schedstat" for task in tasks)
    progress = ["--progress", f"cat {files} | awk '{{ s += $1 }} END {{ printf \"%.0f\", s }}'"]
    return ["evenkeel", "advise", "--live", *progress, *arguments]


def complaint(*arguments):
    """The sentence with which `advise` ends after no pair, or nothing after five seconds."""
    words = ["timeout", "5", "evenkeel", "advise", "--live", *arguments]
    done = subprocess.run(words, stderr=subprocess.PIPE, text=True, check=False)
    return done.stderr


def advise(tasks):
    """The change that is found, and the verdict."""
    words = command(tasks, "--window", "500", "--pairs", "10", "--json", "-")
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)
    switched = json.loads(done.stdout)["switched"]
    print(switched["change_pct"], switched["verdict"])
    return switched["change_pct"]["value"], switched["verdict"]


def harms():
    """A core too few for wide tasks. What is off while `advise` runs is on after it."""
    loader = load("--mode", "specialize", "--wide-cores", "1")
    tasks = start(0, 3)
    change, verdict = advise(tasks)
    assert verdict == "harms" and -80 < change < -40, (change, verdict)
    assert all(cpus_of(task) == {2} for task in tasks)

    killed = subprocess.Popen(command(tasks, "--window", "60000"))
    until("it was not switched off", lambda: cpus_of(tasks[0]) | cpus_of(tasks[1]) != {2})
    killed.kill()
    killed.wait()
    time.sleep(1)
    assert all(cpus_of(task) == {2} for task in tasks)
    kill(tasks)
    unload(loader)


def does_not_harm():
    """A core for each task."""
    loader = load("--mode", "fair-specialize", "--wide-cores", "1")
    tasks = start(2, 1)
    change, verdict = advise(tasks)
    assert verdict != "harms" and abs(change) < 25, (change, verdict)
    kill(tasks)
    unload(loader)


def main():
    """All of it."""
    shutil.copy(shutil.which("sh"), "wide-hog")
    said = complaint("--progress", "echo 1")
    assert "no scx_evenkeel runs here" in said, said
    loader = load("--mode", "fair-isolation")
    assert "has no core specialization" in complaint("--progress", "echo 1")
    assert "--progress CMD names a command" in complaint()
    unload(loader)
    harms()
    does_not_harm()


main()
