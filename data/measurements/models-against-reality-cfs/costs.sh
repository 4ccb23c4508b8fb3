#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# What ticks, switches and wake-ups cost here, and how steady work is: on a host and in its guest.
#
# Usage: costs.sh > FILE. Needs cc, perf and openssl. Prints KEY VALUE lines, times in us.
set -eu
folder=$(mktemp -d)
cat >"$folder/gaps.c" <<'C'
/* Looks at the clock for 3 s; what it was away from the CPU are gaps of more than 1 us. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double difference = *(const double *)a - *(const double *)b;

	return (difference > 0) - (difference < 0);
}

int main(void)
{
	static double gaps[1 << 20];
	double start = now_us(), last = start, sum = 0, long_sum = 0;
	unsigned count = 0, long_count = 0;
	unsigned long looks = 0;

	while (last < start + 3e6 && count < 1 << 20) {
		double now = now_us();

		if (now - last > 1) {
			gaps[count++] = now - last;
			sum += now - last;
			if (now - last > 100) {
				long_count++;
				long_sum += now - last;
			}
		}
		last = now;
		looks++;
	}
	qsort(gaps, count, sizeof(*gaps), compare);
	printf("look %.3f\n", 3e6 / looks);
	printf("gaps %u median %.1f p90 %.1f max %.1f share %.2f%%\n", count, gaps[count / 2],
	       gaps[count * 9 / 10], gaps[count - 1], sum / 3e4);
	printf("gaps over 100 us %u, share %.2f%%\n", long_count, long_sum / 3e4);
	return 0;
}
C
cc -O2 -o "$folder/gaps" "$folder/gaps.c"
for cpu in 0 1; do
    echo "cpu $cpu"
    taskset -c $cpu "$folder/gaps"
done
for where in 0 1 0,1; do
    for round in 1 2 3; do
        taskset -c $where perf bench sched pipe -l 20000 |
            sed -n "s/ *\([0-9.]*\) usecs.op/pipe on cpus $where: us for two switches \1/p"
    done
done
for round in 1 2 3 4 5 6 7 8 9 10; do
    echo "sha256 kB a CPU second" \
        "$(taskset -c 1 openssl speed -seconds 1 -bytes 1024 sha256 2>/dev/null | tail -n 1 |
            sed 's/.* //')"
done
find /sys/kernel/debug/sched/domains -name max_newidle_lb_cost -exec grep -H . {} + 2>/dev/null || :
rm -r "$folder"
