/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Iterations wait for the iterations that they name: in a line, a square, and eight loops. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#define SIDE 24

static int failed;

#define LINE(name, clause) \
static void name(int threads) \
{ \
	long values[100] = {1}; \
	_Pragma("omp parallel num_threads(threads)") \
	_Pragma(clause) \
	for (int i = 1; i < 100; i++) { \
		_Pragma("omp ordered depend(sink: i - 1)") \
		values[i] = values[i - 1] + i; \
		_Pragma("omp ordered depend(source)") \
	} \
	for (int i = 1; i < 100; i++) \
		if (values[i] != 1 + (long)i * (i + 1) / 2) { \
			printf("%s, %d threads: %ld at %d\n", #name, threads, values[i], i); \
			failed = 1; \
			return; \
		} \
}

LINE(along_blocks, "omp for ordered(1) schedule(static)")
LINE(along_static_chunks, "omp for ordered(1) schedule(static, 1)")
LINE(along_dynamic, "omp for ordered(1) schedule(dynamic, 2)")
LINE(along_guided, "omp for ordered(1) schedule(guided)")
LINE(along_runtime, "omp for ordered(1) schedule(runtime)")

static void over_a_square(int threads)
{
	static long at[SIDE][SIDE];

	memset(at, 0, sizeof(at));
#pragma omp parallel num_threads(threads)
#pragma omp for ordered(2) schedule(dynamic)
	for (long i = 0; i < SIDE; i++)
		for (long j = SIDE - 1; j >= 0; j -= 1) {
#pragma omp ordered depend(sink: i - 1, j) depend(sink: i, j + 1)
			at[i][j] = 1 + (i ? at[i - 1][j] : 0) + (j < SIDE - 1 ? at[i][j + 1] : 0);
#pragma omp ordered depend(source)
		}
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			long up = i ? at[i - 1][j] : 0, right = j < SIDE - 1 ? at[i][j + 1] : 0;

			if (at[i][j] != 1 + up + right) {
				printf("%d threads: %ld at %d, %d\n", threads, at[i][j], i, j);
				failed = 1;
				return;
			}
		}
}

/* More loops than a call has registers. */
static void in_eight_loops(int threads)
{
	int order[256], number = 0;

#pragma omp parallel num_threads(threads)
#pragma omp for ordered(8) schedule(static, 1)
	for (unsigned long a = 0; a < 2; a++)
	for (int b = 0; b < 2; b++)
	for (int c = 0; c < 2; c++)
	for (int d = 0; d < 2; d++)
	for (int e = 0; e < 2; e++)
	for (int f = 0; f < 2; f++)
	for (int g = 0; g < 2; g++)
	for (int h = 0; h < 2; h++) {
		int mine = (b << 6) + (c << 5) + (d << 4) + (e << 3) + (f << 2) + (g << 1) + h;

#pragma omp ordered depend(sink: a - 1, b, c, d, e, f, g, h)
		if (a)
			order[mine] = order[mine] == mine ? 1000 + mine : -1;
		else
			order[mine] = mine;
#pragma omp ordered depend(source)
	}
	for (int i = 0; i < 128; i++)
		number += order[i] == 1000 + i;
	if (number != 128)
		printf("%d threads: %d of 128\n", threads, number), failed = 1;
}

int main(void)
{
	int sizes[] = {1, 3, 4};
	omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};

	for (int round = 0; round < 15; round++) {
		int threads = sizes[round % 3];

		omp_set_schedule(kinds[round % 3], 1 + round % 4);
		along_blocks(threads), along_static_chunks(threads), along_dynamic(threads);
		along_guided(threads), along_runtime(threads);
		over_a_square(threads), in_eight_loops(threads);
	}
	if (!failed)
		puts("ok");
	return failed;
}
