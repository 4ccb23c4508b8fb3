/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Threads are bound where the environment and clauses say so, and say it. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[16384];

/* What this program prints, all in all, with other variables. */
static const char *with(const char *variables, const char *what)
{
	char self[4096] = "", command[8192];
	size_t length;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return "";
	snprintf(command, sizeof(command), "%s %s %s 2>&1", variables, self, what);
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

/* Whether the calling thread may run on the CPUs of its place, and on no other. */
static int is_at_its_place(void)
{
	int cpus[CPU_SETSIZE], number = omp_get_place_num_procs(omp_get_place_num());
	cpu_set_t mask;

	if (sched_getaffinity(0, sizeof(mask), &mask) || number > CPU_SETSIZE)
		return 0;
	omp_get_place_proc_ids(omp_get_place_num(), cpus);
	for (int i = 0; i < number; i++)
		if (!CPU_ISSET(cpus[i], &mask))
			return 0;
	return number == CPU_COUNT(&mask);
}

static int bound(void)
{
	int places = omp_get_num_places(), wrong = 0, inner = 0;

	if (places < 1 || omp_get_place_num() != 0 || !is_at_its_place())
		return printf("%d places, at %d\n", places, omp_get_place_num()), 1;
#pragma omp parallel num_threads(places) proc_bind(close) reduction(+ : wrong)
	wrong += omp_get_place_num() != omp_get_thread_num() || !is_at_its_place();
	if (wrong)
		return printf("close: %d wrong\n", wrong), 1;
#pragma omp parallel num_threads(places + 1) proc_bind(master) reduction(+ : wrong)
	wrong += omp_get_place_num() != 0 || !is_at_its_place();
	if (wrong)
		return printf("master: %d wrong\n", wrong), 1;
#pragma omp parallel num_threads(places) proc_bind(spread) reduction(+ : wrong, inner)
	{
		int mine;

		omp_get_partition_place_nums(&mine);
		wrong += omp_get_partition_num_places() != 1 || mine != omp_get_place_num();
#pragma omp parallel num_threads(2) proc_bind(close) reduction(+ : inner)
		inner += omp_get_place_num() != mine || !is_at_its_place();
	}
	if (wrong || inner || omp_get_place_num() != 0)
		return printf("spread: %d wrong, %d inside\n", wrong, inner), 1;
	return 0;
}

static void *other(void *unused)
{
	static int is_wrong;

	(void)unused;
#pragma omp parallel num_threads(2) proc_bind(close)
#pragma omp single
	is_wrong = !is_at_its_place();
	return is_wrong ? &is_wrong : NULL;
}

/* How many CPUs this thread may run on. */
static int cpus(void)
{
	cpu_set_t mask;

	return sched_getaffinity(0, sizeof(mask), &mask) ? 0 : CPU_COUNT(&mask);
}

/* Who starts a program, and calls nothing itself, leaves it all CPUs; and so does whose library
 * this is instead of, though that binds the first thread before. */
static int all_cpus(void)
{
	const char *ways[] = {"OMP_PROC_BIND=true env OMP_PROC_BIND=false",
			      "OMP_PROC_BIND=true env", "OMP_PLACES=threads"};
	char expected[100];

	snprintf(expected, sizeof(expected), "%d CPUs\n", cpus());
	for (int i = 0; i < (int)(sizeof(ways) / sizeof(*ways)); i++)
		if (strcmp(with(ways[i], "count"), expected))
			return printf("%s: not %s%s", ways[i], expected, text), 1;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "count")) {
		printf("%d CPUs\n", omp_get_num_procs());
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "bound")) {
		pthread_t thread;
		void *is_wrong;

		if (bound() || pthread_create(&thread, NULL, other, NULL) ||
		    pthread_join(thread, &is_wrong) || is_wrong)
			return 1;
		puts("bound");
		return 0;
	}
	if (argc > 1) {
		for (int i = 0; i < 2; i++) {
#pragma omp parallel num_threads(2)
			omp_get_thread_num();
		}
#pragma omp parallel num_threads(3)
		omp_get_thread_num();
		return 0;
	}
	const char *nested = "OMP_MAX_ACTIVE_LEVELS=2 OMP_WAIT_POLICY=passive";
	const char *ways[] = {"OMP_PROC_BIND=true",	      "OMP_PLACES=cores",
			      "OMP_PROC_BIND=spread,close",   "OMP_PLACES='threads(1)'",
			      "OMP_PLACES='{0},{1},{999}'", "GOMP_CPU_AFFINITY=0-1",
			      "OMP_PLACES=sockets",	      "OMP_PLACES=ll_caches"};
	for (int i = 0; i < (int)(sizeof(ways) / sizeof(*ways)); i++) {
		char variables[1000];

		snprintf(variables, sizeof(variables), "%s %s", nested, ways[i]);
		if (!strstr(with(variables, "bound"), "bound\n"))
			return printf("%s: %s", ways[i], text), 1;
	}
	if (all_cpus())
		return 1;
	/* Each thread says where it is when that may have changed. */
	with("OMP_DISPLAY_AFFINITY=true OMP_AFFINITY_FORMAT='here %0.3n of %N on %A'", "silent");
	if (times(text, "here 00") < 5 || !strstr(text, "here 001 of 2 on ") ||
	    !strstr(text, "here 002 of 3 on "))
		return printf("%s", text), 1;
	puts("ok");
	return 0;
}
