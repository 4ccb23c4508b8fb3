/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The task runtime, for C99 and C++.
 *
 * A program opens a runtime and runs a function in the runtime: the first task. Tasks create
 * tasks, which run in parallel as far as workers are free and dependences allow.
 *
 * Calls return 0 or a negative code, or a pointer that is NULL on failure; ekrt_error() gives
 * the reason. A call that fails has no effect. All calls but ekrt_open, ekrt_close,
 * ekrt_workers, ekrt_run, ekrt_event_decrease, ekrt_resume and ekrt_error are for tasks:
 * elsewhere they fail with EKRT_EOUTSIDE.
 *
 * When queues are full, a task may run before the call that submits the task returns. So its
 * creator may hold no lock that the task takes, and the task may not wait for a later action of
 * its creator, unless the task is created with EKRT_DEFERRED. A task that waits or pauses
 * continues on the same thread, but other tasks may run on that thread in between: the waiting
 * task may hold no lock that these tasks take.
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

/* Return codes. Brackets name the details that the text of ekrt_error() then contains. */
enum ekrt_code {
	EKRT_OK = 0,
	/* An option or an environment variable has an invalid value [which, and why]. */
	EKRT_EOPTION = -1,
	/* The system cannot start a thread [the system's reason]. */
	EKRT_ESYSTEM = -2,
	/* The runtime is closed, was never open, or belongs to the process that forked this one. */
	EKRT_ECLOSED = -3,
	/* ekrt_close failed, because a call of ekrt_run on the runtime has not returned. */
	EKRT_EBUSY = -4,
	/* The calling thread runs no task. */
	EKRT_EOUTSIDE = -5,
	/* The running task has created no such task, or has submitted it already. */
	EKRT_ETASK = -6,
	/* A task declares an access that its parent's declaration does not allow [the address]. */
	EKRT_EACCESS = -7,
	/* An argument is out of range [the argument, its value and the allowed values]. */
	EKRT_ERANGE = -8,
	/* The running task may not pause. */
	EKRT_EDEFERRED = -9,
	/*
	 * A pointer is NULL [which]. A NULL handle of a runtime is EKRT_ECLOSED instead, a NULL
	 * handle of a task EKRT_ETASK.
	 */
	EKRT_ENULL = -10
};

/*
 * The reason for the last failure of a call on this thread: a sentence in English, UTF-8; empty
 * if no call has failed. The pointer is valid until another call fails on this thread, which
 * may happen in other tasks while the current task waits or pauses.
 */
const char *ekrt_error(void);

/* Runtimes. Any thread may call these functions, and so may tasks. */

/* A runtime: its workers and their queues. The handle must not be dereferenced. */
struct ekrt_runtime;

struct ekrt_options {
	/* sizeof(struct ekrt_options): EKRT_OPTIONS sets it. */
	size_t bytes;
	/* Tasks that run in parallel, at most 65,536; 0: one for each CPU that may be used. */
	uint32_t workers;
	/*
	 * The machine whose shape the queues have: "8", "2x24" (NUMA domains x CPUs) or
	 * "2x4x6" (domains x caches x CPUs). NULL: $EVENKEEL_TOPOLOGY, or else this machine.
	 */
	const char *topology;
	/* The scheduler, as in "tree-fifo-static20"; NULL: $EVENKEEL_RULES, or else the default. */
	const char *rules;
	/*
	 * Not 0: only tasks call ekrt_resume and ekrt_event_decrease, no other thread does. Then
	 * the runtime reports a deadlock on standard error and ends the process by abort() as
	 * soon as all workers sleep. If 0, only when in addition no event and no pause is left.
	 * The message names source lines of the library: wait.rs for ekrt_wait and ekrt_wait_on,
	 * pause.rs for ekrt_pause, runtime.rs for ekrt_run.
	 */
	int closed;
};

/* Default options, to be changed member by member: `struct ekrt_options o = EKRT_OPTIONS;`. */
/* clang-format off */
#define EKRT_OPTIONS { sizeof(struct ekrt_options), 0, NULL, NULL, 0 }
/* clang-format on */

/* Starts a runtime; options may be NULL. On failure, *runtime is NULL. */
int ekrt_open(const struct ekrt_options *options, struct ekrt_runtime **runtime);

/* Stops the runtime's threads and waits for them. Closing again fails with EKRT_ECLOSED. */
int ekrt_close(struct ekrt_runtime *runtime);

/* How many tasks run in parallel, or a negative code. */
int ekrt_workers(const struct ekrt_runtime *runtime);

/*
 * Runs function(arguments) as a task on this thread, which is a worker meanwhile, and returns
 * when that task and all its descendants have ended. Up to eight threads run in a runtime in
 * parallel; a ninth waits until one of them returns. A task that calls ekrt_run blocks its
 * thread; tasks created inside the call are not ordered with those outside.
 */
int ekrt_run(struct ekrt_runtime *runtime, void (*function)(void *arguments), void *arguments);

/* Tasks. */

/*
 * A task that was created and not yet submitted. Only its creator may use the handle. When the
 * creator ends, tasks that it has not submitted are freed and never run.
 */
struct ekrt_task;

/* The largest size of a task's arguments, in bytes. */
#define EKRT_ARGUMENTS_MAX ((size_t)1 << 24)

/* The task never runs before ekrt_submit returns, and so may pause. */
#define EKRT_DEFERRED 1u

/* The task runs 512-bit instructions: it is kept for the CPUs that EVENKEEL_WIDE_CPUS names. */
#define EKRT_WIDE 2u

/*
 * Creates a child of the running task. Its `bytes` bytes of arguments lie behind the task's
 * header, in one block aligned to 64 bytes; they are aligned to 32, not initialised, and freed
 * when the task ends. Their address is stored in *arguments unless `arguments` is NULL. `flags`
 * is 0, EKRT_DEFERRED, EKRT_WIDE or both.
 */
struct ekrt_task *ekrt_create(void (*function)(void *arguments), size_t bytes, void **arguments,
			      uint32_t flags);

/*
 * Sets the priority, -128 to 127; a ready task with a higher one runs sooner. Tree schedulers
 * distinguish only priorities above 0.
 */
int ekrt_priority(struct ekrt_task *task, int priority);

/*
 * Submits a task, which runs when its dependences allow. Submitting the task created last takes
 * constant time; an older one is searched for among the unsubmitted tasks, newest first.
 */
int ekrt_submit(struct ekrt_task *task);

/* Dependences. */

/* How a task uses the data at an address. */
enum ekrt_kind {
	/* The task reads. */
	EKRT_IN = 1,
	/* The task writes all of the data. */
	EKRT_OUT = 2,
	/* The task reads and writes. */
	EKRT_INOUT = 3,
	/* The task writes; commutative tasks run in any order, one at a time. */
	EKRT_COMMUTATIVE = 4,
	/* The task writes; concurrent tasks run in parallel and synchronise their own writes. */
	EKRT_CONCURRENT = 5,
	/* With one of the kinds above: only children touch the data, so the task need not wait. */
	EKRT_WEAK = 8
};

/*
 * Declares how a task uses the data at an address. Children of one task that declare the same
 * address are ordered by their kinds, in the order in which they are submitted: a task that writes
 * comes after all earlier ones and before all later ones, while tasks that only read run in
 * parallel. An address stands for all data that begin at the address: overlapping data must be
 * declared by the same address. The library does not read the memory, and NULL is an address like
 * any other. A task that declares two different kinds for one address is taken to read and write.
 *
 * A child may declare an address that its parent declared: with the parent's kind, or with any
 * kind if the parent's is EKRT_OUT or EKRT_INOUT. Among the siblings of the parent, such children
 * take the parent's place: siblings that follow begin when the parent's code and these children
 * have ended. If the parent's kind is EKRT_COMMUTATIVE, its declaration must be weak: a parent
 * that has its turn at the address does not pass the turn to a child. An address that the parent
 * did not declare orders only the parent's children among each other.
 */
int ekrt_depend(struct ekrt_task *task, const void *address, int kind);

/*
 * Declares how a task uses a range: the `bytes` bytes that begin at an address (OmpSs-2 calls a
 * range a region). Ranges may overlap in any way: tasks whose ranges have a byte in common are
 * ordered if one of them writes that byte. Declare the same data always by ranges or always by
 * addresses. A range costs as much as an address where tasks declare identical ranges, and one
 * more step for each part of the range that other tasks declared separately.
 *
 * A task keeps its ranges until all its descendants have ended. EKRT_COMMUTATIVE acts as
 * EKRT_INOUT here, and EKRT_WEAK fails with EKRT_ERANGE. A range of 0 bytes has no effect.
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

/* One dependence of an array; `kind` is of enum ekrt_kind. */
struct ekrt_dependence {
	const void *address;
	int kind;
};

/*
 * All in one call: creates a task, copies `bytes` bytes of arguments into the task, declares
 * `number` dependences and submits the task. `dependences` may be NULL if `number` is 0,
 * `arguments` if `bytes` is 0.
 */
int ekrt_spawn(void (*function)(void *arguments), const void *arguments, size_t bytes,
	       const struct ekrt_dependence *dependences, size_t number, uint32_t flags);

/* Waiting. Other tasks run on this thread in the meantime. */

/* Waits until all tasks that the running one has submitted, and their descendants, have ended. */
int ekrt_wait(void);

/* Waits until a child with these dependences could run; none may be weak. */
int ekrt_wait_on(const struct ekrt_dependence *dependences, size_t number);

/* Events and pauses: waiting for devices, messages and threads outside the runtime. */

/*
 * Counts the events of a task that have not happened. The task ends, and tasks that depend on the
 * task begin, when its code has ended and all its events have happened.
 */
struct ekrt_events;

/*
 * Adds `number` events to the running task; returns their counter, which is one for all calls of
 * a task, or NULL. The counter is valid until the task's code has ended and all its events have
 * happened.
 */
struct ekrt_events *ekrt_event_increase(uint32_t number);

/* `number` events have happened. Any thread may call; fails if fewer are left. */
int ekrt_event_decrease(struct ekrt_events *events, uint32_t number);

/* The right to resume a paused task, once. */
struct ekrt_paused;

/*
 * Pauses the running task until ekrt_resume. The task must be the first one of ekrt_run or
 * created with EKRT_DEFERRED. Before the task stops, start(paused, data) is called in the task
 * and passes `paused` to the thread that is to resume the task; start may also call ekrt_resume
 * itself.
 */
int ekrt_pause(void (*start)(struct ekrt_paused *paused, void *data), void *data);

/* Resumes the task. Any thread may call, once; `paused` must not be used again. */
int ekrt_resume(struct ekrt_paused *paused);

#ifdef __cplusplus
}
#endif

#endif
