/* Tests that a plan can be made from a snapshot of a live fleet, which is on the simulated loop. */
#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/str.h"
#include "cli/cli.h"
#include "cli/simulate/scenario.h"
#include "cli/simulate/snapshot.h"
#include "planner/plan.h"
#include "tests/unit/cli/verb.h"
#include "tests/unit/planner/worlds.h"

static struct cli_client c;

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	bench_tenants(*state);
	bench_fleet(*state);
	d = *state;
	c = (struct cli_client){.verb = "drover test",
				.loop = d->l,
				.group = d->g,
				.http = d->c.http,
				.host = d->c.host,
				.out = stdout};
	return 0;
}

static char *shot(struct bench *d, bool tenants, int want)
{
	const struct snapshot_spec s = {
		.c = &c, .tenants = tenants, .ns = BENCH_NS, .plain_ok = true};
	char *text, *kept;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(snapshot_write(&s, f), want);
	fclose(f);
	kept = arena_strdup(d->a, text);
	free(text);
	return kept;
}

static struct world *again(struct bench *d, const char *text)
{
	struct scenario_file f;
	struct scenario s;
	struct err e;

	assert_ok(scenario_parse(&f, "snapshot", text, strlen(text), &e), &e);
	assert_ok(scenario_build(&f, &s, d->a, &e), &e);
	scenario_file_done(&f);
	zones_free(s.zones);
	return s.world;
}

static void the_plan_of_a_snapshot_is_the_controllers(void **state)
{
	struct bench *d = *state;
	const char *live, *text;

	bench_run(d, 5000);
	bench_patch(d, OBJECT_NODE_POOL, "h100", "{'spec': {'paused': true}}");
	bench_pod(d, "one", 8);
	bench_pod(d, "two", 4);
	bench_pod(d, "large", 16);
	bench_run(d, 5000);
	live = worlds_text(plan_make(world_sync_world(d->sync), 0, d->a), d->a);
	text = shot(d, true, 0);
	{
		OWN(world) w = again(d, text);

		assert_string_equal(worlds_text(plan_make(w, 0, d->a), d->a), live);
	}
	assert_non_null(strstr(live, "one"));
	/* With the pool's pause ended, the plan has a claim. The planner's world is paused
	 * meanwhile, so that the controller does not create this claim. */
	world_sync_pause(d->sync);
	bench_patch(d, OBJECT_NODE_POOL, "h100", "{'spec': {'paused': false}}");
	text = shot(d, true, 0);
	world_sync_resume(d->sync);
	live = worlds_text(plan_make(world_sync_world(d->sync), 0, d->a), d->a);
	{
		OWN(world) w = again(d, text);

		assert_string_equal(worlds_text(plan_make(w, 0, d->a), d->a), live);
	}
	assert_non_null(strstr(live, "m-1"));
}

static void add_member(struct bench *d, const char *name)
{
	bench_must(
		d, &d->team, "POST", "/api/v1/namespaces/default/pods",
		arena_printf(
			d->a,
			"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s',"
			" 'labels': {'scheduling.x-k8s.io/pod-group': 'train'}}, 'spec': {"
			" 'tolerations': [{'key': 'nvidia.com/gpu', 'operator': 'Exists'}],"
			" 'containers': [{'name': 'c', 'resources': {'limits': {'nvidia.com/gpu': "
			"'8'}}}]}}",
			name));
	bench_must(d, &d->team, "PATCH",
		   arena_printf(d->a, "/api/v1/namespaces/default/pods/%s/status", name),
		   "{'status': {'phase': 'Pending', 'conditions': [{'type': 'PodScheduled',"
		   " 'status': 'False', 'reason': 'Unschedulable'}]}}");
}

/* The fleet has two pods of a PodGroup of size two, and one machine. */
static void a_snapshot_has_the_gangs_of_its_pods(void **state)
{
	struct bench *d = *state;
	const char *live, *text;

	bench_must(d, &d->team, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		   "{'metadata': {'name': 'podgroups.scheduling.x-k8s.io'}, 'spec': {"
		   "'group': 'scheduling.x-k8s.io', 'scope': 'Namespaced', 'names': {"
		   "'plural': 'podgroups', 'singular': 'podgroup', 'kind': 'PodGroup',"
		   "'listKind': 'PodGroupList'}, 'versions': [{'name': 'v1alpha1', 'served': true,"
		   "'storage': true, 'schema': {'openAPIV3Schema': {'type': 'object',"
		   "'x-kubernetes-preserve-unknown-fields': true}}}]}}");
	bench_must(d, &d->team, "POST",
		   "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups",
		   "{'apiVersion': 'scheduling.x-k8s.io/v1alpha1', 'kind': 'PodGroup',"
		   " 'metadata': {'name': 'train'}, 'spec': {'minMember': 2}}");
	bench_run(d, 5000);
	add_member(d, "train-0");
	add_member(d, "train-1");
	bench_run(d, 10000);
	live = worlds_text(plan_make(world_sync_world(d->sync), 0, d->a), d->a);
	assert_non_null(strstr(live, "GangNotWhole"));
	text = shot(d, true, 0);
	OWN(world) w = again(d, text);

	assert_string_equal(worlds_text(plan_make(w, 0, d->a), d->a), live);
}

static void nothing_secret_and_nothing_unread_stands_there(void **state)
{
	static const char *const secrets[] = {
		"hunter2",	    "DATABASE",	    "--token",	 "nobody/reads",
		"registry.example", "kind: Secret", "10.0.8.17", "S1"};
	struct bench *d = *state;
	const char *text;

	bench_run(d, 5000);
	bench_patch(d, OBJECT_NODE_POOL, "h100", "{'spec': {'paused': true}}");
	bench_patch(d, OBJECT_MACHINE, "m-1",
		    "{'metadata': {'annotations': {'nobody/reads': 'hunter2'}}}");
	bench_must(
		d, &d->team, "POST", "/api/v1/namespaces/default/pods",
		"{'metadata': {'name': 'p', 'annotations': {'nobody/reads': 'hunter2'}},"
		" 'spec': {'nodeName': 'n', 'containers': [{'name': 'c', 'image': "
		"'registry.example/x',"
		"  'args': ['--token=hunter2'], 'env': [{'name': 'DATABASE', 'value': 'hunter2'}],"
		"  'resources': {'requests': {'nvidia.com/gpu': '1'}}}]}}");
	text = shot(d, true, 0);
	assert_non_null(strstr(text, "kind: Pod"));
	assert_non_null(strstr(text, "tenant: team-a"));
	assert_non_null(strstr(text, "kind: Machine"));
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		if (strstr(text, secrets[i]))
			fail_msg("%s is in: %s", secrets[i], text);
	world_free(again(d, text));
	assert_null(strstr(shot(d, false, 0), "kind: Pod"));
}

static void a_tenant_that_cannot_be_read_is_said(void **state)
{
	struct bench *d = *state;
	const char *text;

	bench_run(d, 5000);
	d->team.denied = true;
	text = shot(d, true, 1);
	assert_non_null(strstr(text, "# missing: team-a: "));
	world_free(again(d, text));
}

static void usage_is_named(void **state)
{
	(void)state;
	assert_int_equal(verb_run("drover snapshot", cli_snapshot, NULL,
				  (const char *const[]){"--help", NULL}),
			 0);
	verb_assert_said("drover snapshot --tenants -o now.yaml && drover simulate now.yaml");
	assert_int_equal(verb_run("drover snapshot", cli_snapshot, NULL,
				  (const char *const[]){"extra", NULL}),
			 2);
	assert_int_equal(verb_run("drover snapshot", cli_snapshot, NULL,
				  (const char *const[]){"-k", "/nonexistent.conf", NULL}),
			 1);
	verb_assert_said("/nonexistent.conf");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)
	const struct CMUnitTest tests[] = {
		T(the_plan_of_a_snapshot_is_the_controllers),
		T(a_snapshot_has_the_gangs_of_its_pods),
		T(nothing_secret_and_nothing_unread_stands_there),
		T(a_tenant_that_cannot_be_read_is_said),
		cmocka_unit_test(usage_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
