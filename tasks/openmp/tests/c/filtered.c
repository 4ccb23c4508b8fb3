/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * A program may forbid membarrier(2) to itself after the library was loaded, as sandboxes do. Its
 * teams then use fences.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <omp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Makes membarrier(2) fail with EPERM in this process; 0 if the kernel takes the filter. */
static int forbid(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 4, .filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
	int arrived = 0;

	if (forbid())
		fprintf(stderr, "no filter: nothing to try\n");
	for (int region = 0; region < 3; region++) {
#pragma omp parallel num_threads(2) reduction(+ : arrived)
		{
			arrived++;
			/* The other thread waits until it sleeps. */
			if (omp_get_thread_num() == 1)
				usleep(20000);
		}
	}
	if (arrived != 6)
		return 1;
	puts("ok");
	return 0;
}
