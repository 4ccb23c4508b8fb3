/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The task runtime, for C99 and C++.
 *
 * A program opens a runtime and runs a function in it: the first task. Tasks create tasks,
 * which run at once as far as there are workers and dependences allow it.
 *
 * Calls return 0 or a negative code, or a pointer that is NULL where they fail; ekrt_error()
 * says why. A call that fails has done nothing. All calls but ekrt_open, ekrt_close,
 * ekrt_workers, ekrt_run, ekrt_event_decrease, ekrt_resume and ekrt_error are for tasks: elsewhere
 * they fail with EKRT_EOUTSIDE.
 *
 * A task may run before the call that submits it returns, where queues are full. So neither
 * may its creator hold a lock that it takes, nor may it wait for what its creator does
 * later, unless it is created with EKRT_DEFERRED. A task that waits or pauses goes on on the
 * same thread, but others have run there meanwhile: no lock may be held that they take.
 * A task ends by returning: not by an exception, which ends the process with a line on
 * standard error, nor by longjmp or pthread_exit.
 */
#ifndef EVENKEEL_RT_H
#define EVENKEEL_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What calls return; what is in brackets is part of what ekrt_error() then says. */
enum ekrt_code {
	EKRT_OK = 0,
	/* An option, or a variable of the environment, is not as it should be [which, and how]. */
	EKRT_EOPTION = -1,
	/* The system gives no thread [its reason]. */
	EKRT_ESYSTEM = -2,
	/* The runtime is closed, or never was open, or is a process's that forked this one. */
	EKRT_ECLOSED = -3,
	/* The runtime is not closed while somebody runs a function in it. */
	EKRT_EBUSY = -4,
	/* The calling thread runs no task. */
	EKRT_EOUTSIDE = -5,
	/* The running task has created no such task, or has submitted it already. */
	EKRT_ETASK = -6,
	/* A task would access data otherwise than the task around it said [the address]. */
	EKRT_EACCESS = -7,
	/* A number is none that is expected there [which are]. */
	EKRT_ERANGE = -8,
	/* The running task may not pause. */
	EKRT_EDEFERRED = -9,
	/*
	 * A pointer is NULL [which]. A handle that is NULL is none: EKRT_ECLOSED says so of a
	 * runtime, EKRT_ETASK of a task.
	 */
	EKRT_ENULL = -10
};

/*
 * Why the last call on this thread failed that did: a sentence in English, UTF-8, empty if
 * none has. Good until a call fails on this thread; a task that waits lets others call.
 */
const char *ekrt_error(void);

/* Runtimes. Any thread may call these, a task too. */

/* A runtime: its workers and their queues. Nothing is to be found where it points. */
struct ekrt_runtime;

struct ekrt_options {
	/* sizeof(struct ekrt_options): EKRT_OPTIONS sets it. */
	size_t bytes;
	/* Tasks that run at once, up to 65,536; 0: as many as there are CPUs to use. */
	uint32_t workers;
	/*
	 * The machine that the queues are built after: "8", "2x24" (NUMA domains x CPUs) or
	 * "2x4x6" (domains x caches x CPUs). NULL: $EVENKEEL_TOPOLOGY, or else this machine.
	 */
	const char *topology;
	/* The scheduler, as in "tree-fifo-static20"; NULL: $EVENKEEL_RULES, or else ours. */
	const char *rules;
	/*
	 * Not 0: no thread from outside ever calls ekrt_resume or ekrt_event_decrease, tasks alone
	 * do. Then tasks that wait for each other are told on standard error, and the process ends
	 * by abort(), where it would stand still; else only if no event and no pause is left. The
	 * lines that the message names are the library's: wait.rs for ekrt_wait and ekrt_wait_on,
	 * pause.rs for ekrt_pause, runtime.rs for ekrt_run.
	 */
	int closed;
};

/* Begins options, of which some are then changed: `struct ekrt_options o = EKRT_OPTIONS;`. */
#define EKRT_OPTIONS { sizeof(struct ekrt_options), 0, NULL, NULL, 0 }

/* Starts a runtime; options may be NULL. Where it fails, *runtime is NULL. */
int ekrt_open(const struct ekrt_options *options, struct ekrt_runtime **runtime);

/* Stops its threads and waits for them. No handle is used twice: closing again fails. */
int ekrt_close(struct ekrt_runtime *runtime);

/* How many tasks run at once, or a negative code. */
int ekrt_workers(const struct ekrt_runtime *runtime);

/*
 * Runs function(arguments) as a task on this thread, which is a worker meanwhile, and returns
 * when that task and all below it have ended. Up to eight threads do so at once; others
 * wait until one has ended. A task that calls it waits with its thread; the tasks within are not
 * ordered with those around.
 */
int ekrt_run(struct ekrt_runtime *runtime, void (*function)(void *arguments), void *arguments);

/* Tasks. */

/*
 * A task that was created and not yet submitted. Only its creator may use it; what a task has
 * created and not submitted when it ends is forgotten.
 */
struct ekrt_task;

/* The most that arguments may have, in bytes. */
#define EKRT_ARGUMENTS_MAX ((size_t)1 << 24)

/* Never runs before ekrt_submit returns, and so may pause. */
#define EKRT_DEFERRED 1u

/* Runs 512-bit instructions: such tasks are kept for the CPUs that EVENKEEL_WIDE_CPUS names. */
#define EKRT_WIDE 2u

/*
 * Creates a child of the running task. Its arguments lie behind its header, in one block aligned to
 * 64 bytes: `bytes` of them, aligned to 32, not initialised, which end with the task. *arguments
 * says where, if it is not NULL. `flags` is 0, EKRT_DEFERRED, EKRT_WIDE or both.
 */
struct ekrt_task *ekrt_create(void (*function)(void *arguments), size_t bytes, void **arguments,
			      uint32_t flags);

/* -128 to 127, the higher the sooner. A tree tells apart those above 0. */
int ekrt_priority(struct ekrt_task *task, int priority);

/*
 * Submits it: it runs when its dependences allow it. To submit the task that was created last
 * costs the same however many were created; others are looked for, from the last to the first.
 */
int ekrt_submit(struct ekrt_task *task);

/* Dependences. */

/* How a task uses the data at an address. */
enum ekrt_kind {
	/* It reads. */
	EKRT_IN = 1,
	/* It writes all of it. */
	EKRT_OUT = 2,
	/* It reads and writes. */
	EKRT_INOUT = 3,
	/* It writes before or after others that say so too, in any order, one at a time. */
	EKRT_COMMUTATIVE = 4,
	/* It writes beside others that say so too, and sees to it itself. */
	EKRT_CONCURRENT = 5,
	/* Beside one of the above: only its children touch the data, so it need not wait. */
	EKRT_WEAK = 8
};

/*
 * Children of one task are ordered by what they say of the same address, in the order in which
 * they are submitted. An address stands for the data that begin there, however many: data
 * that overlap are to be said by the same address; nothing is read there, and NULL is one as any.
 * Who says two things of one writes it.
 *
 * Children may use what the task around them uses: as it does, or in any way if it writes. They
 * come in its place among its siblings, and those that follow begin when its code and such
 * children have ended. What is commutative around them has to be weak there: a task that has
 * its turn does not lend it. What it said nothing of is ordered among its children alone.
 */
int ekrt_depend(struct ekrt_task *task, const void *address, int kind);

/*
 * The same of `bytes` bytes from an address on, which may overlap with other regions in any way:
 * tasks whose regions have a byte in common are ordered, if one of them writes it. Data are said by
 * regions alone or by addresses alone. A region is as cheap as an address where tasks say the same
 * ones, and costs a step for each part of it that others have said apart.
 *
 * A task has its regions until all below it have ended. EKRT_COMMUTATIVE is as EKRT_INOUT here,
 * and nothing is weak. A region of no bytes says nothing.
 */
int ekrt_depend_region(struct ekrt_task *task, const void *address, size_t bytes, int kind);

static inline int ekrt_in(struct ekrt_task *task, const void *address)
{
	return ekrt_depend(task, address, EKRT_IN);
}

static inline int ekrt_out(struct ekrt_task *task, void *address)
{
	return ekrt_depend(task, address, EKRT_OUT);
}

static inline int ekrt_inout(struct ekrt_task *task, void *address)
{
	return ekrt_depend(task, address, EKRT_INOUT);
}

static inline int ekrt_commutative(struct ekrt_task *task, void *address)
{
	return ekrt_depend(task, address, EKRT_COMMUTATIVE);
}

static inline int ekrt_concurrent(struct ekrt_task *task, void *address)
{
	return ekrt_depend(task, address, EKRT_CONCURRENT);
}

static inline int ekrt_weak_in(struct ekrt_task *task, const void *address)
{
	return ekrt_depend(task, address, EKRT_IN | EKRT_WEAK);
}

static inline int ekrt_weak_out(struct ekrt_task *task, void *address)
{
	return ekrt_depend(task, address, EKRT_OUT | EKRT_WEAK);
}

static inline int ekrt_weak_inout(struct ekrt_task *task, void *address)
{
	return ekrt_depend(task, address, EKRT_INOUT | EKRT_WEAK);
}

static inline int ekrt_weak_commutative(struct ekrt_task *task, void *address)
{
	return ekrt_depend(task, address, EKRT_COMMUTATIVE | EKRT_WEAK);
}

static inline int ekrt_weak_concurrent(struct ekrt_task *task, void *address)
{
	return ekrt_depend(task, address, EKRT_CONCURRENT | EKRT_WEAK);
}

/* One of several; `kind` is of enum ekrt_kind. */
struct ekrt_dependence {
	const void *address;
	int kind;
};

/*
 * All in one call: creates a task, copies `bytes` bytes of arguments to it, says `number`
 * dependences and submits it. `dependences` may be NULL where there are none, `arguments` too.
 */
int ekrt_spawn(void (*function)(void *arguments), const void *arguments, size_t bytes,
	       const struct ekrt_dependence *dependences, size_t number, uint32_t flags);

/* Waiting. Other tasks run on this thread meanwhile. */

/* Waits until all tasks that the running one has submitted have ended, and those below them. */
int ekrt_wait(void);

/* Waits until a child with these dependences could run; none may be weak. */
int ekrt_wait_on(const struct ekrt_dependence *dependences, size_t number);

/* What no task does: devices, messages, other threads. */

/*
 * The events of a task that have not happened. The task ends, and what depends on it begins, when
 * its code has ended and all have happened.
 */
struct ekrt_events;

/*
 * The running task has `number` more events; returns their counter, the same for each call of
 * one task, or NULL. It is to be used until all have happened and the task's code has ended.
 */
struct ekrt_events *ekrt_event_increase(uint32_t number);

/* So many have happened. Any thread may say so; it fails if fewer are left. */
int ekrt_event_decrease(struct ekrt_events *events, uint32_t number);

/* The right to let a task that is paused go on, once. */
struct ekrt_paused;

/*
 * Stops the running task, which is the first one or was created with EKRT_DEFERRED, until
 * ekrt_resume. start(paused, data) is called first, on the running task, and tells whoever will
 * resume it; it may do so itself.
 */
int ekrt_pause(void (*start)(struct ekrt_paused *paused, void *data), void *data);

/* Lets it go on. Any thread may do so, once; `paused` is not to be used again. */
int ekrt_resume(struct ekrt_paused *paused);

#ifdef __cplusplus
}
#endif

#endif
