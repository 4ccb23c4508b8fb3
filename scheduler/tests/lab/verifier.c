/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How much did the kernel's verifier process for each operation of sched_ext?
 *
 * A library that is loaded before the C library (LD_PRELOAD) of the loader:
 * requests the verifier's statistics and appends them to the file VERIFIER_SAYS,
 * one line per BPF program. The loader is the shipped one, so the BPF programs
 * are those of its configuration.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* kernel/bpf/verifier.c: BPF_LOG_STATS. */
#define STATISTICS 4

typedef long call_fn(long number, ...);

/* The first line that begins so; in later kernels, other lines contain the words too. */
static const char *line_of(const char *text, const char *begin)
{
	while (*text && strncmp(text, begin, strlen(begin))) {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return text;
}

static long load_and_tell(call_fn *call, union bpf_attr *attr, long size)
{
	static char log[4096];
	const char *path = getenv("VERIFIER_SAYS");
	FILE *file;
	long answer;

	attr->log_level = STATISTICS;
	attr->log_buf = (unsigned long)log;
	attr->log_size = sizeof(log);
	answer = call(SYS_bpf, BPF_PROG_LOAD, attr, size);
	attr->log_level = 0;
	attr->log_buf = 0;
	attr->log_size = 0;
	file = path && answer >= 0 ? fopen(path, "a") : NULL;
	if (file) {
		const char *line = line_of(log, "processed ");

		fprintf(file, "%.15s %.*s\n", attr->prog_name, (int)strcspn(line, "\n"), line);
		fclose(file);
	}
	return answer;
}

long syscall(long number, ...)
{
	call_fn *call = (call_fn *)dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list arguments;

	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);

	if (number == SYS_bpf && a[0] == BPF_PROG_LOAD) {
		union bpf_attr *attr = (union bpf_attr *)a[1];

		if (attr->prog_type == BPF_PROG_TYPE_STRUCT_OPS && attr->log_level == 0)
			return load_and_tell(call, attr, a[2]);
	}
	return call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
