"""Runs every scenario with a published figure, and the sensitivity rows of x265.

    python3 run.py EVENKEEL REPLICATES FOLDER

Writes FOLDER/figures.csv, a row for each scenario, setting, scheduler, sensors and background, and
FOLDER/claims.csv, a row for each claim and what was found. Seed 1.
"""

import csv
import json
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
ENCODER = {
    "level 2 for 49 %": ["x265_share_512_heavy=0.49", "x265_share_512_light=0.51"],
    "level 2 for 82 %": ["x265_share_512_heavy=0.82", "x265_share_512_light=0.18"],
    "level 1 of AVX2 for 87 %": ["x265_share_avx2=0.87"],
    "work of 3 ms": ["x265_compute_us=3000", "x265_sleep_us=1308"],
    "work of 40 ms": ["x265_compute_us=40000", "x265_sleep_us=17440"],
    "SMT share 0.5": ["smt-share=500"],
    "SMT share 0.75": ["smt-share=750"],
    "placebo": ["placebo=true"],
}
SCENARIOS = [
    "parsec-x265-two-cores", "parsec-synthetic", "parsec-synthetic-two-cores", "parsec-onednn",
    "parsec-onednn-no-ht", "nginx-crypto", "nginx-crypto-no-ht", "pingpong", "half-load",
    "closed-form-relative", "closed-form-isolation", "light512", "amx-inference",
]


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
        yield scenario, "", []


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


def short(value):
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
