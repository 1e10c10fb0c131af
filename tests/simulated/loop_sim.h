#ifndef TESTS_SIMULATED_LOOP_SIM_H
#define TESTS_SIMULATED_LOOP_SIM_H

#include "base/loop/loop.h"

/*
 * loop_sim: a loop whose clock jumps to the next event. Two runs with the same seed are equal.
 * loop_fd() and loop_signal() have no effect.
 */
struct loop *loop_sim_new(uint64_t seed, int64_t wall_start_ms);
/* Moves the wall clock by by_ms, forward or back; loop_now() is unaffected. */
void loop_sim_set_clock(struct loop *l, int64_t by_ms);

/* Runs until no event is left, until loop_stop(), or until the next event is later than until_ms;
 * in the last case the clock is then set to until_ms. */
void loop_sim_run_until(struct loop *l, int64_t until_ms);
/* Runs like loop_sim_run_until(), but stops and returns true once cond(arg) is true, which is
 * evaluated after every callback. */
bool loop_sim_run_cond(struct loop *l, bool (*cond)(void *arg), void *arg, int64_t until_ms);

/* Functions of a simulated program, which loop_spawn() finds by argv[0]. Register it with
 * loop_sim_program(). */
struct loop_sim_program {
	/* Called when the child is spawned; *state is for the program's use. The program writes
	 * lines with loop_sim_child_line() and ends with loop_sim_child_exit(); neither may be
	 * called inside start(). */
	void (*start)(struct loop_child *c, const char *const *argv, void **state, void *arg);
	void (*line)(struct loop_child *c, const char *line, size_t len, void *state);
	/* Called at the end of standard input, also if the parent's group was dropped: the program
	 * must exit. */
	void (*eof)(struct loop_child *c, void *state);
	void (*free)(void *state);
	void *arg;
};
void loop_sim_program(struct loop *l, const char *argv0, const struct loop_sim_program *p);
/* Returns the child's environment, NULL-terminated; valid in start() only. */
const char *const *loop_sim_child_env(const struct loop_child *c);
/* Returns the contents of LOOP_SECRET_FILE; NULL: none. Valid in start() only. */
const struct secret *loop_sim_child_secret(const struct loop_child *c);
void loop_sim_child_line(struct loop_child *c, const char *line, size_t len);
void loop_sim_child_exit(struct loop_child *c, int status);

#endif
