/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How long did a program run, with which parameters, and was its result right?
 *
 * Every program, whatever its model, goes through these calls in this order and so
 * prints the same line. Arguments are NAME=NUMBER, runtime=NAME, and rules=TEXT of ours.
 */
#ifndef PEERS_MEASURE_H
#define PEERS_MEASURE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Names the program, and the runtime unless an argument does. */
void measure_open(const char *program, const char *model, int argc, char **argv);

/* A given parameter, or the default; one outside least..most ends the process with status 2. */
long measure_parameter(const char *name, long otherwise, long least, long most);

/* The text given as `name=`, or NULL. */
const char *measure_text(const char *name);

/* The parameter `threads`. */
int measure_threads(void);

/* Begin and end of the timed part. An argument that the program did not ask for ends it. */
void measure_start(void);
void measure_stop(void);

/*
 * Prints the line and returns the status to exit with. `failure` describes the fault of
 * the result, or is NULL.
 */
int measure_close(uint64_t tasks, const char *failure);

/* NULL if both are equal, else a sentence that is valid until the next call. */
const char *measure_differ(const char *what, uint64_t is, uint64_t should_be);

#ifdef __cplusplus
}
#endif
#endif
