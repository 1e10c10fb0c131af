#ifndef BASE_LOOP_LOOP_H
#define BASE_LOOP_LOOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "base/list.h"
#include "base/secret.h"

/*
 * loop: one thread, one event loop, no blocking call.  Two mechanisms below
 * the same verbs: libuv (loop_uv.h) and a simulated loop whose clock jumps to
 * the next event (loop_sim.h).  Nothing else in the project calls time(),
 * sleep(), rand(), opens a socket or sees libuv.
 *
 * Timers, deferred calls and groups live here, in loop.c, and are the same
 * code for both; a backend only waits.  Everything is for the loop's thread,
 * but loop_work()'s run function.
 *
 * Groups: every timer, deferral, child and work item belongs to a group, the
 * unit that crashes together (one replica of the controller, one simulated
 * machine).  After loop_group_drop() no callback of that group runs any more;
 * its objects are then freed by their ordinary destructors.
 */
struct loop;
struct loop_group;

/* all groups first */
void loop_free(struct loop *l);
struct loop_group *loop_group_new(struct loop *l, const char *name);
void loop_group_drop(struct loop_group *g);
bool loop_group_dropped(const struct loop_group *g);
/* drops it; its objects must be gone */
void loop_group_free(struct loop_group *g);
struct loop *loop_of(const struct loop_group *g);

/* Run until loop_stop(); the simulated loop also ends when nothing is left to happen. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* Milliseconds. now: monotonic, for deadlines. wall: Unix time, for what people and objects
 * read. */
int64_t loop_now(const struct loop *l);
/* The clock itself, also inside a turn, in which loop_now() stands still: for what must not be done
 * late even when the process was stopped in the middle of it. */
int64_t loop_clock(const struct loop *l);
int64_t loop_wall(const struct loop *l);

/* Real loop: the kernel's generator, fit for keys.  Simulated loop: seeded. */
void loop_random_bytes(struct loop *l, void *out, size_t n);
uint64_t loop_random(struct loop *l);
/* Uniform in 0..below-1; 0 for below 0. */
uint64_t loop_random_below(struct loop *l, uint64_t below);

/*
 * A turn that has taken its time gives way: what is left of its descriptors, timers and deferrals
 * comes in the next turns, in order, after it was seen what has happened meanwhile. So nothing but
 * one callback holds the loop, and a thousand of them do not keep the lease from being renewed.
 *
 * The watchdog's counters. longest_ms: the longest turn so far; longest_cpu_us: in processor time,
 * so that a loop that holds itself up is told from one that was given no processor. slowest: the
 * callback that took longest, as "FILE:FUNCTION", and how long; NULL: none took a millisecond.
 */
struct loop_stats {
	/* slow: over 50 ms */
	uint64_t turns, slow_turns;
	int64_t longest_ms, longest_cpu_us;
	const char *slowest;
	int64_t slowest_ms;
};
struct loop_stats loop_stats(const struct loop *l);

/* A call on the loop at a later time. Embedded in its owner; init once, stop before the owner
 * dies. */
struct loop_timer {
	struct loop_group *group;
	/* of fn */
	const char *name;
	void (*fn)(void *arg);
	void *arg;
	int64_t at;
	/* place in the heap + 1; 0: not running */
	size_t slot;
	uint64_t seq;
};
#define LOOP_NAME(fn) __FILE__ ":" #fn
#define loop_timer_init(t, g, fn, arg) loop_timer_init_as(t, g, fn, arg, LOOP_NAME(fn))
void loop_timer_init_as(struct loop_timer *t, struct loop_group *g, void (*fn)(void *arg),
			void *arg, const char *name);
/* restarts; 0: next turn */
void loop_timer_start(struct loop_timer *t, int64_t delay_ms);
void loop_timer_stop(struct loop_timer *t);
bool loop_timer_active(const struct loop_timer *t);

/* A call in the next turn, in order of asking, once however often it was asked for. */
struct loop_defer {
	struct loop_group *group;
	/* of fn */
	const char *name;
	void (*fn)(void *arg);
	void *arg;
	struct list link;
};
#define loop_defer_init(d, g, fn, arg) loop_defer_init_as(d, g, fn, arg, LOOP_NAME(fn))
void loop_defer_init_as(struct loop_defer *d, struct loop_group *g, void (*fn)(void *arg),
			void *arg, const char *name);
void loop_defer(struct loop_defer *d);
void loop_defer_cancel(struct loop_defer *d);

/* Blocking work on one of four threads: run(arg) there, done(arg) here.  run touches no loop
 * object.  After loop_work_abandon() done is not called; drop(arg) is, once run has ended.
 * The simulated loop runs it inline at a seeded later time. */
struct loop_work;
struct loop_work *loop_work(struct loop_group *g, void (*run)(void *arg), void (*done)(void *arg),
			    void (*drop)(void *arg), void *arg);
void loop_work_abandon(struct loop_work *w);

/* A child process that speaks lines. argv[0] is a path; no shell, an environment of its own,
 * descriptors beyond 0..2 closed, but 3 where it is given a secret. Standard error is discarded
 * unless on_stderr is given. Output lines longer than max_line end the child with ERR_PROTOCOL in
 * on_exit's err. */
#define LOOP_SECRET_FILE "/proc/self/fd/3"
struct loop_child;
struct loop_spawn {
	/* NULL-terminated */
	const char *const *argv;
	/* NULL-terminated; NULL: empty */
	const char *const *env;
	/* 0: 1 MiB */
	size_t max_line;
	/* without the newline */
	void (*on_line)(const char *line, size_t len, void *arg);
	void (*on_stderr)(const char *data, size_t len, void *arg);
	/* What the child reads at LOOP_SECRET_FILE (secret_file() in base/secret.h), for as long as
	 * it lives; on the real loop neither arguments nor environment nor a disk show it. Borrowed
	 * during the call; NULL: none. */
	const struct secret *secret;
	/* Once, after the last line.  status: exit code, or 128 + signal. */
	void (*on_exit)(int status, const struct err *e, void *arg);
	void *arg;
};
struct loop_child *loop_spawn(struct loop_group *g, const struct loop_spawn *s, struct err *e);
/* copied */
void loop_child_write(struct loop_child *c, const void *data, size_t len);
void loop_child_kill(struct loop_child *c, int signum);
/* no callback after; the process gets end of file and, if it stays, SIGKILL */
void loop_child_free(struct loop_child *c);

struct loop_signal;
struct loop_signal *loop_signal(struct loop_group *g, int signum, void (*fn)(int signum, void *arg),
				void *arg);
void loop_signal_free(struct loop_signal *s);

/* Real loop only, and only inside base/. */
struct loop_fd;
enum { LOOP_READ = 1, LOOP_WRITE = 2, LOOP_HANGUP = 4 };
#define loop_fd(g, fd, fn, arg) loop_fd_as(g, fd, fn, arg, LOOP_NAME(fn))
struct loop_fd *loop_fd_as(struct loop_group *g, int fd, void (*fn)(int events, void *arg),
			   void *arg, const char *name);
/* 0: no event */
void loop_fd_want(struct loop_fd *f, int events);
/* does not close fd */
void loop_fd_free(struct loop_fd *f);

#endif
