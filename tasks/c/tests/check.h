/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What must hold; a program that gets to its end prints `ok`. */
#ifndef CHECK_H
#define CHECK_H

#include <evenkeel_rt.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(holds) \
	do { \
		if (!(holds)) { \
			fprintf(stderr, "%s:%d: %s; %s\n", __FILE__, __LINE__, #holds, \
				ekrt_error()); \
			abort(); \
		} \
	} while (0)

/* A runtime of so many workers. */
static inline struct ekrt_runtime *open_with(uint32_t workers)
{
	struct ekrt_options options = EKRT_OPTIONS;
	struct ekrt_runtime *runtime = NULL;

	options.workers = workers;
	CHECK(ekrt_open(&options, &runtime) == EKRT_OK);
	return runtime;
}

#endif
