"""Puts recordings of record.sh beside models of the same workload.

    python3 tables.py EVENKEEL THREADS SEEDS SAMPLES.csv KERNEL=FOLDER...

FOLDER is that of record.sh. Writes a row for each recorded program and each simulated one, and
prints the means over programs with half a 95 % interval over rounds or seeds.
"""

import csv
import itertools
import pathlib
import statistics
import subprocess
import sys
import tempfile

import programs
import share

MODELS = {
    "cfs 5.9": ["--scheduler", "cfs"],
    "cfs 6.1": ["--scheduler", "cfs", "--set", "kernel=6.1"],
    "cfs 5.9, HZ 1000": ["--scheduler", "cfs", "--set", "hz=1000"],
    "eevdf 6.12": ["--scheduler", "eevdf"],
    "muqss": ["--scheduler", "muqss"],
    "fair": ["--scheduler", "fair"],
}
SHARES = ["beside_culprit", "beside_victim", "beside_idle", "held", "wide"]
COUNTS = ["victim_cpus", "culprit_cpus", "switches", "preempted", "slice_ms", "cpu_time_s",
          "elapsed_s"]
KEYS = SHARES + COUNTS
# Of the Xeon Gold 6130 with 13 to 16 active cores: MHz of levels 0, 1 and 2.
MHZ = [2800, 2400, 1900]
# Share of the culprit's time at level 1 and 2, by background and instruction set (parsec-x265).
LEVELS = {
    ("loop", "avx2"): (1, 0), ("loop", "avx512"): (0, 1),
    ("encoder", "avx2"): (0.96, 0), ("encoder", "avx512"): (0.33, 0.67),
}
STALL = {"blackscholes": 0.05, "bodytrack": 0.15, "canneal": 0.5, "dedup": 0.25, "ferret": 0.2,
         "fluidanimate": 0.2, "freqmine": 0.3, "streamcluster": 0.4, "swaptions": 0.02,
         "vips": 0.15}
WINDOW_S = 0.08
# 97.5 % points of Student's distribution, by degrees of freedom.
STUDENT = [0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20]


def culprit(case):
    """The name of the background's threads."""
    return "x265" if case.startswith("encoder") else "synthetic"


def slowdown(row, instructions):
    """In %: the share beside or shortly after a culprit, times what a lower clock costs there."""
    one, two = LEVELS[row["case"].split(",")[0], instructions]
    cost = one * (MHZ[0] / MHZ[1] - 1) + two * (MHZ[0] / MHZ[2] - 1)
    return 100 * row["wide"] * (1 - STALL[row["program"]]) * cost


def recorded(kernel, folder, threads):
    """Rows of the recordings below a folder."""
    for path in sorted(pathlib.Path(folder).glob("**/*.trace")):
        case, _, number = path.parent.name.rpartition("-")
        words = (path.parent / "completions").read_text().split()
        if path.stem not in words:
            continue
        completion_s = float(words[words.index(path.stem) + 1])
        found = share.summary(path, threads, path.stem, culprit(case))
        # A machine that was ended while it wrote has left a part of a trace.
        if found["elapsed_s"] < 0.9 * completion_s:
            continue
        print(f"{kernel}, {case}, {path.stem}: {over_time(path, threads, path.stem, case)}")
        yield {"source": kernel, "case": case, "round": int(number), "program": path.stem} | found


def simulated(evenkeel, threads, seeds, wanted):
    """Rows of every model, for the cases and programs that were recorded."""
    with tempfile.TemporaryDirectory() as folder:
        file, text = f"{folder}/run.ektrace", f"{folder}/run.txt"
        for case in sorted({case for case, _ in wanted}):
            background, *words = case.split(",")
            # The model has neither groups of tasks nor another latency.
            if not all(word.startswith("nice=") for word in words):
                continue
            nice = int(words[0][5:]) if words else 0
            scenario = f"{folder}/scenario.toml"
            pathlib.Path(scenario).write_text(programs.scenario(background, threads, nice))
            for program in sorted({program for one, program in wanted if one == case}):
                for (name, options), seed in itertools.product(MODELS.items(), range(1, seeds + 1)):
                    run([evenkeel, "simulate", scenario, "--program", program, "--seed", str(seed),
                         "--background", "sse4", "--set", "smt-share=1000", "-o", file, *options])
                    run([evenkeel, "trace", "export", file, "--format", "ftrace", "-o", text])
                    found = share.summary(text, threads, program, culprit(case))
                    yield {"source": name, "case": case, "round": seed, "program": program} | found


def run(command):
    """Runs a command without its output."""
    subprocess.run(command, check=True, capture_output=True)


def over_time(path, threads, program, case):
    """The share beside a culprit in each 80 ms from the program's first run on."""
    busy = share.runs(path, threads, program, culprit(case))
    start = min(run[0] for cpu in busy for run in cpu if run[2] == share.VICTIM)
    sums = {}
    for cpu in range(threads):
        for begin, end, what in share.pieces(busy, cpu):
            window = sums.setdefault(int((begin - start) / WINDOW_S), [0, 0])
            window[0] += end - begin
            window[1] += (end - begin) * (what == share.CULPRIT)
    return " ".join(f"{sums[i][1] / sums[i][0]:.2f}" for i in sorted(sums))


def interval(values):
    """Mean and half a 95 % interval, as text."""
    mean = statistics.mean(values)
    if len(values) < 2:
        return f"{mean:.3f} (one)"
    student = STUDENT[min(len(values), len(STUDENT)) - 1]
    half = student * statistics.stdev(values) / len(values) ** 0.5
    return f"{mean:.3f} ±{half:.3f}"


def table(rows):
    """Prints what was found, by case and source."""
    for case in sorted({row["case"] for row in rows}):
        of_case = [row for row in rows if row["case"] == case]
        print(f"\n{case}")
        for source in dict.fromkeys(row["source"] for row in of_case):
            of_source = [row for row in of_case if row["source"] == source]
            names = {row["program"] for row in of_source}
            rounds = {}
            for row in of_source:
                rounds.setdefault(row["round"], []).append(row)
            # A round that was cut short would weigh programs otherwise.
            whole = [one for one in rounds.values() if len(one) == len(names)]
            print(f"  {source} ({len(whole)} rounds of {len(names)})")
            for key in KEYS:
                print(f"    {key:14}", interval([statistics.mean(row[key] for row in one)
                                                 for one in whole]))
            for instructions in ("avx2", "avx512"):
                print(f"    slowdown {instructions:7}", interval(
                    [statistics.mean(slowdown(row, instructions) for row in one) for one in whole]))
            for program in sorted(names):
                print(f"      wide {program:14}", interval(
                    [row["wide"] for row in of_source if row["program"] == program]))


def main():
    evenkeel, threads, seeds, samples, *folders = sys.argv[1:]
    rows = []
    for argument in folders:
        kernel, _, folder = argument.partition("=")
        rows += recorded(kernel, folder, int(threads))
    wanted = {(row["case"], row["program"]) for row in rows}
    rows += simulated(evenkeel, int(threads), int(seeds), wanted)
    with open(samples, "w") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["source", "case", "round", "program", *KEYS])
        for row in rows:
            head = [row[key] for key in ("source", "case", "round", "program")]
            writer.writerow(head + [f"{row[key]:.4f}" for key in KEYS])
    table(rows)


main()
