/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A process is registered for membarrier(2) when the library is loaded, before it has threads: a
 * process of several threads would wait for that in its first region, 10 to 25 ms.
 */
#include <linux/membarrier.h>
#include <omp.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	int offered = (int)syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	if (offered > 0 && offered & MEMBARRIER_CMD_PRIVATE_EXPEDITED &&
	    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)) {
		perror("membarrier");
		return 1;
	}
	/* A program without a call would not need the library. */
	if (omp_in_parallel())
		return 2;
	puts("ok");
	return 0;
}
