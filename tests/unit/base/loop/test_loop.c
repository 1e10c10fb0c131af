#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/buf.h"
#include "tests/simulated/loop_sim.h"
#include "base/loop/loop_uv.h"
#include "base/mem.h"

/* Every case runs on both loops. */

struct fixture {
	struct loop *l;
	struct loop_group *g;
	char log[256];
};

static void note(struct fixture *f, const char *what)
{
	assert_true(strlen(f->log) + strlen(what) + 2 < sizeof(f->log));
	strcat(f->log, what);
	strcat(f->log, " ");
}

static struct fixture *fixture_new(struct loop *l)
{
	struct fixture *f = mem_new(struct fixture);

	f->l = l;
	f->g = loop_group_new(l, "test");
	return f;
}

static int setup_uv(void **state)
{
	*state = fixture_new(loop_uv_new());
	return 0;
}

/* Two programs: cat repeats each line that it reads and exits at end of file; the other one exits
 * when started. */
static void cat_line(struct loop_child *c, const char *line, size_t len, void *state)
{
	(void)state;
	loop_sim_child_line(c, line, len);
}

static void cat_eof(struct loop_child *c, void *state)
{
	(void)state;
	loop_sim_child_exit(c, 0);
}

static int setup_sim(void **state)
{
	struct loop *l = loop_sim_new(7, 1000000);

	loop_sim_program(l, "/bin/cat",
			 &(struct loop_sim_program){.line = cat_line, .eof = cat_eof});
	*state = fixture_new(l);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	loop_group_free(f->g);
	loop_free(f->l);
	free(f);
	return 0;
}

/* --- timers and deferrals --------------------------------------------------------------------- */

struct step {
	struct fixture *f;
	const char *name;
	struct loop_timer t;
	struct loop_defer d;
	/* The step whose timer this step's timer starts, with no delay. */
	struct step *starts;
	/* The step whose timer this step's timer stops. */
	struct step *stops;
	struct step *defers;
	/* The step whose deferral this step's deferral cancels. */
	struct step *cancels;
	struct loop_group *drops;
	bool ends;
};

static void on_step(void *arg)
{
	struct step *s = arg;

	note(s->f, s->name);
	if (s->starts)
		loop_timer_start(&s->starts->t, 0);
	if (s->stops)
		loop_timer_stop(&s->stops->t);
	if (s->defers)
		loop_defer(&s->defers->d);
	if (s->cancels)
		loop_defer_cancel(&s->cancels->d);
	if (s->drops)
		loop_group_drop(s->drops);
	if (s->ends)
		loop_stop(s->f->l);
}

static void step_init(struct step *s, struct fixture *f, struct loop_group *g, const char *name)
{
	*s = (struct step){.f = f, .name = name};
	loop_timer_init(&s->t, g, on_step, s);
	loop_defer_init(&s->d, g, on_step, s);
}

/* Timers to be started at the same time: the clock stands still within a loop turn, but advances
 * between two starts outside. */
struct start {
	struct step *steps;
	const int64_t *delays;
	int n;
};

static void on_start(void *arg)
{
	struct start *s = arg;

	for (int i = 0; i < s->n; i++)
		loop_timer_start(&s->steps[i].t, s->delays[i]);
}

static void run_from_one_time(struct fixture *f, struct step *steps, const int64_t *delays, int n)
{
	struct start s = {steps, delays, n};
	struct loop_defer d;

	loop_defer_init(&d, f->g, on_start, &s);
	loop_defer(&d);
	loop_run(f->l);
}

static void timers_fire_by_time_and_then_in_order_of_starting(void **state)
{
	struct fixture *f = *state;
	struct step s[4];
	static const char *const names[] = {"a", "b", "c", "d"};
	static const int64_t delays[] = {20, 5, 5, 0};

	for (int i = 0; i < 4; i++)
		step_init(&s[i], f, f->g, names[i]);
	s[0].ends = true;

	int64_t begin = loop_now(f->l);

	run_from_one_time(f, s, delays, 4);
	assert_string_equal(f->log, "d b c a ");
	assert_true(loop_now(f->l) - begin >= 20);
	assert_false(loop_timer_active(&s[1].t));
}

static void timers_for_the_same_time_fire_in_order_of_starting(void **state)
{
	struct fixture *f = *state;
	struct step s[20];
	char names[20][2] = {{0}};
	static const int64_t delays[20];

	for (int i = 0; i < 20; i++) {
		names[i][0] = (char)('a' + i);
		step_init(&s[i], f, f->g, names[i]);
	}
	s[19].ends = true;
	run_from_one_time(f, s, delays, 20);
	assert_string_equal(f->log, "a b c d e f g h i j k l m n o p q r s t ");
}

enum { MANY = 300 };

static void start_many(void *arg)
{
	struct step *s = arg;

	/* A permutation of 0..299, so that every position of the heap is used. */
	for (int i = 0; i < MANY; i++)
		loop_timer_start(&s[i].t, (i * 7) % MANY / 30);
	for (int i = 0; i < MANY; i++)
		if (i % 10)
			loop_timer_stop(&s[i].t);
	for (int i = 0; i < MANY; i += 10)
		loop_timer_start(&s[i].t, i / 30);
}

static void many_timers_keep_their_order_when_some_are_stopped(void **state)
{
	struct fixture *f = *state;
	struct step *s = mem_calloc(MANY, sizeof(*s));
	struct loop_defer start;
	static const char digits[] = "0123456789";
	char names[10][2] = {{0}};

	for (int i = 0; i < 10; i++)
		names[i][0] = digits[i];
	for (int i = 0; i < MANY; i++)
		step_init(&s[i], f, f->g, names[i / 30]);
	s[290].ends = true;
	loop_defer_init(&start, f->g, start_many, s);
	loop_defer(&start);
	loop_run(f->l);
	assert_string_equal(f->log, "0 0 0 1 1 1 2 2 2 3 3 3 4 4 4 5 5 5 6 6 6 7 7 7 8 8 8 9 9 9 ");
	free(s);
}

static void a_timer_may_stop_another_of_the_same_turn(void **state)
{
	struct fixture *f = *state;
	struct step a, b, c;

	step_init(&a, f, f->g, "a");
	step_init(&b, f, f->g, "b");
	step_init(&c, f, f->g, "c");
	a.stops = &b;
	c.ends = true;
	loop_timer_start(&a.t, 0);
	loop_timer_start(&b.t, 0);
	loop_timer_start(&c.t, 0);
	loop_run(f->l);
	assert_string_equal(f->log, "a c ");
}

static void a_timer_without_delay_waits_for_the_next_turn(void **state)
{
	struct fixture *f = *state;
	struct step again, other, end;

	/* again restarts itself forever; the other steps still get their turn. */
	step_init(&again, f, f->g, "again");
	step_init(&other, f, f->g, "other");
	step_init(&end, f, f->g, "end");
	again.starts = &again;
	other.defers = &end;
	end.ends = true;
	loop_timer_start(&again.t, 0);
	loop_timer_start(&other.t, 0);
	loop_run(f->l);
	/* If the process was preempted, the due steps take two turns. */
	if (strcmp(f->log, "again other again again end ") != 0)
		assert_string_equal(f->log, "again other again end ");
	loop_timer_stop(&again.t);
}

static void a_deferral_runs_once_and_what_it_defers_runs_in_the_next_turn(void **state)
{
	struct fixture *f = *state;
	struct step a, b, c;

	step_init(&a, f, f->g, "a");
	step_init(&b, f, f->g, "b");
	step_init(&c, f, f->g, "c");
	a.defers = &c;
	c.ends = true;
	loop_defer(&a.d);
	loop_defer(&b.d);
	loop_defer(&a.d);
	loop_run(f->l);
	assert_string_equal(f->log, "a b c ");
	assert_true(loop_stats(f->l).turns >= 2);
}

static void a_deferral_may_cancel_another_of_the_same_turn(void **state)
{
	struct fixture *f = *state;
	struct step a, b, c;

	step_init(&a, f, f->g, "a");
	step_init(&b, f, f->g, "b");
	step_init(&c, f, f->g, "c");
	a.cancels = &b;
	c.ends = true;
	loop_defer(&a.d);
	loop_defer(&b.d);
	loop_defer(&c.d);
	loop_run(f->l);
	assert_string_equal(f->log, "a c ");
}

static void stopping_keeps_what_was_due_for_the_next_run(void **state)
{
	struct fixture *f = *state;
	struct step a, b;

	step_init(&a, f, f->g, "a");
	step_init(&b, f, f->g, "b");
	a.ends = b.ends = true;
	loop_defer(&a.d);
	loop_defer(&b.d);
	loop_run(f->l);
	assert_string_equal(f->log, "a ");
	loop_run(f->l);
	assert_string_equal(f->log, "a b ");
}

static void no_callback_of_a_group_runs_after_it_was_dropped_in_a_callback(void **state)
{
	struct fixture *f = *state;
	struct loop_group *doomed = loop_group_new(f->l, "doomed");
	struct step a, b, c, end;

	step_init(&a, f, doomed, "a");
	step_init(&b, f, doomed, "b");
	step_init(&c, f, doomed, "c");
	step_init(&end, f, f->g, "end");
	a.drops = doomed;
	a.defers = &c; /* requested before the drop */
	end.ends = true;
	loop_timer_start(&a.t, 0);
	loop_timer_start(&b.t, 0);
	loop_timer_start(&end.t, 3);
	loop_run(f->l);
	assert_string_equal(f->log, "a end ");
	assert_true(loop_group_dropped(doomed));

	/* Nothing starts in a dropped group: neither timer b nor deferral c. */
	loop_timer_start(&b.t, 0);
	loop_defer(&c.d);
	assert_false(loop_timer_active(&b.t));
	loop_timer_start(&end.t, 3);
	loop_run(f->l);
	assert_string_equal(f->log, "a end end ");
	loop_group_free(doomed);

	/* A deferral may drop a group that has another deferral in the same turn. */
	struct loop_group *second = loop_group_new(f->l, "second");

	step_init(&a, f, second, "a");
	step_init(&b, f, second, "b");
	a.drops = second;
	loop_defer(&a.d);
	loop_defer(&b.d);
	loop_defer(&end.d);
	loop_run(f->l);
	assert_string_equal(f->log, "a end end a end ");
	loop_group_free(second);
}

/* --- work ------------------------------------------------------------------------------------- */

struct job {
	struct fixture *f;
	int ran;
	bool ends;
};

static void job_run(void *arg)
{
	struct job *j = arg;

	j->ran++;
}

static void job_done(void *arg)
{
	struct job *j = arg;

	note(j->f, j->ran ? "done" : "done-before-run");
	if (j->ends)
		loop_stop(j->f->l);
}

static void job_drop(void *arg)
{
	struct job *j = arg;

	note(j->f, "drop");
	if (j->ends)
		loop_stop(j->f->l);
}

static void work_runs_and_then_reports(void **state)
{
	struct fixture *f = *state;
	struct job j = {.f = f, .ends = true};

	loop_work(f->g, job_run, job_done, job_drop, &j);
	loop_run(f->l);
	assert_int_equal(j.ran, 1);
	assert_string_equal(f->log, "done ");
}

static void abandoned_work_is_dropped_after_it_ran(void **state)
{
	struct fixture *f = *state;
	struct job j = {.f = f, .ends = true};

	loop_work_abandon(loop_work(f->g, job_run, job_done, job_drop, &j));
	assert_string_equal(f->log, "");
	loop_run(f->l);
	assert_int_equal(j.ran, 1);
	assert_string_equal(f->log, "drop ");
}

static void work_of_a_dropped_group_is_dropped_even_when_the_group_is_gone(void **state)
{
	struct fixture *f = *state;
	struct loop_group *doomed = loop_group_new(f->l, "doomed");
	struct job j = {.f = f, .ends = true};
	struct loop_work *w = loop_work(doomed, job_run, job_done, job_drop, &j);

	loop_group_drop(doomed);
	loop_work_abandon(w);
	loop_group_free(doomed);
	loop_run(f->l);
	assert_string_equal(f->log, "drop ");
}

static void work_that_ended_in_a_dropped_group_waits_for_its_owner(void **state)
{
	struct fixture *f = *state;
	struct loop_group *doomed = loop_group_new(f->l, "doomed");
	struct job j = {.f = f};
	struct loop_work *w = loop_work(doomed, job_run, job_done, job_drop, &j);
	struct step end;

	step_init(&end, f, f->g, "end");
	end.ends = true;
	loop_group_drop(doomed);
	loop_timer_start(&end.t, 50);
	loop_run(f->l);
	assert_string_equal(f->log, "end ");
	loop_work_abandon(w);
	assert_string_equal(f->log, "end drop ");
	loop_work_abandon(loop_work(doomed, job_run, job_done, job_drop, &j));
	assert_string_equal(f->log, "end drop drop ");
	loop_group_free(doomed);
}

static void freeing_the_loop_waits_for_abandoned_work(void **state)
{
	struct fixture *f = *state;
	struct job j = {.f = f};

	loop_work_abandon(loop_work(f->g, job_run, job_done, job_drop, &j));
	loop_group_free(f->g);
	loop_free(f->l);
	assert_string_equal(f->log, "drop ");
	f->l = loop_sim_new(1, 0); /* for the teardown */
	f->g = loop_group_new(f->l, "test");
}

/* --- children --------------------------------------------------------------------------------- */

struct talk {
	struct fixture *f;
	struct loop_child *c;
	struct buf said;
	int status;
	enum err_kind kind;
	bool free_on_line, drop_on_line;
	/* The line at which the loop stops. */
	const char *stop_at;
};

static void on_line(const char *line, size_t len, void *arg)
{
	struct talk *t = arg;

	assert_int_equal(strlen(line), len);
	buf_printf(&t->said, "%s;", line);
	if (t->stop_at && !strcmp(line, t->stop_at))
		loop_stop(t->f->l);
	if (t->free_on_line) {
		loop_child_free(t->c);
		t->c = NULL;
		loop_stop(t->f->l);
	}
	if (t->drop_on_line) {
		loop_group_drop(t->f->g);
		loop_stop(t->f->l);
	}
}

static void on_end(int status, const struct err *e, void *arg)
{
	struct talk *t = arg;

	buf_puts(&t->said, "exit");
	t->status = status;
	t->kind = e ? e->kind : ERR_NONE;
	loop_stop(t->f->l);
}

static void talk_start(struct talk *t, struct fixture *f, size_t max_line)
{
	static const char *const argv[] = {"/bin/cat", NULL};
	struct loop_spawn s = {
		.argv = argv,
		.max_line = max_line,
		.on_line = on_line,
		.on_exit = on_end,
		.arg = t,
	};
	struct err e;

	*t = (struct talk){.f = f, .status = -1};
	buf_init(&t->said, 4096);
	t->c = loop_spawn(f->g, &s, &e);
	if (!t->c)
		fail_msg("%s", e.text);
}

static void talk_end(struct talk *t)
{
	loop_child_free(t->c);
	buf_done(&t->said);
}

static void a_child_gets_lines_and_answers_until_it_is_freed(void **state)
{
	struct talk t;
	struct step end;

	talk_start(&t, *state, 0);
	t.stop_at = "three";
	loop_child_write(t.c, "one\ntw", 6);
	loop_child_write(t.c, "o\n\nthree\n", 9);
	loop_run(t.f->l);
	assert_string_equal(t.said.data, "one;two;;three;");
	loop_child_write(t.c, "late\n", 5);
	loop_child_free(t.c);
	t.c = NULL;
	step_init(&end, t.f, t.f->g, "end");
	end.ends = true;
	loop_timer_start(&end.t, 100);
	loop_run(t.f->l);
	assert_string_equal(t.f->log, "end ");
	/* the child was freed, so not even its exit is reported */
	assert_string_equal(t.said.data, "one;two;;three;");
	talk_end(&t);
}

static void a_killed_child_reports_the_signal(void **state)
{
	struct talk t;

	talk_start(&t, *state, 0);
	loop_child_kill(t.c, SIGKILL);
	loop_run(t.f->l);
	assert_string_equal(t.said.data, "exit");
	assert_int_equal(t.status, 128 + SIGKILL);
	assert_int_equal(t.kind, ERR_NONE);
	loop_child_kill(t.c, SIGKILL);
	loop_child_write(t.c, "late\n", 5);
	talk_end(&t);
}

static void a_child_may_be_freed_while_it_speaks(void **state)
{
	struct talk t;

	talk_start(&t, *state, 0);
	t.free_on_line = true;
	loop_child_write(t.c, "one\ntwo\n", 8);
	loop_run(t.f->l);
	assert_string_equal(t.said.data, "one;");
	talk_end(&t);
}

static void a_child_says_nothing_more_to_a_dropped_group(void **state)
{
	struct talk t;

	talk_start(&t, *state, 0);
	t.drop_on_line = true;
	loop_child_write(t.c, "one\ntwo\n", 8);
	loop_run(t.f->l);
	assert_string_equal(t.said.data, "one;");
	loop_child_write(t.c, "three\n", 6);
	talk_end(&t);
}

static void a_program_that_is_not_there_is_an_error(void **state)
{
	struct fixture *f = *state;
	static const char *const argv[] = {"/nonexistent/program", NULL};
	struct loop_spawn s = {.argv = argv};
	struct err e;

	assert_null(loop_spawn(f->g, &s, &e));
	assert_int_equal(e.kind, ERR_NOT_FOUND);
}

/* --- random ----------------------------------------------------------------------------------- */

static void random_numbers_stay_below_and_reach_all(void **state)
{
	struct fixture *f = *state;
	unsigned seen[5] = {0};

	assert_int_equal(loop_random_below(f->l, 0), 0);
	for (int i = 0; i < 1000; i++)
		seen[loop_random_below(f->l, 5)]++;
	for (int i = 0; i < 5; i++)
		assert_true(seen[i] > 100);

	char bytes[19] = {0}, none[19] = {0};

	loop_random_bytes(f->l, bytes, sizeof(bytes));
	assert_memory_not_equal(bytes, none, sizeof(bytes));
}

#define BOTH(name)                                                                                 \
	{"real: " #name, name, setup_uv, teardown, NULL},                                          \
	{                                                                                          \
		"simulated: " #name, name, setup_sim, teardown, NULL                               \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(timers_fire_by_time_and_then_in_order_of_starting),
		BOTH(timers_for_the_same_time_fire_in_order_of_starting),
		BOTH(many_timers_keep_their_order_when_some_are_stopped),
		BOTH(a_timer_may_stop_another_of_the_same_turn),
		BOTH(a_timer_without_delay_waits_for_the_next_turn),
		BOTH(a_deferral_runs_once_and_what_it_defers_runs_in_the_next_turn),
		BOTH(a_deferral_may_cancel_another_of_the_same_turn),
		BOTH(stopping_keeps_what_was_due_for_the_next_run),
		BOTH(no_callback_of_a_group_runs_after_it_was_dropped_in_a_callback),
		BOTH(work_runs_and_then_reports),
		BOTH(abandoned_work_is_dropped_after_it_ran),
		BOTH(work_of_a_dropped_group_is_dropped_even_when_the_group_is_gone),
		BOTH(work_that_ended_in_a_dropped_group_waits_for_its_owner),
		BOTH(freeing_the_loop_waits_for_abandoned_work),
		BOTH(a_child_gets_lines_and_answers_until_it_is_freed),
		BOTH(a_killed_child_reports_the_signal),
		BOTH(a_child_may_be_freed_while_it_speaks),
		BOTH(a_child_says_nothing_more_to_a_dropped_group),
		BOTH(a_program_that_is_not_there_is_an_error),
		BOTH(random_numbers_stay_below_and_reach_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
