/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Has the wide phase of a task ended?
 *
 * A fault tells when a task begins to use 512-bit registers on a narrow core, and
 * nothing tells when it stops (D 6.2.4). So a system call ends the phase, unless most
 * recent narrow phases of the task took less CPU time than a migration is worth; and
 * after some CPU time the phase ends in any case, which also corrects a wrong answer
 * to the first question.
 *
 * D gives 100 us for a short phase and an exponential moving average of whether phases
 * were short; how fast the average moves and the time of the fallback are our choice.
 *
 * Pure and total: no clock, no globals, no loops, no failure.
 */
#ifndef EVENKEEL_WIDE_PHASE_H
#define EVENKEEL_WIDE_PHASE_H

#include "fixed.h"

#define EK_WIDE_PHASE_SHORT_NS 100000ULL
/* Li et al., whom D 6.2.4 cites, use timeouts of multiple milliseconds. */
#define EK_WIDE_PHASE_TIMEOUT_NS 10000000ULL
/* A new phase counts for one part of so many in the average. */
#define EK_WIDE_PHASE_PARTS 8U
#define EK_WIDE_PHASE_ONE_Q16 65536U

struct ek_wide_phase {
	/* CPU time since the phase that now is began. */
	u64 ran_ns;
	/* Average of 1 for a short narrow phase, and 0 for a longer one. */
	u32 short_q16;
	u32 is_wide;
};

/* The task ran. */
static inline void ek_wide_phase_ran(struct ek_wide_phase *phase, u64 time_ns)
{
	phase->ran_ns = ek_add(phase->ran_ns, time_ns);
}

/* The task became wide; its narrow phase had a length. */
static inline void ek_wide_phase_begins(struct ek_wide_phase *phase)
{
	u32 average_q16 = phase->short_q16;

	if (phase->is_wide)
		return;
	if (average_q16 > EK_WIDE_PHASE_ONE_Q16)
		average_q16 = EK_WIDE_PHASE_ONE_Q16;
	if (phase->ran_ns < EK_WIDE_PHASE_SHORT_NS)
		average_q16 += (EK_WIDE_PHASE_ONE_Q16 - average_q16) / EK_WIDE_PHASE_PARTS;
	else
		average_q16 = average_q16 * (EK_WIDE_PHASE_PARTS - 1) / EK_WIDE_PHASE_PARTS;
	phase->short_q16 = average_q16;
	phase->is_wide = 1;
	phase->ran_ns = 0;
}

/* The task became narrow. */
static inline void ek_wide_phase_ends(struct ek_wide_phase *phase)
{
	if (!phase->is_wide)
		return;
	phase->is_wide = 0;
	phase->ran_ns = 0;
}

/* Whether a system call ends the wide phase. `keeps_short`: the rule of short phases. */
static inline u32 ek_wide_phase_ends_by_call(const struct ek_wide_phase *phase, u32 keeps_short)
{
	if (!phase->is_wide)
		return 0;
	return !keeps_short || phase->short_q16 <= EK_WIDE_PHASE_ONE_Q16 / 2;
}

/* CPU time until the timeout of the wide phase. */
static inline u64 ek_wide_phase_left_ns(const struct ek_wide_phase *phase, u64 timeout_ns)
{
	return ek_sub(timeout_ns, phase->ran_ns);
}

/*
 * The timeout of the wide phase is over. It ends the phase, or begins anew if the task
 * used wide registers meanwhile (D Fig. 6.5b, after Li et al.).
 */
static inline void ek_wide_phase_times_out(struct ek_wide_phase *phase, u32 renews)
{
	if (!phase->is_wide)
		return;
	phase->is_wide = !!renews;
	phase->ran_ns = 0;
}

_Static_assert(sizeof(struct ek_wide_phase) == 16, "Rust reads it");

#endif
