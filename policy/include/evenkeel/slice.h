/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How long may a task run?
 *
 * A base length, longer or shorter by up to a jitter: slices of equal length
 * make tasks that never sleep run in step, gang against gang, and hide every
 * loss. The host draws the random number.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_SLICE_H
#define EVENKEEL_SLICE_H

#include "weight.h"

/* base * (1 +- jitter), uniform in the draw; at least 1 ns, so that time passes. */
static inline u64 ek_slice_ns(u64 base_ns, u32 jitter_permille, u32 draw)
{
	if (jitter_permille > 1000)
		jitter_permille = 1000;

	u64 jitter_ns = ek_mul_div(base_ns, jitter_permille, 1000);
	u64 up_ns = ek_mul_q30(jitter_ns, draw >> 2);
	u64 length_ns = ek_add(ek_sub(base_ns, jitter_ns), ek_add(up_ns, up_ns));

	return ek_max(length_ns, 1);
}

/* No slice that waiting shortens is shorter; a switch costs some microseconds. Our choice. */
#define EK_SLICE_MIN_NS 200000ULL

/*
 * A slice in a queue of `waiting` tasks that `cpus` serve: less for light tasks,
 * and less where several wait for each CPU; heavy tasks wait less instead.
 */
static inline u64 ek_slice_shared_ns(u64 base_ns, u32 weight, u32 waiting, u32 cpus)
{
	u64 length_ns = base_ns;

	if (weight < EK_WEIGHT_ONE)
		length_ns = ek_mul_div(base_ns, weight, EK_WEIGHT_ONE);
	if (waiting > cpus && cpus > 0)
		length_ns = ek_mul_div(length_ns, cpus, waiting);
	return ek_min(ek_max(length_ns, EK_SLICE_MIN_NS), ek_max(base_ns, 1));
}

#endif
