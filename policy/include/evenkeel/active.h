/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which rows of the turbo table can have held since a time?
 *
 * Active cores decide the row. The host counts them and notes the row; for each row
 * struct ek_active keeps the time until which a row of fewer cores held. A slice ran in rows
 * from the first that held meanwhile on, whatever its clock says (turbo_row.h). Cores
 * that run nothing may still count as active for the CPU, which then is in a later
 * row and not in an earlier one; so a bound from below by cores that run something
 * holds, but for changes between two counts.
 *
 * Pure and total: no clock, no globals, bounded loops, no failure. One CPU may note a
 * row while another one reads: then a slice is judged by one count more or less.
 */
#ifndef EVENKEEL_ACTIVE_H
#define EVENKEEL_ACTIVE_H

#include <evenkeel/turbo.h>

#include "fixed.h"

struct ek_active {
	/* Until when a row before each held; entry 0 is not used. */
	u64 before_until_ns[EK_ROWS_MAX];
	/* The row that holds. */
	u32 row;
	u32 pad;
};

/* The row of the turbo table that holds for that many active cores; the last one beyond it. */
static inline u32 ek_active_row(const struct ek_turbo *turbo, u32 active_cores)
{
	u32 rows = turbo->rows;

	if (rows > EK_ROWS_MAX)
		rows = EK_ROWS_MAX;
	for (u32 row = 0; row < EK_ROWS_MAX && row < rows; row++) {
		if (active_cores <= turbo->cores_max[row])
			return row;
	}
	return rows > 0 ? rows - 1 : 0;
}

/* From now on a row holds; until now the row that was noted last held. */
static inline void ek_active_note(struct ek_active *active, u32 row, u64 now_ns)
{
	for (u32 later = 1; later < EK_ROWS_MAX; later++) {
		if (later > active->row)
			active->before_until_ns[later] =
				ek_max(active->before_until_ns[later], now_ns);
	}
	active->row = row;
}

/* The first row that held since a time. */
static inline u32 ek_active_since(const struct ek_active *active, u64 since_ns)
{
	for (u32 row = EK_ROWS_MAX - 1; row > 0; row--) {
		if (row <= active->row && active->before_until_ns[row] <= since_ns)
			return row;
	}
	return 0;
}

_Static_assert(sizeof(struct ek_active) == 8 * (EK_ROWS_MAX + 1), "Rust reads this struct");

#endif
