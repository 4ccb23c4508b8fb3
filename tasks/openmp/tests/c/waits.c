/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Who waits for a task's dependences runs others meanwhile, and keeps nobody waiting for these when
 * it goes on with its own. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static int x, has_written, has_child, has_created, has_waited;

static void wait_for(int *flag)
{
	while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
		usleep(10);
}

static void say(int *flag)
{
	__atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

int main(void)
{
	alarm(60);
#pragma omp parallel num_threads(3)
#pragma omp single
	{
#pragma omp task depend(out: x)
		{
			say(&has_written);
			wait_for(&has_child);
			usleep(20000);
		}
		wait_for(&has_written);
#pragma omp task
		{
			/* Whoever waits below runs this. */
#pragma omp task
			{
				say(&has_child);
				usleep(100000);
			}
#pragma omp task
			wait_for(&has_child);
			say(&has_created);
#pragma omp taskwait
			say(&has_waited);
		}
		wait_for(&has_created);
#pragma omp task if(0) depend(in: x)
		wait_for(&has_waited);
	}
	puts("ok");
	return 0;
}
