/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* As many threads as asked for, all of which have begun before the clock starts. */
#ifndef PEERS_TBB_ARENA_HPP
#define PEERS_TBB_ARENA_HPP

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>
#include <chrono>

#include "tally.h"

class Arena {
	tbb::global_control limit;
	tbb::task_arena arena;

	/* TBB guarantees no thread; after this time we continue with those that have begun. */
	static constexpr std::chrono::milliseconds PATIENCE{100};

public:
	explicit Arena(int threads)
		: limit(tbb::global_control::max_allowed_parallelism, (size_t)threads),
		  arena(threads)
	{
		std::atomic<int> present{0};
		auto until = std::chrono::steady_clock::now() + PATIENCE;
		auto meet = [&] {
			tally_join();
			present++;
			while (present < threads && std::chrono::steady_clock::now() < until)
				;
		};

		execute([&] {
			tbb::task_group all;

			for (int i = 1; i < threads; i++)
				all.run(meet);
			all.run_and_wait(meet);
		});
	}

	template <class Body> void execute(Body body)
	{
		arena.execute(body);
	}
};

#endif
