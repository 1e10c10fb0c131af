/* Tests what drover reports about an invalid object, and what continues meanwhile, in a whole
 * simulated world. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/arena.h"
#include "base/str.h"
#include "controller/core/validation.h"
#include "tests/world/world.h"

#define POOL "nodepools.drover.dev/gpus"
#define PATH(plural, name) "/apis/drover.dev/v1alpha1/" plural "/" name

static json_t *condition_of(const struct sim_world *w, const char *key, const char *type)
{
	OWN_JSON o = cluster_get(&w->host, key);
	json_t *x, *found = NULL;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, x)
		if (str_eq(json_str_at(x, "type"), type))
			found = json_incref(x);
	return found;
}

static char *version_of(const struct sim_world *w, const char *key)
{
	OWN_JSON o = cluster_get(&w->host, key);

	return strdup(json_str_at(o, "metadata", "resourceVersion"));
}

static void edit(struct sim_world *w, const char *path, json_t *patch)
{
	world_do(w, &w->host, "PATCH", path, patch);
	world_run(w, 3000);
}

struct tally {
	const char *name;
	unsigned n;
};

static bool count_event(const json_t *o, void *arg)
{
	struct tally *t = arg;

	t->n += str_eq(json_str_at(o, "reason"), "ValidationFailed") &&
		str_eq(json_str_at(o, "involvedObject", "name"), t->name);
	return true;
}

static unsigned events_about(const struct sim_world *w, const char *name)
{
	struct tally t = {.name = name};

	cluster_each(&w->host, "events/", count_event, &t);
	return t.n;
}

static unsigned times_refused(const struct sim_world *w)
{
	unsigned n = 0;

	for (const char *p = w->log; (p = strstr(p, "object refused")); p++)
		n++;
	return n;
}

static void start(struct sim_world *w, unsigned servers)
{
	world_start(w, 7, servers);
	world_replica(w);
	world_run(w, 60000);
}

static void a_bad_spec_is_told_by_a_condition_that_names_field_and_value(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 0);
	edit(&w, PATH("nodepools", "gpus"), json_pack("{s:{s:i}}", "spec", "weight", -5));
	OWN_JSON c = condition_of(&w, POOL, "Valid");
	OWN_JSON o = cluster_get(&w.host, POOL);
	assert_non_null(c);
	assert_string_equal(json_str_at(c, "status"), "False");
	assert_string_equal(json_str_at(c, "reason"), "ValidationFailed");
	assert_non_null(strstr(json_str_at(c, "message"), "spec.weight: "));
	assert_non_null(strstr(json_str_at(c, "message"), "-5"));
	assert_int_equal(json_int_at(c, "observedGeneration"),
			 json_int_at(o, "metadata", "generation"));
	assert_non_null(json_str_at(c, "lastTransitionTime"));
	world_stop(&w);
}

static void a_value_that_nothing_acts_on_is_told_too(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 0);
	world_apply(&w,
		    "apiVersion: drover.dev/v1alpha1\nkind: BurstPolicy\nmetadata: {name: cloud}\n"
		    "spec:\n  trigger: {onPremImpossible: true}\n  tiers: [{market: Spot}]\n"
		    "  offers: [{name: a, provider: p, regions: [r], instanceTypes: [t], "
		    "gang: {mode: AtLeast}}]\n");
	world_run(&w, 5000);
	OWN_JSON c = condition_of(&w, "burstpolicies.drover.dev/cloud", "Valid");
	assert_string_equal(json_str_at(c, "status"), "False");
	assert_string_equal(json_str_at(c, "message"),
			    "spec.offers[0].gang.mode: not supported by this version: want "
			    "AllOrNothing, got \"AtLeast\"");
	assert_int_equal(events_about(&w, "cloud"), 1);
	world_stop(&w);
}

static void a_schedule_that_never_comes_is_told(void **state)
{
	static const char *const cases[][2] = {
		{"0 0 * * sat-sun",
		 "spec.disruption.budgets[0].schedule: weekday \"sat-sun\" ends before it begins: "
		 "write sat,sun, got \"0 0 * * sat-sun\""},
		{"0 0 30 2 *",
		 "spec.disruption.budgets[0].schedule: never comes: none of its months "
		 "has such a day, got \"0 0 30 2 *\""},
	};
	struct sim_world w;

	(void)state;
	start(&w, 0);
	for (size_t i = 0; i < 2; i++) {
		edit(&w, PATH("nodepools", "gpus"),
		     json_pack("{s:{s:{s:[{s:i,s:s,s:s}]}}}", "spec", "disruption", "budgets",
			       "nodes", 0, "schedule", cases[i][0], "duration", "1h"));
		OWN_JSON c = condition_of(&w, POOL, "Valid");
		assert_non_null(c);
		assert_string_equal(json_str_at(c, "message"), cases[i][1]);
	}
	edit(&w, PATH("nodepools", "gpus"),
	     json_pack("{s:{s:{s:[{s:i,s:s,s:s}]}}}", "spec", "disruption", "budgets", "nodes", 0,
		       "schedule", "@midnight", "duration", "1h"));
	OWN_JSON c = condition_of(&w, POOL, "Valid");
	assert_true(!c || str_eq(json_str_at(c, "status"), "True"));
	world_stop(&w);
}

static void nothing_is_written_again_and_one_event_tells_of_each_generation(void **state)
{
	struct sim_world w;
	char *before, *after;

	(void)state;
	start(&w, 0);
	edit(&w, PATH("nodepools", "gpus"), json_pack("{s:{s:i}}", "spec", "weight", -5));
	before = version_of(&w, POOL);
	world_run(&w, 15 * 60000);
	after = version_of(&w, POOL);
	assert_string_equal(before, after);
	assert_int_equal(events_about(&w, "gpus"), 1);
	assert_int_equal(times_refused(&w), 1);
	edit(&w, PATH("nodepools", "gpus"), json_pack("{s:{s:i}}", "spec", "weight", -6));
	world_run(&w, 60000);
	assert_int_equal(events_about(&w, "gpus"), 2);
	free(before);
	free(after);
	world_stop(&w);
}

static void a_repaired_object_is_valid_again_and_one_always_good_is_left_alone(void **state)
{
	struct sim_world w;

	(void)state;
	start(&w, 0);
	assert_null(condition_of(&w, POOL, "Valid"));
	edit(&w, PATH("nodepools", "gpus"), json_pack("{s:{s:i}}", "spec", "weight", -5));
	edit(&w, PATH("nodepools", "gpus"), json_pack("{s:{s:i}}", "spec", "weight", 5));
	OWN_JSON c = condition_of(&w, POOL, "Valid");
	OWN_JSON o = cluster_get(&w.host, POOL);
	assert_string_equal(json_str_at(c, "status"), "True");
	assert_int_equal(json_int_at(c, "observedGeneration"),
			 json_int_at(o, "metadata", "generation"));
	assert_null(condition_of(&w, "providers.drover.dev/rack", "Valid"));
	world_stop(&w);
}

static void a_bad_object_that_was_there_before_the_leader_is_told_too(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 8, 0);
	world_do(&w, &w.host, "PATCH", PATH("nodepools", "gpus"),
		 json_pack("{s:{s:i}}", "spec", "weight", -5));
	world_replica(&w);
	world_run(&w, 60000);
	OWN_JSON c = condition_of(&w, POOL, "Valid");
	assert_string_equal(json_str_at(c, "status"), "False");
	world_stop(&w);
}

/* drover continues with the last valid spec and still writes the journal (fields in Machine
 * status). */
static void a_machine_goes_on_although_its_spec_was_spoilt(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 9, 1);
	world_replica(&w);
	world_wait_state(&w.servers[0], "wiping", 900);
	world_do(&w, &w.host, "PATCH", PATH("machines", "gpu-1"),
		 json_pack("{s:{s:s}}", "spec", "managementPolicy", "Sometimes"));
	world_wait_state(&w.servers[0], "free", 900);
	OWN_JSON c = condition_of(&w, "machines.drover.dev/gpu-1", "Valid");
	assert_string_equal(json_str_at(c, "status"), "False");
	assert_non_null(strstr(json_str_at(c, "message"), "Sometimes"));
	world_stop(&w);
}

/* --- without a simulated world ---------------------------------------------------------------- */

static json_t *pool(const char *uid, int weight, int nodes, const char *image)
{
	return json_pack("{s:{s:s, s:s, s:i}, s:{s:{}, s:i, "
			 "s:{s:{s:[{s:s}], s:[{s:s, s:s, s:s, s:s}]}}}, s:{s:i}}",
			 "metadata", "name", "p", "uid", uid, "generation", weight, "spec",
			 "virtualClusterSelector", "weight", weight, "template", "spec",
			 "providerRefs", "name", "rack", "images", "kubernetesVersion", "1.36",
			 "url", "https://x/y", "format", "raw", "digest", image, "status", "nodes",
			 nodes);
}

static void the_kept_object_has_the_old_spec_and_generation_and_the_new_status(void **state)
{
	static const char digest[] =
		"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	const struct object_kind *k = &object_kinds[OBJECT_NODE_POOL];
	OWN(arena) a = arena_new();
	OWN_JSON was = pool("u1", 7, 1, digest);
	OWN_JSON bad = pool("u1", 8, 2, "no digest");
	OWN_JSON another = pool("u2", 8, 2, "no digest");
	OWN_JSON spoilt = pool("u1", 8, -2, digest);
	struct node_pool *kept;
	struct err e;
	void *good;

	(void)state;
	assert_ok(object_decode(k, was, a, &good, &e), &e);
	kept = validation_keep(OBJECT_NODE_POOL, good, bad, a);
	assert_non_null(kept);
	assert_true(kept->spec.weight == 7 && kept->meta.generation == 7 &&
		    kept->status.nodes == 2);
	assert_string_equal(kept->spec.template_.spec.images.v[0].digest, digest);
	/* Nothing is kept for a different object with the same name, or for an object whose status
	 * is invalid. */
	assert_null(validation_keep(OBJECT_NODE_POOL, good, another, a));
	assert_null(validation_keep(OBJECT_NODE_POOL, good, spoilt, a));
	/* validation_keep() does not change the object of the API server. */
	assert_int_equal(json_int_at(bad, "metadata", "generation"), 8);
	assert_int_equal(json_int_at(bad, "spec", "weight"), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bad_spec_is_told_by_a_condition_that_names_field_and_value),
		cmocka_unit_test(a_value_that_nothing_acts_on_is_told_too),
		cmocka_unit_test(a_schedule_that_never_comes_is_told),
		cmocka_unit_test(nothing_is_written_again_and_one_event_tells_of_each_generation),
		cmocka_unit_test(
			a_repaired_object_is_valid_again_and_one_always_good_is_left_alone),
		cmocka_unit_test(a_bad_object_that_was_there_before_the_leader_is_told_too),
		cmocka_unit_test(a_machine_goes_on_although_its_spec_was_spoilt),
		cmocka_unit_test(
			the_kept_object_has_the_old_spec_and_generation_and_the_new_status),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
