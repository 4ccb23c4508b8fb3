/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A canary: the sanitizer must stop this program. */
int main(void)
{
	volatile int largest = 0x7fffffff;

	return largest + 1;
}
