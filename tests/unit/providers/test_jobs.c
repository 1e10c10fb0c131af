#include "tests/unit/testing.h"

#include "tests/simulated/loop_sim.h"
#include "providers/jobs.h"

/* One machine queue (job_queue) of a host with three machines. run() leaves each job
 * running until the test ends it */
struct fixture {
	struct loop *loop;
	struct loop_group *group;
	struct job_queue line;
	struct provider_machine seat[3];
	struct job *running[8];
	unsigned ran;
	bool allowed;
};

/* Result of one call, as passed to done() */
struct told {
	struct fixture *f;
	/* Times in ms since the start of the test. at: when done() was called; 0: not yet */
	int64_t begun_at, waited_ms, at;
	unsigned count;
	int code;
	enum err_kind kind;
};

static struct fixture *world;

static void run(struct job *j)
{
	world->running[world->ran++] = j;
}

static bool may_act(void *arg)
{
	return ((struct told *)arg)->f->allowed;
}

static void on_begun(int64_t waited_ms, void *arg)
{
	struct told *t = arg;

	t->begun_at = loop_now(t->f->loop);
	t->waited_ms = waited_ms;
}

static void on_done(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *arg)
{
	struct told *t = arg;

	(void)o, (void)handle;
	t->count++;
	t->at = loop_now(t->f->loop);
	t->kind = e ? e->kind : ERR_NONE;
	t->code = e ? e->code : 0;
}

static void start(struct fixture *f, double per_s, unsigned concurrent)
{
	struct provider_spec s = {.requests_per_s = per_s, .concurrent = concurrent};

	*f = (struct fixture){.loop = loop_sim_new(3, 1764000000000), .allowed = true};
	f->group = loop_group_new(f->loop, "jobs");
	s.group = f->group;
	job_queue_init(&f->line, &s, 1, 1, run);
	for (int i = 0; i < 3; i++)
		job_machine_init(&f->seat[i], &f->line);
	world = f;
}

static void stop(struct fixture *f)
{
	for (int i = 0; i < 3; i++)
		job_machine_done(&f->seat[i]);
	job_queue_done(&f->line);
	loop_group_free(f->group);
	loop_free(f->loop);
}

static void ask(struct fixture *f, int machine, struct told *t)
{
	struct provider_call c = {
		.op_id = "01JD", .may_act = may_act, .begun = on_begun, .done = on_done, .arg = t};

	*t = (struct told){.f = f};
	(void)job_ask(&f->seat[machine], JOB_OBSERVE, &c);
}

static void pass_to(struct fixture *f, int64_t ms)
{
	loop_sim_run_until(f->loop, ms);
}

static void a_call_that_runs_is_answered_once_when_its_time_is_over(void **state)
{
	struct fixture f;
	struct told t;
	struct err e;
	int64_t from;

	(void)state;
	start(&f, 1000, 4);
	from = loop_now(f.loop);
	ask(&f, 0, &t);
	pass_to(&f, from + 10);
	assert_int_equal(f.ran, 1);
	assert_true(job_may_act(f.running[0], &e));
	pass_to(&f, from + 2 * PROVIDER_CALL_MS);
	assert_int_equal(t.count, 1);
	assert_int_equal(t.kind, ERR_TIMEOUT);
	assert_in_range(t.at - from, PROVIDER_CALL_MS, PROVIDER_CALL_MS + 10);
	/* The job may not act any more, even though its lease is still valid. */
	assert_false(job_may_act(f.running[0], &e));
	job_end(f.running[0], NULL, NULL);
	assert_int_equal(t.count, 1);
	stop(&f);
}

static void the_line_has_no_limit_and_is_in_order(void **state)
{
	struct fixture f;
	struct told t[3];
	int64_t from;

	(void)state;
	start(&f, 1.0 / 100, 4);
	from = loop_now(f.loop);
	for (int i = 0; i < 3; i++)
		ask(&f, i, &t[i]);
	for (unsigned i = 0; i < 3; i++) {
		pass_to(&f, from + i * 100000 + 50);
		assert_int_equal(f.ran, i + 1);
		assert_ptr_equal(f.running[i]->machine, &f.seat[i]);
		assert_in_range(t[i].waited_ms, i * 100000, i * 100000 + 50);
		job_end(f.running[i], NULL, NULL);
		assert_int_equal(t[i].kind, ERR_NONE);
	}
	stop(&f);
}

/* Machines 0 to 3 have a job each, and wait. Then jobs of machines 4 to 7 come that pods wait
 * for. */
static void machines_that_pods_wait_for_come_first_and_every_fourth_is_another(void **state)
{
	static const int order[] = {4, 5, 6, 0, 7, 1, 2, 3};
	struct provider_machine seats[8];
	struct told t[8] = {0};
	struct fixture f;

	(void)state;
	start(&f, 1000, 1);
	for (int i = 0; i < 8; i++) {
		t[i].f = &f;
		job_machine_init(&seats[i], &f.line);
		(void)job_ask(
			&seats[i], JOB_OBSERVE,
			&(struct provider_call){.awaited = i > 3, .done = on_done, .arg = &t[i]});
	}
	for (unsigned i = 0; i < 8; i++) {
		pass_to(&f, 10 * (i + 1));
		assert_int_equal(f.ran, i + 1);
		assert_ptr_equal(f.running[i]->machine, &seats[order[i]]);
		job_end(f.running[i], NULL, NULL);
	}
	for (int i = 0; i < 8; i++)
		job_machine_done(&seats[i]);
	stop(&f);
}

/* The time limit of a call runs while its machine has a job, also for jobs that wait behind that
 * job. */
static void a_wait_for_the_own_machine_counts(void **state)
{
	struct fixture f;
	struct told a, b, other;
	int64_t from;

	(void)state;
	start(&f, 1000, 4);
	from = loop_now(f.loop);
	ask(&f, 0, &a);
	pass_to(&f, from + 10);
	ask(&f, 0, &b);
	ask(&f, 1, &other);
	pass_to(&f, from + 40000);
	assert_int_equal(f.ran, 2);
	job_end(f.running[1], NULL, NULL);
	job_end(f.running[0], NULL, NULL);
	pass_to(&f, from + 40010);
	assert_int_equal(f.ran, 3);
	/* The 40 s of waiting were for the machine, not for the host's queue. */
	assert_in_range(b.waited_ms, 0, 10);
	pass_to(&f, from + 2 * PROVIDER_CALL_MS);
	assert_int_equal(b.kind, ERR_TIMEOUT);
	assert_in_range(b.at - from, PROVIDER_CALL_MS, PROVIDER_CALL_MS + 20);
	stop(&f);
}

/* The machine has been idle since it answered the previous job. This idle time does not count
 * against the time limit of the next call. */
static void time_between_two_calls_of_the_machine_does_not_count(void **state)
{
	struct fixture f;
	struct told a, b;
	int64_t from;

	(void)state;
	start(&f, 1.0 / 200, 4);
	from = loop_now(f.loop);
	ask(&f, 0, &a);
	pass_to(&f, from + 10);
	ask(&f, 0, &b);
	pass_to(&f, from + 20000);
	job_end(f.running[0], NULL, NULL);
	pass_to(&f, from + 200010);
	assert_int_equal(f.ran, 2);
	assert_in_range(b.waited_ms, 180000, 180010);
	pass_to(&f, from + 200000 + PROVIDER_CALL_MS);
	assert_int_equal(b.kind, ERR_TIMEOUT);
	assert_in_range(b.at - from, 200000 + PROVIDER_CALL_MS - 20000,
			200020 + PROVIDER_CALL_MS - 20000);
	stop(&f);
}

/* The caller may free or change its strings while the job waits, so the job needs copies. */
static void a_call_keeps_its_own_texts(void **state)
{
	struct fixture f;
	struct told t = {.f = &f};
	char id[] = "01JD", handle[] = "op-1", session[] = "/s/1";
	struct provider_call c = {
		.op_id = id, .handle = handle, .session = session, .done = on_done, .arg = &t};

	(void)state;
	start(&f, 1000, 4);
	(void)job_ask(&f.seat[0], JOB_OBSERVE, &c);
	id[0] = handle[0] = session[0] = 'X';
	pass_to(&f, loop_now(f.loop) + 10);
	assert_string_equal(f.running[0]->call.op_id, "01JD");
	assert_string_equal(f.running[0]->call.handle, "op-1");
	assert_string_equal(f.running[0]->call.session, "/s/1");
	job_end(f.running[0], NULL, NULL);
	stop(&f);
}

/* A job may also need a place in the queue of another provider. The wait for that place does not
 * count against the job's time limit, and a timeout during the call there may concern a component
 * other than the machine. */
static void over_another_line_time_begins_when_that_one_says_so(void **state)
{
	struct fixture f;
	struct told a, b;
	int64_t from;

	(void)state;
	start(&f, 1000, 4);
	job_queue_done(&f.line);
	job_queue_over(&f.line, f.group, run);
	from = loop_now(f.loop);
	ask(&f, 0, &a);
	ask(&f, 0, &b);
	pass_to(&f, from + 3 * PROVIDER_CALL_MS);
	assert_int_equal(f.ran, 1);
	assert_int_equal(a.count + b.count, 0);
	job_begun(f.running[0], 3 * PROVIDER_CALL_MS);
	assert_int_equal(a.waited_ms, 3 * PROVIDER_CALL_MS);
	f.seat[0].silent = PROVIDER_OF_MANAGER;
	pass_to(&f, from + 5 * PROVIDER_CALL_MS);
	assert_int_equal(a.kind, ERR_TIMEOUT);
	assert_int_equal(b.kind, ERR_TIMEOUT);
	assert_int_equal(a.code, PROVIDER_OF_MANAGER);
	job_end(f.running[0], NULL, NULL);
	assert_int_equal(f.seat[0].silent, 0);
	assert_int_equal(f.ran, 1);
	stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_runs_is_answered_once_when_its_time_is_over),
		cmocka_unit_test(the_line_has_no_limit_and_is_in_order),
		cmocka_unit_test(
			machines_that_pods_wait_for_come_first_and_every_fourth_is_another),
		cmocka_unit_test(a_wait_for_the_own_machine_counts),
		cmocka_unit_test(time_between_two_calls_of_the_machine_does_not_count),
		cmocka_unit_test(a_call_keeps_its_own_texts),
		cmocka_unit_test(over_another_line_time_begins_when_that_one_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
