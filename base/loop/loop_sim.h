#ifndef BASE_LOOP_LOOP_SIM_H
#define BASE_LOOP_LOOP_SIM_H

#include "base/loop/loop.h"

/*
 * loop_sim: a loop whose clock jumps to the next event.  Same seed, same run.
 * loop_fd() and loop_signal() do nothing here.
 */
struct loop *loop_sim_new(uint64_t seed, int64_t wall_start_ms);
/* The wall clock is put forward, or back; loop_now() does not notice. */
void loop_sim_set_clock(struct loop *l, int64_t by_ms);

/* Run until nothing is left, loop_stop(), or the clock would pass until_ms (which it then
 * shows). */
void loop_sim_run_until(struct loop *l, int64_t until_ms);
/* ... or until cond(arg) holds, asked after every callback; true if it did. */
bool loop_sim_run_cond(struct loop *l, bool (*cond)(void *arg), void *arg, int64_t until_ms);

/* Programs that loop_spawn() finds by argv[0]. */
struct loop_sim_program {
	/* Called when spawned; *state is the program's. It writes lines with loop_sim_child_line()
	 * and ends with loop_sim_child_exit(), never from inside start. */
	void (*start)(struct loop_child *c, const char *const *argv, void **state, void *arg);
	void (*line)(struct loop_child *c, const char *line, size_t len, void *state);
	/* also when the parent died: end yourself */
	void (*eof)(struct loop_child *c, void *state);
	void (*free)(void *state);
	void *arg;
};
void loop_sim_program(struct loop *l, const char *argv0, const struct loop_sim_program *p);
/* The environment that it was given, NULL-terminated; in start() alone. */
const char *const *loop_sim_child_env(const struct loop_child *c);
/* What it would read at LOOP_SECRET_FILE, NULL: nothing; in start() alone. */
const struct secret *loop_sim_child_secret(const struct loop_child *c);
void loop_sim_child_line(struct loop_child *c, const char *line, size_t len);
void loop_sim_child_exit(struct loop_child *c, int status);

#endif
