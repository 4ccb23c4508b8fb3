/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Vectors from standard input, answered to standard output; aborts at undefined behaviour. */
#include "vector.h"

extern long read(int file, void *bytes, unsigned long count);
extern long write(int file, const void *bytes, unsigned long count);

int main(void)
{
	static struct vector v;

	for (;;) {
		unsigned long done = 0;

		while (done < sizeof(v)) {
			long got = read(0, (char *)&v + done, sizeof(v) - done);

			if (got < 0)
				return 1;
			if (got == 0)
				return done == 0 ? 0 : 1;
			done += (unsigned long)got;
		}
		answer(&v);
		if (write(1, &v, sizeof(v)) != (long)sizeof(v))
			return 1;
	}
}
