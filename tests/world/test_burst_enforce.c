/* BurstPolicies of mode Enforce: what is decided is launched, once, and never beyond the budget. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "tests/world/sky.h"
#include "tests/world/world.h"

struct scene {
	struct sim_world w;
	struct sky sky;
};

/* 20 USD an hour, ten minutes of boot and an hour of work: 23.333334 for each instance. */
static void policy(struct scene *s, const char *zones, const char *amount)
{
	OWN(arena) a = arena_new();

	world_apply(
		&s->w,
		arena_printf(
			a,
			"apiVersion: drover.dev/v1alpha1\nkind: BurstPolicy\nmetadata: {name: research}\n"
			"spec:\n  mode: Enforce\n  match: {tenants: [team-a]}\n"
			"  trigger: {maxQueueWait: {default: 1m}}\n  tiers: [{market: OnDemand}]\n"
			"  offers: [{name: sky, provider: sky, regions: [r1], zones: %s, instanceTypes: [gpu-8]}]\n"
			"  cost: {currency: USD}\n  runtime: {maxRuntime: 1h}\n"
			"  budget: [{scope: Policy, amount: '%s', per: Day}]\n",
			zones, amount));
}

static struct scene *start_in(uint64_t seed, const char *zones, const char *amount)
{
	struct scene *s = mem_new(struct scene);
	struct err e;

	world_start(&s->w, seed, 0);
	sky_start(&s->sky, &s->w, NULL);
	policy(s, zones, amount);
	assert_ok(money_parse(amount, &s->sky.bursts.budget, &e), &e);
	world_replica(&s->w);
	return s;
}

static struct scene *start(uint64_t seed, const char *amount)
{
	return start_in(seed, "[a, b]", amount);
}

static void stop(struct scene *s)
{
	sky_stop(&s->sky);
	world_stop(&s->w);
	free(s);
}

static bool nothing_alive(void *arg)
{
	struct scene *s = arg;

	return !fake_cloud_alive(&s->sky.cloud) &&
	       !store_count(s->w.host.store, "machines.drover.dev/") &&
	       !store_count(s->w.host.store, "nodeclaims.drover.dev/");
}

static bool is_claimed(void *arg)
{
	return store_count(((struct scene *)arg)->w.host.store, "nodeclaims.drover.dev/") > 0;
}

static bool was_launched(void *arg)
{
	return ((struct scene *)arg)->sky.cloud.launched > 0;
}

static const struct fake_instance *newest(const struct scene *s)
{
	return list_entry(s->sky.cloud.instances.prev, struct fake_instance, link);
}

static void pod(struct scene *s, const char *name)
{
	world_pod(&s->w, &s->w.tenants[0], name);
}

static void running(struct scene *s, const char *name)
{
	world_wait_running(&s->w, &s->w.tenants[0], name, 1800);
}

static void gone(struct scene *s, const char *name)
{
	world_delete_pod(&s->w, &s->w.tenants[0], name);
}

static void nothing_left(struct scene *s)
{
	world_wait(&s->w, nothing_alive, s, 7200, "instance, Machine and claim are gone");
}

static void another_leads(struct scene *s)
{
	world_kill(&s->w.replicas[s->w.nreplicas - 1]);
	world_replica(&s->w);
}

/* The pool has no limit of nodes: the decision alone is why there is an instance.  What is launched is what was decided on,
 * though another zone is cheaper. */
static void what_is_decided_is_launched_and_comes_home(void **state)
{
	struct scene *s = start_in(7301, "[b]", "30");

	(void)state;
	pod(s, "train");
	running(s, "train");
	assert_int_equal(s->sky.cloud.launched, 1);
	assert_string_equal(newest(s)->zone, "b");
	assert_string_equal(json_str_at(newest(s)->tags, "drover.dev/policy"), "research");
	gone(s, "train");
	nothing_left(s);
	assert_int_equal(s->sky.cloud.launched, 1);
	stop(s);
}

/* For one of them it is enough, however long the other waits and whoever leads. */
static void a_spent_budget_refuses(void **state)
{
	struct scene *s = start(7302, "46");

	(void)state;
	pod(s, "one");
	world_run(&s->w, 10 * 1000);
	pod(s, "two");
	running(s, "one");
	world_run(&s->w, 600 * 1000);
	another_leads(s);
	world_run(&s->w, 300 * 1000);
	assert_int_equal(s->sky.cloud.launched, 1);
	assert_int_equal(store_count(s->w.host.store, "nodeclaims.drover.dev/"), 1);
	stop(s);
}

static int64_t settled(struct scene *s)
{
	OWN_JSON o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	const json_t *row;
	int64_t sum = 0, one;
	struct err e;
	size_t i;

	json_array_foreach (json_at(o, "status", "settled"), i, row) {
		assert_ok(money_parse(json_str_at(row, "amount"), &one, &e), &e);
		sum += one;
	}
	return sum;
}

/* What the first has cost is known when it has gone: 20 USD an hour, by what the cloud had it for and a little more.  With
 * that and the next in the budget there is none for a third. */
static void what_has_ended_counts_by_what_it_cost(void **state)
{
	struct scene *s = start(7309, "56");
	int64_t ran;

	(void)state;
	pod(s, "one");
	running(s, "one");
	world_run(&s->w, 1800 * 1000);
	gone(s, "one");
	nothing_left(s);
	ran = newest(s)->ended_at - newest(s)->launched_at;
	assert_in_range(settled(s), 20 * ran / 3600 * 1000, 20 * (ran + 300 * 1000) / 3600 * 1000);
	pod(s, "two");
	running(s, "two");
	pod(s, "three");
	another_leads(s);
	world_run(&s->w, 600 * 1000);
	assert_int_equal(s->sky.cloud.launched, 2);
	stop(s);
}

static void a_leader_that_dies_launches_nothing_twice(void **state)
{
	static bool (*const when[])(void *) = {is_claimed, was_launched};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct scene *s = start(7303 + i, "1000");

		s->sky.cloud.visible_ms = 20000;
		pod(s, "train");
		world_wait(&s->w, when[i], s, 1200, "the claim, or its launch");
		another_leads(s);
		running(s, "train");
		world_run(&s->w, 300 * 1000);
		assert_int_equal(s->sky.cloud.launched, 1);
		stop(s);
	}
}

static void a_lost_reply_launches_nothing_twice(void **state)
{
	struct scene *s = start(7305, "1000");

	(void)state;
	s->sky.cloud.lose_launches = 1;
	s->sky.cloud.visible_ms = 8000;
	pod(s, "train");
	running(s, "train");
	gone(s, "train");
	nothing_left(s);
	assert_int_equal(s->sky.cloud.launched, 1);
	stop(s);
}

/* The cloud takes so long to answer that the pod goes before the launch, which is before its claim is withdrawn. */
static void nothing_is_launched_for_a_pod_that_has_gone(void **state)
{
	struct scene *s = start(7306, "1000");

	(void)state;
	pod(s, "train");
	world_wait(&s->w, is_claimed, s, 1200, "the claim");
	s->sky.cloud.ms = 14000;
	world_run(&s->w, 1000);
	gone(s, "train");
	nothing_left(s);
	world_run(&s->w, 600 * 1000);
	assert_int_equal(s->sky.cloud.launched, 0);
	stop(s);
}

/* Zone a refuses: that offer is left alone, its claim goes, and the next decision takes zone b. */
static void what_is_refused_is_decided_anew(void **state)
{
	struct scene *s = start(7307, "30");

	(void)state;
	s->sky.cloud.zones[0].capacity = 0;
	pod(s, "train");
	running(s, "train");
	assert_string_equal(newest(s)->zone, "b");
	assert_int_equal(s->sky.cloud.asked, 2);
	assert_int_equal(s->sky.cloud.launched, 1);
	stop(s);
}

/* Who waits longer, and has no policy, has nothing of it: its pool allows no instance by itself. */
static void only_the_work_that_was_decided_on_has_the_instance(void **state)
{
	struct scene *s = start(7310, "1000");
	OWN_JSON o = NULL;

	(void)state;
	world_pod(&s->w, &s->w.tenants[1], "other");
	world_run(&s->w, 5000);
	pod(s, "train");
	running(s, "train");
	world_run(&s->w, 300 * 1000);
	o = cluster_get(&s->w.tenants[1], "pods/default/other");
	assert_null(json_at(o, "spec", "nodeName"));
	assert_int_equal(s->sky.cloud.launched, 1);
	stop(s);
}

static void gang(struct scene *s, unsigned size)
{
	char name[20], text[12];

	str_format(text, sizeof(text), "%u", size);
	for (unsigned i = 0; i < size; i++) {
		str_format(name, sizeof(name), "ring-%u", i);
		world_do(
			&s->w, &s->w.tenants[0], "POST", "/api/v1/namespaces/default/pods",
			json_pack(
				"{s:s,s:s,s:{s:s,s:s,s:{s:s,s:s}},s:{s:[{s:s,s:s}],s:[{s:s,s:s,s:{s:{s:s}}}]}}",
				"apiVersion", "v1", "kind", "Pod", "metadata", "name", name,
				"namespace", "default", "annotations", "drover.dev/gang", "ring",
				"drover.dev/gang-size", text, "spec", "tolerations", "key",
				"nvidia.com/gpu", "operator", "Exists", "containers", "name",
				"main", "image", "train:1", "resources", "limits", "nvidia.com/gpu",
				"8"));
	}
}

/* Zone a has two of three: none of it is kept, and all three come from zone b. */
static void a_gang_comes_whole_from_one_zone(void **state)
{
	struct scene *s = start(7311, "150");

	(void)state;
	s->sky.cloud.zones[0].capacity = 2;
	gang(s, 3);
	running(s, "ring-0");
	running(s, "ring-1");
	running(s, "ring-2");
	assert_int_equal(fake_cloud_alive(&s->sky.cloud), 3);
	assert_int_equal(s->sky.cloud.launched, 5);
	list_for_each (i, &s->sky.cloud.instances, struct fake_instance, link)
		assert_true(i->gone || str_eq(i->zone, "b"));
	stop(s);
}

/* One of them dies before it runs: the other, on whose Node a pod runs by then, is given back, too. */
static void a_part_of_a_gang_is_given_back(void **state)
{
	struct scene *s = start(7312, "150");

	(void)state;
	s->sky.cloud.dying = 1;
	gang(s, 2);
	running(s, "ring-0");
	nothing_left(s);
	assert_int_equal(s->sky.cloud.launched, 2);
	stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_decided_is_launched_and_comes_home),
		cmocka_unit_test(a_spent_budget_refuses),
		cmocka_unit_test(what_has_ended_counts_by_what_it_cost),
		cmocka_unit_test(a_leader_that_dies_launches_nothing_twice),
		cmocka_unit_test(a_lost_reply_launches_nothing_twice),
		cmocka_unit_test(nothing_is_launched_for_a_pod_that_has_gone),
		cmocka_unit_test(what_is_refused_is_decided_anew),
		cmocka_unit_test(a_gang_comes_whole_from_one_zone),
		cmocka_unit_test(a_part_of_a_gang_is_given_back),
		cmocka_unit_test(only_the_work_that_was_decided_on_has_the_instance),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
