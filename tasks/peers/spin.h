/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Work of a known length that touches no memory. */
#ifndef PEERS_SPIN_H
#define PEERS_SPIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts down: one cycle an iteration on most processors. */
void spin(uint64_t iterations);

#ifdef __cplusplus
}
#endif
#endif
