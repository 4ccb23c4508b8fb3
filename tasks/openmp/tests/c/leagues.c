/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Leagues of teams: each team runs once, and they share the iterations of what is distributed. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

static int hits[200], failed;

#define CHECK(claim) \
	do { \
		if (!(claim)) { \
			printf("line %d: %s\n", __LINE__, #claim); \
			failed = 1; \
		} \
	} while (0)

static void hit(int i)
{
	__atomic_fetch_add(&hits[i], 1, __ATOMIC_RELAXED);
}

static void expect_each_once(int line, int number)
{
	for (int i = 0; i < 200; i++)
		if (hits[i] != (i < number)) {
			printf("line %d: iteration %d came %d times\n", line, i, hits[i]);
			failed = 1;
			break;
		}
	memset(hits, 0, sizeof(hits));
}

/* A compiler refuses these calls right in a team. */
static int around(void)
{
	return omp_get_num_threads() != 1 || omp_get_thread_num() || omp_get_level();
}

static int is_limited_to(int threads)
{
	return omp_get_thread_limit() == threads;
}

static void of(int number)
{
	int teams = 0, wrong = 0, last = -1, threads = 0, limit = omp_get_thread_limit();

	CHECK(omp_get_num_teams() == 1 && omp_get_team_num() == 0);
#pragma omp teams num_teams(number) thread_limit(3) reduction(+: teams, wrong) shared(threads)
	{
		teams++;
		hit(omp_get_team_num());
		wrong += omp_get_num_teams() != number || around();
#pragma omp parallel num_threads(8)
#pragma omp single
		threads = omp_get_num_threads();
	}
	CHECK(teams == number && !wrong && threads <= 3);
	expect_each_once(__LINE__, number);
	/* The limit is what was asked for, also if there are fewer CPUs. */
#pragma omp teams num_teams(number) thread_limit(900) reduction(+: wrong)
	wrong += !is_limited_to(900);
	CHECK(!wrong && is_limited_to(limit));
#pragma omp teams num_teams(number) reduction(+: wrong) shared(limit)
	wrong += !is_limited_to(limit);
	CHECK(!wrong);
#pragma omp teams num_teams(number)
#pragma omp distribute
	for (int i = 0; i < 100; i++)
		hit(i);
	expect_each_once(__LINE__, 100);
#pragma omp teams distribute num_teams(number) dist_schedule(static, 7) lastprivate(last)
	for (int i = 0; i < 100; i++) {
		hit(i);
		last = i;
	}
	expect_each_once(__LINE__, 100);
	CHECK(last == 99);
#pragma omp teams distribute parallel for num_teams(number) num_threads(3)
	for (int i = 0; i < 100; i++)
		hit(i);
	expect_each_once(__LINE__, 100);
#pragma omp teams distribute parallel for num_teams(number) schedule(dynamic, 3) num_threads(3)
	for (long i = 99; i >= 0; i--)
		hit(i);
	expect_each_once(__LINE__, 100);
#pragma omp teams distribute parallel for num_teams(number) dist_schedule(static, 9) \
	schedule(static, 2) num_threads(3)
	for (unsigned i = 0; i < 100; i++)
		hit(i);
	expect_each_once(__LINE__, 100);
}

int main(void)
{
	for (int round = 0; round < 10; round++)
		of(1), of(2), of(5);
	if (!failed)
		puts("ok");
	return failed;
}
