/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Runs an application of a scenario as real threads: `loads NAME THREADS SEED STEPS`.
 *
 * STEPS is a file of programs.py: a list of steps for the first thread, a line `others`, and a list
 * for each other thread. Work is CPU time of the thread by the kernel's clock, so that preemption
 * by another thread costs time, and a virtual CPU that the host stops costs the same as in the
 * accounts of the scheduler under test. Prints the time from the start to the end of all threads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define NS_PER_US 1000.0
#define NS_PER_S 1000000000
#define NAMES 8
#define STEPS_MAX 4096
#define THREADS_MAX 64
/* The thread looks at its CPU time this often. */
#define LOOK_NS 20000

/* c: compute, s: sleep, b: barrier, l: lock, u: unlock, w: wait, p: post to all other threads,
 * j: go to the first step. */
struct step {
	char what;
	/* f: fixed, u: uniform, e: exponential. */
	char spread;
	/* In us; for the rest the number of the barrier, lock or semaphore. */
	double amount;
	double percent;
};

struct list {
	struct step steps[STEPS_MAX];
	int count;
};

static struct list first, others;
static pthread_barrier_t barriers[NAMES], start;
static pthread_mutex_t locks[NAMES];
static sem_t semaphores[NAMES][THREADS_MAX];
static int threads;
static uint64_t seed;
static const char *name;

static void fail(const char *what)
{
	fprintf(stderr, "loads: %s\n", what);
	exit(2);
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}

/* SplitMix64, as a number above 0 and up to 1. */
static double draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return ((z ^ (z >> 31)) >> 11) * 0x1p-53 + 0x1p-54;
}

static double amount_ns(const struct step *step, uint64_t *state)
{
	double mean = step->amount * NS_PER_US;

	if (step->spread == 'e')
		return -log(draw(state)) * mean;
	if (step->spread == 'u')
		return mean * (1 + step->percent / 100 * (2 * draw(state) - 1));
	return mean;
}

/*
 * A thread whose virtual CPU the host stops computes for too long. What a thread computed too much
 * it computes less the next time, so that its sum is right.
 */
static void compute(double ns)
{
	static __thread int64_t surplus_ns;
	int64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + (int64_t)ns - surplus_ns;

	for (;;) {
		int64_t left = end - now_ns(CLOCK_THREAD_CPUTIME_ID);
		int64_t until;

		surplus_ns = -left;
		if (left <= 0)
			return;
		until = now_ns(CLOCK_MONOTONIC) + (left < LOOK_NS ? left : LOOK_NS);
		while (now_ns(CLOCK_MONOTONIC) < until)
			for (int i = 0; i < 64; i++)
				__asm__ volatile("");
	}
}

static void sleep_for(double ns)
{
	int64_t whole = (int64_t)ns;
	struct timespec time = {.tv_sec = whole / NS_PER_S, .tv_nsec = whole % NS_PER_S};

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &time, &time) == EINTR)
		;
}

static void *run(void *argument)
{
	int self = (int)(intptr_t)argument;
	uint64_t state = seed * 1000003 + (uint64_t)self;
	const struct list *list = self == 0 ? &first : &others;

	prctl(PR_SET_NAME, name);
	prctl(PR_SET_TIMERSLACK, 1000);
	pthread_barrier_wait(&start);
	for (int i = 0; i < list->count; i++) {
		const struct step *step = &list->steps[i];
		int number = (int)step->amount;

		switch (step->what) {
		case 'c':
			compute(amount_ns(step, &state));
			break;
		case 's':
			sleep_for(amount_ns(step, &state));
			break;
		case 'b':
			pthread_barrier_wait(&barriers[number]);
			break;
		case 'l':
			pthread_mutex_lock(&locks[number]);
			break;
		case 'u':
			pthread_mutex_unlock(&locks[number]);
			break;
		case 'w':
			while (sem_wait(&semaphores[number][self]))
				;
			break;
		case 'p':
			for (int other = 1; other < threads; other++)
				sem_post(&semaphores[number][other]);
			break;
		case 'j':
			i = -1;
			break;
		}
	}
	return NULL;
}

static void read_steps(const char *path)
{
	FILE *file = fopen(path, "r");
	struct list *list = &first;
	char line[128];

	if (!file)
		fail("the file of steps cannot be opened");
	while (fgets(line, sizeof(line), file)) {
		struct step *step = &list->steps[list->count];

		if (!strncmp(line, "others", 6)) {
			list = &others;
			continue;
		}
		if (list->count == STEPS_MAX - 1)
			fail("too many steps");
		if (sscanf(line, "%c %c %lf %lf", &step->what, &step->spread, &step->amount,
			   &step->percent) != 4 ||
		    !strchr("csbluwpj", step->what) || !strchr("fue", step->spread))
			fail("a step is not as programs.py writes them");
		if (!strchr("cs", step->what) && (step->amount < 0 || step->amount >= NAMES))
			fail("too many names");
		list->count++;
	}
	fclose(file);
}

int main(int count, char **arguments)
{
	pthread_t handles[THREADS_MAX];
	int64_t began_ns;

	if (count != 5)
		fail("expected NAME THREADS SEED STEPS");
	name = arguments[1];
	threads = atoi(arguments[2]);
	seed = strtoull(arguments[3], NULL, 10);
	if (threads < 1 || threads > THREADS_MAX)
		fail("expected 1 to 64 threads");
	read_steps(arguments[4]);
	for (int i = 0; i < NAMES; i++) {
		pthread_barrier_init(&barriers[i], NULL, (unsigned)threads);
		pthread_mutex_init(&locks[i], NULL);
		for (int thread = 0; thread < threads; thread++)
			sem_init(&semaphores[i][thread], 0, 0);
	}
	pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&handles[i], NULL, run, (void *)(intptr_t)i))
			fail("a thread could not be started");
	began_ns = now_ns(CLOCK_MONOTONIC);
	pthread_barrier_wait(&start);
	for (int i = 0; i < threads; i++)
		pthread_join(handles[i], NULL);
	printf("%s %.6f\n", name, (double)(now_ns(CLOCK_MONOTONIC) - began_ns) / NS_PER_S);
	return 0;
}
