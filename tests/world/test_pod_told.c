/* The events on one pod, from its wish for a machine until it runs: `kubectl describe pod` alone
 * shows what the pod waits for, and no event contradicts another. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

#define EVENTS 32

struct told {
	const char *at, *type, *text;
};

struct events {
	const char *pod;
	struct arena *a;
	struct told v[EVENTS];
	size_t n;
};

static bool add(const json_t *o, void *arg)
{
	struct events *l = arg;

	if (!str_eq(json_str_at(o, "involvedObject", "name"), l->pod) ||
	    !str_eq(json_str_at(o, "reportingComponent"), "drover.dev/controller"))
		return true;
	assert_in_range(l->n, 0, EVENTS - 1);
	l->v[l->n++] = (struct told){
		arena_strdup(l->a, json_str_at(o, "eventTime")),
		arena_strdup(l->a, json_str_at(o, "type")),
		arena_printf(l->a, "%s: %s", json_str_at(o, "reason"), json_str_at(o, "message"))};
	return true;
}

static int by_time(const void *x, const void *y)
{
	return strcmp(((const struct told *)x)->at, ((const struct told *)y)->at);
}

/* Returns drover's events on the pod, the oldest first. */
static struct events told_of(const struct cluster *p, const char *pod, struct arena *a)
{
	struct events l = {.pod = pod, .a = a};

	cluster_each(p, "events/", add, &l);
	qsort(l.v, l.n, sizeof(l.v[0]), by_time);
	if (getenv("SHOW"))
		for (size_t i = 0; i < l.n; i++)
			print_message("%s %s %s\n", l.v[i].at, l.v[i].type, l.v[i].text);
	return l;
}

/* Serves three pods, so that the expected times are known, and starts one more pod. Returns the
 * machine of its claim. */
static struct server *begin(struct sim_world *w, uint64_t seed)
{
	static const char *const pods[] = {"a", "b", "c"};
	struct server *b = NULL;

	world_start(w, seed, 4);
	world_replica(w);
	world_wait_all(w, "free", 1800);
	for (int i = 0; i < 3; i++)
		world_pod(w, &w->tenants[0], pods[i]);
	for (int i = 0; i < 3; i++)
		world_wait_running(w, &w->tenants[0], pods[i], 900);
	for (int i = 0; i < 4; i++)
		if (str_eq(w->servers[i].state, "free"))
			b = &w->servers[i];
	assert_non_null(b);
	world_run(w, 5000);
	world_pod(w, &w->tenants[1], "train");
	world_wait_state(b, "claimed", 120);
	return b;
}

static void a_machine_in_time_is_one_event(void **state)
{
	OWN(arena) a = arena_new();
	struct sim_world w;

	(void)state;
	begin(&w, 8801);
	world_wait_running(&w, &w.tenants[1], "train", 900);
	const struct events l = told_of(&w.tenants[1], "train", a);

	/* nor does the machine get an event about its Node, which takes a few seconds as always */
	assert_int_equal(leaving_events(&w, "NodeNotReady"), 0);
	assert_int_equal(leaving_events(&w, "ResourceNotRegistered"), 0);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.v[0].type, "Normal");
	assert_true(str_starts(l.v[0].text, "Nominated: machine gpu-"));
	assert_non_null(strstr(l.v[0].text, ", ready in about "));
	world_stop(&w);
}

static void a_slow_port_is_told_as_late_and_for_how_long(void **state)
{
	static const char lacks[] = ": its network port is not ready; the operator sees it";
	OWN(arena) a = arena_new();
	struct sim_world w;
	struct server *b;

	(void)state;
	b = begin(&w, 8802);
	b->port_stuck = true;
	world_wait_state(b, "attaching", 600);
	world_run(&w, INT64_C(540) * 1000);
	assert_string_equal(b->state, "attaching");
	const struct events late = told_of(&w.tenants[1], "train", a);

	assert_in_range(late.n, 2, 3);
	assert_string_equal(late.v[0].type, "Normal");
	assert_non_null(strstr(late.v[0].text, ", ready in about "));
	for (size_t i = 1; i < late.n; i++) {
		assert_string_equal(late.v[i].type, "Warning");
		assert_non_null(strstr(late.v[i].text, ", late by about "));
		assert_true(str_ends(late.v[i].text, lacks));
	}
	/* the list for `drover why` shows the delay of now */
	OWN_JSON vc = cluster_get(&w.host, "virtualclusters.drover.dev/team-b");
	const char *row =
		json_str_at(json_array_get(json_at(vc, "status", "waiting"), 0), "message");

	assert_non_null(row);
	assert_non_null(strstr(row, ", late by about "));
	assert_true(str_ends(row, lacks));
	b->port_stuck = false;
	world_wait_running(&w, &w.tenants[1], "train", 900);
	const struct events all = told_of(&w.tenants[1], "train", a);
	/* the last event is no longer about the port */
	assert_true(all.n > late.n);
	assert_null(strstr(all.v[all.n - 1].text, "network port"));
	for (size_t i = 0; i < all.n; i++)
		assert_true(str_starts(all.v[i].text, "Nominated: machine "));
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_in_time_is_one_event),
		cmocka_unit_test(a_slow_port_is_told_as_late_and_for_how_long),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
