#ifndef BASE_LOOP_LOOP_INTERNAL_H
#define BASE_LOOP_LOOP_INTERNAL_H

#include "base/buf.h"
#include "base/loop/loop.h"

/*
 * loop_internal: the interface between loop.c and its two backends.
 *
 * A backend embeds struct loop, and each of the structs below, as the first member of its own
 * structs. It allocates its structs with mem_alloc(), because loop.c frees them with free().
 */
struct loop_ops {
	void (*free)(struct loop *l);
	int64_t (*now)(const struct loop *l);
	/* Returns the processor time of this thread in microseconds; NULL: not known. */
	int64_t (*cpu_us)(const struct loop *l);
	int64_t (*wall)(const struct loop *l);
	void (*random)(struct loop *l, void *out, size_t n);
	/* Waits until something happens or timeout_ms have passed (-1: no limit, because no timer
	 * is set). Then calls the callbacks that are due, each after loop_enter(). False: no event
	 * can happen any more. */
	bool (*wait)(struct loop *l, int64_t timeout_ms);
	void (*group_dropped)(struct loop *l, struct loop_group *g);

	struct loop_work *(*work)(struct loop *l, const struct loop_work *proto);
	/* Reports that the result of w is no longer wanted; its run() may still be called. */
	void (*work_cancel)(struct loop_work *w);

	struct loop_child *(*spawn)(struct loop *l, const struct loop_child *proto, struct err *e);
	void (*child_write)(struct loop_child *c, const void *data, size_t len);
	void (*child_kill)(struct loop_child *c, int signum);
	/* Releases the child. Called after loop_child_free(), when base.freed is set and base.group
	 * is NULL. */
	void (*child_free)(struct loop_child *c);

	struct loop_signal *(*signal)(struct loop *l, const struct loop_signal *proto);
	void (*signal_free)(struct loop_signal *s);
	struct loop_fd *(*fd)(struct loop *l, const struct loop_fd *proto);
	void (*fd_want)(struct loop_fd *f, int events);
	void (*fd_free)(struct loop_fd *f);
};

struct loop {
	const struct loop_ops *ops;
	/* Running timers as a binary heap ordered by (at, seq), the earliest first. */
	struct loop_timer **heap;
	size_t nheap, heap_cap;
	uint64_t seq;
	/* Deferrals for the next turn. */
	struct list defers;
	/* Deferrals of this turn. */
	struct list batch;
	/* Descriptors that are ready and whose callbacks have not run yet. */
	struct list ready;
	struct list groups;
	/* The loop's own group, for timers and children that must continue after their owner's
	 * group was dropped. */
	struct loop_group *own;
	bool running, stopping, entered;
	/* Monotonic time at the start of this turn. */
	int64_t now;
	int64_t entered_at, entered_cpu;
	/* Monotonic time at which the last callback returned, from ops->now(). */
	int64_t called_at;
	/* Monotonic time at which the current part of the turn has used up PART_MS; the rest of the
	 * part then waits for the next turn. */
	int64_t give_way_at;
	/* Condition of loop_sim_run_cond(), evaluated after every callback; true stops the loop.
	 * NULL: none. */
	bool (*cond)(void *arg);
	void *cond_arg;
	bool cond_met;
	struct loop_stats stats;
};

struct loop_group {
	struct loop *loop;
	char *name;
	bool dropped;
	/* Number of the group's work items, children, signals and descriptors that are not freed
	 * yet. */
	size_t objects;
	struct list link;
};

struct loop_work {
	struct loop *loop;
	/* Group of the owner; NULL once the work is abandoned. */
	struct loop_group *group;
	void (*run)(void *arg);
	void (*done)(void *arg);
	void (*drop)(void *arg);
	void *arg;
	bool ended;
};

struct loop_child {
	struct loop *loop;
	/* Group of the owner; NULL once the child is freed by its owner. */
	struct loop_group *group;
	/* Copy of the caller's struct; argv, env and secret are valid inside ops->spawn() only. */
	struct loop_spawn spawn;
	bool freed;
};

struct loop_signal {
	struct loop_group *group;
	int signum;
	void (*fn)(int signum, void *arg);
	void *arg;
};

struct loop_fd {
	struct loop_group *group;
	/* Name of fn, for loop_stats. */
	const char *name;
	int fd;
	void (*fn)(int events, void *arg);
	void *arg;
	/* Events that are wanted, and events that have happened; each is a set of LOOP_READ,
	 * LOOP_WRITE and LOOP_HANGUP. */
	int wanted, happened;
	/* Link in loop.ready. */
	struct list link;
};

void loop_base_init(struct loop *l, const struct loop_ops *ops);
void loop_base_done(struct loop *l);

/* Begins a turn and sets the clock of the turn. A backend must call this in wait() before it calls
 * anything else. */
void loop_enter(struct loop *l);
/* Evaluates the condition of the loop; called after each callback. */
void loop_called(struct loop *l);
/* Adds events to those that have happened and marks the descriptor ready. Its callback runs in this
 * turn or a later one, if the events are still wanted by then. */
void loop_fd_happened(struct loop_fd *f, int events);
/* Ends a work item; called on the loop's thread after its run function has returned. */
void loop_work_ended(struct loop_work *w);
/* True if callbacks of the child may still be called: its owner has not freed it, and its group is
 * not dropped. */
bool loop_child_open(const struct loop_child *c);

/* Splits a stream of bytes into lines. The line passed to fn is NUL-terminated; fn returns false to
 * stop. */
struct loop_lines {
	struct buf buf;
};
#define LOOP_MAX_LINE (1u << 20)
/* LOOP_CHILD_GRACE_MS: time in ms that a freed child has to exit before it is killed.
 * LOOP_CHILD_DRAIN_MS: time in ms after a child's exit at which its output pipes are closed if they
 * are still open. */
#define LOOP_CHILD_GRACE_MS 5000
#define LOOP_CHILD_DRAIN_MS 1000

void loop_lines_init(struct loop_lines *b, size_t max_line);
void loop_lines_done(struct loop_lines *b);
/* Adds bytes and calls fn for each complete line. -1 with *e: a line is longer than the maximum. */
int loop_lines_feed(struct loop_lines *b, const char *data, size_t len,
		    bool (*fn)(const char *line, size_t len, void *arg), void *arg, struct err *e)
	__attribute__((warn_unused_result));

#endif
