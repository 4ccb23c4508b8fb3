"""Prints the tables of the experiments in docs/measurements/profiler.md from the CSV files beside
this script.

    for it in latency early sources together stalls perturbation; do
        cargo run --release -p profiler --example experiments $it > $it.csv; done
    python3 experiments-tables.py
"""

import math
from collections import defaultdict

from tables import mean, rows

# Quantile of Student's t for 95 % by degrees of freedom; beyond the table that of the normal one.
T = {4: 2.776, 10: 2.228, 12: 2.179}


def interval(values):
    """The mean and half of its 95 % interval."""
    middle, count = mean(values), len(values)
    variance = sum((value - middle) ** 2 for value in values) / (count - 1)
    return f"{middle:+.2f} ± {T.get(count - 1, 1.96) * math.sqrt(variance / count):.2f}"


def grouped(name, *keys):
    """Rows by the values of some columns."""
    groups = defaultdict(list)
    for row in rows(name):
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


def latency():
    """Without pauses, and by how much pauses raise it, seed by seed."""
    columns = ["mean", "p95.0", "p99.0", "p99.9", "p99.99"]
    columns = {name: name.replace(".0", "") + "_us" for name in columns}
    print("| Work | Busy | Pauses | Hit, in 10,000 | Mean | p95 | p99 | "
          "p99.9 | p99.99 |")
    print("|---|---|---|---|---|---|---|---|---|")
    groups = grouped("latency.csv", "service_us", "gap_us", "profiler")
    for (work_us, gap_us, profiler), found in groups.items():
        without = groups[work_us, gap_us, "none"]
        cells = []
        for column in columns.values():
            if profiler == "none":
                cells.append(f"{mean(row[column] for row in found):.0f}")
            else:
                pairs = zip(found, without)
                cells.append(interval([row[column] - other[column] for row, other in pairs]))
        busy = mean(row["busy_pct"] for row in found)
        hit = 1e4 * mean(row["hit"] / row["requests"] for row in found)
        case = f"{work_us:.0f} us | {busy:.0f} % | {profiler} | {hit:.1f}"
        print(f"| {case} | " + " | ".join(cells) + " |")


def early():
    """Errors and perturbation of full pauses and of pauses that end early."""
    groups = grouped("early.csv", "samples_a_second", "method", "background", "ends")
    print("| Samples a second | Method | Background | Pause full, early | Mean absolute error "
          "full, early | Signed error, early less full | True loss, early less full | "
          "Run time full, early |")
    print("|---|---|---|---|---|---|---|---|")
    for (rate, method, background, ends), found in groups.items():
        if ends == "early":
            continue
        soon = groups[rate, method, background, "early"]
        pairs = list(zip(found, soon))

        def both(text, of, halves=(found, soon)):
            return ", ".join(text.format(mean(map(of, half))) for half in halves)

        def off(row):
            return row["estimate_pct"] - row["true_pct"]

        print(f"| {rate:.0f} | {method} | {background} | "
              + both("{:.0f}", lambda row: row["pause_us"]) + " us | "
              + both("{:.2f}", lambda row: abs(off(row))) + " | "
              + interval([off(b) - off(a) for a, b in pairs]) + " | "
              + interval([b["true_pct"] - a["true_pct"] for a, b in pairs]) + " | "
              + both("{:+.2f} %", lambda row: row["longer_pct"]) + " |")


def sources():
    """Losses by cause."""
    print("| Program | What | Samples | Overhead | Hold | Sibling | Transition |")
    print("|---|---|---|---|---|---|---|")
    for row in rows("sources.csv"):
        hold = f"{row['hold_pct']:.1f}"
        if row["hold_beside_pct"]:
            hold += f", {row['hold_beside_pct']:.1f} beside a lower demand"
        samples = f"{row['samples']:.0f}" if row["samples"] else ""
        print(f"| {row['program']} | {row['what']} | {samples} | {row['overhead_pct']:.1f} | "
              f"{hold} | {row['sibling_pct']:.1f} | {row['transition_pct']:.1f} |")


def together():
    """Threads that reach a rate together."""
    print("| Rate of each | Level alone, together | Method | Estimate | of it without culprit | "
          "Simulator's truth | Time over SSE4 |")
    print("|---|---|---|---|---|---|---|")
    for row in rows("together.csv"):
        print(f"| {row['rate_permille'] / 1000:.1f} | {row['level_alone']:.0f}, "
              f"{row['level_together']:.0f} | {row['method']} | {row['estimate_pct']:.1f} | "
              f"{row['unknown_culprit_pct']:.1f} | {row['simulator_pct']:.1f} | "
              f"{row['time_over_sse4_pct']:.1f} |")


def stalls():
    """Errors of models of the clock: of all programs, and of those that mostly wait."""
    groups = grouped("stalls.csv", "case", "model")
    print("| Core | Model | Mean error | Mean absolute error | Worst | "
          "Mean error of programs that mostly wait |")
    print("|---|---|---|---|---|---|")
    for (case, model), found in groups.items():
        errors = [row["error_pct"] for row in found]
        waiting = [row["error_pct"] for row in found if row["constant_pct"] >= 50]
        worst = max(errors, key=abs)
        print(f"| {case} | {model} | {mean(errors):+.2f} | {mean(map(abs, errors)):.2f} | "
              f"{worst:+.2f} | {mean(waiting):+.2f} ({len(waiting)}) |")


def perturbation():
    """nginx with and without the profiler."""
    groups = {key: found[0] for key, found in
              grouped("perturbation.csv", "profiler", "samples_a_second", "background").items()}
    print("| Profiler | Samples a second | Requests a second SSE4, AVX2, AVX-512 | "
          "Longer by AVX-512 | True | Estimate |")
    print("|---|---|---|---|---|---|")
    for (profiler, rate, background), wide in groups.items():
        if background != "avx512":
            continue
        names = ["sse4", "avx2", "avx512"]
        a_second = [groups[profiler, rate, name]["requests_a_second"] for name in names]
        longer = 100 * (a_second[0] / a_second[2] - 1)
        estimate = wide["estimate_pct"]
        estimate = f"{estimate:.1f} [{wide['low_pct']:.1f}, {wide['high_pct']:.1f}]" \
            if estimate != "" else ""
        print(f"| {profiler} | {rate:.0f} | " + ", ".join(f"{it:.0f}" for it in a_second)
              + f" | {longer:.2f} | {wide['true_pct']:.2f} | {estimate} |")


def main():
    """All tables."""
    for table in [latency, early, sources, together, stalls, perturbation]:
        print(f"\n{table.__name__}\n")
        table()


if __name__ == "__main__":
    main()
