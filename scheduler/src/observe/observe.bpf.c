/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Which tasks leave wide registers behind, and who runs on the CPU after them?
 *
 * Two tracepoints that count and decide nothing, for kernels with and without
 * sched_ext. The kernel switches first (sched_switch) and then saves the
 * registers of the task that leaves (kernel/sched/core.c and
 * arch/x86/kernel/process_64.c, Linux 6.18).
 */
#include "kernel.h"

/* Bits of XSTATE_BV: upper halves of YMM and of ZMM 0 to 15, and tiles (SDM 13.1). */
#define XFEATURE_YMM (1ULL << 2)
#define XFEATURE_ZMM_HI256 (1ULL << 6)
#define XFEATURE_TILES (3ULL << 17)

/* Tasks, and pairs of them; our choice. */
#define USERS_MAX 16384
#define PAIRS_MAX 65536

/* src/observe.rs reads these. */
struct user {
	/* How often it left its CPU, and with registers of 256 bits, 512 bits and tiles. */
	u64 leaves;
	u64 with[3];
	char name[16];
};

struct pair {
	u32 user;
	u32 after;
};

struct after {
	u64 times;
	u64 ns;
	char name[16];
};

struct cpu {
	/* Since when its task runs, and until when that may be slowed by the last user. */
	u64 since_ns;
	u64 until_ns;
	u32 user;
	u32 pad;
};

/* How long a level is held after the last wide instruction. */
const volatile u64 hold_ns;
/* What did not fit. */
u64 lost;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, USERS_MAX);
	__type(key, u32);
	__type(value, struct user);
} users SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PAIRS_MAX);
	__type(key, struct pair);
	__type(value, struct after);
} afters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct cpu);
} here SEC(".maps");

static struct cpu *this_cpu(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&here, &zero);
}

/* A task ran for so long while what a user left behind was held. */
static void ran_after(u32 user, struct task_struct *p, u64 ns)
{
	struct pair key = {.user = user, .after = p->pid};
	struct after *found = bpf_map_lookup_elem(&afters, &key);

	if (!found) {
		struct after first = {.times = 1, .ns = ns};

		bpf_probe_read_kernel_str(first.name, sizeof(first.name), p->comm);
		if (bpf_map_update_elem(&afters, &key, &first, BPF_NOEXIST))
			__sync_fetch_and_add(&lost, 1);
		return;
	}
	__sync_fetch_and_add(&found->times, 1);
	__sync_fetch_and_add(&found->ns, ns);
}

SEC("tp_btf/sched_switch")
int on_switch(u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1];
	struct cpu *cpu = this_cpu();
	u64 now_ns = bpf_ktime_get_ns();
	u32 pid = prev->pid;

	if (!cpu)
		return 0;

	u64 since_ns = cpu->since_ns;
	u64 until_ns = cpu->until_ns < now_ns ? cpu->until_ns : now_ns;

	cpu->since_ns = now_ns;
	if (pid == 0)
		return 0;
	if (cpu->user != 0 && cpu->user != pid && since_ns != 0 && until_ns > since_ns)
		ran_after(cpu->user, prev, until_ns - since_ns);

	struct user *user = bpf_map_lookup_elem(&users, &pid);

	if (user)
		__sync_fetch_and_add(&user->leaves, 1);
	return 0;
}

SEC("tp_btf/x86_fpu_regs_deactivated")
int on_registers(u64 *ctx)
{
	const struct fpu *fpu = (const void *)ctx[0];
	u64 features = fpu->fpstate->regs.xsave.header.xfeatures;
	struct task_struct *p = bpf_get_current_task_btf();
	struct cpu *cpu = this_cpu();
	u32 pid = p->pid;

	if (!cpu || !(features & (XFEATURE_YMM | XFEATURE_ZMM_HI256 | XFEATURE_TILES)))
		return 0;
	cpu->user = pid;
	cpu->until_ns = bpf_ktime_get_ns() + hold_ns;

	struct user *user = bpf_map_lookup_elem(&users, &pid);

	if (!user) {
		struct user first = {.leaves = 1};

		if (bpf_map_update_elem(&users, &pid, &first, BPF_NOEXIST)) {
			__sync_fetch_and_add(&lost, 1);
			return 0;
		}
		user = bpf_map_lookup_elem(&users, &pid);
		if (!user)
			return 0;
	}
	/* By exec it may have another by now. */
	bpf_probe_read_kernel_str(user->name, sizeof(user->name), p->comm);
	if (features & XFEATURE_TILES)
		__sync_fetch_and_add(&user->with[2], 1);
	else if (features & XFEATURE_ZMM_HI256)
		__sync_fetch_and_add(&user->with[1], 1);
	else
		__sync_fetch_and_add(&user->with[0], 1);
	return 0;
}

char _license[] SEC("license") = "Dual MIT/GPL";
