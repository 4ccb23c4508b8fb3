/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* One vector a call, as a BPF program. */
#include "vector.h"

u64 bpf_answer(struct vector *v);
u64 bpf_answer(struct vector *v)
{
	answer(v);
	return 0;
}
