/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A team is as large as a control group leaves CPUs, or time on them, unless the program says it.
 * Who may not make groups here is told so: nothing is tried then.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_to(const char *folder, const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "w");

	if (!file)
		return 0;
	int written = fputs(text, file) >= 0;

	return fclose(file) == 0 && written;
}

static int reads(const char *folder, const char *name, char *text, int bytes)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "r");
	int is_read = file && fgets(text, bytes, file);

	if (file)
		fclose(file);
	return is_read;
}

static int has_word(const char *text, const char *word, const char *between)
{
	char copy[512] = "";

	strncpy(copy, text, sizeof(copy) - 1);
	for (char *one = strtok(copy, between); one; one = strtok(NULL, between))
		if (!strcmp(one, word))
			return 1;
	return 0;
}

/* A new group below where a controller is mounted; returns the version, or 0. */
static int make(const char *controller, char *folder, size_t bytes)
{
	char above[256], kind[64], options[512], all[512], line[128];
	FILE *mounts = fopen("/proc/self/mounts", "r");
	int version = 0;

	while (!version && mounts &&
	       fscanf(mounts, "%*s %255s %63s %511s %*d %*d", above, kind, options) == 3) {
		if (!strcmp(kind, "cgroup") && has_word(options, controller, ","))
			version = 1;
		if (!strcmp(kind, "cgroup2") &&
		    reads(above, "cgroup.controllers", all, sizeof(all)) &&
		    has_word(all, controller, " \n"))
			version = 2;
	}
	if (mounts)
		fclose(mounts);
	snprintf(line, sizeof(line), "+%s", controller);
	if (!version || (version == 2 && !write_to(above, "cgroup.subtree_control", line)))
		return 0;
	snprintf(folder, bytes, "%s/evenkeel-omp-%s-%d", above, controller, (int)getpid());
	return mkdir(folder, 0755) ? 0 : version;
}

/* Whether a process that goes to the group finds `cpus` CPUs and begins a team of `threads`. */
static int is_seen(const char *folder, int cpus, int threads)
{
	char self[4096] = "", numbers[2][16];
	int status = 1;

	snprintf(numbers[0], sizeof(numbers[0]), "%d", cpus);
	snprintf(numbers[1], sizeof(numbers[1]), "%d", threads);
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 0;
	pid_t child = fork();

	if (!child) {
		unsetenv("OMP_NUM_THREADS");
		if (write_to(folder, "cgroup.procs", "0"))
			execl(self, "control_groups", numbers[0], numbers[1], (char *)NULL);
		_exit(2);
	}
	waitpid(child, &status, 0);
	return status == 0;
}

static int team(int cpus, int threads)
{
	int members = 0, asked = 0;

#pragma omp parallel reduction(+ : members)
	members++;
#pragma omp parallel num_threads(3) reduction(+ : asked)
	asked++;
	if (omp_get_num_procs() == cpus && members == threads && asked == 3)
		return 0;
	fprintf(stderr, "%d CPUs, not %d; %d threads, not %d; %d, not 3\n", omp_get_num_procs(),
		cpus, members, threads, asked);
	return 1;
}

int main(int argc, char **argv)
{
	char folder[512], last[16] = "", nodes[128] = "0";
	int cpus = omp_get_num_procs(), version, is_right;
	cpu_set_t mask;

	if (argc > 2)
		return team(atoi(argv[1]), atoi(argv[2]));
	if (sched_getaffinity(0, sizeof(mask), &mask))
		return 1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &mask))
			snprintf(last, sizeof(last), "%d", cpu);

	version = make("cpuset", folder, sizeof(folder));
	if (version == 1 && reads(folder, "../cpuset.mems", nodes, sizeof(nodes)))
		write_to(folder, "cpuset.mems", nodes);
	if (version && write_to(folder, "cpuset.cpus", last)) {
		is_right = is_seen(folder, 1, 1);
		rmdir(folder);
		if (!is_right)
			return 1;
	} else {
		fprintf(stderr, "not tried: no group for a set of CPUs\n");
	}

	version = make("cpu", folder, sizeof(folder));
	if ((version == 2 && write_to(folder, "cpu.max", "100000 100000")) ||
	    (version == 1 && write_to(folder, "cpu.cfs_period_us", "100000") &&
	     write_to(folder, "cpu.cfs_quota_us", "100000"))) {
		is_right = is_seen(folder, cpus, 1);
		rmdir(folder);
		if (!is_right)
			return 1;
	} else {
		fprintf(stderr, "not tried: no group for CPU time\n");
	}
	puts("ok");
	return 0;
}
