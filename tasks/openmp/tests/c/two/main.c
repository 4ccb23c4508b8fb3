/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* gcc's half of a program whose other half is clang's: both use the same OpenMP. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

long part(int threads, void **address);

int main(void)
{
	void *(*ours)(void) = (void *(*)(void))dlsym(RTLD_DEFAULT, "__kmpc_fork_call");
	Dl_info mine, theirs;
	void *address;

	omp_set_num_threads(3);
	if (part(3, &address) < 1)
		return printf("a variable that one half sets is another's\n"), 1;
	if (!dladdr((void *)ours, &mine) || !dladdr(address, &theirs) ||
	    strcmp(mine.dli_fname, theirs.dli_fname))
		return printf("two libraries\n"), 1;
	if (dlsym(RTLD_DEFAULT, "GOMP_parallel") == NULL)
		return printf("no libgomp\n"), 1;
	puts("ok");
	return 0;
}
