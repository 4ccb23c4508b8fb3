/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Tasks that create tasks and wait for them. */
#include "check.h"

struct call {
	long n;
	long *result;
};

static void fibonacci(void *arguments)
{
	const struct call *call = arguments;
	long results[2] = {0, 0};
	int i;

	if (call->n < 2) {
		*call->result = call->n;
		return;
	}
	for (i = 0; i < 2; i++) {
		void *block;
		struct ekrt_task *task =
			ekrt_create(fibonacci, sizeof(struct call), &block, i ? EKRT_DEFERRED : 0);

		CHECK(task && (uintptr_t)block % 32 == 0);
		((struct call *)block)->n = call->n - 1 - i;
		((struct call *)block)->result = &results[i];
		CHECK(ekrt_submit(task) == EKRT_OK);
	}
	CHECK(ekrt_wait() == EKRT_OK);
	*call->result = results[0] + results[1];
}

int main(void)
{
	static const uint32_t workers[] = {0, 1, 2, 5};
	size_t i;

	for (i = 0; i < sizeof(workers) / sizeof(*workers); i++) {
		struct ekrt_runtime *runtime = open_with(workers[i]);
		long result = 0;
		struct call call = {20, &result};

		CHECK(ekrt_run(runtime, fibonacci, &call) == EKRT_OK);
		CHECK(result == 6765);
		CHECK(ekrt_close(runtime) == EKRT_OK);
	}
	puts("ok");
	return 0;
}
