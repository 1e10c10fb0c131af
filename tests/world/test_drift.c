/*
 * test_drift: a Node that differs from its pool's template is replaced, if the pool requests that.
 * The first replacement must serve before more Nodes leave. No more Nodes leave after the first
 * replacement failed. A Node whose pods must not be evicted does not leave.
 */
#include "tests/unit/testing.h"

#include <stdlib.h>

#include "base/str.h"
#include "controller/core/lookup.h"
#include "tests/world/leaving.h"

/* Creates a pod of a ReplicaSet with a GPU, bound to the machine's Node; notes: the pod's
 * annotations. */
static void put_web(struct server *b, const char *name, json_t *notes)
{
	json_t *pod = json_pack("{s:s,s:s,s:{s:s,s:s,s:[{s:s,s:s,s:s,s:s,s:b}]},"
				"s:{s:s,s:[{s:s,s:s,s:{s:{s:s}}}],s:[{s:s,s:s}]}}",
				"apiVersion", "v1", "kind", "Pod", "metadata", "name", name,
				"namespace", "default", "ownerReferences", "apiVersion", "apps/v1",
				"kind", "ReplicaSet", "name", "web", "uid", "web-1", "controller",
				1, "spec", "nodeName", b->claim, "containers", "name", "main",
				"image", "web:1", "resources", "limits", "nvidia.com/gpu", "1",
				"tolerations", "key", "nvidia.com/gpu", "operator", "Exists");

	if (notes)
		json_object_set_new(json_object_get(pod, "metadata"), "annotations", notes);
	world_do(b->world, &b->world->tenants[0], "POST", "/api/v1/namespaces/default/pods", pod);
}

static void set_drift(struct sim_world *w, const char *drift)
{
	leaving_set_pool(w, json_pack("{s:{s:s,s:s,s:[{s:s}]},s:{s:{s:s}}}", "disruption", "drift",
				      drift, "consolidateAfter", "Never", "budgets", "nodes",
				      "100%", "template", "spec", "terminationGracePeriod", "5m"));
}

/* Changes a node label in the pool's template. */
static void set_template(struct sim_world *w, const char *revision)
{
	leaving_set_pool(w, json_pack("{s:{s:{s:{s:s}}}}", "template", "metadata", "labels",
				      "example.com/revision", revision));
}

/* Starts a world in which each machine serves team-a with a pod of a ReplicaSet. */
static void start(struct sim_world *w, uint64_t seed, unsigned machines, const char *drift)
{
	char name[16];

	world_start(w, seed, machines);
	set_drift(w, drift);
	world_replica(w);
	for (unsigned i = 0; i < machines; i++) {
		str_format(name, sizeof(name), "train-%u", i);
		world_pod(w, &w->tenants[0], name);
	}
	world_wait_all(w, "serving", 1200);
	for (unsigned i = 0; i < machines; i++) {
		str_format(name, sizeof(name), "train-%u", i);
		world_wait_running(w, &w->tenants[0], name, 900);
		world_delete_pod(w, &w->tenants[0], name);
		str_format(name, sizeof(name), "web-%u", i);
		put_web(&w->servers[i], name, NULL);
	}
	world_run(w, 70 * 1000);
}

static unsigned serving(const struct sim_world *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->nboxes; i++)
		n += str_eq(w->servers[i].state, "serving");
	return n;
}

static struct server *leaving(struct sim_world *w)
{
	for (unsigned i = 0; i < w->nboxes; i++)
		if (!str_eq(w->servers[i].state, "serving"))
			return &w->servers[i];
	return NULL;
}

static bool some_leave(void *arg)
{
	return leaving(arg);
}

/* Returns status and reason of the condition Drifted, for example "True NodePoolDrifted". */
static const char *drifted(struct sim_world *w, struct arena *a, const struct server *b)
{
	world_run(w, 15000);
	return leaving_condition(w, a, b->claim, "Drifted");
}

static const char *text_of(struct sim_world *w, struct arena *a, const struct server *b)
{
	OWN_JSON o = cluster_get(&w->host, arena_printf(a, "nodeclaims.drover.dev/%s", b->claim));
	json_t *x;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, x)
		if (str_eq(json_str_at(x, "type"), "Drifted"))
			return arena_strdup(a, json_str_at(x, "message"));
	return "";
}

static void one_leaves_and_the_others_wait_until_one_has_come_to_serve(void **state)
{
	struct sim_world w;
	OWN(arena) a = arena_new();
	struct server *first, *second;

	(void)state;
	start(&w, 831, 3, "WithinBudgets");
	assert_string_equal(drifted(&w, a, &w.servers[0]), "False NotDrifted");
	set_template(&w, "2");
	world_wait(&w, some_leave, &w, 200, "none leaves for drift");
	first = leaving(&w);
	assert_string_equal(world_at(first, "status.leave.reason"), "Drifted");
	leaving_wait_event(&w, &w.host, "Draining", "Drifted");
	world_wait_state(first, "free", 900);
	/* Only the first Node is replaced until a Node of the new template serves. */
	assert_int_equal(serving(&w), 2);
	world_pod(&w, &w.tenants[0], "again");
	world_wait_state(first, "joining", 900);
	assert_int_equal(serving(&w), 2);
	world_wait_running(&w, &w.tenants[0], "again", 900);
	assert_string_equal(drifted(&w, a, first), "False NotDrifted");
	world_wait(&w, some_leave, &w, 200, "the second does not leave");
	second = leaving(&w);
	assert_ptr_not_equal(second, first);
	assert_string_equal(world_at(second, "status.leave.reason"), "Drifted");
	world_stop(&w);
}

static void what_is_empty_goes_where_that_is_asked_for_and_nothing_else(void **state)
{
	struct sim_world w;
	OWN(arena) a = arena_new();

	(void)state;
	start(&w, 832, 2, "WhenEmpty");
	set_template(&w, "2");
	world_run(&w, 300 * 1000);
	assert_int_equal(serving(&w), 2);
	assert_string_equal(drifted(&w, a, &w.servers[0]), "True NodePoolDrifted");
	assert_non_null(strstr(text_of(&w, a, &w.servers[0]), "labels; waits until no pod"));
	world_delete_pod(&w, &w.tenants[0], "web-1");
	world_wait_state(&w.servers[1], "draining", 200);
	assert_string_equal(world_at(&w.servers[1], "status.leave.reason"), "Drifted");
	assert_string_equal(w.servers[0].state, "serving");
	world_stop(&w);
}

static void the_first_failure_by_the_new_template_stops_the_rest(void **state)
{
	struct sim_world w;
	OWN(arena) a = arena_new();
	struct server *first, *other;

	(void)state;
	start(&w, 833, 2, "WithinBudgets");
	set_template(&w, "2");
	world_wait(&w, some_leave, &w, 200, "none leaves for drift");
	first = leaving(&w);
	other = first == &w.servers[0] ? &w.servers[1] : &w.servers[0];
	world_wait_state(first, "free", 900);
	w.bad_images = 1;
	world_pod(&w, &w.tenants[0], "again");
	world_wait_reason(first, "ImageMismatch", 900);
	world_delete_pod(&w, &w.tenants[0], "again");
	world_wait_state(first, "free", 1800);
	/* The failed claim stops further replacements, although no claim is in progress now. The
	 * circuit breaker alone would allow a new claim after 10 min. */
	world_run(&w, 3600 * 1000);
	assert_string_equal(other->state, "serving");
	assert_non_null(
		strstr(text_of(&w, a, other), "stopped: a claim of the same template failed"));
	/* After a change of the template, one Node is replaced first again. */
	set_template(&w, "3");
	world_wait_state(other, "draining", 200);
	world_stop(&w);
}

static void a_pod_that_may_not_be_disrupted_keeps_its_node(void **state)
{
	struct sim_world w;
	OWN(arena) a = arena_new();

	(void)state;
	start(&w, 834, 2, "WithinBudgets");
	for (size_t i = 0; i < 2; i++)
		put_web(&w.servers[i], i ? "kept-1" : "kept-0",
			json_pack("{s:s}", "drover.dev/do-not-disrupt", i ? "40m" : "true"));
	set_template(&w, "2");
	world_run(&w, 300 * 1000);
	assert_int_equal(serving(&w), 2);
	assert_non_null(strstr(text_of(&w, a, &w.servers[0]), "pod default/kept-0 stays"));
	world_wait_state(&w.servers[1], "draining", 2400);
	assert_string_equal(w.servers[0].state, "serving");
	world_stop(&w);
}

static void what_is_not_drifted_any_more_or_cannot_be_evicted_serves_on(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 835, 1, "WithinBudgets");
	leaving_budget(&w, "web-0");
	set_template(&w, "2");
	world_wait_state(&w.servers[0], "draining", 200);
	world_wait_state(&w.servers[0], "serving", 330);
	leaving_wait_event(&w, &w.host, "DrainWithdrawn", "terminationGracePeriod");
	world_run(&w, 300 * 1000);
	assert_string_equal(w.servers[0].state, "serving");
	world_wait_state(&w.servers[0], "draining", 3600);
	/* The template is changed back. */
	leaving_set_pool(&w, json_pack("{s:{s:{s:{s:n}}}}", "template", "metadata", "labels",
				       "example.com/revision"));
	world_wait_state(&w.servers[0], "serving", 60);
	world_check_serving(&w, &w.tenants[0], "web-0");
	world_stop(&w);
}

/* Starts two machines; one serves a pod of team-a, the other is free. */
static struct server *start_with_a_free_one(struct sim_world *w, uint64_t seed)
{
	struct server *b;

	world_start(w, seed, 2);
	set_drift(w, "WithinBudgets");
	world_replica(w);
	world_wait_all(w, "free", 900);
	world_pod(w, &w->tenants[0], "train");
	world_wait_running(w, &w->tenants[0], "train", 900);
	b = world_box_of(w, &w->tenants[0], "train");
	world_delete_pod(w, &w->tenants[0], "train");
	put_web(b, "web", NULL);
	world_run(w, 70 * 1000);
	return b;
}

static struct server *other_than(struct sim_world *w, const struct server *b)
{
	return &w->servers[b == &w->servers[0]];
}

static void where_a_machine_is_free_it_is_ready_before_the_node_drains(void **state)
{
	struct sim_world w;
	struct server *old = start_with_a_free_one(&w, 836), *new_ = other_than(&w, old);
	OWN(arena) a = arena_new();

	(void)state;
	set_template(&w, "2");
	world_wait_state(new_, "imaging", 300);
	assert_string_equal(old->state, "serving");
	assert_non_null(strstr(text_of(&w, a, old), "waits until its replacement is Ready"));
	world_wait_state(new_, "serving", 900);
	assert_string_equal(old->state, "serving");
	world_wait_state(old, "draining", 100);
	assert_string_equal(world_at(old, "status.leave.reason"), "Drifted");
	leaving_wait_gone(&w, &w.tenants[0], "/pods/default/web", 60);
	put_web(new_, "web-again", NULL);
	world_wait_state(old, "free", 900);
	world_check_serving(&w, &w.tenants[0], "web-again");
	assert_string_equal(drifted(&w, a, new_), "False NotDrifted");
	/* No further claim is created for the Node that was replaced. */
	world_run(&w, 600 * 1000);
	assert_string_equal(old->state, "free");
	world_stop(&w);
}

static void one_that_fails_leaves_the_node_as_it_is(void **state)
{
	struct sim_world w;
	struct server *old = start_with_a_free_one(&w, 837), *new_ = other_than(&w, old);
	OWN(arena) a = arena_new();

	(void)state;
	w.bad_images = 1;
	set_template(&w, "2");
	world_wait_reason(new_, "ImageMismatch", 900);
	world_wait_state(new_, "free", 1800);
	world_run(&w, 3600 * 1000);
	assert_string_equal(new_->state, "free");
	assert_string_equal(old->state, "serving");
	assert_non_null(strstr(text_of(&w, a, old), "stopped: "));
	world_stop(&w);
}

static void what_its_tenant_may_not_have_beside_it_comes_after_it(void **state)
{
	struct sim_world w;
	struct server *old = start_with_a_free_one(&w, 838), *other = other_than(&w, old);

	(void)state;
	world_do(&w, &w.host, "PATCH", "/apis/drover.dev/v1alpha1/virtualclusters/team-a",
		 json_pack("{s:{s:{s:s}}}", "spec", "quota", "nvidia.com/gpu", "8"));
	set_template(&w, "2");
	world_wait_state(old, "draining", 300);
	assert_string_equal(other->state, "free");
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_leaves_and_the_others_wait_until_one_has_come_to_serve),
		cmocka_unit_test(what_is_empty_goes_where_that_is_asked_for_and_nothing_else),
		cmocka_unit_test(the_first_failure_by_the_new_template_stops_the_rest),
		cmocka_unit_test(a_pod_that_may_not_be_disrupted_keeps_its_node),
		cmocka_unit_test(where_a_machine_is_free_it_is_ready_before_the_node_drains),
		cmocka_unit_test(one_that_fails_leaves_the_node_as_it_is),
		cmocka_unit_test(what_its_tenant_may_not_have_beside_it_comes_after_it),
		cmocka_unit_test(what_is_not_drifted_any_more_or_cannot_be_evicted_serves_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
