/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Exceptions that are caught where they are thrown: in a region, a loop, a task, a nested one. */
#include <cstdio>
#include <omp.h>
#include <stdexcept>
#include <string>

namespace
{
struct Counted {
	static int alive;
	Counted()
	{
#pragma omp atomic
		alive++;
	}
	Counted(const Counted &) : Counted()
	{
	}
	~Counted()
	{
#pragma omp atomic
		alive--;
	}
};
int Counted::alive = 0;

void fails(int depth)
{
	Counted counted;

	if (depth == 0)
		throw std::runtime_error("deep");
	fails(depth - 1);
}

/* Throws in a task below, and catches there, until there is no deeper one. */
int nested(int depth)
{
	int caught = 0;

	if (depth == 0)
		return 0;
#pragma omp task shared(caught) untied
	{
		try {
			caught += nested(depth - 1);
			fails(depth);
		} catch (const std::runtime_error &error) {
			caught += error.what() == std::string("deep");
		}
	}
#pragma omp taskwait
	return caught;
}
}

int main()
{
	int regions = 0, loops = 0, tasks = 0, groups = 0, deep = 0;

#pragma omp parallel num_threads(3) reduction(+ : regions, loops)
	{
		try {
			fails(omp_get_thread_num());
		} catch (const std::exception &) {
			regions++;
		}
#pragma omp for schedule(dynamic, 3)
		for (int i = 0; i < 100; i++) {
			try {
				if (i % 2)
					throw i;
			} catch (int odd) {
				loops += odd == i;
			}
		}
	}
#pragma omp parallel num_threads(3)
#pragma omp single
	{
		for (int i = 0; i < 1000; i++) {
			Counted counted;
#pragma omp task firstprivate(counted, i) shared(tasks)
			{
				try {
					fails(i % 7);
				} catch (const std::runtime_error &) {
#pragma omp atomic
					tasks++;
				}
			}
		}
		try {
#pragma omp taskgroup
			{
#pragma omp task shared(groups)
				try {
					throw std::string("group");
				} catch (const std::string &) {
#pragma omp atomic
					groups++;
				}
			}
			fails(2);
		} catch (const std::exception &) {
#pragma omp atomic
			groups++;
		}
		deep = nested(20);
	}
	if (regions != 3 || loops != 50 || tasks != 1000 || groups != 2 || deep != 20)
		return std::printf("%d %d %d %d %d\n", regions, loops, tasks, groups, deep), 1;
	if (Counted::alive != 0)
		return std::printf("%d were not destroyed\n", Counted::alive), 1;
	std::puts("ok");
	return 0;
}
