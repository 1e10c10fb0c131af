/* Tests failed writes of a Machine's status, and what drover may do after them. */
#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/str.h"
#include "controller/life/journal.h"

static void nothing(void *arg)
{
	(void)arg;
}

struct rig {
	struct bench *d;
	struct life *l;
	/* Machine as it was before another writer changed it */
	struct machine old;
	struct machine_operation before;
};

static void start(struct rig *r, struct bench *d)
{
	r->d = d;
	bench_status(d, OBJECT_MACHINE, "m-1", "{'operation': {'id': 'op-1', 'fence': 7}}");
	r->l = bench_life(d, "m-1");
	loop_defer_init(&r->l->tick, d->g, nothing, NULL);
	loop_timer_init(&r->l->timer, d->g, nothing, NULL);
	r->l->journal.took_over = true;
	r->before = (struct machine_operation){.id = "op-1", .fence = 7};
	r->old = (struct machine){.meta = {.name = "m-1", .uid = "u", .resource_version = "1"},
				  .status = {.state = "free", .operation = &r->before}};
}

static void finish(struct rig *r)
{
	loop_defer_cancel(&r->l->tick);
	loop_timer_stop(&r->l->timer);
	bench_life_done(r->l);
}

static void say(struct rig *r, const struct machine *m, const char *text)
{
	r->l->m = m;
	(void)life_wait(r->l, WAITING_DEVICE, REASON_BmcBusy, "%s", text);
	bench_run(r->d, 1000);
}

static const struct machine *as_it_is(struct rig *r)
{
	return CTX_GET(&r->d->c, OBJECT_MACHINE, machine, "m-1");
}

static void any_write_after_a_conflict_raises_the_fence(void **state)
{
	struct rig r;

	start(&r, *state);
	say(&r, as_it_is(&r), "one");
	assert_int_equal(as_it_is(&r)->status.operation->fence, 7);
	say(&r, &r.old, "two");
	/* The write conflicted. Another replica may have led meanwhile, so this one must take over
	 * the machine again. */
	assert_false(r.l->journal.took_over);
	assert_string_equal(as_it_is(&r)->status.operation->last_error.message, "one");
	say(&r, as_it_is(&r), "three");
	assert_string_equal(as_it_is(&r)->status.operation->last_error.message, "three");
	assert_int_equal(as_it_is(&r)->status.operation->fence, 8);
	assert_true(r.l->journal.took_over);
	say(&r, as_it_is(&r), "four");
	assert_int_equal(as_it_is(&r)->status.operation->fence, 8);
	finish(&r);
}

static void what_a_lost_write_announced_may_not_be_done(void **state)
{
	struct rig r;

	start(&r, *state);
	r.l->act.journaled = true;
	say(&r, as_it_is(&r), "one");
	assert_true(r.l->act.journaled);
	say(&r, &r.old, "two");
	assert_false(r.l->act.journaled);
	finish(&r);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

static int setup(void **state)
{
	bench_setup(state);
	bench_fleet(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(any_write_after_a_conflict_raises_the_fence),
		T(what_a_lost_write_announced_may_not_be_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
