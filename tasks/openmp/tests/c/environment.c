/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* An invalid variable is reported once, by name, and has its default; a valid one counts. */
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[16384];

/* What this program prints, all in all, with other variables. */
static const char *with(const char *variables)
{
	char self[4096] = "", command[8192];
	size_t length;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return "";
	snprintf(command, sizeof(command), "%s %s child 2>&1", variables, self);
	FILE *output = popen(command, "r");
	length = fread(text, 1, sizeof(text) - 1, output);
	text[length] = '\0';
	pclose(output);
	return text;
}

static int times(const char *whole, const char *part)
{
	int found = 0;

	for (whole = strstr(whole, part); whole; whole = strstr(whole + 1, part))
		found++;
	return found;
}

int main(int argc, char **argv)
{
	omp_sched_t kind;
	int chunk;

	omp_get_schedule(&kind, &chunk);
	if (argc > 1) {
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp task
		chunk += 0;
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp task
		chunk += 0;
		printf("%d %d %d %d\n", omp_get_max_threads(), chunk, omp_get_num_places(),
		       omp_get_max_active_levels());
		return 0;
	}
	/* A library that is preloaded has the other one beside it, which may have its own say. */
	const char *told = with("OMP_NUM_THREADS=many OMP_SCHEDULE=static,5 OMP_PLACES='threads(1)'");
	if (times(told, "evenkeel: OMP_NUM_THREADS is `many`, not a list of numbers above 0") != 1 ||
	    !strstr(told, " 5 1 1\n"))
		return printf("%s", told), 1;
	/* Our own, and of the file with CPUs that all teams read. */
	told = with("EVENKEEL_RULES=up EVENKEEL_TOPOLOGY=round EVENKEEL_WIDE_CPUS=3-1");
	if (times(told, "evenkeel: EVENKEEL_RULES is `up`, not rules such as") != 1 ||
	    times(told, "evenkeel: EVENKEEL_TOPOLOGY is `round`, not a machine such as") != 1 ||
	    times(told, "evenkeel: `3-1` is no list of CPUs such as `0-3,8`") != 1)
		return printf("%s", told), 1;
	told = with("EVENKEEL_RULES='\xff' EVENKEEL_WIDE=main");
	if (times(told, "evenkeel: EVENKEEL_RULES is `") != 1 ||
	    times(told, "evenkeel: EVENKEEL_WIDE is ignored without EVENKEEL_WIDE_CPUS") != 1)
		return printf("%s", told), 1;
	told = with("EVENKEEL_SUMMARY=/nowhere/summary EVENKEEL_TRACE=/nowhere/trace");
	if (times(told, "evenkeel: writing /nowhere/summary: ") != 1 ||
	    times(told, "evenkeel: writing /nowhere/trace: ") != 1)
		return printf("%s", told), 1;
	/* A name that is misspelt, and one that a test has. */
	told = with("EVENKEEL_SUMARY=1 EVENKEEL_TEST_THIS=1");
	if (times(told, "evenkeel: no variable EVENKEEL_SUMARY is known") != 1 ||
	    times(told, "; is EVENKEEL_SUMMARY meant?\n") != 1 ||
	    times(told, "no variable") != 1)
		return printf("%s", told), 1;
	if (!strstr(with("OMP_NUM_THREADS=7,2"), "7 1 0 2147483647\n"))
		return printf("%s", text), 1;
	if (!strstr(with("OMP_DISPLAY_ENV=true OMP_DYNAMIC=yes"), "  [host] OMP_DYNAMIC = 'TRUE'\n"))
		return printf("%s", text), 1;
	puts("ok");
	return 0;
}
