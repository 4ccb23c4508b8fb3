/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Gives the inline functions of license.h addresses that Rust can call. */
#include <evenkeel/license.h>

void ekc_license_init(struct ek_license *s);
void ekc_license_demand(struct ek_license *s, const struct ek_license_table *t,
			struct ek_demand demand, u32 active_cores, u64 now_ns);
void ekc_license_advance(struct ek_license *s, const struct ek_license_table *t, u32 active_cores,
			 u64 now_ns);
void ekc_license_postpone(struct ek_license *s, u64 passed_ns);
u64 ekc_license_next_ns(const struct ek_license *s);
struct ek_license_effect ekc_license_effect(const struct ek_license *s,
					    const struct ek_license_table *t);

void ekc_license_init(struct ek_license *s)
{
	ek_license_init(s);
}

void ekc_license_demand(struct ek_license *s, const struct ek_license_table *t,
			struct ek_demand demand, u32 active_cores, u64 now_ns)
{
	ek_license_demand(s, t, demand, active_cores, now_ns);
}

void ekc_license_advance(struct ek_license *s, const struct ek_license_table *t, u32 active_cores,
			 u64 now_ns)
{
	ek_license_advance(s, t, active_cores, now_ns);
}

void ekc_license_postpone(struct ek_license *s, u64 passed_ns)
{
	ek_license_postpone(s, passed_ns);
}

u64 ekc_license_next_ns(const struct ek_license *s)
{
	return ek_license_next_ns(s);
}

struct ek_license_effect ekc_license_effect(const struct ek_license *s,
					    const struct ek_license_table *t)
{
	return ek_license_effect(s, t);
}
