/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How do we calculate without floats, 128-bit integers and wrapping?
 *
 * A fraction between 0 and 1 is a u32 in Q30: EK_ONE is 1. Products are built
 * from 32-bit halves, so that each partial product fits 64 bits; larger results
 * saturate. Differences are taken between locals, after a test.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_FIXED_H
#define EVENKEEL_FIXED_H

#include <evenkeel/ints.h>

/*
 * BPF's verifier follows every path with the range of each value, and gives up where
 * paths multiply. A value that was stored in a map before EK_FORGET and is read
 * afterwards has no known range, and adds no paths.
 */
#ifdef __bpf__
#define EK_FORGET() asm("" ::: "memory")
#else
#define EK_FORGET()
#endif

/* The fraction 1. */
#define EK_ONE (1U << 30)
/* A u64 below this can be shifted to Q30. */
#define EK_WHOLE_END (1ULL << 34)

static inline u64 ek_add(u64 a, u64 b)
{
	u64 room = EK_U64_MAX - a;

	return b <= room ? a + b : EK_U64_MAX;
}

/* a - b, at least 0. */
static inline u64 ek_sub(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

static inline u64 ek_min(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 ek_max(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* a * q30 rounded down, for a fraction of at most 1 (more is read as 1). */
static inline u64 ek_mul_q30(u64 a, u32 q30)
{
	u64 high = a >> 32;
	u64 low = a & EK_U32_MAX;

	if (q30 > EK_ONE)
		q30 = EK_ONE;
	return high * q30 * 4 + (low * q30 >> 30);
}

/*
 * part / whole in Q30, rounded down; 1 if the part exceeds the whole, 0 if the
 * whole is 0. From 2^34 on both lose their last bits first.
 */
static inline u32 ek_share_q30(u64 part, u64 whole)
{
	/* Down to as many bits as fit, by halves. */
	if (whole >= 1ULL << 49) {
		whole >>= 16;
		part >>= 16;
	}
	if (whole >= 1ULL << 41) {
		whole >>= 8;
		part >>= 8;
	}
	if (whole >= 1ULL << 37) {
		whole >>= 4;
		part >>= 4;
	}
	if (whole >= 1ULL << 35) {
		whole >>= 2;
		part >>= 2;
	}
	if (whole >= EK_WHOLE_END) {
		whole >>= 1;
		part >>= 1;
	}
	if (whole == 0)
		return 0;
	if (part >= whole)
		return EK_ONE;
	return (u32)ek_min((part << 30) / whole, EK_ONE);
}

/* a * num / den rounded down, exact; saturates, also when den is 0. */
static inline u64 ek_mul_div(u64 a, u32 num, u32 den)
{
	u64 high = (a >> 32) * num;
	u64 low = (a & EK_U32_MAX) * num;

	if (den == 0)
		return EK_U64_MAX;
	if (high == 0)
		return low / den;

	/* The product in 32-bit digits, divided from the highest on. */
	u64 middle = (high & EK_U32_MAX) + (low >> 32);
	u64 top = (high >> 32) + (middle >> 32);

	if (top >= den)
		return EK_U64_MAX;

	u64 dividend = top << 32 | (middle & EK_U32_MAX);
	u64 quotient = dividend / den;
	u64 last = (dividend % den) << 32 | (low & EK_U32_MAX);

	return (quotient & EK_U32_MAX) << 32 | (last / den & EK_U32_MAX);
}

#endif
