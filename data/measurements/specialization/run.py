#!/usr/bin/env python3
"""Figures of docs/measurements/specialization.md: run.py EVENKEEL [FOLDER]; some three minutes.

Writes schedulers.csv (all schedulers in steady state), control.csv (T073 and T074 by the share of
the control at level 1), loop.csv (Listing 6.1 for seven N), nginx.csv (idle times) and clocks.csv
(mean clock of each program while it runs, from its overhead; D Fig. 6.9a). mixes.txt is
`evenkeel mixes --mixes 100 --scheduler fair,fair-isolation,even,specialize,fair-specialize`."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

EVENKEEL = sys.argv[1]
FOLDER = Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent)
FILES = Path(__file__).resolve().parents[3] / "scenarios" / "files"
# Rounds by the exponent of N: runs of 0.1 to 1.1 s, and fewer than 10^8 events.
ROUNDS = {1: 160_000, 2: 160_000, 3: 120_000, 4: 40_000, 5: 10_000, 6: 2_000, 7: 200}


def compare(scenario, schedulers, replicates, *settings):
    words = [EVENKEEL, "compare", scenario, "--scheduler", schedulers]
    words += ["--replicates", str(replicates), "--json", "-"]
    for setting in ("rq-sharing=smt", *settings):
        words += ["--set", setting]
    return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)["runs"]


def write(name, rows):
    with open(FOLDER / name, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def control(work):
    """The control's kernels at level 1 for a share of their work."""
    rows = []
    for share in (None, 0.0, 0.3, 0.6, 0.9):
        text = (FILES / "parsec-onednn.toml").read_text().split("[[claim]]")[0]
        text = text.replace('name = "parsec-onednn"', 'name = "control"')
        if share is not None:
            level1 = max(0.9 * share, 1e-4)
            scalar = max(0.9 - level1 if share < 0.9 else 0.0, 1e-4)
            text = text.replace(
                '{ class = "@kernel", share = "@onednn_share" },',
                f'{{ class = "@kernel", share = {scalar:.4f} }},'
                f' {{ class = "@level1", share = {min(level1, 0.9 - scalar):.4f} }},',
            )
            text = text.replace('kernel = "scalar"', 'kernel = "scalar", level1 = "avx2-heavy"')
            for build in ("avx2-heavy", "avx512-heavy"):
                text = text.replace(f'{{ kernel = "{build}" }}',
                                    f'{{ kernel = "{build}", level1 = "{build}" }}')
        file = work / "control.toml"
        file.write_text(text)
        for run in compare(file, "muqss,specialize", 12):
            if run["background"] == "avx512":
                figure = round(run["cpu_time_vs_sse_pct"], 2)
                name = "none" if share is None else share
                rows.append({"level_1_share": name, "scheduler": run["scheduler"],
                             "cpu_time_vs_sse_pct": figure})
    return rows


def loop(work):
    """Listing 6.1 for more N than the shipped scenario has."""
    text = (FILES / "phase-changes.toml").read_text()
    head, rest = text.split("[[foreground]]", 1)
    tail = "[[background]]" + rest.split("[[background]]", 1)[1].split("[[claim]]")[0]
    tail = tail.split("# A sign test")[0]
    programs = ""
    for exponent, rounds in ROUNDS.items():
        work_us = max(10**exponent / 4 / 2100, 0.001)
        programs += f"""[[foreground]]
name = "1e{exponent}"
threads = 1
instances = "@instances"
phases = [{{ repeat = {{ times = {rounds}, phases = [
    {{ compute = {{ work_us = 0.001, class = "@kernel" }} }},
    {{ system_call = true }},
    {{ compute = {{ work_us = "@call_us" }} }},
    {{ compute = {{ work_us = {work_us:.4f} }} }},
] }} }}]

"""
    file = work / "loop.toml"
    file.write_text(head + programs + tail)
    rows = []
    for settings in ((), ("keep-short-phases=false",), ("wide-cores=15",)):
        took = {}
        for run in compare(file, "muqss,specialize", 2, *settings):
            if run["background"] == "avx512":
                for task in run["tasks"]:
                    took[run["scheduler"], task["name"]] = task["completion_s"]
        for exponent in ROUNDS:
            name = f"1e{exponent}"
            gain = 100 * (took["muqss", name] / took["specialize", name] - 1)
            rows.append({"n": name, "setting": ",".join(settings) or "published",
                         "gain_pct": round(gain, 2)})
    return rows


def schedulers():
    """Parsec programs eight times as long, beside each background; nginx, and half a machine."""
    names = "muqss,fair,fair-isolation,even,specialize,fair-specialize"
    works = [(f"parsec-{name}", 4, ("length=8",)) for name in ("onednn", "x265", "synthetic")]
    works += [("nginx-crypto-no-ht", 8, ()), ("nginx-crypto", 8, ()), ("half-load", 8, ())]
    rows = []
    for work, replicates, settings in works:
        for run in compare(work, names, replicates, *settings):
            if run["background"] != "avx512":
                continue
            beside = [task["slowdown"] for task in run["tasks"] if task["role"] == "background"]
            counts = run.get("specialization", {})
            rows.append({
                "scenario": work,
                "scheduler": run["scheduler"],
                "isolation_slowdown_pct": round(run["isolation_slowdown_pct"], 2),
                "signed_slowdown_pct": round(run["signed_slowdown_pct"], 2),
                "remote_avx_overhead_pct": round(run["remote_avx_overhead_pct"], 2),
                "background_slowdown_pct":
                    round(100 * (sum(beside) / len(beside) - 1), 1) if beside else "",
                "wide_cores": round(counts["wide_cores"], 2) if counts else "",
                "core_changes_per_s": round(counts["core_changes_per_s"], 1) if counts else "",
            })
    return rows


def clocks():
    """A program without overhead runs at 2.8 GHz, with all cores active."""
    rows = {}
    schedulers = "muqss,specialize,fair-specialize"
    for run in compare("parsec-onednn", schedulers, 4, "length=8"):
        for task in run["tasks"]:
            if task["role"] == "foreground" and run["background"] in ("sse4", "avx512"):
                name = f"{run['scheduler']} {run['background']}"
                row = rows.setdefault(task["name"], {"program": task["name"]})
                row[name] = round(2.8 / (1 + task["remote_avx_overhead_pct"] / 100), 2)
    return list(rows.values())


def nginx():
    rows = []
    for idle_us in (0, 100, 300):
        runs = compare("nginx-crypto", "cfs", 8, f"idle_us={idle_us}")
        cfs = next(run for run in runs if run["background"] == "avx512")
        for cores in ("auto", 1, 2):
            settings = (f"idle_us={idle_us}", f"wide-cores={cores}")
            took = {
                run["scheduler"]: run["tasks"][0]["completion_s"]
                for run in compare("nginx-crypto-no-ht", "muqss,specialize", 16, *settings)
                if run["background"] == "avx512"
            }
            rows.append({"idle_us": idle_us, "t037_pct": round(cfs["signed_slowdown_pct"], 2),
                         "wide_cores": cores,
                         "gain_pct": round(100 * (took["muqss"] / took["specialize"] - 1), 2)})
    return rows


with tempfile.TemporaryDirectory() as folder:
    write("schedulers.csv", schedulers())
    write("nginx.csv", nginx())
    write("clocks.csv", clocks())
    write("control.csv", control(Path(folder)))
    write("loop.csv", loop(Path(folder)))
