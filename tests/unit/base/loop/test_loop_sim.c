#include "tests/unit/testing.h"

#include <stdlib.h>

#include "base/buf.h"
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"

static void nothing(void *arg)
{
	(void)arg;
}

static void count(void *arg)
{
	++*(int *)arg;
}

static bool three(void *arg)
{
	return *(int *)arg >= 3;
}

static void the_clock_jumps_to_the_next_event(void **state)
{
	struct loop *l = loop_sim_new(1, 1700000000000);
	struct loop_group *g = loop_group_new(l, "test");
	struct loop_timer t;
	int fired = 0;

	(void)state;
	loop_timer_init(&t, g, count, &fired);
	loop_timer_start(&t, (int64_t)30 * 24 * 3600 * 1000);
	loop_run(l);
	assert_int_equal(fired, 1);
	assert_int_equal(loop_now(l), (int64_t)30 * 24 * 3600 * 1000);
	assert_int_equal(loop_wall(l) - loop_now(l), 1700000000000);
	loop_group_free(g);
	loop_free(l);
}

static void it_runs_until_the_time_given_and_not_past_it(void **state)
{
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "test");
	struct loop_timer early, late;
	int fired = 0;

	(void)state;
	loop_timer_init(&early, g, count, &fired);
	loop_timer_init(&late, g, count, &fired);
	loop_timer_start(&early, 1000);
	loop_timer_start(&late, 1001);
	loop_sim_run_until(l, 1000);
	assert_int_equal(fired, 1);
	assert_int_equal(loop_now(l), 1000);
	loop_sim_run_until(l, 500);
	assert_int_equal(loop_now(l), 1000);
	loop_sim_run_until(l, 5000);
	assert_int_equal(fired, 2);
	assert_int_equal(loop_now(l), 5000);
	loop_group_free(g);
	loop_free(l);
}

static void it_stops_at_the_callback_that_makes_the_condition_true(void **state)
{
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "test");
	struct loop_defer d[5];
	int ran = 0;

	(void)state;
	for (int i = 0; i < 5; i++) {
		loop_defer_init(&d[i], g, count, &ran);
		loop_defer(&d[i]);
	}
	assert_true(loop_sim_run_cond(l, three, &ran, 100));
	assert_int_equal(ran, 3);
	assert_true(loop_sim_run_cond(l, three, &ran, 100));
	assert_int_equal(ran, 3);
	loop_run(l);
	assert_int_equal(ran, 5);
	ran = 0;
	assert_false(loop_sim_run_cond(l, three, &ran, 100));
	assert_int_equal(loop_now(l), 100);
	loop_group_free(g);
	loop_free(l);
}

/* Runs with work, random delays and a child have the same trace for the same seed. */
struct world {
	struct loop *l;
	struct loop_group *g;
	struct buf trace;
	struct loop_timer t;
	struct loop_child *c;
	int left;
};

static void echo_line(struct loop_child *c, const char *line, size_t len, void *state)
{
	(void)state;
	loop_sim_child_line(c, line, len);
}

static void world_line(const char *line, size_t len, void *arg)
{
	struct world *w = arg;

	(void)len;
	buf_printf(&w->trace, "%lld %s\n", (long long)loop_now(w->l), line);
}

static void world_worked(void *arg)
{
	struct world *w = arg;

	buf_printf(&w->trace, "%lld work\n", (long long)loop_now(w->l));
}

static void world_tick(void *arg)
{
	struct world *w = arg;

	buf_printf(&w->trace, "%lld tick %llu\n", (long long)loop_now(w->l),
		   (unsigned long long)loop_random(w->l));
	loop_work(w->g, nothing, world_worked, NULL, w);
	loop_child_write(w->c, "hello\n", 6);
	if (--w->left)
		loop_timer_start(&w->t, (int64_t)loop_random_below(w->l, 1000));
}

static void run_world(uint64_t seed, struct buf *trace)
{
	static const char *const argv[] = {"echo", NULL};
	struct world w = {.l = loop_sim_new(seed, 0), .left = 20};
	struct loop_spawn s = {.argv = argv, .on_line = world_line, .arg = &w};
	struct err e;

	buf_init(&w.trace, 65536);
	w.g = loop_group_new(w.l, "world");
	loop_sim_program(w.l, "echo", &(struct loop_sim_program){.line = echo_line});
	w.c = loop_spawn(w.g, &s, &e);
	assert_non_null(w.c);
	loop_timer_init(&w.t, w.g, world_tick, &w);
	loop_timer_start(&w.t, 0);
	loop_run(w.l);
	loop_child_free(w.c);
	loop_group_free(w.g);
	loop_free(w.l);
	*trace = w.trace;
}

static void the_same_seed_gives_the_same_run(void **state)
{
	struct buf a, b, c;

	(void)state;
	run_world(42, &a);
	run_world(42, &b);
	run_world(43, &c);
	assert_true(a.len > 500);
	assert_string_equal(a.data, b.data);
	assert_string_not_equal(a.data, c.data);
	buf_done(&a);
	buf_done(&b);
	buf_done(&c);
}

/* --- crashes with work and children ----------------------------------------------------------- */

static void work_that_a_crash_interrupts_has_no_effect(void **state)
{
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "test");
	int effects = 0, dropped = 0;
	struct loop_work *w = loop_work(g, count, nothing, NULL, &effects);

	(void)state;
	loop_work_abandon(loop_work(g, nothing, nothing, count, &dropped));
	loop_group_drop(g);
	loop_run(l);
	assert_int_equal(effects, 0);
	assert_int_equal(dropped, 1);
	loop_work_abandon(w);
	loop_group_free(g);
	loop_free(l);
}

struct program {
	struct loop *l;
	int starts, lines, eofs, frees;
	bool stays;
	int64_t eof_at, free_at;
};

static void program_start(struct loop_child *c, const char *const *argv, void **state, void *arg)
{
	struct program *p = arg;

	(void)c;
	assert_string_equal(argv[1], "--serve");
	p->starts++;
	*state = p;
}

static void program_line(struct loop_child *c, const char *line, size_t len, void *state)
{
	struct program *p = state;

	p->lines++;
	if (strcmp(line, "long") == 0)
		loop_sim_child_line(c, "123456789", 9);
	else
		loop_sim_child_line(c, line, len);
	if (strcmp(line, "exit") == 0)
		loop_sim_child_exit(c, 3);
}

static void program_eof(struct loop_child *c, void *state)
{
	struct program *p = state;

	p->eofs++;
	p->eof_at = loop_now(p->l);
	if (!p->stays)
		loop_sim_child_exit(c, 0);
}

static void program_free(void *state)
{
	struct program *p = state;

	p->frees++;
	p->free_at = loop_now(p->l);
}

struct owner {
	struct buf heard;
	int status;
	struct err err;
};

static void owner_line(const char *line, size_t len, void *arg)
{
	struct owner *o = arg;

	(void)len;
	buf_printf(&o->heard, "%s;", line);
}

static void owner_exit(int status, const struct err *e, void *arg)
{
	struct owner *o = arg;

	o->status = status;
	if (e)
		o->err = *e;
}

struct pair {
	struct loop *l;
	struct loop_group *g;
	struct program p;
	struct owner o;
	struct loop_child *c;
};

static int pair_setup(void **state)
{
	static const char *const argv[] = {"helper", "--serve", NULL};
	struct pair *x = mem_new(struct pair);
	struct err e;

	x->l = x->p.l = loop_sim_new(9, 0);
	x->g = loop_group_new(x->l, "owner");
	x->o.status = -1;
	buf_init(&x->o.heard, 1024);
	loop_sim_program(x->l, "helper",
			 &(struct loop_sim_program){
				 .start = program_start,
				 .line = program_line,
				 .eof = program_eof,
				 .free = program_free,
				 .arg = &x->p,
			 });

	struct loop_spawn s = {
		.argv = argv,
		.max_line = 8,
		.on_line = owner_line,
		.on_exit = owner_exit,
		.arg = &x->o,
	};

	x->c = loop_spawn(x->g, &s, &e);
	assert_non_null(x->c);
	assert_int_equal(x->p.starts, 1);
	*state = x;
	return 0;
}

static int pair_teardown(void **state)
{
	struct pair *x = *state;

	loop_child_free(x->c);
	loop_group_free(x->g);
	loop_free(x->l);
	assert_int_equal(x->p.frees, 1);
	buf_done(&x->o.heard);
	free(x);
	return 0;
}

static void a_program_that_exits_is_freed_and_reports_after_its_last_line(void **state)
{
	struct pair *x = *state;

	loop_child_write(x->c, "a\nexit\nb\n", 9);
	loop_run(x->l);
	assert_string_equal(x->o.heard.data, "a;exit;");
	assert_int_equal(x->o.status, 3);
	assert_int_equal(x->o.err.kind, ERR_NONE);
	assert_int_equal(x->p.lines, 2);
	assert_int_equal(x->p.frees, 1);
}

static void a_line_over_the_maximum_ends_the_program(void **state)
{
	struct pair *x = *state;

	loop_child_write(x->c, "a\nlong\nb\n", 9);
	loop_run(x->l);
	assert_string_equal(x->o.heard.data, "a;");
	assert_int_equal(x->o.status, 128 + SIGKILL);
	assert_int_equal(x->o.err.kind, ERR_PROTOCOL);
}

static void a_program_outlives_the_crash_of_its_owner_until_end_of_file(void **state)
{
	struct pair *x = *state;

	loop_child_write(x->c, "a\nb\n", 4);
	loop_group_drop(x->g);
	loop_run(x->l);
	assert_string_equal(x->o.heard.data, "");
	assert_int_equal(x->p.lines, 2); /* both lines were in the pipe */
	assert_int_equal(x->p.eofs, 1);
	assert_int_equal(x->p.frees, 1);
}

static void a_program_that_stays_after_end_of_file_is_killed(void **state)
{
	struct pair *x = *state;

	x->p.stays = true;
	loop_child_free(x->c);
	x->c = NULL;
	loop_run(x->l);
	assert_int_equal(x->p.eofs, 1);
	assert_int_equal(x->p.frees, 1);
	assert_true(x->p.free_at - x->p.eof_at > 4000);
}

static void a_kill_ends_the_program_without_a_word(void **state)
{
	struct pair *x = *state;

	loop_child_write(x->c, "a\n", 2);
	loop_child_kill(x->c, SIGTERM);
	loop_run(x->l);
	assert_string_equal(x->o.heard.data, "");
	assert_int_equal(x->o.status, 128 + SIGTERM);
	assert_int_equal(x->p.eofs, 0);
}

static void signals_and_descriptors_do_nothing(void **state)
{
	struct loop *l = loop_sim_new(1, 0);
	struct loop_group *g = loop_group_new(l, "test");
	struct loop_signal *s = loop_signal(g, SIGTERM, NULL, NULL);
	struct loop_fd *f = loop_fd(g, 0, NULL, NULL);

	(void)state;
	loop_fd_want(f, LOOP_READ);
	loop_run(l);
	loop_fd_free(f);
	loop_signal_free(s);
	loop_group_free(g);
	loop_free(l);
}

#define PAIR(name) cmocka_unit_test_setup_teardown(name, pair_setup, pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_jumps_to_the_next_event),
		cmocka_unit_test(it_runs_until_the_time_given_and_not_past_it),
		cmocka_unit_test(it_stops_at_the_callback_that_makes_the_condition_true),
		cmocka_unit_test(the_same_seed_gives_the_same_run),
		cmocka_unit_test(work_that_a_crash_interrupts_has_no_effect),
		PAIR(a_program_that_exits_is_freed_and_reports_after_its_last_line),
		PAIR(a_line_over_the_maximum_ends_the_program),
		PAIR(a_program_outlives_the_crash_of_its_owner_until_end_of_file),
		PAIR(a_program_that_stays_after_end_of_file_is_killed),
		PAIR(a_kill_ends_the_program_without_a_word),
		cmocka_unit_test(signals_and_descriptors_do_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
