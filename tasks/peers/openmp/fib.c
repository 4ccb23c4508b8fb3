/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Both summands of a Fibonacci number are tasks; their creator waits for both. */
#include "fibonacci.h"
#include "measure.h"
#include "tally.h"

static uint64_t fib(long n)
{
	uint64_t a, b;

	if (n < 2)
		return (uint64_t)n;
#pragma omp task shared(a)
	a = fib(n - 1);
#pragma omp task shared(b)
	b = fib(n - 2);
#pragma omp taskwait
	return a + b;
}

int main(int argc, char **argv)
{
	measure_open("fib", "openmp", argc, argv);
	long n = measure_parameter("n", 24, 0, 90);
	int threads = measure_threads();
	uint64_t number = 0;

#pragma omp parallel num_threads(threads)
	tally_join();

	measure_start();
#pragma omp parallel num_threads(threads)
#pragma omp single
	number = fib(n);
	measure_stop();

	return measure_close(fibonacci_tasks(n), measure_differ("number", number, fibonacci(n)));
}
