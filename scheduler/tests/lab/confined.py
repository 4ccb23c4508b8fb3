#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Virtual CPUs: 3
# Limit in seconds: 280
"""Real programs under core specialization: x265, wide by its name, beside xz, openssl and a pipe.

Each gets on, as under fair-isolation. Threads of x265 are on CPUs of wide cores, but for moments,
and cores change no more often than the rules allow.
"""

import json
import signal
import socket
import subprocess
import time

from guest import field, kill, state, until

STATS = "/var/run/scx/" "root" "/stats"
LOADER = ["scx_evenkeel", "--watchdog", "5s", "--cpu", "xeon-gold-6130", "--sensors", "rules"]
LOADER += ["--rule", "x265*=avx512-heavy"]
FRAME = 320 * 180 * 3 // 2
SECONDS = 20
# Changes of cores a second that the rules allow in each cache: D's, and that by virtual time.
CHANGES_MAX = {"fair-isolation": 0, "specialize": 50, "fair-specialize": 200}


def start():
    """The programs, each of which goes on for longer than the test looks."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    x265 = ["x265", "--asm", "avx2", "--input-res", "320x180", "--fps", "30"]
    x265 += ["--input", "noise.yuv"]
    return {
        "x265": subprocess.Popen([*x265, "-o", "/dev/null"], **quiet),
        "xz": subprocess.Popen(["xz", "-9e", "-T1", "-k", "-c", "noise.yuv"], **quiet),
        "openssl": subprocess.Popen(["openssl", "speed", "-seconds", "300", "sha256"], **quiet),
        "pipe": subprocess.Popen(["perf", "bench", "sched", "pipe", "-l", "10000000"], **quiet),
    }


def cpu_ticks(task):
    """CPU time of a program: fields 14 and 15 of its stat."""
    return field(task, "stat", 11) + field(task, "stat", 12)


def counts():
    """The scheduler's own statistics."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(STATS)
        client.sendall(b'{"req":"stats"}\n')
        return json.loads(client.makefile().readline())["args"]["resp"]


def watch(mode):
    """Loads the scheduler beside the programs and looks for some seconds."""
    loader = subprocess.Popen([*LOADER, "--mode", mode], stderr=subprocess.DEVNULL)
    until("it was not loaded", lambda: state() == "enabled")
    tasks = start()
    # Their files are read, and their threads begun.
    time.sleep(5)
    before = counts()
    ran = {name: cpu_ticks(task) for name, task in tasks.items()}
    time.sleep(SECONDS)
    after = counts()
    assert state() == "enabled"
    ran = {name: cpu_ticks(task) - ran[name] for name, task in tasks.items()}
    assert all(task.poll() is None for task in tasks.values())
    kill(tasks.values())
    loader.send_signal(signal.SIGTERM)
    assert loader.wait() == 0
    until("it is still loaded", lambda: state() == "disabled")
    seconds = after["seconds"] - before["seconds"]
    grown = {name: after[name] - before[name] for name in ["core_changes", "misplaced_ns"]}
    # Ticks are of 10 ms.
    wide_s = ran["x265"] / 100
    row = {"mode": mode, "seconds": f"{seconds:.1f}"}
    row |= {f"{name}_cpu_s": f"{ticks / 100:.1f}" for name, ticks in ran.items()}
    row["core_changes_per_s"] = f"{grown['core_changes'] / seconds:.1f}"
    row["misplaced_pct"] = f"{grown['misplaced_ns'] / 1e7 / wide_s:.2f}" if wide_s else ""
    print(row)
    assert all(ticks > 10 for name, ticks in ran.items() if name != "pipe"), ran
    assert grown["core_changes"] <= CHANGES_MAX[mode] * seconds + 1, grown
    assert float(row["misplaced_pct"]) < 2, row


def main():
    """Each mode."""
    with open("noise.yuv", "wb") as file, open("/dev/urandom", "rb") as noise:
        for _ in range(600):
            file.write(noise.read(FRAME))
    for mode in CHANGES_MAX:
        watch(mode)


main()
