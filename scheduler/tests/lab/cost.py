#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Limit in seconds: 600
# The kernel may say: "simple" enabled
# The kernel may say: "simple" disabled (unregistered from user space)
"""Instructions an operation under each scheduler, and those of each operation of sched_ext.

For a machine whose clock advances by 1 ns with each instruction: its times are instructions. Writes
cost.csv and callbacks.csv.
"""

import csv
import json
import subprocess
import time

ROUNDS = 3
SCHEDULERS = {
    "eevdf": [],
    "scx_simple": ["load_object", "/run/result/bin/scx_simple.bpf.o"],
    "fair": ["scx_evenkeel"],
    "fair-isolation": ["scx_evenkeel", "--mode", "fair-isolation", "--cpu", "cpu.toml"],
    "specialize": ["scx_evenkeel", "--mode", "specialize", "--cpu", "cpu.toml"],
    "fair-specialize": ["scx_evenkeel", "--mode", "fair-specialize", "--cpu", "cpu.toml"],
}
# Operations in a run: a byte there and back; messages of 20 senders to 20 receivers each.
WORKS = {
    "pipe": (["pipe", "-l", "2000"], 2000),
    "messaging": (["messaging", "-g", "2", "-l", "40"], 2 * 20 * 20 * 40),
}


def write_cpu():
    """A CPU on which 256-bit code demands nothing: the interpreter shows its registers always."""
    with open("/run/result/bin/xeon-gold-6130.toml", encoding="utf-8") as file:
        table = file.read()
    rule = 'class = "avx2-heavy", rate = 0.5, level = "avx2"'
    assert rule in table
    with open("cpu.toml", "w", encoding="utf-8") as file:
        file.write(table.replace(rule, rule.replace('"avx2"', '"non-avx"')))


def wait_for(state):
    """Until sched_ext is in that state."""
    for _ in range(100):
        with open("/sys/kernel/sched_ext/state", encoding="ascii") as file:
            if file.read().strip() == state:
                return
        time.sleep(0.1)
    raise SystemExit(f"sched_ext is never {state}")


class Loaded:
    """A scheduler, while it is needed."""

    def __init__(self, command):
        self.command = command

    def __enter__(self):
        if self.command:
            self.process = subprocess.Popen(self.command, stderr=subprocess.DEVNULL)
            wait_for("enabled")
            # Tasks of its beginning are over.
            time.sleep(0.5)

    def __exit__(self, *_):
        if self.command:
            self.process.terminate()
            assert self.process.wait() == 0, "it was ejected"
            wait_for("disabled")


def idle_s():
    """How long the CPU had nothing to do."""
    with open("/proc/uptime", encoding="ascii") as file:
        return float(file.read().split()[1])


def run(work):
    """Instructions an operation, and the idle time within."""
    arguments, operations = WORKS[work]
    before = idle_s()
    said = subprocess.run(
        ["perf", "bench", "sched", *arguments], check=True, capture_output=True, text=True
    ).stdout
    idle = idle_s() - before
    found = dict(line.split(":") for line in said.splitlines() if "Total time:" in line)
    total_s = float(found["     Total time"].split()[0])
    per_op = [float(line.split()[0]) for line in said.splitlines() if "usecs/op" in line]
    return (1e3 * per_op[0] if per_op else 1e9 * total_s / operations), idle


def callbacks():
    """Calls and instructions of each operation of sched_ext so far."""
    shown = subprocess.run(
        ["bpftool", "--json", "prog", "show"], check=True, capture_output=True, text=True
    ).stdout
    programs = [p for p in json.loads(shown) if p["type"] == "struct_ops"]
    return {p["name"]: (p.get("run_cnt", 0), p.get("run_time_ns", 0)) for p in programs}


def count_callbacks(table):
    """With the kernel's own count of them, which takes time itself."""
    subprocess.run(["sysctl", "-q", "kernel.bpf_stats_enabled=1"], check=True)
    for name, command in SCHEDULERS.items():
        if not command:
            continue
        for work in WORKS:
            with Loaded(command):
                before = callbacks()
                run(work)
                for callback, (calls, time_ns) in sorted(callbacks().items()):
                    calls -= before[callback][0]
                    time_ns -= before[callback][1]
                    if calls:
                        per_op = calls / WORKS[work][1]
                        table.writerow([name, work, callback, f"{per_op:.3f}", f"{time_ns / calls:.0f}"])


def main():
    """Interleaved rounds, so that what drifts hits all alike."""
    write_cpu()
    with open("cost.csv", "w", encoding="ascii", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["scheduler", "work", "round", "instructions_per_op", "idle_s"])
        for number in range(ROUNDS):
            for name, command in SCHEDULERS.items():
                with Loaded(command):
                    for work in WORKS:
                        cost, idle = run(work)
                        table.writerow([name, work, number, f"{cost:.0f}", f"{idle:.3f}"])
                        file.flush()
    with open("callbacks.csv", "w", encoding="ascii", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["scheduler", "work", "callback", "calls_per_op", "instructions_per_call"])
        count_callbacks(table)


main()
