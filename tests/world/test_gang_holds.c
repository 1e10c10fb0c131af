/* Machines are reserved for an incomplete gang so that it gets them, but not forever. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "tests/world/world.h"

static void add_gang(struct sim_world *w)
{
	world_gang_pod(w, &w->tenants[0], "train-0", "train", "2");
	world_gang_pod(w, &w->tenants[0], "train-1", "train", "2");
}

struct said {
	const char *pod, *text;
	bool found;
};

static bool says(const json_t *o, void *arg)
{
	struct said *s = arg;

	s->found |= str_eq(json_str_at(o, "involvedObject", "name"), s->pod) &&
		    strstr(str_or(json_str_at(o, "message"), ""), s->text);
	return !s->found;
}

static bool is_told(struct cluster *c, const char *pod, const char *text)
{
	struct said s = {pod, text, false};

	cluster_each(c, "events/", says, &s);
	return s.found;
}

/* Starts two machines. Pod "a" of another tenant has one; pod "b" of that tenant waits behind the
 * gang for the other. */
static void begin(struct sim_world *w, uint64_t seed)
{
	world_start(w, seed, 2);
	world_replica(w);
	world_wait_all(w, "free", 1800);
	world_pod(w, &w->tenants[1], "a");
	world_wait_running(w, &w->tenants[1], "a", 1800);
	add_gang(w);
	world_run(w, 20000);
	world_pod(w, &w->tenants[1], "b");
	world_run(w, 20000);
	assert_true(is_told(&w->tenants[0], "train-1", "1 machine is reserved for it"));
	assert_true(is_told(&w->tenants[1], "b", "1 reserved for a gang"));
}

static void a_gang_gets_the_machine_that_comes_and_the_one_that_was_held(void **state)
{
	struct sim_world w;
	struct server *b;

	(void)state;
	begin(&w, 841);
	b = world_box_of(&w, &w.tenants[1], "a");
	assert_non_null(b);
	world_delete_pod(&w, &w.tenants[1], "a");
	world_release(b);
	world_wait_running(&w, &w.tenants[0], "train-0", 7200);
	world_wait_running(&w, &w.tenants[0], "train-1", 7200);
	world_stop(&w);
}

static void after_half_an_hour_it_goes_to_whoever_wants_it(void **state)
{
	struct sim_world w;

	(void)state;
	begin(&w, 842);
	world_run(&w, 29 * 60000);
	assert_false(is_told(&w.tenants[0], "train-0", "machines were reserved"));
	world_run(&w, 90000);
	assert_true(is_told(&w.tenants[0], "train-0", "machines were reserved"));
	world_wait_running(&w, &w.tenants[1], "b", 1800);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_gets_the_machine_that_comes_and_the_one_that_was_held),
		cmocka_unit_test(after_half_an_hour_it_goes_to_whoever_wants_it),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
