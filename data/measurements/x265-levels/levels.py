"""What license levels the instructions of x265 demand, from the samples of record.sh.

    python3 levels.py FOLDER > levels.csv

An instruction is heavy if it computes with floating point (D 3.2.1) or multiplies integers (Intel's
optimization manual); `floating 256` has the former alone. The density of a class at a sample is its
share of the instructions around the sampled one, 32 on either side, in the order of addresses and
not beyond a return. Needs numpy, objdump, perf, and root to read what perf wrote.
"""

import re
import subprocess
import sys

import numpy

AROUND = 32
HEAVY = re.compile(
    r"^v(pmul|pmadd|pdp|f[n]?m(add|sub)|cvt"
    r"|(add|sub|mul|div|sqrt|max|min|dp|hadd|hsub|addsub|round|rndscale|cmp\w*|rcp\w*|rsqrt\w*)"
    r"[ps][sd]$)"
)
INTEGERS = re.compile(r"^vp(mul|madd|dp)")
NARROW, LIGHT_256, HEAVY_256, LIGHT_512, HEAVY_512, MULTIPLY_256 = range(6)
# The hold of a Skylake in time of this machine, for a Skylake that needs 1, 1.5, 2 or 3 times as
# long for the same code.
HOLDS_US = (670, 450, 335, 223)
# Only threads with this share of the samples are workers.
WORKER = 0.03


def disassemble(library):
    """Addresses, classes, and the number of returns before each instruction."""
    text = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "-M", "intel", library],
        capture_output=True, text=True, check=True,
    ).stdout
    addresses, classes, returns = [], [], []
    count = 0
    for line in text.splitlines():
        found = re.match(r"^\s*([0-9a-f]+):\t(\S+)\s*(.*)$", line)
        if not found:
            continue
        name, operands = found[2], found[3]
        is_heavy = bool(HEAVY.match(name))
        if "zmm" in operands:
            kind = HEAVY_512 if is_heavy else LIGHT_512
        elif "ymm" in operands:
            kind = LIGHT_256
            if is_heavy:
                kind = MULTIPLY_256 if INTEGERS.match(name) else HEAVY_256
        else:
            kind = NARROW
        addresses.append(int(found[1], 16))
        classes.append(kind)
        returns.append(count)
        count += name.startswith(("ret", "hlt"))
    return numpy.array(addresses), numpy.array(classes), numpy.array(returns)


def densities(at, classes, returns):
    """The share of each class around each instruction of `at`."""
    low = numpy.maximum(at - AROUND, numpy.searchsorted(returns, returns[at], side="left"))
    high = numpy.minimum(at + AROUND + 1, numpy.searchsorted(returns, returns[at], side="right"))
    sums = [numpy.concatenate([[0], numpy.cumsum(classes == kind)]) for kind in range(6)]
    return numpy.stack([(sum[high] - sum[low]) / (high - low) for sum in sums], axis=1)


def samples(file):
    """Thread and address in the library (0 elsewhere) of each sample, and the library."""
    mapped = subprocess.run(
        f"perf script -i {file} --show-mmap-events 2>/dev/null | grep -a MMAP2 | grep -a libx265",
        shell=True, capture_output=True, text=True, check=True,
    ).stdout
    found = re.search(r"\[0x([0-9a-f]+)\(\S+\) @ 0x([0-9a-f]+) .*\s(\S+)$", mapped.splitlines()[0])
    shift = int(found[1], 16) - int(found[2], 16)
    script = subprocess.Popen(
        ["perf", "script", "-i", file, "-F", "tid,ip,dso"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    threads, addresses = [], []
    for line in script.stdout:
        thread, address, place = line.split(None, 2)
        threads.append(int(thread))
        addresses.append(int(address, 16) - shift if "libx265" in place else 0)
    return numpy.array(threads), numpy.array(addresses), found[3]


def sustained(marked):
    """Samples that are marked, as at least three of the last six are."""
    sums = numpy.concatenate([[0], numpy.cumsum(marked)])
    enough = numpy.zeros(len(marked), bool)
    enough[6:] = sums[7:] - sums[1:-6] >= 3
    return marked & enough


def main():
    folder = sys.argv[1]
    print("build,marked,density,dense_for,samples,sample_us,marked_share,hold_us,level_share,"
          "demand_share,stretches,stretch_ms")
    for build in ("avx2", "avx512"):
        threads, places, library = samples(f"{folder}/{build}.data")
        addresses, classes, returns = disassemble(library)
        used, of_sample = numpy.unique(places, return_inverse=True)
        at = numpy.minimum(numpy.searchsorted(addresses, used), len(addresses) - 1)
        share = densities(at, classes, returns)
        share[used == 0] = 0
        sample_us = float(open(f"{folder}/{build}.cpu_s").read()) * 1e6 / len(threads)
        ids, counts = numpy.unique(threads, return_counts=True)
        workers = ids[counts > WORKER * len(threads)]
        by_thread = [of_sample[threads == worker] for worker in workers]
        if build == "avx2":
            floating = share[:, HEAVY_256] + share[:, HEAVY_512]
            marks = [("heavy 256", x, floating + share[:, MULTIPLY_256] > x)
                     for x in (0.1, 0.2, 0.25, 0.3)]
            marks.append(("floating 256", 0.25, floating > 0.25))
        else:
            marks = [("heavy 512", x, share[:, HEAVY_512] > x) for x in (0.1, 0.2, 0.25, 0.3)]
            marks.append(("any 512", 0.0, share[:, LIGHT_512] + share[:, HEAVY_512] > 0))
        for name, density, mark in marks:
            for dense_for in ("one", "sustained"):
                for hold_us in HOLDS_US:
                    print_row(build, name, density, dense_for, mark, by_thread, sample_us, hold_us)


def print_row(build, name, density, dense_for, mark, by_thread, sample_us, hold_us):
    hold = hold_us / sample_us
    level = demand = total = stretches = marked = 0
    for thread in by_thread:
        marks = mark[thread]
        if dense_for == "sustained":
            marks = sustained(marks)
        at = numpy.flatnonzero(marks)
        total += len(marks)
        marked += len(at)
        if len(at) == 0:
            continue
        gaps = numpy.diff(at)
        stretches += int((gaps > hold).sum()) + 1
        level += numpy.minimum(gaps, hold).sum() + min(hold, len(marks) - at[-1])
        demand += gaps[gaps <= hold].sum()
    stretch_ms = demand * sample_us / 1000 / stretches if stretches else 0
    print(f"{build},{name},{density},{dense_for},{total},{sample_us:.3f},{marked / total:.4f},"
          f"{hold_us},{level / total:.4f},{demand / total:.4f},{stretches},{stretch_ms:.3f}")


if __name__ == "__main__":
    main()
