/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * One summand of a Fibonacci number is a task, and the creator computes the other one, as in
 * Taskflow's own example. This is faster than two tasks.
 */
#include "fibonacci.h"
#include "measure.h"
#include "workers.hpp"

static uint64_t fib(tf::Runtime &runtime, long n)
{
	if (n < 2)
		return (uint64_t)n;
	uint64_t a, b;

	runtime.silent_async([&a, n](tf::Runtime &inner) { a = fib(inner, n - 1); });
	b = fib(runtime, n - 2);
	runtime.corun_all();
	return a + b;
}

int main(int argc, char **argv)
{
	measure_open("fib", "taskflow", argc, argv);
	long n = measure_parameter("n", 24, 0, 90);
	Workers workers(measure_threads());
	uint64_t number = 0;

	measure_start();
	workers.execute([&](tf::Runtime &runtime) { number = fib(runtime, n); });
	measure_stop();

	return measure_close(fibonacci_tasks(n), measure_differ("number", number, fibonacci(n)));
}
