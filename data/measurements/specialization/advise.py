#!/usr/bin/env python3
"""What `evenkeel advise` says by switching, and what whole runs say: advise.py EVENKEEL [FOLDER].

Writes advise.csv, and advise-trace.csv with what it says of a recording of the same programs under
EEVDF; in some ten minutes. Programs are long enough for at least twenty pairs of windows
of 0.5 s in all of 8 seeds."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

EVENKEEL = sys.argv[1]
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent)
FILES = Path(__file__).resolve().parents[3] / "scenarios" / "files"


def advise(scenario, scheduler, *words):
    command = [EVENKEEL, "advise", str(scenario), *words, "--scheduler", scheduler]
    command += ["--window", "500", "--json", "-"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def row(name, scheduler, report):
    switched, whole = report["switched"], report["whole_runs"]
    change = switched["change_pct"]
    return {
        "work": name,
        "scheduler": scheduler,
        "pairs": change["samples"],
        "switched_pct": round(change["value"], 2),
        "switched_low_pct": round(change["low"], 2),
        "switched_high_pct": round(change["high"], 2),
        "whole_pct": round(whole["change_pct"]["value"], 2),
        "switched_says": switched["verdict"],
        "whole_says": whole["verdict"],
    }


def works(folder):
    """Name, scenario, and options of each."""
    for program, length in (("n100000", 60), ("n1000000", 60), ("n10000000", 60)):
        yield f"Listing 6.1, N = {program[1:]}", "phase-changes", (
            "--program", program, "--set", f"length={length}")
    for size in ("r512k", "r1m", "r4m", "r16m"):
        yield f"memory-bound, {size[1:]}", "memory-bound-phases", (
            "--program", size, "--set", "rounds=2000")
    long = folder / "nginx-long.toml"
    text = (FILES / "nginx-crypto.toml").read_text().split("[[claim]]")[0]
    long.write_text(text.replace("times = 250", "times = 8000"))
    one = folder / "nginx-one.toml"
    text = text.replace("threads_per_core = 2", "threads_per_core = 1")
    one.write_text(text.replace("workers = 24", "workers = 12").replace("= 250", "= 8000"))
    yield "nginx, two hyper-threads a core", long, ()
    yield "nginx, one hyper-thread a core", one, ()
    yield "nginx, one hyper-thread, one wide core", one, ("--set", "wide-cores=1")
    half = folder / "half-load.toml"
    text = (FILES / "half-load.toml").read_text()
    half.write_text(text.replace("times = 120", "times = 3000"))
    yield "as many threads as CPUs", half, ()


def rows(folder):
    for name, scenario, words in works(folder):
        for scheduler in ("specialize", "fair-specialize"):
            yield row(name, scheduler, advise(scenario, scheduler, *words))


def recordings(folder):
    """Programs beside wide ones: advice from the scenario, and from a recording of it."""
    recording = str(folder / "run.ektrace")
    for background in ("x265", "synthetic", "onednn"):
        for program in ("bodytrack", "ferret", "vips"):
            scenario, same = f"parsec-{background}", ("--program", program, "--set", "length=20")
            subprocess.run(
                [EVENKEEL, "simulate", scenario, *same, "--background", "avx512", "--scheduler",
                 "eevdf", "-o", recording], check=True, stdout=subprocess.DEVNULL)
            says = row("", "fair-specialize", advise(scenario, "fair-specialize", *same))
            trace = advise("--trace", "fair-specialize", recording, "--class",
                           f"{background}*=avx512-heavy")["whole_runs"]
            yield {
                "program": program,
                "beside": background,
                "switched_pct": says["switched_pct"],
                "whole_pct": says["whole_pct"],
                "of_recording_pct": round(trace["change_pct"]["value"], 2),
                "of_recording_says": trace["verdict"],
            }


def write(name, found):
    with open(FOLDER / name, "w", newline="") as file:
        writer = csv.DictWriter(file, found[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


with tempfile.TemporaryDirectory() as folder:
    write("advise-trace.csv", list(recordings(Path(folder))))
    write("advise.csv", list(rows(Path(folder))))
