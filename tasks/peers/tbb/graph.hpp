/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tasks with explicit edges: TBB's flow graph of nodes that continue.
 *
 * run() begins the nodes without a predecessor, when all edges exist. The timed part builds
 * and runs the graph; its destruction is left out, to TBB's favour.
 */
#ifndef PEERS_TBB_GRAPH_HPP
#define PEERS_TBB_GRAPH_HPP

#include <tbb/flow_graph.h>

#include <deque>
#include <initializer_list>
#include <vector>

using Node = tbb::flow::continue_node<tbb::flow::continue_msg>;

class Graph {
	tbb::flow::graph graph;
	/* Nodes stay where they are. */
	std::deque<Node> nodes;
	std::vector<Node *> first;

public:
	/* A task after those; NULL among them stands for none. */
	template <class Body> Node *after(const Node *const *before, int count, Body body)
	{
		auto task = [body](const tbb::flow::continue_msg &) { body(); };
		Node *node = &nodes.emplace_back(graph, task);
		bool is_first = true;

		for (int i = 0; i < count; i++) {
			if (before[i]) {
				tbb::flow::make_edge(*const_cast<Node *>(before[i]), *node);
				is_first = false;
			}
		}
		if (is_first)
			first.push_back(node);
		return node;
	}

	template <class Body> Node *after(std::initializer_list<Node *> before, Body body)
	{
		return after(before.begin(), (int)before.size(), body);
	}

	void run()
	{
		for (Node *node : first)
			node->try_put(tbb::flow::continue_msg());
		graph.wait_for_all();
	}
};

#endif
