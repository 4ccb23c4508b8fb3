"""Prints the tables of docs/measurements/profiler.md from the CSV files beside this script.

    cargo run --release -p profiler --example accuracy published > published.csv
    cargo run --release -p profiler --example accuracy held-out v0.1.0-profiler 50 > held-out.csv
    python3 tables.py
"""

import csv
import pathlib
from collections import defaultdict

HERE = pathlib.Path(__file__).parent
# An overhead is judged where wide code is about.
CONTROL = "sse4"


def rows(name):
    """The rows of a file, numbers as such."""
    with open(HERE / name, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield {key: number(value) for key, value in row.items()}


def number(text):
    """A number where the text is one."""
    try:
        return float(text)
    except ValueError:
        return text


def mean(values):
    """The mean; of nothing 0."""
    values = list(values)
    return sum(values) / len(values) if values else 0.0


def errors(name, of_work=None):
    """The errors of each estimator and background."""
    groups = defaultdict(list)
    for row in rows(name):
        if of_work is None or row["work"] == of_work:
            groups[row["estimator"], row["background"]].append(row)
    print("| Estimator | Background | Victims | Mean error | Mean absolute error | Worst | "
          "Interval holds the truth | Culprit right |")
    print("|---|---|---|---|---|---|---|---|")
    for (estimator, background), found in groups.items():
        off = [row["estimate_pct"] - row["true_pct"] for row in found]
        held = sum(row["low_pct"] <= row["true_pct"] <= row["high_pct"] for row in found)
        judged = [row["culprit"] for row in found if row["culprit"]]
        print(f"| {estimator} | {background} | {len(found)} | {mean(off):+.2f} | "
              f"{mean(map(abs, off)):.2f} | {max(map(abs, off)):.2f} | {held} | "
              f"{judged.count('right')} of {len(judged)} |")


def programs(of_work):
    """Estimates and truth of each program beside the last background."""
    table = defaultdict(dict)
    for row in rows("published.csv"):
        if row["work"] == of_work and row["background"] != CONTROL:
            table[row["background"], row["victim"]][row["estimator"]] = row
    names = ["pauses", "published", "counters", "clock"]
    print("| Background | Program | True | " + " | ".join(names) + " |")
    print("|---|---|---|" + "---|" * len(names))
    for (background, victim), found in table.items():
        cells = []
        for name in names:
            row = found[name]
            cells.append(f"{row['estimate_pct']:.1f} [{row['low_pct']:.1f}, {row['high_pct']:.1f}]")
        print(f"| {background} | {victim} | {found['pauses']['true_pct']:.1f} | "
              + " | ".join(cells) + " |")


def cost(name, of_work=None):
    """Change of the time of the runs by pauses: of all, and of the worst program and background."""
    longer = defaultdict(dict)
    for row in rows(name):
        if of_work is None or row["work"] == of_work:
            case = row["work"], row["program"], row["background"]
            longer[row["estimator"]][case] = row["longer_pct"]
    print("| Estimator | Mean | Worst |")
    print("|---|---|---|")
    for estimator in ["pauses", "published"]:
        values = longer[estimator].values()
        print(f"| {estimator} | {mean(values):+.2f} % | {max(values):+.2f} % |")


def main():
    """All tables."""
    print("\nHeld-out mixes\n")
    errors("held-out.csv")
    print("\nParsec beside x265\n")
    errors("published.csv", "parsec-x265")
    programs("parsec-x265")
    print("\nOther scenarios\n")
    for work in ["nginx-crypto", "light512", "memory-bound-phases"]:
        print(f"\n{work}\n")
        programs(work)
    print("\nCost\n")
    cost("published.csv", "parsec-x265")
    cost("held-out.csv")


if __name__ == "__main__":
    main()
