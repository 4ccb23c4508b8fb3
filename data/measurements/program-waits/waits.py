#!/usr/bin/env python3
"""How the threads of programs wait, from recordings: a line of CSV for each recording.

    python3 waits.py EVENKEEL NAME-THREADS.ektrace... > waits.csv

NAME begins with the program's, up to a hyphen. `workers` are threads with a tenth of the CPU time
of the busiest but one. `alone` is the share of the program's CPU time in which no other thread of
it could run. A wait begins where a worker blocks (state S or D) and ends with its wake-up;
`compute` is the CPU time between two waits of a worker (a preemption does not end it): its tenth
least, median, tenth greatest of ten, and mean. `spread` is the standard deviation of those
`compute` above 50 us, as a share of their mean. Times are in us.
"""
import os
import statistics
import sys

from recorded import Program, quantiles


def main():
    """Prints the table."""
    evenkeel, *files = sys.argv[1:]
    print("program,threads,workers,cpu_ms,alone,waits,per_cpu_ms,compute_10,compute_50,compute_90,"
          "compute_mean,spread,wait_10,wait_50,wait_90,wait_mean")
    for name in files:
        called, threads = os.path.basename(name).removesuffix(".ektrace").rsplit("-", 1)
        program = Program(called.split("-")[0][:15])
        program.follow(evenkeel, name)
        runs = sorted((thread.run for thread in program.threads.values()), reverse=True)
        least = runs[min(1, len(runs) - 1)] / 10
        workers = [thread for thread in program.threads.values() if thread.run >= least]
        cpu = sum(runs)
        computes = [compute for thread in workers for compute in thread.computes]
        waits = [wait for thread in workers for wait in thread.waits]
        long = [compute for compute in computes if compute > 50]
        spread = statistics.pstdev(long) / statistics.mean(long) if long else 0
        row = [called, threads, len(workers), f"{cpu / 1000:.1f}", f"{program.alone / cpu:.3f}",
               len(computes), f"{len(computes) / (cpu / 1000):.4f}", *quantiles(computes),
               f"{spread:.2f}", *quantiles(waits)]
        print(",".join(str(cell) for cell in row), flush=True)


main()
