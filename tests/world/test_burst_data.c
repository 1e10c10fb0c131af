/* Launches that move data: budgets, claims and ledgers contain what that costs, and instances live
 * for the time that it takes. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "tests/world/burst_scene.h"

#define POLICY "/apis/drover.dev/v1alpha1/burstpolicies/research"
#define EGRESS (10 * MONEY_UNIT)

/* Adds data set "imagenet", of which a copy lies in that region of Provider sky. To other regions,
 * moving its 100 GB costs 10 USD and takes 500 s. */
static void knows_data(struct sim_world *w, const char *region)
{
	world_do(w, &w->host, "PATCH", POLICY,
		 json_pack("{s:{s:{s:[{s:s, s:s, s:[{s:s, s:s}]}], s:s, s:s}}}", "spec", "data",
			   "inputs", "name", "imagenet", "size", "100G", "copies", "provider",
			   "sky", "region", region, "egressPerGB", "0.1", "bytesPerSecond",
			   "200M"));
}

/* Starts the scene. budget: for a day, in USD. */
static struct burst_scene *start(uint64_t seed, const char *budget, const char *region)
{
	struct burst_scene *s = burst_start_in(seed, "[a]", budget);

	knows_data(&s->w, region);
	return s;
}

static void pod(struct burst_scene *s, const char *name, const char *data)
{
	world_pod_with(&s->w, &s->w.tenants[0], name, NULL,
		       json_pack("{s:s}", "drover.dev/data", data));
}

static bool first(const json_t *o, void *arg)
{
	*(json_t **)arg = json_deep_copy(o);
	return false;
}

/* Returns a member of spec.burst of the only claim, which the caller frees; NULL: not set. */
static char *of_claim(struct burst_scene *s, const char *member)
{
	OWN_JSON o = NULL;
	const char *text;

	cluster_each(&s->w.host, "nodeclaims.drover.dev/", first, &o);
	text = json_str_at(o, "spec", "burst", member);
	return text ? mem_strdup(text) : NULL;
}

static void assert_claim(struct burst_scene *s, const char *member, const char *want)
{
	char *text = of_claim(s, member);

	assert_string_equal(str_or(text, "none"), want);
	free(text);
}

static int64_t spent(struct burst_scene *s)
{
	OWN_JSON o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	int64_t micro;
	struct err e;

	assert_ok(money_parse(str_or(json_str_at(json_array_get(json_at(o, "status", "spend"), 0),
						 "spent"),
				     "0"),
			      &micro, &e),
		  &e);
	return micro;
}

static void assert_row_moved(struct burst_scene *s, const char *want)
{
	OWN_JSON o = cluster_get(&s->w.host, "burstledgers.drover.dev/research");
	const json_t *row = json_array_get(json_at(o, "status", "rows"), 0);

	assert_string_equal(str_or(json_str_at(row, "egress"), "none"), want);
}

/* A launch costs 20 USD an hour for 10 minutes of boot, 500 s and an hour, and 10 USD. The budget
 * of 60 USD suffices for one at a time. After it, its time and the whole 10 USD are spent. */
static void moving_data_is_charged_and_settled(void **state)
{
	struct burst_scene *s = start(7400, "60", "elsewhere");

	(void)state;
	s->sky.bursts.egress = EGRESS;
	pod(s, "one", "imagenet");
	burst_running(s, "one");
	assert_claim(s, "committed", "36.111112");
	assert_claim(s, "egress", "10.00");
	assert_int_equal(spent(s), 36111112);
	pod(s, "two", "imagenet");
	world_run(&s->w, 300 * 1000);
	assert_int_equal(s->sky.cloud.launched, 1);
	burst_gone(s, "two");
	burst_gone(s, "one");
	burst_nothing_left(s);
	assert_in_range(burst_settled(&s->w), EGRESS + 2 * MONEY_UNIT, EGRESS + 10 * MONEY_UNIT);
	assert_row_moved(s, "10.00");
	pod(s, "three", "imagenet");
	burst_running(s, "three");
	burst_stop(s);
}

/* The cloud has no capacity when it is asked. */
static void a_refused_launch_moved_nothing(void **state)
{
	struct burst_scene *s = start(7401, "60", "elsewhere");

	(void)state;
	s->sky.bursts.egress = EGRESS;
	s->sky.cloud.error = "capacity";
	pod(s, "one", "imagenet");
	world_run(&s->w, 400 * 1000);
	assert_true(s->sky.cloud.asked > 0 && !s->sky.cloud.launched);
	burst_gone(s, "one");
	burst_nothing_left(s);
	assert_int_equal(burst_settled(&s->w), 0);
	burst_stop(s);
}

/* The pod never ends. The instance lives for the time that was paid: 10 minutes of boot, 500 s and
 * 15 minutes, which cost 11.12 USD; with 10 USD for the data, S6 checks the bill. */
static void an_instance_lives_while_its_data_is_moved(void **state)
{
	struct burst_scene *s = start(7402, "21.2", "elsewhere");
	const struct fake_instance *i;

	(void)state;
	s->sky.bursts.egress = EGRESS;
	world_do(&s->w, &s->w.host, "PATCH", POLICY,
		 json_pack("{s:{s:{s:s}}}", "spec", "runtime", "maxRuntime", "15m"));
	pod(s, "one", "imagenet");
	burst_running(s, "one");
	burst_nothing_left(s);
	i = burst_newest(s);
	assert_in_range(i->ended_at - i->launched_at, 1500 * 1000, 2000 * 1000);
	burst_stop(s);
}

static void data_that_lies_there_is_not_moved(void **state)
{
	struct burst_scene *s = start(7403, "60", "r1");
	OWN_JSON o = NULL;

	(void)state;
	pod(s, "other", "imagenet,logs");
	world_run(&s->w, 300 * 1000);
	o = cluster_get(&s->w.host, "burstpolicies.drover.dev/research");
	assert_string_equal(
		json_str_at(json_array_get(json_at(o, "status", "decisions"), 0), "reason"),
		"DataUnknown");
	assert_int_equal(s->sky.cloud.launched, 0);
	burst_gone(s, "other");
	pod(s, "one", "imagenet");
	burst_running(s, "one");
	assert_claim(s, "committed", "23.333334");
	assert_claim(s, "egress", "none");
	burst_stop(s);
}

struct moved {
	size_t claims, with_data;
};

static bool count_claim(const json_t *o, void *arg)
{
	struct moved *m = arg;

	m->claims++;
	m->with_data += str_eq(json_str_at(o, "spec", "burst", "egress"), "10.00");
	return true;
}

/* Only one pod of the gang names data; which instance it runs on is not known. */
static void each_instance_of_a_gang_moves_the_data(void **state)
{
	struct burst_scene *s = start(7405, "80", "elsewhere");
	struct moved m = {0, 0};

	(void)state;
	s->sky.bursts.egress = EGRESS;
	for (int i = 0; i < 2; i++)
		world_pod_with(&s->w, &s->w.tenants[0], i ? "pair-1" : "pair-0", NULL,
			       json_pack("{s:s, s:s, s:s*}", "drover.dev/gang", "pair",
					 "drover.dev/gang-size", "2", "drover.dev/data",
					 i ? "imagenet" : NULL));
	burst_running(s, "pair-0");
	burst_running(s, "pair-1");
	cluster_each(&s->w.host, "nodeclaims.drover.dev/", count_claim, &m);
	assert_int_equal(m.claims, 2);
	assert_int_equal(m.with_data, 2);
	burst_stop(s);
}

static bool no_instance(void *arg)
{
	struct burst_scene *s = arg;

	return !fake_cloud_alive(&s->sky.cloud) &&
	       !store_count(s->w.host.store, "nodeclaims.drover.dev/");
}

/* An instance that no policy decided on ran for more than 25 minutes, and costs more than 8 USD by
 * the tenant's bill. That counts beside a launch that moves data for 10 USD, which no bill
 * contains. */
static void what_moving_costs_hides_nothing_of_a_bill(void **state)
{
	struct burst_scene *s = mem_new(struct burst_scene);
	json_t *types;

	(void)state;
	world_start(&s->w, 7404, 0);
	sky_start(&s->sky, &s->w, "1");
	OWN_JSON sky = cluster_get(&s->w.host, "providers.drover.dev/sky");

	types = json_deep_copy(json_at(sky, "spec", "instanceTypes"));
	json_object_set_new(json_array_get(types, 0), "pricePerHour", json_string("20.00"));
	json_object_set_new(json_array_get(types, 0), "currency", json_string("USD"));
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/providers/sky",
		 json_pack("{s:{s:o}}", "spec", "instanceTypes", types));
	world_replica(&s->w);
	burst_pod(s, "early");
	burst_running(s, "early");
	world_run(&s->w, 1500 * 1000);
	burst_gone(s, "early");
	world_wait(&s->w, no_instance, s, 3600, "the instance has ended");
	burst_policy(&s->w, "[a]", "100");
	world_do(&s->w, &s->w.host, "PATCH", POLICY,
		 json_pack("{s:{s:[{s:s, s:s, s:s}]}}", "spec", "budget", "scope", "Global",
			   "amount", "100", "per", "Month"));
	knows_data(&s->w, "elsewhere");
	pod(s, "one", "imagenet");
	burst_running(s, "one");
	world_run(&s->w, 60 * 1000);
	assert_true(spent(s) > 36111112 + 8 * MONEY_UNIT);
	burst_stop(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moving_data_is_charged_and_settled),
		cmocka_unit_test(a_refused_launch_moved_nothing),
		cmocka_unit_test(an_instance_lives_while_its_data_is_moved),
		cmocka_unit_test(data_that_lies_there_is_not_moved),
		cmocka_unit_test(each_instance_of_a_gang_moves_the_data),
		cmocka_unit_test(what_moving_costs_hides_nothing_of_a_bill),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
