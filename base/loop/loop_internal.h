#ifndef BASE_LOOP_LOOP_INTERNAL_H
#define BASE_LOOP_LOOP_INTERNAL_H

#include "base/buf.h"
#include "base/loop/loop.h"

/*
 * loop_internal: the interface between loop.c and its two backends.
 *
 * A backend embeds struct loop, and the objects below, as the first member of its own structs,
 * allocates them with mem_alloc(), and loop.c frees them with free().
 */
struct loop_ops {
	void (*free)(struct loop *l);
	int64_t (*now)(const struct loop *l);
	/* Processor time of this thread; NULL: not known. */
	int64_t (*cpu_us)(const struct loop *l);
	int64_t (*wall)(const struct loop *l);
	void (*random)(struct loop *l, void *out, size_t n);
	/* Waits until something happens or timeout_ms have passed (-1: no timer is set), and calls
	 * whatever is due, each call after loop_enter(). False: nothing can happen any more. */
	bool (*wait)(struct loop *l, int64_t timeout_ms);
	void (*group_dropped)(struct loop *l, struct loop_group *g);

	struct loop_work *(*work)(struct loop *l, const struct loop_work *proto);
	/* run is no longer wanted, but may still be called. */
	void (*work_cancel)(struct loop_work *w);

	struct loop_child *(*spawn)(struct loop *l, const struct loop_child *proto, struct err *e);
	void (*child_write)(struct loop_child *c, const void *data, size_t len);
	void (*child_kill)(struct loop_child *c, int signum);
	/* base.freed is set and base.group is NULL. */
	void (*child_free)(struct loop_child *c);

	struct loop_signal *(*signal)(struct loop *l, const struct loop_signal *proto);
	void (*signal_free)(struct loop_signal *s);
	struct loop_fd *(*fd)(struct loop *l, const struct loop_fd *proto);
	void (*fd_want)(struct loop_fd *f, int events);
	void (*fd_free)(struct loop_fd *f);
};

struct loop {
	const struct loop_ops *ops;
	/* Earliest (at, seq) first. */
	struct loop_timer **heap;
	size_t nheap, heap_cap;
	uint64_t seq;
	/* Deferrals for the next turn. */
	struct list defers;
	/* Deferrals of this turn. */
	struct list batch;
	/* Descriptors that are ready. */
	struct list ready;
	struct list groups;
	/* Group for objects that must survive the drop of their owner's group. */
	struct loop_group *own;
	bool running, stopping, entered;
	/* Monotonic time at the start of this turn. */
	int64_t now;
	int64_t entered_at, entered_cpu;
	/* ops->now() after the last callback. */
	int64_t called_at;
	/* Monotonic time after which the rest of the part waits for the next turn. */
	int64_t give_way_at;
	/* Evaluated after every callback; true stops the loop. */
	bool (*cond)(void *arg);
	void *cond_arg;
	bool cond_met;
	struct loop_stats stats;
};

struct loop_group {
	struct loop *loop;
	char *name;
	bool dropped;
	/* Number of work items, children, signals and descriptors. */
	size_t objects;
	struct list link;
};

struct loop_work {
	struct loop *loop;
	/* NULL once abandoned. */
	struct loop_group *group;
	void (*run)(void *arg);
	void (*done)(void *arg);
	void (*drop)(void *arg);
	void *arg;
	bool ended;
};

struct loop_child {
	struct loop *loop;
	/* NULL once freed. */
	struct loop_group *group;
	/* argv, env and secret are valid inside ops->spawn only. */
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
	/* Name of fn. */
	const char *name;
	int fd;
	void (*fn)(int events, void *arg);
	void *arg;
	/* Events. */
	int wanted, happened;
	/* Link in loop.ready. */
	struct list link;
};

void loop_base_init(struct loop *l, const struct loop_ops *ops);
void loop_base_done(struct loop *l);

/* A backend calls this before it calls anything in wait(): the clock of the turn starts here. */
void loop_enter(struct loop *l);
/* A backend calls this after each callback. */
void loop_called(struct loop *l);
/* Marks the descriptor ready: its callback runs in this turn or a later one, if the events are
 * still wanted. */
void loop_fd_happened(struct loop_fd *f, int events);
/* Called on the loop's thread after the work's run function has returned. */
void loop_work_ended(struct loop_work *w);
/* True if the child's owner may still be called. */
bool loop_child_open(const struct loop_child *c);

/* Splits bytes into lines. The line passed to fn is NUL-terminated; fn returns false to stop. */
struct loop_lines {
	struct buf buf;
};
#define LOOP_MAX_LINE (1u << 20)
/* How long a child may live after it was freed or its output should have ended. */
#define LOOP_CHILD_GRACE_MS 5000
#define LOOP_CHILD_DRAIN_MS 1000

void loop_lines_init(struct loop_lines *b, size_t max_line);
void loop_lines_done(struct loop_lines *b);
/* -1: a line is longer than the maximum. */
int loop_lines_feed(struct loop_lines *b, const char *data, size_t len,
		    bool (*fn)(const char *line, size_t len, void *arg), void *arg, struct err *e)
	__attribute__((warn_unused_result));

#endif
