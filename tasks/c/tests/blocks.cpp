// SPDX-License-Identifier: MIT OR Apache-2.0
// The header from C++: a matrix product in blocks, and functions that are lambdas.
#include "check.h"

#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

namespace {

constexpr int blocks = 6;
constexpr int edge = 8;
using block = std::array<long, edge * edge>;
using matrix = std::vector<block>;

struct product {
	const block *a;
	const block *b;
	block *c;
};

void multiply(void *arguments)
{
	const auto &[a, b, c] = *static_cast<const product *>(arguments);

	for (int i = 0; i < edge; i++)
		for (int j = 0; j < edge; j++)
			for (int k = 0; k < edge; k++)
				(*c)[i * edge + j] += (*a)[i * edge + k] * (*b)[k * edge + j];
}

struct product_of_all {
	matrix a, b, c;
};

void create(void *arguments)
{
	auto &all = *static_cast<product_of_all *>(arguments);

	for (int i = 0; i < blocks * blocks * blocks; i++) {
		const int row = i / blocks / blocks, column = i / blocks % blocks, k = i % blocks;
		const product one = {&all.a[row * blocks + k], &all.b[k * blocks + column],
				     &all.c[row * blocks + column]};
		const std::array<ekrt_dependence, 3> dependences = {
			{{one.a, EKRT_IN}, {one.b, EKRT_IN}, {one.c, EKRT_INOUT}}};

		CHECK(ekrt_spawn(multiply, &one, sizeof(one), dependences.data(),
				 dependences.size(), 0) == EKRT_OK);
	}
	CHECK(ekrt_wait() == EKRT_OK);
}

/* A callable is copied to the task without its destructor: its captures must need none. */
template <typename F> void spawn(F function)
{
	static_assert(std::is_trivially_copyable<F>::value, "its bytes are copied");
	CHECK(ekrt_spawn([](void *copy) { (*static_cast<F *>(copy))(); }, &function,
			 sizeof(function), nullptr, 0, 0) == EKRT_OK);
}

} // namespace

int main()
{
	ekrt_runtime *const runtime = open_with(3);
	product_of_all all = {matrix(blocks * blocks), matrix(blocks * blocks),
			      matrix(blocks * blocks)};
	matrix expected(blocks * blocks);

	for (int i = 0; i < blocks * blocks * edge * edge; i++) {
		all.a[i / edge / edge][i % (edge * edge)] = i % 7 - 3;
		all.b[i / edge / edge][i % (edge * edge)] = i % 5 - 2;
	}
	CHECK(ekrt_run(runtime, create, &all) == EKRT_OK);
	for (int i = 0; i < blocks * blocks * blocks; i++) {
		product one = {&all.a[i / blocks / blocks * blocks + i % blocks],
			       &all.b[i % blocks * blocks + i / blocks % blocks],
			       &expected[i / blocks / blocks * blocks + i / blocks % blocks]};
		multiply(&one);
	}
	CHECK(all.c == expected);

	long sums[2] = {0, 0};
	CHECK(ekrt_run(
		      runtime,
		      [](void *place) {
		auto *const both = static_cast<long *>(place);

		spawn([both] { both[0] = 1; });
		spawn([both] { both[1] = 2; });
		      },
		      sums) == EKRT_OK);
	CHECK(sums[0] == 1 && sums[1] == 2);
	CHECK(ekrt_close(runtime) == EKRT_OK);
	puts("ok");
	return 0;
}
