/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A canary: the proof must find the wrap of this sum, which fits in 64 bits for
 * all inputs but one in 2^63. If the proof missed this wrap, its silence on the
 * headers would prove nothing.
 */
#include <evenkeel/fixed.h>

static volatile u64 any_u64;

int main(void)
{
	u64 vtime_ns = ek_sub(any_u64, 1);
	u64 charged_ns = ek_min(any_u64, 3);

	return vtime_ns + charged_ns > 0;
}
