/* A waiting pod gets one reason at a time, and the reason that is shown is the current one. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "api/annotations.h"
#include "base/arena.h"
#include "base/str.h"
#include "cli/explain_ask.h"
#include "controller/view/tenant_list.h"
#include "tests/world/world.h"

#define PODS 5

struct heard {
	const char *pod;
	/* Number of drover's events on the pod. */
	size_t n;
	/* Newest event as "REASON MESSAGE", and its eventTime below. */
	const char *newest;
	const char *at;
	struct arena *a;
};

static bool hear(const json_t *o, void *arg)
{
	struct heard *h = arg;
	const char *at = str_or(json_str_at(o, "eventTime"), "");

	if (!str_eq(json_str_at(o, "involvedObject", "name"), h->pod) ||
	    !str_eq(json_str_at(o, "reportingComponent"), "drover.dev/controller"))
		return true;
	h->n++;
	if (h->at && strcmp(at, h->at) < 0)
		return true;
	h->at = arena_strdup(h->a, at);
	h->newest =
		arena_printf(h->a, "%s %s", json_str_at(o, "reason"), json_str_at(o, "message"));
	return true;
}

static struct heard heard_of(const struct cluster *p, const char *pod, struct arena *a)
{
	struct heard h = {.pod = pod, .a = a};

	cluster_each(p, "events/", hear, &h);
	return h;
}

/* Returns the pod's row in status.waiting; the caller owns it. NULL: no row. */
static json_t *row_of(const struct sim_world *w, const char *pod)
{
	OWN_JSON vc = cluster_get(&w->host, "virtualclusters.drover.dev/team-a");
	json_t *x;
	size_t i;

	json_array_foreach (json_at(vc, "status", "waiting"), i, x)
		if (str_eq(json_str_at(x, "pod"), pod))
			return json_incref(x);
	return NULL;
}

struct got {
	bool done;
	json_t *answer;
};

static void on_answer(const json_t *answer, const struct err *e, void *arg)
{
	struct got *g = arg;

	(void)e;
	g->done = true;
	g->answer = json_deep_copy(answer);
}

/* Returns the answer of `drover why`; the caller owns it. */
static json_t *why(struct sim_world *w, const char *target)
{
	struct context *c = controller_context(w->replicas[0].controller);
	struct explain_asker with = {.host = c->host,
				     .loop = w->loop,
				     .group = c->group,
				     .http = c->http,
				     .ns = "drover-system",
				     .plain_ok = true};
	struct got g = {0};

	(void)explain_ask(&with, target, on_answer, &g);
	world_run(w, 1000);
	assert_true(g.done);
	return g.answer;
}

/* Starts two machines and creates five pods. */
static void begin(struct sim_world *w, uint64_t seed)
{
	world_start(w, seed, 2);
	world_replica(w);
	world_wait_all(w, "free", 1800);
	for (int i = 0; i < PODS; i++) {
		OWN(arena) a = arena_new();

		world_pod(w, &w->tenants[0], arena_printf(a, "p-%d", i));
	}
	world_run(w, 15000);
}

static const char *claim_of(const struct sim_world *w, const char *pod, struct arena *a)
{
	OWN_JSON row = row_of(w, arena_printf(a, "default/%s", pod));

	return arena_strdup(a, json_str_at(row, "claim"));
}

static void each_pod_hears_one_thing(void **state)
{
	OWN(arena) a = arena_new();
	struct sim_world w;
	unsigned nominated = 0;

	(void)state;
	begin(&w, 7401);
	for (int i = 0; i < PODS; i++) {
		const char *pod = arena_printf(a, "p-%d", i), *claim = claim_of(&w, pod, a);
		const struct heard h = heard_of(&w.tenants[0], pod, a);

		assert_int_equal(h.n, 1);
		if (!claim) {
			assert_true(str_starts(h.newest, "NoCapacity place "));
			continue;
		}
		nominated++;
		assert_true(str_starts(h.newest, "Nominated machine gpu-"));
		assert_true(str_ends(h.newest,
				     arena_printf(a, " is being prepared (claim %s)", claim)));
	}
	assert_int_equal(nominated, 2);
	world_stop(&w);
}

static void a_tenants_cluster_lists_its_waiting_pods(void **state)
{
	struct sim_world w;
	OWN_JSON map = NULL;
	OWN_JSON list = NULL;
	const char *text;
	struct err e;

	(void)state;
	begin(&w, 7404);
	world_run(&w, 2 * TENANT_LIST_MS);
	map = cluster_get(&w.tenants[0], "configmaps/" TENANT_LIST_NS "/" TENANT_LIST_NAME);
	text = json_str_at(map, "data", TENANT_LIST_KEY);
	assert_non_null(text);
	list = json_parse(text, strlen(text), &e);
	assert_string_equal(json_str_at(list, "tenant"), "team-a");
	assert_int_equal(json_int_at(list, "total"), PODS);
	world_stop(&w);
}

static void places_are_those_of_now(void **state)
{
	OWN(arena) a = arena_new();
	struct sim_world w;
	OWN_JSON row = NULL;
	struct heard h;

	(void)state;
	begin(&w, 7402);
	row = row_of(&w, "default/p-4");
	assert_int_equal(json_int_at(row, "place"), 5);
	world_wait_running(&w, &w.tenants[0], "p-0", 900);
	world_wait_running(&w, &w.tenants[0], "p-1", 900);
	world_run(&w, 15000);
	assert_null(row_of(&w, "default/p-0"));
	json_decref(row);
	row = row_of(&w, "default/p-4");
	assert_int_equal(json_int_at(row, "place"), 3);
	world_run(&w, 5 * 60000);
	h = heard_of(&w.tenants[0], "p-4", a);
	assert_true(str_starts(h.newest, "NoCapacity place 3"));
	for (int i = 0; i < PODS; i++)
		world_delete_pod(&w, &w.tenants[0], arena_printf(a, "p-%d", i));
	world_run(&w, 30000);
	OWN_JSON vc = cluster_get(&w.host, "virtualclusters.drover.dev/team-a");
	assert_null(json_at(vc, "status", "waiting"));
	world_stop(&w);
}

static void why_says_what_is_so_now_and_names_the_pods_own_claim(void **state)
{
	OWN(arena) a = arena_new();
	struct sim_world w;
	json_t *x, *c;

	(void)state;
	begin(&w, 7403);
	const char *claim = claim_of(&w, "p-0", a);
	assert_non_null(claim);
	x = why(&w, "team-a/default/p-0");
	assert_string_equal(json_str_at(x, "now", "reason"), "Nominated");
	assert_int_equal(json_array_size(json_object_get(x, "claims")), 1);
	c = json_array_get(json_object_get(x, "claims"), 0);
	assert_string_equal(json_str_at(c, "name"), claim);
	assert_true(str_starts(json_str_at(c, "machine"), "gpu-"));
	assert_non_null(json_str_at(c, "since"));
	json_decref(x);
	x = why(&w, "team-a/default/p-4");
	assert_string_equal(json_str_at(x, "now", "reason"), "NoCapacity");
	assert_int_equal(json_array_size(json_object_get(x, "claims")), 0);
	json_decref(x);
	world_wait_running(&w, &w.tenants[0], "p-0", 900);
	x = why(&w, "team-a/default/p-0");
	assert_null(json_object_get(x, "now"));
	assert_null(json_object_get(x, "told"));
	assert_string_equal(json_str_at(x, "pod", "phase"), "Running");
	c = json_array_get(json_object_get(x, "claims"), 0);
	assert_string_equal(json_str_at(c, "name"), json_str_at(x, "pod", "node"));
	json_decref(x);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pod_hears_one_thing),
		cmocka_unit_test(a_tenants_cluster_lists_its_waiting_pods),
		cmocka_unit_test(places_are_those_of_now),
		cmocka_unit_test(why_says_what_is_so_now_and_names_the_pods_own_claim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
