/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Lets the clocks of a virtual machine go more slowly than the host's.
 *
 * Loaded before QEMU's own libraries. QEMU drives all timers of the guest by CLOCK_MONOTONIC and
 * waits for them in ppoll(): the clock advances by 1/EVENKEEL_DILATION, and waits take as much
 * longer. The guest's time-stamp counter is the host's and stays; the kernel is told a frequency
 * that fits.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_S 1000000000
#define SECONDS_MAX 86400

static int (*real_gettime)(clockid_t clock, struct timespec *time);
static int (*real_ppoll)(struct pollfd *files, nfds_t count, const struct timespec *timeout,
			 const sigset_t *signals);
static int64_t dilation;
static int64_t begin_ns;

static int64_t to_ns(struct timespec time)
{
	return (int64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}

static struct timespec from_ns(int64_t ns)
{
	return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

__attribute__((constructor)) static void begin(void)
{
	const char *given = getenv("EVENKEEL_DILATION");
	struct timespec now;

	real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
	real_ppoll = dlsym(RTLD_NEXT, "ppoll");
	dilation = given ? atol(given) : 0;
	if (!real_gettime || !real_ppoll || dilation < 1)
		abort();
	real_gettime(CLOCK_MONOTONIC, &now);
	begin_ns = to_ns(now);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int result = real_gettime(clock, time);

	if (clock == CLOCK_MONOTONIC && result == 0)
		*time = from_ns(begin_ns + (to_ns(*time) - begin_ns) / dilation);
	return result;
}

int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout,
	  const sigset_t *signals)
{
	struct timespec longer;

	/* A wait of more than a day is endless. */
	if (timeout && timeout->tv_sec < SECONDS_MAX) {
		longer = from_ns(to_ns(*timeout) * dilation);
		timeout = &longer;
	}
	return real_ppoll(files, count, timeout, signals);
}
