/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the tests run under the tracer. ASK is an instruction of two bytes that
 * the tracer takes for CPUID: HLT, which no program may execute, so that it
 * raises SIGSEGV on every CPU.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* One line: leaf, sub-leaf, EAX, EBX, ECX, EDX. */
static void say(unsigned int leaf, unsigned int subleaf, unsigned int a, unsigned int b,
		unsigned int c, unsigned int d)
{
	char line[80];
	int length = snprintf(line, sizeof(line), "%x %x %x %x %x %x\n", leaf, subleaf, a, b, c, d);

	/* One call a line, so that threads and processes do not mix theirs. */
	if (write(1, line, length) != length)
		_exit(90);
}

static void ask(unsigned int leaf, unsigned int subleaf)
{
	unsigned int a = leaf, b = 0, c = subleaf, d = 0;

	__asm__ volatile(".byte 0xf4, 0x90" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	say(leaf, subleaf, a, b, c, d);
}

static void ask_cpuid(unsigned int leaf, unsigned int subleaf)
{
	unsigned int a = leaf, b = 0, c = subleaf, d = 0;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	say(leaf, subleaf, a, b, c, d);
}

static void *asking_thread(void *unused)
{
	ask(7, 0);
	return unused;
}

/* Threads, children by fork and by vfork, and what those become. */
static void ask_everywhere(const char *self)
{
	pthread_t threads[4];
	char *words[] = {(char *)self, "ask", "7", "0", NULL};
	pid_t child;

	ask(7, 0);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, asking_thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);

	child = fork();
	if (child == 0) {
		ask(7, 0);
		execv(self, words);
		_exit(91);
	}
	waitpid(child, NULL, 0);

	if (posix_spawn(&child, self, NULL, NULL, words, environ))
		_exit(92);
	waitpid(child, NULL, 0);
}

static void *becoming_thread(void *self)
{
	execl(self, self, "ask", "7", "0", NULL);
	_exit(93);
}

/* From CPU to CPU, asking for the number of each. */
static void ask_on(char **cpus)
{
	for (; *cpus; cpus++) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(atoi(*cpus), &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			_exit(96);
		ask(1, 0);
	}
}

static volatile sig_atomic_t handled;

static void handler(int signal)
{
	handled += signal;
}

/* Signals arrive beside the questions, the real-time ones of the C library too. */
static void take_signals(void)
{
	signal(SIGSEGV, handler);
	signal(SIGUSR1, handler);
	signal(SIGRTMAX, handler);
	ask(7, 0);
	raise(SIGUSR1);
	ask(7, 0);
	raise(SIGRTMAX);
	raise(SIGSEGV);
	ask(7, 0);
	_exit(handled == SIGUSR1 + SIGRTMAX + SIGSEGV ? 0 : 94);
}

static void *writing_thread(void *unused)
{
	for (;;) {
		ask(0, 0);
		usleep(1000);
	}
	return unused;
}

static void *waiting_thread(void *unused)
{
	for (;;)
		pause();
	return unused;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (!strcmp(what, "ask"))
		ask(strtoul(argv[2], NULL, 16), strtoul(argv[3], NULL, 16));
	else if (!strcmp(what, "cpuid"))
		ask_cpuid(strtoul(argv[2], NULL, 16), strtoul(argv[3], NULL, 16));
	else if (!strcmp(what, "on"))
		ask_on(argv + 2);
	else if (!strcmp(what, "everywhere"))
		ask_everywhere(argv[0]);
	else if (!strcmp(what, "become")) {
		pthread_create(&thread, NULL, becoming_thread, argv[0]);
		pause();
	} else if (!strcmp(what, "signals"))
		take_signals();
	else if (!strcmp(what, "crash")) {
		ask(7, 0);
		*(volatile int *)0 = 0;
	} else if (!strcmp(what, "write")) {
		/* Two threads of this process and one of a child. */
		pthread_create(&thread, NULL, writing_thread, NULL);
		fork();
		writing_thread(NULL);
	} else if (!strcmp(what, "leave")) {
		/* The same, but the child leaves the group, and nobody does anything. */
		pthread_create(&thread, NULL, waiting_thread, NULL);
		if (fork() == 0)
			setsid();
		waiting_thread(NULL);
	} else
		return 95;
	return 0;
}
