/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* As many workers as asked for, all of which have begun before the clock starts. */
#ifndef PEERS_TASKFLOW_WORKERS_HPP
#define PEERS_TASKFLOW_WORKERS_HPP

#include <taskflow/taskflow.hpp>

#include <atomic>

#include "tally.h"

class Workers {
	tf::Executor executor;

public:
	explicit Workers(int threads) : executor((size_t)threads)
	{
		std::atomic<int> present{0};

		for (int i = 0; i < threads; i++) {
			executor.silent_async([&] {
				tally_join();
				present++;
				while (present < threads)
					std::this_thread::yield();
			});
		}
		executor.wait_for_all();
	}

	/*
	 * Runs a body on a worker, which creates tasks cheaper than a thread outside, and waits
	 * for the body and for all tasks of its runtime.
	 */
	template <class Body> void execute(Body body)
	{
		executor.silent_async([&](tf::Runtime &runtime) {
			body(runtime);
			runtime.corun_all();
		});
		executor.wait_for_all();
	}

	void run(tf::Taskflow &graph)
	{
		executor.run(graph).wait();
	}
};

#endif
