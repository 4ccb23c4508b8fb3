#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Do three recorders that run at once say the same of every task?

agree.py EVENKEEL SECONDS OUT.csv [ROUNDS]: as root, records the same work with `evenkeel trace
record`, `perf sched record` and ftrace on one clock, imports all three, and compares CPU time and
switches of each task over the time that all of them recorded. ftrace's buffer is what `trace-cmd
record` sets up and reads, but set up by hand: that command gives up where it may not write
/proc/sys/kernel/ftrace_enabled. A task that ran less than 0.2 % of the time and came less than 100
times is one of `all others`.

Exit code 0: the recorders agree within 1 % on every task; 1: they do not; 2: they cannot run.
"""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict

TOLERANCE = 0.01
SHARE_MIN, SWITCHES_MIN = 0.002, 100
NAMES = ("bpf", "perf", "ftrace")
TRACEFS = "/sys/kernel/tracing"
BUFFER_KB = 65536
EVENTS = ["sched_switch", "sched_waking", "sched_wakeup_new", "sched_process_fork",
          "sched_process_exit", "sched_stat_runtime"]


def work(folder):
    """Two programs of OpenSSL, a compressor and a timer."""
    text = f"{folder}/text"
    with open(text, "wb") as file:
        for part in range(400):
            file.write((f"{part * 7919} of many lines " * 4000).encode())
    return [
        ["openssl", "speed", "-seconds", "600", "-evp", "chacha20-poly1305"],
        ["openssl", "speed", "-seconds", "600", "-evp", "aes-256-gcm"],
        ["sh", "-c", f"while xz -k -f -9 -T1 {text}; do :; done"],
        ["stress-ng", "--temp-path", folder, "--timerfd", "1", "--timerfd-freq", "2000",
         "--timeout", "600"],
    ]


def recorders(evenkeel, folder, seconds):
    return {
        "bpf": [evenkeel, "trace", "record", "-o", f"{folder}/bpf.ektrace", "-a", "--duration",
                str(seconds)],
        "perf": ["perf", "sched", "record", "-k", "CLOCK_MONOTONIC", "-m", "16M",
                 "-o", f"{folder}/perf.data", "--", "sleep", str(seconds)],
        "ftrace": ["sleep", str(seconds)],
    }


def tracefs(file, text):
    with open(f"{TRACEFS}/{file}", "w", encoding="ascii") as opened:
        opened.write(str(text))


def ftrace(on):
    """Lets the kernel's own buffer hold the events, or puts it back."""
    tracefs("tracing_on", 0)
    if on:
        tracefs("trace_clock", "mono")
        tracefs("buffer_size_kb", BUFFER_KB)
        tracefs("trace", "")
    for event in EVENTS:
        tracefs(f"events/sched/{event}/enable", int(on))
    tracefs("tracing_on", int(on))


def read_ftrace(folder):
    """The buffer as a file of trace-cmd, version 6."""
    silent = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["trace-cmd", "extract", "-o", f"{folder}/v7.dat"], **silent)
    subprocess.run(["trace-cmd", "convert", "--file-version", "6", "-i", f"{folder}/v7.dat",
                    "-o", f"{folder}/trace.dat"], **silent)
    tracefs("buffer_size_kb", 1408)
    tracefs("trace_clock", "local")
    tracefs("tracing_on", 1)


def record(evenkeel, folder, seconds):
    """Runs all at once; their messages on failure."""
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    busy = [subprocess.Popen(line, start_new_session=True, **silent) for line in work(folder)]
    try:
        time.sleep(1)
        ftrace(True)
        running = {
            name: subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for name, line in recorders(evenkeel, folder, seconds).items()}
        said = {"ftrace": running["ftrace"].communicate()[1]}
        ftrace(False)
        said |= {name: running[name].communicate()[1] for name in ("bpf", "perf")}
        read_ftrace(folder)
    finally:
        for process in busy:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    for name, process in running.items():
        if process.returncode != 0:
            sys.exit(f"{name}: {said[name].decode(errors='replace').strip()[-300:]}")


def history(evenkeel, folder, name):
    """Header and records of what was recorded, as the import has them."""
    file = f"{folder}/{name}.ektrace"
    if name != "bpf":
        recorded = f"{folder}/" + {"perf": "perf.data", "ftrace": "trace.dat"}[name]
        subprocess.run([evenkeel, "trace", "import", recorded, "-o", file],
                       check=True, stdout=subprocess.DEVNULL)
    text = subprocess.run(["zstd", "-dcq", file], check=True, capture_output=True).stdout
    records, tasks, header = [], {}, None
    for line in text.decode().splitlines():
        value = json.loads(line)
        if "t" in value:
            records.append(value)
        elif "task" in value:
            tasks[value["task"]["tid"]] = value["task"]["comm"]
        elif "end" in value:
            header = value["end"]
    return header, tasks, [it for it in records if it["e"] == "switch"]


def sums(switches, cpus, begin, end):
    """CPU time and switches to a task, by task, between two times."""
    time_ns, count = defaultdict(int), defaultdict(int)
    running = [(begin, 0)] * cpus
    for it in switches:
        since, task = running[it["cpu"]]
        time_ns[task] += max(0, min(it["t"], end) - max(since, begin))
        running[it["cpu"]] = (it["t"], it["next"])
        if begin <= it["t"] <= end:
            count[it["next"]] += 1
    for since, task in running:
        time_ns[task] += max(0, end - max(since, begin))
    return time_ns, count


def compare(found):
    """A row for each task that is worth one, and one for all others."""
    begin = max(header["start_ns"] for header, _, _ in found.values())
    end = min(header["end_ns"] for header, _, _ in found.values())
    # The first switch of each CPU names the task that ran before.
    firsts = [{it["cpu"]: it["t"] for it in reversed(switches)}
              for _, _, switches in found.values()]
    begin = max([begin] + [t for first in firsts for t in first.values()])
    by = {name: sums(switches, header["cpus"], begin, end)
          for name, (header, _, switches) in found.items()}
    tasks = set().union(*(times for times, _ in by.values())) - {0}
    names = {tid: comm for _, listed, _ in found.values() for tid, comm in listed.items()}
    rows = defaultdict(lambda: {name: [0, 0] for name in NAMES})
    for tid in tasks:
        large = any(by[name][0][tid] >= SHARE_MIN * (end - begin) or
                    by[name][1][tid] >= SWITCHES_MIN for name in NAMES)
        key = (names[tid], tid) if large else ("all others", 0)
        for name in NAMES:
            rows[key][name][0] += by[name][0][tid]
            rows[key][name][1] += by[name][1][tid]
    return end - begin, rows


def apart(numbers):
    """How far numbers are apart, as a share of their middle one."""
    middle = sorted(numbers)[len(numbers) // 2]
    return (max(numbers) - min(numbers)) / middle if middle else 0.0


def main(evenkeel, seconds, out, rounds="1"):
    missing = [tool for tool in ("perf", "trace-cmd", "openssl", "xz", "stress-ng", "zstd")
               if shutil.which(tool) is None]
    if os.geteuid() != 0 or missing:
        print(f"SKIPPED: needs root, and {', '.join(missing) or 'all tools are here'}")
        return 2
    worst = 0.0
    with open(out, "w", newline="", encoding="ascii") as file:
        table = csv.writer(file)
        columns = [f"{name}_{what}" for what in ("ns", "switches") for name in NAMES]
        table.writerow(["round", "window_ns", "task", *columns, "lost", "repaired"])
        for number in range(int(rounds)):
            with tempfile.TemporaryDirectory() as folder:
                record(evenkeel, folder, int(seconds))
                found = {name: history(evenkeel, folder, name) for name in NAMES}
            window_ns, rows = compare(found)
            facts = [[found[name][0].get("facts", {}).get(fact, "0") for name in NAMES]
                     for fact in ("lost_events", "repaired_switches")]
            for (comm, _), row in sorted(rows.items(), key=lambda it: -it[1]["bpf"][0]):
                times, counts = zip(*(row[name] for name in NAMES))
                table.writerow([number, window_ns, comm, *times, *counts,
                                *(" ".join(fact) for fact in facts)])
                worst = max(worst, apart(times), apart(counts))
                print(f"{comm:16} {times[0] / 1e9:8.4f} s  {counts[0]:7}"
                      f"  apart {apart(times):8.4%} {apart(counts):8.4%}")
    print(f"worst {worst:.3%}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
