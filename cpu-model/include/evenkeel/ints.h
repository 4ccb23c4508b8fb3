/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Integer types that every header of ours uses.
 *
 * A BPF program gets them from vmlinux.h; everybody else gets them here,
 * without libc. Define EK_HAVE_KERNEL_INTS before the first include in BPF.
 */
#ifndef EVENKEEL_INTS_H
#define EVENKEEL_INTS_H

#ifndef EK_HAVE_KERNEL_INTS
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
#endif

#define EK_U64_MAX 0xffffffffffffffffULL
#define EK_U32_MAX 0xffffffffU

#endif
