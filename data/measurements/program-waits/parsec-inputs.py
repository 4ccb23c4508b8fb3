#!/usr/bin/env python3
"""Makes inputs of the size of those of Parsec's simlarge, which are not part of its sources.

    python3 parsec-inputs.py FOLDER

The content is ours (random, seed 1), so that amounts of work differ from Parsec's; which thread
waits for which follows from the programs.
"""
import os
import random
import struct
import sys


def netlist(path, elements=400_000, fanin=5):
    """canneal: `elements` blocks of a chip, each fed by `fanin` that are mostly near."""
    side = int((elements * 1.1) ** 0.5) + 1
    draw = random.Random(1)
    with open(path, "w", encoding="ascii") as out:
        out.write(f"{elements}\t{side}\t{side}\n")
        for block in range(elements):
            feeds = {(block + int(draw.gauss(0, 2000))) % elements for _ in range(fanin)}
            names = "\t".join(f"b{feed}" for feed in feeds)
            out.write(f"b{block}\t{1 + block % 2}\t{names}\tEND\n")


def particles(path, count=300_000):
    """fluidanimate: a block of fluid at rest that fills the lower half of the tank."""
    size = (0.13, 0.09, 0.13)
    per_metre = (count / (size[0] * size[1] * size[2])) ** (1 / 3)
    across = int(size[0] * per_metre)
    draw = random.Random(1)
    with open(path, "wb") as out:
        out.write(struct.pack("<fi", per_metre, count))
        for at in range(count):
            place = (at % across, at // (across * across), at // across % across)
            x, y, z = ((cell + 0.4 + 0.2 * draw.random()) / per_metre for cell in place)
            out.write(struct.pack("<9f", x - 0.065, y - 0.08, z - 0.065, 0, 0, 0, 0, 0, 0))


def transactions(path, count=990_000, items=41_270):
    """freqmine: baskets of 8 items in the mean, popular ones more often, some bought together."""
    draw = random.Random(1)
    groups = [[int(items ** draw.random()) for _ in range(6)] for _ in range(2000)]
    with open(path, "w", encoding="ascii") as out:
        for _ in range(count):
            basket = {int(items ** draw.random()) for _ in range(1 + int(draw.expovariate(0.25)))}
            group = groups[int(2000 ** draw.random()) - 1]
            basket.update(group[:draw.randrange(len(group) + 1)])
            out.write(" ".join(map(str, basket)) + "\n")


def media(path, size=180_000_000):
    """dedup: libraries and texts of this system, some of them twice."""
    written = 0
    with open(path, "wb") as out:
        for top in ("/usr/lib/x86_64-linux-gnu", "/usr/share", "/usr/lib/x86_64-linux-gnu"):
            for folder, folders, names in os.walk(top):
                folders.sort()
                for name in sorted(names):
                    file = os.path.join(folder, name)
                    if os.path.islink(file) or written >= size:
                        continue
                    with open(file, "rb") as content:
                        written += out.write(content.read(size - written))


def main():
    """Makes each input that is not there yet."""
    folder = sys.argv[1]
    makers = {"netlist.nets": netlist, "particles.fluid": particles,
              "transactions.dat": transactions, "media.dat": media}
    for name, make in makers.items():
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            make(path)


main()
