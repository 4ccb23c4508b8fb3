/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A program may exit anywhere: with its status, and each function of atexit runs once. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void farewell(void)
{
	ssize_t written = write(STDOUT_FILENO, "farewell\n", 9);

	(void)written;
}

static void in_region(void)
{
#pragma omp parallel num_threads(4)
	if (omp_get_thread_num() == 2)
		exit(7);
}

static void in_first_thread(void)
{
#pragma omp parallel num_threads(4)
	if (omp_get_thread_num() == 0)
		exit(7);
}

static void in_task(void)
{
#pragma omp parallel num_threads(4)
#pragma omp single
	for (int i = 0; i < 1000; i++) {
#pragma omp task firstprivate(i)
		if (i == 500)
			exit(7);
	}
}

static void in_task_alone(void)
{
#pragma omp task
	exit(7);
}

static void in_target_region(void)
{
#pragma omp target
	exit(7);
}

static void in_nested_region(void)
{
	omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
	if (omp_get_thread_num() == 1)
#pragma omp critical
		exit(7);
}

static void *ends(void *unused)
{
	(void)unused;
#pragma omp parallel num_threads(3)
	omp_get_thread_num();
	exit(7);
}

static void in_another_thread(void)
{
	pthread_t thread;

#pragma omp parallel num_threads(3)
	omp_get_thread_num();
	pthread_create(&thread, NULL, ends, NULL);
	pthread_join(thread, NULL);
}

/* The first thread ends, and the program goes on in another. */
static void *goes_on(void *first)
{
	pthread_join(*(pthread_t *)first, NULL);
#pragma omp parallel num_threads(3)
#pragma omp single
#pragma omp task
	exit(7);
	return NULL;
}

static void without_first_thread(void)
{
	static pthread_t first, other;

	first = pthread_self();
#pragma omp parallel num_threads(3)
	omp_get_thread_num();
	pthread_create(&other, NULL, goes_on, &first);
	pthread_exit(NULL);
}

static void after_regions(void)
{
#pragma omp parallel num_threads(4)
	omp_get_thread_num();
	exit(7);
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{"region", in_region},		{"first", in_first_thread}, {"task", in_task},
	{"alone", in_task_alone},	{"target", in_target_region},
	{"nested", in_nested_region},	{"thread", in_another_thread},
	{"without", without_first_thread}, {"after", after_regions},
};

int main(int argc, char **argv)
{
	char self[4096] = "", command[8192], text[256];

	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++)
		if (!strcmp(argv[1], ways[i].name)) {
			atexit(farewell);
			ways[i].run();
			return 1;
		}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		snprintf(command, sizeof(command), "timeout 60 %s %s", self, ways[i].name);
		FILE *output = popen(command, "r");
		size_t length = fread(text, 1, sizeof(text) - 1, output);
		int status = pclose(output);

		text[length] = '\0';
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 7 || strcmp(text, "farewell\n"))
			return printf("%s: status %x, `%s`\n", ways[i].name, status, text), 1;
	}
	puts("ok");
	return 0;
}
