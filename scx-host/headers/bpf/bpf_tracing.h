/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which macros of <bpf/bpf_tracing.h> do BPF programs use?
 *
 * Programs take their arguments from an array of 64-bit values, as in a kernel.
 */
#ifndef SCX_HOST_BPF_TRACING_H
#define SCX_HOST_BPF_TRACING_H

#define SCX_HOST_CTX0() ctx
#define SCX_HOST_CTX1(a) SCX_HOST_CTX0(), (void *)ctx[0]
#define SCX_HOST_CTX2(a, rest...) SCX_HOST_CTX1(rest), (void *)ctx[1]
#define SCX_HOST_CTX3(a, rest...) SCX_HOST_CTX2(rest), (void *)ctx[2]
#define SCX_HOST_CTX4(a, rest...) SCX_HOST_CTX3(rest), (void *)ctx[3]
#define SCX_HOST_CTX5(a, rest...) SCX_HOST_CTX4(rest), (void *)ctx[4]
#define SCX_HOST_CTX6(a, rest...) SCX_HOST_CTX5(rest), (void *)ctx[5]
#define SCX_HOST_CTX(arguments...) \
	___bpf_apply(SCX_HOST_CTX, ___bpf_narg(arguments))(arguments)

#define BPF_PROG(name, arguments...)								\
name(unsigned long long *ctx);									\
static __always_inline typeof(name(0)) ____##name(unsigned long long *ctx, ##arguments);	\
typeof(name(0)) name(unsigned long long *ctx)							\
{												\
	_Pragma("GCC diagnostic push")								\
	_Pragma("GCC diagnostic ignored \"-Wint-conversion\"")					\
	return ____##name(SCX_HOST_CTX(arguments));						\
	_Pragma("GCC diagnostic pop")								\
}												\
static __always_inline typeof(name(0)) ____##name(unsigned long long *ctx, ##arguments)

#endif
