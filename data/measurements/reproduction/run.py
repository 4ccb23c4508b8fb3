"""Runs every scenario with a published figure, and the sensitivity rows of x265.

    python3 run.py EVENKEEL REPLICATES FOLDER

Writes into FOLDER, which must exist: figures.csv, a row for each scenario, setting, scheduler,
sensors and background; claims.csv, a row for each claim and what was found; programs.csv, the
slowdown of each program of parsec-x265 under `even` with parts left out; alone.csv, the CPUs that
the encoders keep busy without other programs. Seed 1.
"""

import csv
import json
import os
import subprocess
import sys

KEYS = [
    "isolation_slowdown_pct", "ci95_half_width_pct", "signed_slowdown_pct",
    "signed_ci95_half_width_pct", "cpu_time_vs_sse_pct", "unfairness", "switches", "migrations",
]
CLAIM = ["id", "scheduler", "background", "sensors", "figure", "published", "min", "max",
         "calibrated", "found", "holds", "known_miss", "source"]
ALL_SENSORS = [
    "--sensors", "d7,truth,rules,xinuse,fp-retired", "--scheduler", "fair-isolation,even",
]
def levels(percent, work_us):
    """Share of level 2 of the AVX-512 build, and the length of its stretches as work."""
    light = 1 - percent / 100
    return [f"x265_share_512_heavy={percent / 100}", f"x265_share_512_light={light:.2f}",
            f"x265_burst_us={work_us}"]


# Rows of x265-levels.md as share and stretch; a stretch of CPU time at 1.9 GHz beside a busy
# sibling is 0.565 of that as work at 2.1 GHz.
ENCODER = {
    "level 2 for 49 %": levels(49, 1500),
    "level 2 for 82 %": levels(82, 1500),
    "second timing: 71 %, 3.0 ms": levels(71, 1700),
    "density 0.2: 85 %, 6.1 ms": levels(85, 3430),
    "density 0.3: 60 %, 2.2 ms": levels(60, 1270),
    "hold 335 us: 53 %, 1.7 ms": levels(53, 960),
    "density 0.3, hold 335 us: 41 %, 1.2 ms": levels(41, 670),
    "67 %, stretches of 4.6 ms": levels(67, 2600),
    "level 1 of AVX2 for 87 %": ["x265_share_avx2=0.87"],
    "work of 3 ms": ["x265_compute_us=3000", "x265_sleep_us=1308"],
    "work of 40 ms": ["x265_compute_us=40000", "x265_sleep_us=17440"],
    "SMT share 0.5": ["smt-share=500"],
    "SMT share 0.75": ["smt-share=750"],
    "serial parts a quarter": ["serial=0.25"],
    "no serial parts": ["serial=0.001"],
    "placebo": ["placebo=true"],
}
EVEN_PARTS = ["--scheduler", "fair,fair-isolation,even,even-without-swaps,even-without-placing,"
              "even-without-matching,even-without-repayment"]
ALONE = """schema = 1
base = "{base}"
name = "alone"
description = "x265 alone"
source = "run.py"
[[foreground]]
name = "sleeper"
threads = 1
phases = [{{ sleep = {{ us = 4e6 }} }}]
"""
SCENARIOS = [
    "parsec-x265-two-cores", "parsec-synthetic", "parsec-synthetic-two-cores", "parsec-onednn",
    "parsec-onednn-no-ht", "nginx-crypto", "nginx-crypto-no-ht", "pingpong", "half-load",
    "closed-form-relative", "closed-form-isolation", "light512", "amx-inference",
]


# Options of the claims of these scenarios.
EXTRA = {
    "parsec-onednn": ["--set", "rq-sharing=smt"],
    "light512": ["--sensors", "d7,truth"],
    "pingpong": ["--scheduler", "cfs,fair,fair-relative,fair-isolation,machauer,"
                 "machauer-without-refund"],
}


def runs():
    """Scenario, name of the setting, and arguments."""
    for scenario in ("parsec-x265", "parsec-x265-builds"):
        yield scenario, "", []
        for name, settings in ENCODER.items():
            yield scenario, name, [word for one in settings for word in ("--set", one)]
    yield "parsec-x265-builds", "SSE4 build 1.8 times as long", [
        "--set", "x265_sse4_time=1.8", "--set", "x265_sleep_us=5520"]
    yield "parsec-x265", "sensors", ALL_SENSORS
    for scenario in SCENARIOS:
        yield scenario, "", EXTRA.get(scenario, [])


def main():
    evenkeel, replicates, folder = sys.argv[1:]
    with open(f"{folder}/figures.csv", "w") as figures, open(f"{folder}/claims.csv", "w") as claims:
        figures = csv.writer(figures, lineterminator="\n")
        claims = csv.writer(claims, lineterminator="\n")
        figures.writerow(["scenario", "setting", "scheduler", "sensors", "background", *KEYS])
        claims.writerow(["scenario", *CLAIM])
        for scenario, setting, arguments in runs():
            command = [evenkeel, "compare", scenario, "--replicates", replicates, "--json", "-"]
            done = subprocess.run(command + arguments, capture_output=True, check=True, text=True)
            result = json.loads(done.stdout)
            for run in result["runs"]:
                if not run["control"]:
                    names = [scenario, setting, run["scheduler"], run["sensors"], run["background"]]
                    figures.writerow(names + [short(run[key]) for key in KEYS])
            if not setting:
                claims.writerows([scenario] + [short(claim[key]) for key in CLAIM]
                                 for claim in result["claims"])
    programs(evenkeel, replicates, folder)
    alone(evenkeel, folder)


def programs(evenkeel, replicates, folder):
    """Slowdowns of single programs."""
    command = [evenkeel, "compare", "parsec-x265", "--replicates", replicates, "--json", "-"]
    done = subprocess.run(command + EVEN_PARTS, capture_output=True, check=True, text=True)
    with open(f"{folder}/programs.csv", "w") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["scheduler", "background", "program", "slowdown_pct"])
        for run in json.loads(done.stdout)["runs"]:
            for task in run["tasks"]:
                if not run["control"] and task["name"] != "x265":
                    slowdown_pct = short(100 * (task["slowdown"] - 1))
                    rows.writerow([run["scheduler"], run["background"], task["name"], slowdown_pct])


def alone(evenkeel, folder):
    """CPUs that four encoders keep busy without other programs."""
    with open(f"{folder}/alone.csv", "w") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["scenario", "scheduler", "background", "busy_cpus"])
        for base in ("parsec-x265", "parsec-x265-builds"):
            scenario = f"{folder}/alone.toml"
            with open(scenario, "w") as text:
                text.write(ALONE.format(base=base))
            for scheduler in ("cfs", "fair"):
                for background in ("sse4", "avx2", "avx512"):
                    done = subprocess.run(
                        [evenkeel, "simulate", scenario, "--scheduler", scheduler,
                         "--background", background, "--json", "-"],
                        capture_output=True, check=True, text=True,
                    )
                    result = json.loads(done.stdout)
                    busy_ns = sum(task["cpu_time_ns"] for task in result["tasks"]
                                  if task["application"] == "x265")
                    rows.writerow([base, scheduler, background,
                                   round(busy_ns / result["simulated_ns"], 2)])
            os.remove(scenario)


def short(value):
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
