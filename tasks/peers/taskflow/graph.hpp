/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tasks with explicit edges: a static task graph, Taskflow's own model.
 *
 * The timed part builds and runs the graph; its destruction is left out, to Taskflow's favour.
 */
#ifndef PEERS_TASKFLOW_GRAPH_HPP
#define PEERS_TASKFLOW_GRAPH_HPP

#include <initializer_list>

#include "workers.hpp"

class Graph {
	tf::Taskflow graph;

public:
	/* A task after those; an empty one among them stands for none. */
	template <class Body> tf::Task after(const tf::Task *before, int count, Body body)
	{
		tf::Task task = graph.emplace(body);

		for (int i = 0; i < count; i++) {
			if (!before[i].empty())
				task.succeed(before[i]);
		}
		return task;
	}

	template <class Body> tf::Task after(std::initializer_list<tf::Task> before, Body body)
	{
		return after(before.begin(), (int)before.size(), body);
	}

	void run(Workers &workers)
	{
		workers.run(graph);
	}
};

#endif
