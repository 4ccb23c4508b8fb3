/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How many tasks ran, and how much did they find?
 *
 * Each thread counts in a cache line of its own, so that counting costs the same
 * nanosecond in every runtime and no two threads write one cache line.
 */
#ifndef PEERS_TALLY_H
#define PEERS_TALLY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tally {
	uint64_t tasks;
	uint64_t found;
	/* Of another thread; written before the tally is published. */
	struct tally *next;
	/* Up to two cache lines: processors fetch them in pairs. */
	char apart[128 - 2 * sizeof(uint64_t) - sizeof(void *)];
};

/* This thread's tally; NULL until the thread first counts. */
extern __thread struct tally *tally_mine;

/* Gives this thread its tally. */
struct tally *tally_join(void);

/* Sums over all threads; to be called when no task runs any more. */
uint64_t tally_tasks(void);
uint64_t tally_found(void);

static inline struct tally *tally_of_thread(void)
{
	return tally_mine ? tally_mine : tally_join();
}

static inline void tally_task(void)
{
	tally_of_thread()->tasks++;
}

#ifdef __cplusplus
}
#endif
#endif
