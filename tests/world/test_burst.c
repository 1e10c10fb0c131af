/* BurstPolicies in mode Shadow: decisions are reported and costs are counted, but nothing is
 * launched. */
#include "tests/unit/testing.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/money.h"
#include "base/str.h"
#include "tests/unit/pages.h"
#include "tests/world/sky.h"
#include "tests/world/world.h"

struct scene {
	struct sim_world w;
	struct sky sky;
};

/* Creates a policy: 20 USD an hour, ten minutes of boot and one hour of minimum work, thus
 * 23.333334 USD for each instance. */
static void policy(struct scene *s, const char *name, const char *tenant, const char *budget)
{
	OWN(arena) a = arena_new();

	world_apply(
		&s->w,
		arena_printf(
			a,
			"apiVersion: drover.dev/v1alpha1\nkind: BurstPolicy\nmetadata: {name: %s}\n"
			"spec:\n  match: {tenants: [%s]}\n"
			"  trigger: {maxQueueWait: {default: 5m}}\n"
			"  tiers: [{market: OnDemand}]\n"
			"  offers: [{name: sky, provider: sky, regions: [r1], "
			"instanceTypes: [gpu-8]}]\n"
			"  cost: {currency: USD}\n  runtime: {maxRuntime: 1h}\n  budget: [%s]\n",
			name, tenant, budget));
}

static void start(struct scene *s, uint64_t seed)
{
	world_start(&s->w, seed, 0);
	sky_start(&s->sky, &s->w, "3");
}

static void stop(struct scene *s)
{
	sky_stop(&s->sky);
	world_stop(&s->w);
	free(s);
}

static json_t *status(struct scene *s, const char *name, char *rv, size_t size)
{
	char path[200];
	OWN_JSON o = NULL;

	str_format(path, sizeof(path), "burstpolicies.drover.dev/%s", name);
	o = cluster_get(&s->w.host, path);
	if (rv)
		str_copy(rv, size, json_str_at(o, "metadata", "resourceVersion"));
	return json_incref(json_object_get(o, "status"));
}

/* Returns a member of the decision row of this work; NULL: no such row. */
static const char *of_row(const json_t *st, const char *work, const char *member)
{
	const json_t *r;
	size_t i;

	json_array_foreach (json_object_get(st, "decisions"), i, r)
		if (str_eq(json_str_at(r, "work"), work))
			return json_str_at(r, member);
	return NULL;
}

static const char *active(const json_t *st, const char *member)
{
	const json_t *c;
	size_t i;

	json_array_foreach (json_object_get(st, "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "Active"))
			return json_str_at(c, member);
	return "";
}

static void nothing_was_launched(struct scene *s)
{
	assert_int_equal(s->sky.cloud.asked, 0);
	assert_int_equal(store_count(s->w.host.store, "nodeclaims.drover.dev/"), 0);
}

struct events {
	const char *reason;
	size_t n;
};

static bool count_event(const json_t *o, void *arg)
{
	struct events *x = arg;

	x->n += str_eq(json_str_at(o, "reason"), x->reason);
	return true;
}

static size_t events(struct scene *s, const char *reason)
{
	struct events x = {.reason = reason};

	cluster_each(&s->w.tenants[0], "events/", count_event, &x);
	return x.n;
}

/* limits.nodes would allow an instance, but the tenant has a policy in mode Shadow: it only reports
 * what it would launch once the pod has waited long enough. */
static void a_shadow_says_what_it_would_launch_and_launches_nothing(void **state)
{
	struct scene *s = mem_new(struct scene);
	char rv[40], later[40];
	json_t *st, *offers;

	(void)state;
	start(s, 7201);
	policy(s, "research", "team-a", "{scope: Policy, amount: '30', per: Day}");
	world_replica(&s->w);
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_run(&s->w, 240 * 1000);
	st = status(s, "research", NULL, 0);
	assert_string_equal(of_row(st, "default/train", "reason"), "NotTriggered");
	assert_string_equal(active(st, "message"), "It would launch nothing now.");
	json_decref(st);
	world_run(&s->w, 120 * 1000);
	st = status(s, "research", rv, sizeof(rv));
	assert_string_equal(of_row(st, "default/train", "reason"), "Chosen");
	assert_string_equal(of_row(st, "default/train", "zone"), "a");
	assert_string_equal(of_row(st, "default/train", "cost"), "23.333334");
	offers = json_at(json_array_get(json_object_get(st, "decisions"), 0), "offers");
	assert_string_equal(json_str_at(json_array_get(offers, 0), "reason"), "Chosen");
	assert_string_equal(json_str_at(json_array_get(offers, 0), "cost"), "23.333334");
	assert_string_equal(json_str_at(json_array_get(offers, 1), "reason"), "NotBest");
	assert_string_equal(active(st, "reason"), "Shadow");
	assert_string_equal(active(st, "message"),
			    "It would launch 1 instances now for at most 23.333334 USD.");
	assert_int_equal(json_array_size(json_object_get(st, "decisions")), 1);
	json_decref(st);
	assert_int_equal(events(s, "BurstChosen"), 1);
	/* Nothing changes, so nothing is written, even by a new leader. */
	world_run(&s->w, 600 * 1000);
	world_kill(&s->w.replicas[0]);
	world_replica(&s->w);
	world_run(&s->w, 120 * 1000);
	json_decref(status(s, "research", later, sizeof(later)));
	assert_string_equal(rv, later);
	assert_int_equal(events(s, "BurstChosen"), 1);
	nothing_was_launched(s);
	stop(s);
}

static void a_budget_for_one_of_two_has_one(void **state)
{
	struct scene *s = mem_new(struct scene);
	json_t *st;

	(void)state;
	start(s, 7202);
	policy(s, "research", "team-a", "{scope: Policy, amount: '46', per: Day}");
	world_replica(&s->w);
	world_pod(&s->w, &s->w.tenants[0], "one");
	world_run(&s->w, 10 * 1000);
	world_pod(&s->w, &s->w.tenants[0], "two");
	world_run(&s->w, 360 * 1000);
	st = status(s, "research", NULL, 0);
	assert_string_equal(of_row(st, "default/one", "reason"), "Chosen");
	assert_string_equal(of_row(st, "default/two", "reason"), "BudgetExhausted");
	json_decref(st);
	nothing_was_launched(s);
	stop(s);
}

static void of_two_policies_for_one_pod_neither_would_launch(void **state)
{
	static const char *const names[] = {"one", "two"};
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7203);
	for (size_t i = 0; i < 2; i++)
		policy(s, names[i], "team-a", "{scope: Policy, amount: '300', per: Day}");
	world_replica(&s->w);
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_run(&s->w, 360 * 1000);
	for (size_t i = 0; i < 2; i++) {
		json_t *st = status(s, names[i], NULL, 0);

		assert_string_equal(of_row(st, "default/train", "reason"), "PoliciesOverlap");
		assert_string_equal(active(st, "status"), "False");
		json_decref(st);
	}
	assert_int_equal(events(s, "NoBurst"), 1);
	nothing_was_launched(s);
	stop(s);
}

static bool nothing_alive(void *arg)
{
	struct scene *s = arg;

	return !fake_cloud_alive(&s->sky.cloud) &&
	       !store_count(s->w.host.store, "machines.drover.dev/") &&
	       !store_count(s->w.host.store, "nodeclaims.drover.dev/");
}

static int64_t spent(struct scene *s)
{
	json_t *st = status(s, "others", NULL, 0);
	const json_t *row = json_array_get(json_object_get(st, "spend"), 0);
	int64_t micro = 0;
	struct err e;

	assert_string_equal(json_str_at(row, "amount"), "300.00");
	assert_ok(money_parse(str_or(json_str_at(row, "spent"), "0"), &micro, &e), &e);
	json_decref(st);
	return micro;
}

/* A tenant without a policy gets an instance because the limits of its pool allow it. The instance
 * counts against all budgets: while it runs, and after it ended with the amount of the tenant's
 * bill. */
static void what_runs_and_what_has_ended_counts(void **state)
{
	struct scene *s = mem_new(struct scene);
	OWN_JSON o = NULL;
	json_t *types;
	int64_t ran;

	(void)state;
	start(s, 7204);
	o = cluster_get(&s->w.host, "providers.drover.dev/sky");
	types = json_deep_copy(json_at(o, "spec", "instanceTypes"));
	json_object_set_new(json_array_get(types, 0), "pricePerHour", json_string("20.00"));
	json_object_set_new(json_array_get(types, 0), "currency", json_string("USD"));
	world_do(&s->w, &s->w.host, "PATCH", "/apis/drover.dev/v1alpha1/providers/sky",
		 json_pack("{s:{s:o}}", "spec", "instanceTypes", types));
	policy(s, "others", "team-b", "{scope: Global, amount: '300', per: Month}");
	world_replica(&s->w);
	world_run(&s->w, 60 * 1000);
	assert_int_equal(spent(s), 0);
	world_pod(&s->w, &s->w.tenants[0], "train");
	world_wait_running(&s->w, &s->w.tenants[0], "train", 1200);
	world_run(&s->w, 1500 * 1000);
	ran = spent(s);
	assert_in_range(ran, 20 * MONEY_UNIT * 3 / 6, 20 * MONEY_UNIT * 5 / 6);
	world_delete_pod(&s->w, &s->w.tenants[0], "train");
	world_wait(&s->w, nothing_alive, s, 3600, "instance, Machine and claim are gone");
	world_run(&s->w, 60 * 1000);
	assert_in_range(spent(s), ran - 20 * MONEY_UNIT / 6, ran + 20 * MONEY_UNIT / 3);
	stop(s);
}

/* --- what no Pod contains --------------------------------------------------------------------- */

/* One entry for each row of docs/burst.md, "What pods declare", that names a reason. */
static const struct unknown {
	const char *field, *reason;
	/* YAML text of the policy: its trigger, its offer, and further members of its spec. */
	const char *trigger, *offer, *spec;
} unknowns[] = {
	{"trigger.deadlineSlackUnder", "NotTriggered", "deadlineSlackUnder: 8760h", "",
	 "runtime: {maxRuntime: 1h}"},
	{"trigger.guards.approval", "ApprovalNeeded",
	 "maxQueueWait: {default: 1m}, guards: {approval: Manual}", "",
	 "runtime: {maxRuntime: 1h}"},
	{"compliance.dataClassesAllowed", "DataClassNotAllowed", "maxQueueWait: {default: 1m}", "",
	 "runtime: {maxRuntime: 1h}\n  compliance: {dataClassesAllowed: [public]}"},
	{"runtime.maxRuntime", "RuntimeUnknown", "maxQueueWait: {default: 1m}", "", "runtime: {}"},
	{"runtime.minExpectedRuntime", "RuntimeUnknown", "maxQueueWait: {default: 1m}", "",
	 "runtime: {maxRuntime: 1h, minExpectedRuntime: 1m}"},
	{"runtime.maxOverheadFraction", "RuntimeUnknown", "maxQueueWait: {default: 1m}", "",
	 "runtime: {maxRuntime: 1h, maxOverheadFraction: '0.9'}"},
};

static void unknown_policy(struct scene *s, const struct unknown *u)
{
	OWN(arena) a = arena_new();

	world_apply(&s->w, arena_printf(a,
					"apiVersion: drover.dev/v1alpha1\nkind: BurstPolicy\n"
					"metadata: {name: research}\n"
					"spec:\n  match: {tenants: [team-a]}\n  trigger: {%s}\n"
					"  tiers: [{market: OnDemand}]\n"
					"  offers: [{name: sky, provider: sky, regions: [r1], "
					"instanceTypes: [gpu-8]%s}]\n"
					"  cost: {currency: USD}\n  %s\n"
					"  budget: [{scope: Policy, amount: '300', per: Day}]\n",
					u->trigger, u->offer, u->spec));
}

static void assert_in_docs(const struct unknown *u)
{
	OWN(arena) a = arena_new();
	const char *row = pages_row("docs/burst.md", arena_printf(a, "| `%s` | ", u->field), a);

	if (!strstr(row, arena_printf(a, "`%s` |", u->reason)))
		fail_msg("docs/burst.md does not end with %s: %s", u->reason, row);
}

static void what_no_pod_says_is_decided_as_the_page_has_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(unknowns) / sizeof(*unknowns); i++) {
		struct scene *s = mem_new(struct scene);
		json_t *st;

		assert_in_docs(&unknowns[i]);
		start(s, 7210 + i);
		unknown_policy(s, &unknowns[i]);
		world_replica(&s->w);
		world_pod(&s->w, &s->w.tenants[0], "train");
		world_run(&s->w, 150 * 1000);
		st = status(s, "research", NULL, 0);
		assert_string_equal(str_or(of_row(st, "default/train", "reason"), "none"),
				    unknowns[i].reason);
		json_decref(st);
		nothing_was_launched(s);
		stop(s);
	}
}

/* The Provider does not say how its instances are connected, then that they have InfiniBand. */
static void an_offer_has_the_interconnect_of_its_type(void **state)
{
	static const struct unknown asks = {.trigger = "maxQueueWait: {default: 1m}",
					    .offer = ", interconnect: {required: Infiniband}",
					    .spec = "runtime: {maxRuntime: 1h}"};
	static const char *const want[] = {"NoOffer", "Chosen"};
	struct scene *s = mem_new(struct scene);

	(void)state;
	start(s, 7250);
	unknown_policy(s, &asks);
	world_replica(&s->w);
	world_pod(&s->w, &s->w.tenants[0], "train");
	for (size_t i = 0; i < 2; i++) {
		json_t *st;

		if (i)
			world_do(&s->w, &s->w.host, "PATCH",
				 "/apis/drover.dev/v1alpha1/providers/sky",
				 json_pack("{s:{s:[{s:s, s:{s:s, s:s}, s:s}]}}", "spec",
					   "instanceTypes", "name", "gpu-8", "capacity", "cpu", "4",
					   "nvidia.com/gpu", "8", "interconnect", "Infiniband"));
		world_run(&s->w, 150 * 1000);
		st = status(s, "research", NULL, 0);
		assert_string_equal(str_or(of_row(st, "default/train", "reason"), "none"), want[i]);
		json_decref(st);
	}
	nothing_was_launched(s);
	stop(s);
}

/* What a pod declares, and the decision that follows. */
static const struct declared {
	const char *annotation, *value, *reason;
	const char *trigger, *spec;
} declarations[] = {
	{"drover.dev/latest-start", "2020-01-01T00:00:00Z", "Chosen", "deadlineSlackUnder: 8760h",
	 "runtime: {maxRuntime: 1h}"},
	{"drover.dev/data-class", "public", "Chosen", "maxQueueWait: {default: 1m}",
	 "runtime: {maxRuntime: 1h}\n  compliance: {dataClassesAllowed: [public]}"},
	{"drover.dev/data-class", "personal", "DataClassNotAllowed", "maxQueueWait: {default: 1m}",
	 "runtime: {maxRuntime: 1h}\n  compliance: {dataClassesAllowed: [public]}"},
	{"drover.dev/expected-runtime", "2h", "Chosen", "maxQueueWait: {default: 1m}",
	 "runtime: {}"},
	{"drover.dev/expected-runtime", "59s", "RuntimeTooShort", "maxQueueWait: {default: 1m}",
	 "runtime: {maxRuntime: 1h, minExpectedRuntime: 1m}"},
	{"drover.dev/expected-runtime", "10m", "OverheadTooLarge", "maxQueueWait: {default: 1m}",
	 "runtime: {maxRuntime: 1h, maxOverheadFraction: '0.9'}"},
	{"drover.dev/checkpoint-interval", "often", "AnnotationInvalid",
	 "maxQueueWait: {default: 1m}", "runtime: {maxRuntime: 1h}"},
	{"drover.dev/data", "a b", "AnnotationInvalid", "maxQueueWait: {default: 1m}",
	 "runtime: {maxRuntime: 1h}"},
	{"drover.dev/data", "imagenet", "DataUnknown", "maxQueueWait: {default: 1m}",
	 "runtime: {maxRuntime: 1h}"},
	{"drover.dev/expected-runtime", "soon", "AnnotationInvalid", "maxQueueWait: {default: 1m}",
	 "runtime: {maxRuntime: 1h}"},
};

static void what_a_pod_declares_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(declarations) / sizeof(*declarations); i++) {
		const struct declared *d = &declarations[i];
		const struct unknown u = {NULL, NULL, d->trigger, "", d->spec};
		struct scene *s = mem_new(struct scene);
		json_t *st;

		start(s, 7310 + i);
		unknown_policy(s, &u);
		world_replica(&s->w);
		world_pod(&s->w, &s->w.tenants[0], "train");
		world_do(&s->w, &s->w.tenants[0], "PATCH", "/api/v1/namespaces/default/pods/train",
			 json_pack("{s:{s:{s:s}}}", "metadata", "annotations", d->annotation,
				   d->value));
		world_run(&s->w, 150 * 1000);
		st = status(s, "research", NULL, 0);
		assert_string_equal(str_or(of_row(st, "default/train", "reason"), "none"),
				    d->reason);
		json_decref(st);
		stop(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_shadow_says_what_it_would_launch_and_launches_nothing),
		cmocka_unit_test(a_budget_for_one_of_two_has_one),
		cmocka_unit_test(of_two_policies_for_one_pod_neither_would_launch),
		cmocka_unit_test(what_runs_and_what_has_ended_counts),
		cmocka_unit_test(what_a_pod_declares_counts),
		cmocka_unit_test(what_no_pod_says_is_decided_as_the_page_has_it),
		cmocka_unit_test(an_offer_has_the_interconnect_of_its_type),
	};

	mem_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
