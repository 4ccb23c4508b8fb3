/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which rows of the turbo table did a slice run in?
 *
 * The number of active cores changes during a slice, and no counter records the
 * changes. The two neighbouring rows whose mean frequencies, at the slice's own
 * shares, enclose the actual one tell the number afterwards; how far the actual
 * one lies between them is the interpolation factor (dissertation 7.4.2, step 3).
 * No row is meant before the first that can have held (active.h; 0 where no host
 * counts cores): where the table is too slow, the clock alone would find one of
 * fewer active cores, and of a higher ideal.
 * Beyond the table's ends the end is meant. Of rows that do not differ at
 * these shares the one with the fewest active cores is meant.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure.
 */
#ifndef EVENKEEL_TURBO_ROW_H
#define EVENKEEL_TURBO_ROW_H

#include "mean_frequency.h"

struct ek_turbo_row {
	/* The slower row: more active cores. */
	u32 slow;
	/* Way from the slower row to the row before, Q30. */
	u32 factor_q30;
};

static inline void ek_turbo_row(const struct ek_turbo *turbo, const struct ek_shares *shares,
				u64 actual_hz, u64 first_row, struct ek_turbo_row *at)
{
	u32 rows = turbo->rows;

	if (rows > EK_ROWS_MAX)
		rows = EK_ROWS_MAX;
	if (rows == 0)
		rows = 1;

	/* The first row that is not faster, and the one before, were both read. */
	u32 from = (u32)ek_min(first_row, rows - 1);
	u32 first = from;
	u32 slow = rows;
	u64 slow_hz = 0;
	u64 fast_hz = 0;

	for (u32 i = 0; i < 5 && first < slow; i++) {
		u32 middle = (first + slow) / 2;
		u64 hz = ek_mean_frequency_hz(turbo, middle, shares);

		if (hz > actual_hz) {
			first = middle + 1;
			fast_hz = hz;
		} else {
			slow = middle;
			slow_hz = hz;
		}
	}

	at->slow = slow < rows ? slow : rows - 1;
	at->factor_q30 = 0;
	if (slow > from && slow < rows)
		at->factor_q30 = ek_share_q30(ek_sub(actual_hz, slow_hz), ek_sub(fast_hz, slow_hz));
}

_Static_assert(sizeof(struct ek_turbo_row) == 8, "Rust reads this struct");

#endif
