/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Both summands of a Fibonacci number are tasks; the second need not go through the queue. */
#include "arena.hpp"
#include "fibonacci.h"
#include "measure.h"

static uint64_t fib(long n)
{
	if (n < 2)
		return (uint64_t)n;
	uint64_t a, b;
	tbb::task_group group;

	group.run([&a, n] { a = fib(n - 1); });
	group.run_and_wait([&b, n] { b = fib(n - 2); });
	return a + b;
}

int main(int argc, char **argv)
{
	measure_open("fib", "tbb", argc, argv);
	long n = measure_parameter("n", 24, 0, 90);
	Arena arena(measure_threads());
	uint64_t number = 0;

	measure_start();
	arena.execute([&] { number = fib(n); });
	measure_stop();

	return measure_close(fibonacci_tasks(n), measure_differ("number", number, fibonacci(n)));
}
