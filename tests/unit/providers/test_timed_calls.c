#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "tests/simulated/loop_sim.h"
#include "base/mem.h"
#include "base/str.h"
#include "providers/elastic.h"
#include "providers/fabric.h"
#include "providers/hardware.h"
#include "providers/managed.h"
#include "providers/provider.h"

/* A call as its backend has it, and what the caller and the watch got. */
struct scene {
	struct loop *loop;
	struct loop_group *group;
	struct timed_calls timed;
	/* Calls that were reported to the watch; the last one */
	unsigned ended;
	const char *operation;
	int64_t ms;
	enum err_kind kind;
	/* Calls of the caller's callbacks */
	unsigned done, begun, fits, asked;
	bool allowed;
	/* True: done() drops all calls, as the end of a provider does */
	bool drops;
};

static void on_ended(const char *operation, int64_t ms, const struct err *e, void *arg)
{
	struct scene *s = arg;

	assert_int_equal(s->done, 0); /* The watch is called first. */
	s->ended++;
	s->operation = operation;
	s->ms = ms;
	s->kind = e ? e->kind : ERR_NONE;
}

static int setup(void **state)
{
	struct scene *s = mem_new(struct scene);
	const struct call_watch watch = {on_ended, s};

	s->loop = loop_sim_new(3, 1764000000000);
	s->group = loop_group_new(s->loop, "test");
	s->allowed = true;
	timed_calls_init(&s->timed, s->group, &watch);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	timed_calls_drop(&s->timed, NULL);
	assert_true(list_empty(&s->timed.calls));
	loop_group_drop(s->group);
	loop_group_free(s->group);
	loop_free(s->loop);
	free(s);
	return 0;
}

static void pass(struct scene *s, int64_t ms)
{
	loop_sim_run_until(s->loop, loop_now(s->loop) + ms);
}

static void on_done(const struct provider_observation *o, const char *handle, const struct err *e,
		    void *arg)
{
	struct scene *s = arg;

	(void)o;
	(void)e;
	assert_string_equal(handle, "h");
	s->done++;
	if (s->drops)
		timed_calls_drop(&s->timed, NULL);
}

static bool on_may_act(void *arg)
{
	struct scene *s = arg;

	s->asked++;
	return s->allowed;
}

static int on_fits(const struct provider_observation *o, void *arg, struct err *e)
{
	struct scene *s = arg;

	(void)o;
	s->fits++;
	return s->allowed ? 0 : err_set(e, ERR_CONFLICT, 0, "another machine");
}

static void on_begun(int64_t waited_ms, void *arg)
{
	struct scene *s = arg;

	assert_int_equal(waited_ms, 7000);
	s->begun++;
}

static struct provider_call call(struct scene *s)
{
	return (struct provider_call){.op_id = "op",
				      .may_act = on_may_act,
				      .fits = on_fits,
				      .begun = on_begun,
				      .done = on_done,
				      .arg = s};
}

static void a_call_is_timed_without_its_wait_in_the_queue(void **state)
{
	struct scene *s = *state;
	struct provider_call c = call(s);
	struct err e;

	timed_machine_call(&s->timed, "power_on", NULL, &c);
	assert_string_equal(c.op_id, "op");
	pass(s, 7000);
	c.begun(7000, c.arg);
	assert_int_equal(s->begun, 1);
	pass(s, 1500);
	assert_int_equal(c.fits(NULL, c.arg, &e), 0);
	assert_true(c.may_act(c.arg));
	assert_int_equal(s->fits + s->asked, 2);
	err_note(&e, ERR_TIMEOUT, 0, "late");
	s->drops = true;
	c.done(NULL, "h", &e, c.arg);
	assert_int_equal(s->done, 1);
	assert_int_equal(s->ended, 1);
	assert_string_equal(s->operation, "power_on");
	assert_int_equal(s->ms, 1500);
	assert_int_equal(s->kind, ERR_TIMEOUT);
}

static void what_was_not_asked_or_was_withdrawn_is_not_timed(void **state)
{
	struct scene *s = *state;
	struct err e;

	for (int i = 0; i < 3; i++) {
		struct provider_call c = call(s);

		timed_machine_call(&s->timed, "power_on", NULL, &c);
		if (i > 0)
			c.begun(7000, c.arg);
		s->allowed = false;
		if (i == 1)
			assert_false(c.may_act(c.arg));
		if (i == 2)
			assert_int_equal(c.fits(NULL, c.arg, &e), -1);
		c.done(NULL, "h", NULL, c.arg);
	}
	assert_int_equal(s->done, 3);
	assert_int_equal(s->ended, 0);
}

static void callbacks_that_the_caller_lacks_stay_absent(void **state)
{
	struct scene *s = *state;
	struct provider_call c = {.done = on_done, .arg = s};

	timed_machine_call(&s->timed, "observe", NULL, &c);
	assert_true(!c.may_act && !c.fits);
	c.begun(0, c.arg);
	c.done(NULL, "h", NULL, c.arg);
	assert_int_equal(s->ended, 1);
	assert_int_equal(s->kind, ERR_NONE);
}

static void without_a_watch_a_call_stays_as_it_is(void **state)
{
	struct scene *s = *state;
	struct provider_call c = call(s);

	timed_calls_init(&s->timed, s->group, NULL);
	timed_machine_call(&s->timed, "observe", NULL, &c);
	assert_true(c.done == on_done && c.arg == s && c.begun == on_begun);
}

static void calls_of_a_detached_machine_are_dropped(void **state)
{
	struct scene *s = *state;
	struct provider_call one = call(s), other = call(s);
	const struct provider_machine *m = (const void *)&one, *n = (const void *)&other;

	timed_machine_call(&s->timed, "observe", m, &one);
	timed_machine_call(&s->timed, "observe", n, &other);
	timed_calls_drop(&s->timed, m);
	other.begun(7000, other.arg);
	other.done(NULL, "h", NULL, other.arg);
	assert_int_equal(s->ended, 1);
	assert_true(list_empty(&s->timed.calls));
}

static void on_placed(const struct fabric_place *p, const struct err *e, void *arg)
{
	(void)p;
	(void)e;
	((struct scene *)arg)->done++;
}

static void on_path(const struct fabric_api_path_state *p, const struct err *e, void *arg)
{
	(void)p;
	(void)e;
	((struct scene *)arg)->done++;
}

static void calls_of_a_fabric_are_timed_from_their_start(void **state)
{
	struct scene *s = *state;
	struct fabric_call c = {.done = on_placed, .may_act = on_may_act, .arg = s};
	struct fabric_api_path_call p = {.done = on_path, .may_act = on_may_act, .arg = s};

	timed_fabric_call(&s->timed, "place", &c);
	pass(s, 400);
	assert_true(c.may_act(c.arg));
	c.done(NULL, NULL, c.arg);
	assert_string_equal(s->operation, "place");
	assert_int_equal(s->ms, 400);
	s->done = 0;
	timed_api_path_call(&s->timed, "ensure_api_path", &p);
	pass(s, 600);
	assert_true(p.may_act(p.arg));
	p.done(NULL, NULL, p.arg);
	assert_string_equal(s->operation, "ensure_api_path");
	assert_int_equal(s->ms, 600);
	assert_int_equal(s->ended, 2);
	assert_int_equal(s->asked, 2);
}

static void on_instances(const struct elastic_instance *v, size_t n, const struct err *e, void *arg)
{
	(void)v;
	(void)e;
	assert_int_equal(n, 2);
	((struct scene *)arg)->done++;
}

static void on_offers(const struct offer *o, size_t n, const struct err *e, void *arg)
{
	(void)o;
	(void)e;
	assert_int_equal(n, 3);
	((struct scene *)arg)->done++;
}

static void on_discovered(const struct provider_inventory *i, const struct err *e, void *arg)
{
	(void)i;
	(void)e;
	((struct scene *)arg)->done++;
}

static void calls_to_clouds_and_managers_are_timed(void **state)
{
	struct scene *s = *state;
	elastic_instances_done *instances = on_instances;
	elastic_offers_done *offers = on_offers;
	timed_discovered *discovered = on_discovered;
	bool (*may)(void *) = on_may_act, (*none)(void *) = NULL;
	void *arg = s, *may_arg = s;

	timed_instances(&s->timed, "launch", &instances, &arg, &may, &may_arg);
	pass(s, 900);
	assert_true(may(may_arg));
	instances(NULL, 2, NULL, arg);
	assert_string_equal(s->operation, "launch");
	assert_int_equal(s->ms, 900);
	s->done = 0;
	instances = on_instances;
	arg = s;
	timed_instances(&s->timed, "list_owned", &instances, &arg, &none, NULL);
	assert_null(none);
	instances(NULL, 2, NULL, arg);
	assert_string_equal(s->operation, "list_owned");
	s->done = 0;
	arg = s;
	timed_offers(&s->timed, &offers, &arg);
	offers(NULL, 3, NULL, arg);
	assert_string_equal(s->operation, "offers");
	s->done = 0;
	arg = s;
	timed_discovery(&s->timed, &discovered, &arg);
	discovered(NULL, NULL, arg);
	assert_string_equal(s->operation, "discover");
	assert_int_equal(s->ended, 4);
	/* A launch that drover withdrew. */
	s->done = 0;
	s->allowed = false;
	instances = on_instances;
	may = on_may_act;
	arg = may_arg = s;
	timed_instances(&s->timed, "launch", &instances, &arg, &may, &may_arg);
	assert_false(may(may_arg));
	instances(NULL, 2, NULL, arg);
	assert_int_equal(s->ended, 4);
	assert_int_equal(s->done, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_call_is_timed_without_its_wait_in_the_queue),
		T(what_was_not_asked_or_was_withdrawn_is_not_timed),
		T(callbacks_that_the_caller_lacks_stay_absent),
		T(without_a_watch_a_call_stays_as_it_is),
		T(calls_of_a_detached_machine_are_dropped),
		T(calls_of_a_fabric_are_timed_from_their_start),
		T(calls_to_clouds_and_managers_are_timed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
