/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "spin.h"

void spin(uint64_t iterations)
{
	/* The empty statement may change the counter, for all the compiler knows. */
	for (; iterations; iterations--)
		__asm__ volatile("" : "+r"(iterations));
}
