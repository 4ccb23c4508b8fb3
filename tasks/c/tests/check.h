/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A condition that must hold; a program whose conditions all hold prints `ok`. */
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

/* Opens a runtime with this number of workers. */
static inline struct ekrt_runtime *open_with(uint32_t workers)
{
	struct ekrt_options options = EKRT_OPTIONS;
	struct ekrt_runtime *runtime = NULL;

	options.workers = workers;
	CHECK(ekrt_open(&options, &runtime) == EKRT_OK);
	return runtime;
}

#endif
