/* Tests how drover interprets the object that runs a tenant's control plane, and the status that
 * results. tests/world/test_sleep.c tests the consequences. */
#include "tests/unit/controller/bench.h"

#include "api/annotations.h"
#include "base/str.h"
#include "controller/rules/sleep.h"
#include "controller/tenant/sleep.h"

#define SETS "/apis/apps/v1/namespaces/vc/"

static int setup(void **state)
{
	bench_setup(state);
	bench_tenants(*state);
	bench_fleet(*state);
	return 0;
}

/* --- reading the control plane's object ------------------------------------------------------- */

static void only_what_is_scaled_to_zero_and_seen_to_be_so_sleeps(void **state)
{
	static const struct {
		const char *object;
		enum tenant_sleep_is is;
		const char *reason;
	} cases[] = {
		{"{'metadata': {'uid': 'u', 'generation': 3}, 'spec': {'replicas': 0},"
		 " 'status': {'observedGeneration': 3, 'replicas': 0}}",
		 TENANT_SLEEP_YES, "ScaledToZero"},
		/* A Deployment omits members whose value is zero. */
		{"{'metadata': {'uid': 'u', 'generation': 3}, 'spec': {'replicas': 0},"
		 " 'status': {'observedGeneration': 3}}",
		 TENANT_SLEEP_YES, "ScaledToZero"},
		{"{'metadata': {'uid': 'u', 'generation': 3, "
		 "'annotations': {'loft.sh/paused': 'true',"
		 " 'loft.sh/paused-replicas': '1'}}, 'spec': {'replicas': 0},"
		 " 'status': {'observedGeneration': 3}}",
		 TENANT_SLEEP_YES, "Paused"},
		{"{'metadata': {'uid': 'u', 'generation': 3, "
		 "'annotations': {'loft.sh/restoring': 'true'}},"
		 " 'spec': {'replicas': 0}, 'status': {'observedGeneration': 3}}",
		 TENANT_SLEEP_NO, "Restoring"},
		/* An annotation that was left over does not mean sleep while replicas > 0. */
		{"{'metadata': {'uid': 'u', 'generation': 3, "
		 "'annotations': {'loft.sh/paused': 'true'}},"
		 " 'spec': {'replicas': 1}, 'status': {'observedGeneration': 3}}",
		 TENANT_SLEEP_NO, "Awake"},
		{"{'metadata': {'uid': 'u', 'generation': 3}, 'spec': {}, 'status': {}}",
		 TENANT_SLEEP_NO, "Awake"},
		{"{'metadata': {'uid': 'u', 'generation': 3}, 'spec': {'replicas': '0'},"
		 " 'status': {'observedGeneration': 3}}",
		 TENANT_SLEEP_NO, "Awake"},
		{"{'metadata': {'uid': 'u', 'generation': 4}, 'spec': {'replicas': 0},"
		 " 'status': {'observedGeneration': 3}}",
		 TENANT_SLEEP_NO, "GoingToSleep"},
		{"{'metadata': {'uid': 'u', 'generation': 4}, 'spec': {'replicas': 0}}",
		 TENANT_SLEEP_NO, "GoingToSleep"},
		{"{'metadata': {'uid': 'u', 'generation': 4}, 'spec': {'replicas': 0},"
		 " 'status': {'observedGeneration': 4, 'replicas': 1}}",
		 TENANT_SLEEP_NO, "GoingToSleep"},
		{"{'metadata': {'uid': 'u', 'generation': 4, 'deletionTimestamp': 'x'},"
		 " 'spec': {'replicas': 0}, 'status': {'observedGeneration': 4}}",
		 TENANT_SLEEP_UNKNOWN, "ControlPlaneDeleted"},
		{"{'metadata': {'generation': 4}, 'spec': {'replicas': 0},"
		 " 'status': {'observedGeneration': 4}}",
		 TENANT_SLEEP_UNKNOWN, "ControlPlaneUnreadable"},
		{"{'metadata': {'uid': 'u'}, 'spec': {'replicas': 0}}", TENANT_SLEEP_UNKNOWN,
		 "ControlPlaneUnreadable"},
		{"{'metadata': {"
		 "'uid': '01234567890123456789012345678901234567890123456789012345678901234',"
		 " 'generation': 1}, 'spec': {'replicas': 0}, 'status': {'observedGeneration': 1}}",
		 TENANT_SLEEP_UNKNOWN, "ControlPlaneUnreadable"},
		{"{}", TENANT_SLEEP_NO, "Awake"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OWN_JSON o = bench_json(cases[i].object);
		struct tenant_sleep_view v;

		tenant_sleep_read(o, "StatefulSet vc/a", &v);
		if (v.is != cases[i].is || !str_eq(v.reason, cases[i].reason))
			fail_msg("%s: %d %s", cases[i].object, v.is, v.reason);
		assert_non_null(strstr(v.message, "StatefulSet vc/a"));
		assert_string_equal(v.object, v.is == TENANT_SLEEP_YES ? "u/3" : "");
	}
}

static void a_long_name_is_cut_and_does_no_harm(void **state)
{
	struct bench *d = *state;
	OWN_JSON o = bench_json("{}");
	char *what = arena_calloc(d->a, 1, 4000);
	struct tenant_sleep_view v;

	memset(what, 'x', 3999);
	tenant_sleep_read(o, what, &v);
	assert_int_equal(strlen(v.message), sizeof(v.message) - 1);
}

/* --- status ----------------------------------------------------------------------------------- */

static const char *condition(struct bench *d, const char *type)
{
	return bench_condition(d, OBJECT_VIRTUAL_CLUSTER, "team-a", type);
}

static const char *status(struct bench *d, const char *member)
{
	OWN_JSON o = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");

	return arena_strdup(d->a, str_or(json_str_at(o, "status", member), ""));
}

/* Creates or scales the control plane's object. resource: "deployments" or "statefulsets". */
static void plane_is(struct bench *d, const char *resource, int replicas)
{
	const char *path = arena_printf(d->a, SETS "%s/a", resource);
	int64_t generation;

	if (bench_do(d, &d->host, "GET", path, NULL) == 404)
		bench_must(d, &d->host, "POST", arena_printf(d->a, SETS "%s", resource),
			   "{'metadata': {'name': 'a'}, 'spec': {'replicas': 1, 'serviceName': 'a',"
			   " 'selector': {'matchLabels': {'a': 'b'}}, 'template': {'metadata':"
			   " {'labels': {'a': 'b'}}, "
			   "'spec': {'containers': [{'name': 'c', 'image': 'i'}]}}}}");
	bench_must(d, &d->host, "PATCH", path,
		   arena_printf(d->a, "{'spec': {'replicas': %d}}", replicas));
	OWN_JSON o = bench_stored(&d->host, arena_printf(d->a, "%s.apps/vc/a", resource));
	generation = json_int_at(json_at(o, "metadata"), "generation");
	bench_must(d, &d->host, "PATCH", arena_printf(d->a, "%s/status", path),
		   arena_printf(d->a, "{'status': {'observedGeneration': %lld, 'replicas': %d}}",
				(long long)generation, replicas));
}

static void watch_plane(struct bench *d, const char *kind)
{
	d->c.ready = true;
	bench_must(d, &d->host, "POST", "/api/v1/namespaces", "{'metadata': {'name': 'vc'}}");
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    arena_printf(d->a,
				 "{'spec': {'controlPlane': {'kind': '%s', "
				 "'namespace': 'vc', 'name': 'a'}}}",
				 kind));
}

static void a_deployment_counts_as_well_as_a_stateful_set(void **state)
{
	static const char *const kinds[][2] = {{"Deployment", "deployments"},
					       {"StatefulSet", "statefulsets"}};
	struct bench *d = *state;

	for (int i = 0; i < 2; i++) {
		if (i)
			bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
				    "{'spec': {'controlPlane': {'kind': 'StatefulSet'}}}");
		else
			watch_plane(d, kinds[i][0]);
		bench_run(d, 20000);
		assert_string_equal(condition(d, "Asleep"), "Unknown ControlPlaneNotFound");
		plane_is(d, kinds[i][1], 1);
		bench_run(d, 310000);
		assert_string_equal(condition(d, "Asleep"), "False Awake");
		plane_is(d, kinds[i][1], 0);
		bench_away(d, &d->team, true);
		bench_run(d, 120000);
		assert_string_equal(condition(d, "Asleep"), "True ScaledToZero");
		assert_string_not_equal(status(d, "asleepSince"), "");
		bench_away(d, &d->team, false);
		bench_run(d, 60000);
		assert_string_equal(condition(d, "Asleep"), "False Awake");
		assert_string_equal(status(d, "asleepSince"), "");
		assert_string_equal(status(d, "asleepObject"), "");
	}
}

static void a_sleep_that_goes_on_is_not_written_again_and_again(void **state)
{
	struct bench *d = *state;

	watch_plane(d, "StatefulSet");
	plane_is(d, "statefulsets", 0);
	bench_away(d, &d->team, true);
	bench_run(d, 120000);
	assert_string_equal(condition(d, "Asleep"), "True ScaledToZero");
	OWN_JSON before = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	bench_run(d, 1800000);
	OWN_JSON after = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	assert_true(json_equal(before, after));
	assert_int_equal(bench_events(&d->host, "ScaledToZero"), 1);
}

static void who_is_not_to_be_looked_at_any_more_has_no_sleep(void **state)
{
	struct bench *d = *state;

	watch_plane(d, "StatefulSet");
	plane_is(d, "statefulsets", 0);
	bench_away(d, &d->team, true);
	bench_run(d, 120000);
	assert_string_equal(condition(d, "Asleep"), "True ScaledToZero");
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'controlPlane': null}}");
	bench_run(d, 20000);
	assert_string_equal(condition(d, "Asleep"), "");
	assert_string_equal(status(d, "asleepSince"), "");
	assert_string_equal(condition(d, "Reachable"), "False Unreachable");
	assert_false(tenant_sleep_now(tenant_get(d->tenants, "team-a")));
}

/* A control plane object that is missing is not known to sleep. A new object of that name starts
 * its own sleep. */
static void a_control_plane_that_is_gone_keeps_since_and_one_made_anew_does_not(void **state)
{
	struct bench *d = *state;
	const char *first;

	watch_plane(d, "StatefulSet");
	plane_is(d, "statefulsets", 0);
	bench_away(d, &d->team, true);
	bench_run(d, 120000);
	first = status(d, "asleepSince");
	assert_string_not_equal(first, "");
	bench_must(d, &d->host, "DELETE", SETS "statefulsets/a", NULL);
	bench_run(d, 60000);
	assert_string_equal(condition(d, "Asleep"), "Unknown ControlPlaneNotFound");
	assert_string_equal(status(d, "asleepSince"), first);
	assert_false(tenant_sleep_now(tenant_get(d->tenants, "team-a")));
	plane_is(d, "statefulsets", 0);
	bench_run(d, 60000);
	assert_string_equal(condition(d, "Asleep"), "True ScaledToZero");
	assert_string_not_equal(status(d, "asleepSince"), first);
	bench_must(d, &d->host, "DELETE", SETS "statefulsets/a", NULL);
	bench_run(d, 60000);
	assert_string_not_equal(status(d, "asleepSince"), "");
	bench_away(d, &d->team, false);
	bench_run(d, 60000);
	assert_string_equal(condition(d, "Asleep"), "Unknown ControlPlaneNotFound");
	assert_string_equal(status(d, "asleepSince"), "");
}

static void a_refusal_is_an_answer_and_a_lost_kubeconfig_is_no_silence(void **state)
{
	struct bench *d = *state;

	watch_plane(d, "StatefulSet");
	plane_is(d, "statefulsets", 0);
	bench_run(d, 5000);
	d->team.denied = true;
	bench_run(d, 400000);
	assert_string_equal(condition(d, "Permitted"), "False NotPermitted");
	assert_string_equal(condition(d, "Asleep"), "False Awake");
	d->team.denied = false;
	bench_run(d, 120000);
	bench_must(d, &d->host, "DELETE", "/api/v1/namespaces/" BENCH_NS "/secrets/team-a", NULL);
	bench_run(d, 40000);
	bench_away(d, &d->team, true);
	bench_run(d, 400000);
	assert_string_equal(status(d, "asleepSince"), "");
	assert_false(tenant_sleep_now(tenant_get(d->tenants, "team-a")));
}

static void a_replica_that_does_not_lead_does_not_look(void **state)
{
	struct bench *d = *state;

	d->c.leading = false;
	watch_plane(d, "StatefulSet");
	plane_is(d, "statefulsets", 0);
	bench_away(d, &d->team, true);
	bench_run(d, 400000);
	assert_string_equal(condition(d, "Asleep"), "");
	assert_false(tenant_sleep_now(tenant_get(d->tenants, "team-a")));
	d->c.leading = true;
	tenants_update(d->tenants, "team-a");
	bench_run(d, 20000);
	assert_string_equal(condition(d, "Asleep"), "True ScaledToZero");
}

/* --- pending cleanups ------------------------------------------------------------------------- */

static void the_time_of_a_debt_stands_still_while_its_debtor_sleeps(void **state)
{
	struct condition c = {.type = "Other", .last_transition_time = 9000};
	struct virtual_cluster vc = {.status.conditions = {&c, 1}};

	(void)state;
	assert_int_equal(tenant_sleep_debt_since(&vc, 5000), 5000);
	c.type = TENANT_SLEEP_CONDITION;
	c.status = CONDITION_TRUE;
	assert_int_equal(tenant_sleep_debt_since(&vc, 5000), INT64_MAX);
	c.status = CONDITION_FALSE;
	assert_int_equal(tenant_sleep_debt_since(&vc, 5000), 9000);
	assert_int_equal(tenant_sleep_debt_since(&vc, 9500), 9500);
	c.status = CONDITION_UNKNOWN;
	assert_int_equal(tenant_sleep_debt_since(&vc, 5000), 9000);
	c.status = CONDITION_TRUE;
	/* A tenant that is being deleted does not have to wake up for this cleanup. */
	vc.meta.deletion_timestamp = 1;
	assert_int_equal(tenant_sleep_debt_since(&vc, 5000), 5000);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(only_what_is_scaled_to_zero_and_seen_to_be_so_sleeps),
		T(a_long_name_is_cut_and_does_no_harm),
		T(a_deployment_counts_as_well_as_a_stateful_set),
		T(a_sleep_that_goes_on_is_not_written_again_and_again),
		T(who_is_not_to_be_looked_at_any_more_has_no_sleep),
		T(a_control_plane_that_is_gone_keeps_since_and_one_made_anew_does_not),
		T(a_refusal_is_an_answer_and_a_lost_kubeconfig_is_no_silence),
		T(a_replica_that_does_not_lead_does_not_look),
		T(the_time_of_a_debt_stands_still_while_its_debtor_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
