/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Which macros of <bpf/bpf_core_read.h> do BPF programs use, when every field is
 * at the offset of the program's own declaration?
 *
 * Each declared field and type exists. Values of enumerations are those that the
 * program was compiled with; the host refuses a program with other values.
 */
#ifndef SCX_HOST_BPF_CORE_READ_H
#define SCX_HOST_BPF_CORE_READ_H

#define bpf_core_field_exists(field...) ((void)sizeof(field), 1)
#define bpf_core_field_size(field...) sizeof(field)
#define bpf_core_type_exists(type) (sizeof(type) > 0)
#define bpf_core_type_size(type) sizeof(type)
#define bpf_core_enum_value_exists(type, value) ((void)(value), 1)
#define bpf_core_enum_value(type, value) ((type)(value))

#define bpf_core_read(to, size, from) bpf_probe_read_kernel(to, size, (const void *)(from))
#define SCX_HOST_READ1(from, a) (from)->a
#define SCX_HOST_READ2(from, a, b) (from)->a->b
#define SCX_HOST_READ3(from, a, b, c) (from)->a->b->c
#define BPF_CORE_READ(from, fields...) \
	___bpf_apply(SCX_HOST_READ, ___bpf_narg(fields))(from, fields)
#define bpf_core_cast(pointer, type) ((typeof(type) *)(pointer))

#endif
