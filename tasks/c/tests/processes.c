/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* A forked child cannot use its parent's runtimes, and may open its own. */
#include "check.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Under AddressSanitizer no other thread: one that holds its lock at a fork hangs the child. */
#if defined(__SANITIZE_ADDRESS__)
enum { WORKERS = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { WORKERS = 1 };
#else
enum { WORKERS = 3 };
#endif
#else
enum { WORKERS = 3 };
#endif

static void count(void *arguments)
{
	++*(int *)arguments;
}

static void child(struct ekrt_runtime *parents)
{
	struct ekrt_runtime *own;
	int ran = 0;

	CHECK(ekrt_run(parents, count, &ran) == EKRT_ECLOSED && !ran);
	CHECK(strstr(ekrt_error(), "another process"));
	CHECK(ekrt_workers(parents) == EKRT_ECLOSED);
	CHECK(ekrt_close(parents) == EKRT_OK);
	own = open_with(3);
	CHECK(ekrt_run(own, count, &ran) == EKRT_OK && ran == 1);
	CHECK(ekrt_close(own) == EKRT_OK);
	_exit(0);
}

int main(void)
{
	struct ekrt_runtime *runtime = open_with(WORKERS);
	int ran = 0, status = 1;
	pid_t process = fork();

	if (!process)
		child(runtime);
	CHECK(waitpid(process, &status, 0) == process && status == 0);
	CHECK(ekrt_run(runtime, count, &ran) == EKRT_OK && ran == 1);
	CHECK(ekrt_workers(runtime) == WORKERS && ekrt_close(runtime) == EKRT_OK);
	puts("ok");
	return 0;
}
