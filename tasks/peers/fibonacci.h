/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Fibonacci numbers, added up one after the other: the right result of the tree of calls. */
#ifndef PEERS_FIBONACCI_H
#define PEERS_FIBONACCI_H

#include <stdint.h>

static inline uint64_t fibonacci(long n)
{
	uint64_t before = 1, number = 0;

	for (; n > 0; n--) {
		uint64_t sum = before + number;

		before = number;
		number = sum;
	}
	return number;
}

/* Two for every call with n > 1; the number of such calls is fibonacci(n + 1) - 1. */
static inline uint64_t fibonacci_tasks(long n)
{
	return 2 * (fibonacci(n + 1) - 1);
}

#endif
