/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Whichever way the library was loaded, every function of OpenMP is its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *file_of(void *function)
{
	Dl_info info;

	return dladdr(function, &info) ? info.dli_fname : "nowhere";
}

/* What a child says that calls the function; it must not come back. */
static int says(void (*function)(void), const char *expected)
{
	char text[200] = "";
	int pipe_ends[2], status;

	if (pipe(pipe_ends))
		return 0;
	pid_t child = fork();
	if (child == 0) {
		dup2(pipe_ends[1], 2);
		function();
		_exit(0);
	}
	close(pipe_ends[1]);
	if (read(pipe_ends[0], text, sizeof(text) - 1) < 0)
		return 0;
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) && !strcmp(text, expected);
}

int main(void)
{
	static const char *const names[] = {
		"omp_get_wtime", "GOMP_parallel", "__kmpc_fork_call", "acc_init", "kmp_malloc",
	};
	const char *ours = file_of(dlsym(RTLD_DEFAULT, "__kmpc_fork_call"));

	if (omp_get_wtime() <= 0)
		return printf("no time\n"), 1;
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *function = dlsym(RTLD_DEFAULT, names[i]);

		if (!function || strcmp(file_of(function), ours))
			return printf("%s is of %s, not %s\n", names[i], file_of(function), ours), 1;
	}
	void (*unsupported)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "acc_init");
	if (!says(unsupported, "evenkeel: acc_init is not supported\n"))
		return printf("a stub does not say its name\n"), 1;
	if (dlsym(RTLD_DEFAULT, "evenkeel_omp_unsupported"))
		return printf("names of ours show\n"), 1;
	if (!dlvsym(RTLD_DEFAULT, "omp_init_lock", "OMP_1.0") ||
	    !dlvsym(RTLD_DEFAULT, "omp_init_lock", "OMP_3.0") ||
	    !dlvsym(RTLD_DEFAULT, "omp_init_lock", "VERSION"))
		return printf("a version is missing\n"), 1;
	puts("ok");
	return 0;
}
