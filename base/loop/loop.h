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
 * loop: one thread, one event loop, no blocking call. Two backends implement the same functions:
 * libuv (loop_uv.h), and in tests a simulated loop whose clock jumps to the next event
 * (tests/simulated/loop_sim.h). No other code in the project calls time(), sleep() or rand(), opens
 * a socket or uses libuv.
 *
 * Timers, deferred calls and groups are in loop.c, the same code for both backends; a backend
 * provides clock, waiting, work, children, signals and descriptors. Everything runs on the loop's
 * thread, except the run function of loop_work().
 *
 * Groups: every timer, deferral, child and work item belongs to a group. A group is the unit that
 * crashes together in a simulation (one replica of the controller, one simulated machine). After
 * loop_group_drop() no callback of that group runs any more; its objects are then freed by their
 * ordinary destructors.
 */
struct loop;
struct loop_group;

/* Frees the loop; all groups must be freed first. */
void loop_free(struct loop *l);
struct loop_group *loop_group_new(struct loop *l, const char *name);
void loop_group_drop(struct loop_group *g);
bool loop_group_dropped(const struct loop_group *g);
/* Drops the group and frees it; its objects must have been freed. */
void loop_group_free(struct loop_group *g);
struct loop *loop_of(const struct loop_group *g);

/* Runs until loop_stop(). The simulated loop also returns when no event is left. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* loop_now() returns monotonic milliseconds at the start of the turn, for deadlines. loop_wall()
 * returns Unix milliseconds, for humans and API objects. */
int64_t loop_now(const struct loop *l);
/* Reads the monotonic clock itself, in ms. loop_now() does not change within a turn; use
 * loop_clock() for decisions that must not be late even if the process was stopped in the middle of
 * a turn. */
int64_t loop_clock(const struct loop *l);
int64_t loop_wall(const struct loop *l);

/* Fills out with n random bytes. On the real loop they come from the kernel's generator and are
 * suitable for keys; on the simulated loop they are derived from the seed. */
void loop_random_bytes(struct loop *l, void *out, size_t n);
uint64_t loop_random(struct loop *l);
/* Returns a uniformly distributed value in 0..below-1; 0 if below is 0. */
uint64_t loop_random_below(struct loop *l, uint64_t below);

/*
 * Statistics of the loop, for its watchdog.
 *
 * A turn that has used its time ends: its remaining descriptors, timers and deferrals run in the
 * next turns, in order, after new events were collected. So only a single callback can block the
 * loop, and a thousand callbacks cannot delay the renewal of the lease.
 *
 * longest_ms: duration of the longest turn so far. longest_cpu_us: highest processor time of a
 * turn; with longest_ms it distinguishes a loop that blocks itself from one that the kernel did not
 * schedule. slowest: the callback that took longest, as "FILE:FUNCTION", and its duration in
 * slowest_ms; NULL: no callback took a millisecond.
 */
struct loop_stats {
	/* slow_turns: turns longer than 50 ms. */
	uint64_t turns, slow_turns;
	int64_t longest_ms, longest_cpu_us;
	const char *slowest;
	int64_t slowest_ms;
};
struct loop_stats loop_stats(const struct loop *l);

/* A timer: calls fn at a later time. It is embedded in its owner, who must call loop_timer_init()
 * once, and must stop the timer before the owner is freed. */
struct loop_timer {
	struct loop_group *group;
	/* Name of fn, for loop_stats. */
	const char *name;
	void (*fn)(void *arg);
	void *arg;
	int64_t at;
	/* Position in the heap + 1; 0: the timer is not running. */
	size_t slot;
	uint64_t seq;
};
#define LOOP_NAME(fn) __FILE__ ":" #fn
#define loop_timer_init(t, g, fn, arg) loop_timer_init_as(t, g, fn, arg, LOOP_NAME(fn))
void loop_timer_init_as(struct loop_timer *t, struct loop_group *g, void (*fn)(void *arg),
			void *arg, const char *name);
/* Starts or restarts the timer; delay 0 means the next turn. */
void loop_timer_start(struct loop_timer *t, int64_t delay_ms);
void loop_timer_stop(struct loop_timer *t);
bool loop_timer_active(const struct loop_timer *t);

/* A deferral: calls fn once in the next turn, in order of request. Requests made before that call
 * count as one. */
struct loop_defer {
	struct loop_group *group;
	/* Name of fn, for loop_stats. */
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

/* Blocking work on one of four threads: run(arg) is called on such a thread, then done(arg) on the
 * loop. run() must not use objects of the loop. After loop_work_abandon() done() is not called;
 * instead drop(arg) is called once run() has returned. The simulated loop calls run() on the loop's
 * thread, after a seeded delay. */
struct loop_work;
struct loop_work *loop_work(struct loop_group *g, void (*run)(void *arg), void (*done)(void *arg),
			    void (*drop)(void *arg), void *arg);
void loop_work_abandon(struct loop_work *w);

/* A child process that exchanges lines of text with its parent. argv[0] is a path, no shell is
 * used. The environment consists of env alone. Descriptors beyond 0..2 are closed, except 3 if the
 * child gets a secret. Standard error is discarded unless on_stderr is set. An output line longer
 * than max_line ends the child with ERR_PROTOCOL in on_exit(). */
#define LOOP_SECRET_FILE "/proc/self/fd/3"
struct loop_child;
struct loop_spawn {
	/* Arguments, NULL-terminated. */
	const char *const *argv;
	/* Environment, NULL-terminated; NULL: empty. */
	const char *const *env;
	/* Maximum length of an output line in bytes; 0 means 1 MiB. */
	size_t max_line;
	/* Called for each line of standard output, without its newline. */
	void (*on_line)(const char *line, size_t len, void *arg);
	void (*on_stderr)(const char *data, size_t len, void *arg);
	/* Secret that the child reads from LOOP_SECRET_FILE (secret_file() in base/secret.h) as
	 * long as it lives. On the real loop the secret is not in arguments, environment or on a
	 * disk. Must be valid during the call of loop_spawn() only; NULL: none. */
	const struct secret *secret;
	/* Called once, after the last line. status: exit code, or 128 + signal. e: error because of
	 * which the loop ended the child; NULL: none. */
	void (*on_exit)(int status, const struct err *e, void *arg);
	void *arg;
};
struct loop_child *loop_spawn(struct loop_group *g, const struct loop_spawn *s, struct err *e);
/* Writes data, which is copied, to the child's standard input. */
void loop_child_write(struct loop_child *c, const void *data, size_t len);
void loop_child_kill(struct loop_child *c, int signum);
/* Frees c without further callbacks. The process gets end of file on its standard input and, if it
 * does not exit soon, SIGKILL. */
void loop_child_free(struct loop_child *c);

struct loop_signal;
struct loop_signal *loop_signal(struct loop_group *g, int signum, void (*fn)(int signum, void *arg),
				void *arg);
void loop_signal_free(struct loop_signal *s);

/* Watches a descriptor. Works only on the real loop; only for use inside base/, and by `drover top`
 * for the keys of its terminal. */
struct loop_fd;
enum { LOOP_READ = 1, LOOP_WRITE = 2, LOOP_HANGUP = 4 };
#define loop_fd(g, fd, fn, arg) loop_fd_as(g, fd, fn, arg, LOOP_NAME(fn))
struct loop_fd *loop_fd_as(struct loop_group *g, int fd, void (*fn)(int events, void *arg),
			   void *arg, const char *name);
/* Sets the wanted events; 0: none. */
void loop_fd_want(struct loop_fd *f, int events);
/* Stops watching the descriptor and frees f; does not close the descriptor. */
void loop_fd_free(struct loop_fd *f);

#endif
