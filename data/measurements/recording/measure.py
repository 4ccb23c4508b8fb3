#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What does recording cost the recorded programs?

measure.py EVENKEEL ROUNDS OUT.csv [NAME...]: in every round each recorder runs once around each
workload, in an order drawn anew, and once there is none. A workload is a fixed amount of work. Its
cost is the CPU time of its processes, which other load does not add to, unlike wall time. Names
choose workloads and recorders (`pipe`, `mix`, `bpf`, `perf-sched`, `perf-few`); without any, all
run.
"""

import csv
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

WIDTH, HEIGHT, FRAMES = 640, 360, 16
PIPE = ["perf", "bench", "sched", "pipe", "-l"]


def workloads(folder):
    """Command lines that run at the same time, by name of the workload."""
    video, text = f"{folder}/video.yuv", f"{folder}/text"
    x265 = ["x265", "--input", video, "--input-res", f"{WIDTH}x{HEIGHT}", "--fps", "30",
            "--preset", "faster", "--pools", "2", "-o", f"{folder}/video.hevc"]
    xz = ["xz", "-k", "-f", "-6", "-T1", text]
    return {"pipe": [PIPE + ["20000"]], "mix": [PIPE + ["1200"], x265, xz]}


def prepare(folder):
    """The same input in every run."""
    draw = random.Random(1)
    with open(f"{folder}/video.yuv", "wb") as video:
        for frame in range(FRAMES):
            row = bytes((x * 3 + frame * 5) & 255 for x in range(WIDTH))
            rows = [row[(y + frame) % 64:] + row[:(y + frame) % 64] for y in range(HEIGHT)]
            video.write(b"".join(rows) + draw.randbytes(WIDTH * HEIGHT // 2))
    words = [draw.randbytes(4).hex() for _ in range(2000)]
    with open(f"{folder}/text", "w", encoding="ascii") as text:
        text.write(" ".join(draw.choice(words) for _ in range(90_000)))


def work(name, folder, answer):
    """Runs a workload and leaves its CPU and wall time in the file `answer`."""
    begin = time.monotonic()
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [subprocess.Popen(line, **silent) for line in workloads(folder)[name]]
    cpu_s = 0.0
    for process in running:
        _, status, used = os.wait4(process.pid, 0)
        assert status == 0, process.args
        cpu_s += used.ru_utime + used.ru_stime
    with open(answer, "w", encoding="ascii") as file:
        json.dump({"cpu_s": cpu_s, "wall_s": time.monotonic() - begin}, file)


def recorders(evenkeel, file):
    """What stands before the command, by name of the recorder."""
    perf = ["-k", "CLOCK_MONOTONIC", "-m", "8M", "-o", file]
    fpu = ["-e", "x86_fpu:x86_fpu_regs_deactivated"]
    few = ["-e", "sched:sched_switch", "-e", "sched:sched_waking"]
    return {
        "none": [],
        "bpf": [evenkeel, "trace", "record", "-o", file, "--"],
        "perf-sched": ["perf", "sched", "record", *perf, *fpu, "--"],
        "perf-few": ["perf", "record", "-q", "-a", *perf, *few, *fpu, "--"],
    }


def sample(name, recorder, before, folder, file):
    """One run."""
    answer = f"{folder}/answer"
    line = before + [sys.executable, __file__, "--work", name, folder, answer]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = status
    assert status == 0, said
    with open(answer, encoding="ascii") as text:
        found = json.load(text)
    size, lost, switches = 0, 0, 0
    if before:
        size = os.path.getsize(file)
        if recorder == "bpf":
            switches = int(re.search(r"(\d+) switches", said).group(1))
            lost = int((re.search(r"(\d+) events were lost", said) or [0, 0])[1])
        else:
            show = ["perf", "script", "-i", file, "-F", "event", "--show-lost-events"]
            shown = subprocess.run(show, capture_output=True, text=True, check=False)
            # A file that perf itself cannot read has no count.
            switches, lost = "", ""
            if shown.returncode == 0:
                switches = shown.stdout.count("sched:sched_switch")
                lost = shown.stdout.count("LOST")
        os.remove(file)
    recorder_s = used.ru_utime + used.ru_stime - found["cpu_s"]
    return [f"{found['cpu_s']:.6f}", f"{found['wall_s']:.3f}", f"{recorder_s:.3f}",
            size, switches, lost]


def among(names, chosen):
    """The names that were chosen and `none`; all of them where none was chosen."""
    if not chosen & set(names):
        return list(names)
    return [name for name in names if name in chosen or name == "none"]


def main():
    """Reads the arguments."""
    if sys.argv[1] == "--work":
        work(*sys.argv[2:])
        return
    evenkeel, rounds, output = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    chosen = set(sys.argv[4:])
    draw = random.Random(20261121)
    with tempfile.TemporaryDirectory() as folder, open(output, "w", encoding="ascii") as out:
        prepare(folder)
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["round", "workload", "recorder", "cpu_s", "wall_s", "recorder_cpu_s",
                       "bytes", "switches", "lost"])
        file = f"{folder}/recording"
        for number in range(rounds):
            for name in among(workloads(folder), chosen):
                known = recorders(evenkeel, file)
                variants = [(who, known[who]) for who in among(known, chosen)]
                draw.shuffle(variants)
                for recorder, before in variants:
                    found = sample(name, recorder, before, folder, file)
                    rows.writerow([number, name, recorder, *found])
                    out.flush()


main()
