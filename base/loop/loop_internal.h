#ifndef BASE_LOOP_LOOP_INTERNAL_H
#define BASE_LOOP_LOOP_INTERNAL_H

#include "base/buf.h"
#include "base/loop/loop.h"

/*
 * loop_internal: what loop.c and its two backends know of one another.
 *
 * A backend embeds struct loop, and the objects below, as the first member of
 * its own structs, allocates them with mem_alloc() and lets free() return them.
 */
struct loop_ops {
	void (*free)(struct loop *l);
	int64_t (*now)(const struct loop *l);
	/* of this thread; NULL: not known */
	int64_t (*cpu_us)(const struct loop *l);
	int64_t (*wall)(const struct loop *l);
	void (*random)(struct loop *l, void *out, size_t n);
	/* Wait until something happens or timeout_ms have passed (-1: no timer is set) and call
	 * what is due, each after loop_enter().  False: nothing can happen any more. */
	bool (*wait)(struct loop *l, int64_t timeout_ms);
	void (*group_dropped)(struct loop *l, struct loop_group *g);

	struct loop_work *(*work)(struct loop *l, const struct loop_work *proto);
	/* run is no longer wanted; may still happen */
	void (*work_cancel)(struct loop_work *w);

	struct loop_child *(*spawn)(struct loop *l, const struct loop_child *proto, struct err *e);
	void (*child_write)(struct loop_child *c, const void *data, size_t len);
	void (*child_kill)(struct loop_child *c, int signum);
	/* base.freed is set, base.group gone */
	void (*child_free)(struct loop_child *c);

	struct loop_signal *(*signal)(struct loop *l, const struct loop_signal *proto);
	void (*signal_free)(struct loop_signal *s);
	struct loop_fd *(*fd)(struct loop *l, const struct loop_fd *proto);
	void (*fd_want)(struct loop_fd *f, int events);
	void (*fd_free)(struct loop_fd *f);
};

struct loop {
	const struct loop_ops *ops;
	/* earliest (at, seq) first */
	struct loop_timer **heap;
	size_t nheap, heap_cap;
	uint64_t seq;
	/* asked for, next turn's */
	struct list defers;
	/* this turn's */
	struct list batch;
	/* descriptors on which something happened */
	struct list ready;
	struct list groups;
	/* for what must go on when its owner's group was dropped */
	struct loop_group *own;
	bool running, stopping, entered;
	/* of this turn */
	int64_t now;
	int64_t entered_at, entered_cpu;
	/* ops->now() after the last callback */
	int64_t called_at;
	/* ... from when on the rest waits for the next turn */
	int64_t give_way_at;
	/* asked after every callback; true stops */
	bool (*cond)(void *arg);
	void *cond_arg;
	bool cond_met;
	struct loop_stats stats;
};

struct loop_group {
	struct loop *loop;
	char *name;
	bool dropped;
	/* work, children, signals, descriptors */
	size_t objects;
	struct list link;
};

struct loop_work {
	struct loop *loop;
	/* NULL once abandoned */
	struct loop_group *group;
	void (*run)(void *arg);
	void (*done)(void *arg);
	void (*drop)(void *arg);
	void *arg;
	bool ended;
};

struct loop_child {
	struct loop *loop;
	/* NULL once freed */
	struct loop_group *group;
	/* argv, env and secret are valid inside ops->spawn only */
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
	/* of fn */
	const char *name;
	int fd;
	void (*fn)(int events, void *arg);
	void *arg;
	/* events */
	int wanted, happened;
	/* of ready */
	struct list link;
};

void loop_base_init(struct loop *l, const struct loop_ops *ops);
void loop_base_done(struct loop *l);

/* Before a backend calls anything in wait(): the clock of this turn starts here. */
void loop_enter(struct loop *l);
/* After a backend has called something. */
void loop_called(struct loop *l);
/* Something happened on it: it is called in this turn or the next ones, as long as that is still
 * wanted. */
void loop_fd_happened(struct loop_fd *f, int events);
/* The work's run function has returned; on the loop's thread. */
void loop_work_ended(struct loop_work *w);
/* May the child's owner still be called? */
bool loop_child_open(const struct loop_child *c);

/* Bytes to lines.  The line given to fn is NUL-terminated; fn returns false to stop. */
struct loop_lines {
	struct buf buf;
};
#define LOOP_MAX_LINE (1u << 20)
/* How long a child may go on after it was freed or its output should have ended. */
#define LOOP_CHILD_GRACE_MS 5000
#define LOOP_CHILD_DRAIN_MS 1000

void loop_lines_init(struct loop_lines *b, size_t max_line);
void loop_lines_done(struct loop_lines *b);
/* -1: a line was longer than the maximum. */
int loop_lines_feed(struct loop_lines *b, const char *data, size_t len,
		    bool (*fn)(const char *line, size_t len, void *arg), void *arg, struct err *e)
	__attribute__((warn_unused_result));

#endif
