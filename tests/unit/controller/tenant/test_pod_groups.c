/* Tests pod_groups: the gangs of pods and their sizes, as PodGroups are added, changed and
 * removed. */
#include "tests/unit/controller/bench.h"

#include "api/annotations.h"
#include "base/str.h"
#include "controller/tenant/gang_names.h"
#include "controller/tenant/pod_groups.h"

#define PODS "/api/v1/namespaces/default/pods"
#define COSCHEDULING "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups"
#define SOON_MS 3000

/* --- gang of a pod ---------------------------------------------------------------------------- */

static const char *named(struct arena *a, const char *pod)
{
	json_error_t e;
	json_t *o = json_loads(pod, 0, &e);
	const struct gang_name *g;
	const char *text;

	assert_non_null(o);
	g = gang_name_of(o, a);
	text = !g	 ? "none"
	       : g->wait ? arena_printf(a, "%s waits: %s", g->key, g->wait)
			 : arena_printf(a, "%s %d", g->key, (int)g->size);
	json_decref(o);
	return text;
}

#define META(more) "{\"metadata\": {\"namespace\": \"ns\"" more "}}"
#define NOTES(more) META(", \"annotations\": {" more "}")

static void a_pod_says_of_which_gang_it_is(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	assert_string_equal(named(a, META("")), "none");
	assert_string_equal(named(a, NOTES("\"drover.dev/gang\": \"t\","
					   "\"drover.dev/gang-size\": \"4\"")),
			    "ns/gangs/t 4");
	assert_string_equal(named(a, NOTES("\"drover.dev/gang\": \"t\","
					   "\"drover.dev/gang-size\": \"1\"")),
			    "none");
	assert_string_equal(
		named(a, NOTES("\"drover.dev/gang\": \"t\"")),
		"ns/gangs/t waits: annotation drover.dev/gang-size is not a number from 1 to 4096");
	assert_non_null(strstr(named(a, NOTES("\"drover.dev/gang-size\": \"4\"")), "neither"));
	assert_string_equal(named(a, META(", \"annotations\": {\"drover.dev/gang-size\": \"4\"},"
					  "\"ownerReferences\": [{\"uid\": \"x\"},"
					  "{\"uid\": \"u1\", \"controller\": true}]")),
			    "ns/controllers/u1 4");
	assert_string_equal(
		named(a, META(", \"annotations\": {\"drover.dev/gang-size\": \"4\"},"
			      "\"labels\": {\"jobset.sigs.k8s.io/jobset-name\": \"j\"}")),
		"ns/jobsets/j 4");
	assert_string_equal(
		named(a, META(", \"labels\": {\"scheduling.x-k8s.io/pod-group\": \"g\"}")),
		"ns/podgroups.scheduling.x-k8s.io/g 0");
	assert_string_equal(named(a, NOTES("\"scheduling.k8s.io/group-name\": \"g\"")),
			    "ns/podgroups.scheduling.volcano.sh/g 0");
	assert_string_equal(named(a, NOTES("\"scheduling.volcano.sh/group-name\": \"g\"")),
			    "ns/podgroups.scheduling.volcano.sh/g 0");
	assert_string_equal(named(a, NOTES("\"pod-group-name\": \"g\"")),
			    "ns/podgroups.scheduling.run.ai/g 0");
	assert_string_equal(named(a, "{\"metadata\": {\"namespace\": \"ns\"}, \"spec\": "
				     "{\"schedulingGroup\": {\"podGroupName\": \"g\"}}}"),
			    "ns/podgroups.scheduling.k8s.io/g 0");
	assert_string_equal(named(a, "{\"metadata\": {\"namespace\": \"ns\"}, \"spec\": "
				     "{\"workloadRef\": {\"name\": \"w\", \"podGroup\": \"g\","
				     " \"podGroupReplicaKey\": \"2\"}}}"),
			    "ns/workloads.scheduling.k8s.io/w/g/2 0");
	assert_string_equal(named(a, "{\"metadata\": {\"namespace\": \"ns\"}, \"spec\": "
				     "{\"workloadRef\": {\"name\": \"w\"}}}"),
			    "ns/workloads.scheduling.k8s.io/w// 0");
	assert_string_equal(
		named(a, META(", \"labels\": {\"leaderworkerset.sigs.k8s.io/name\": \"l\","
			      "\"leaderworkerset.sigs.k8s.io/group-index\": \"2\"},"
			      "\"annotations\": {\"leaderworkerset.sigs.k8s.io/size\": \"8\"}")),
		"ns/leaderworkersets/l/2 8");
	/* drover's annotation takes precedence, so that users can override the others. */
	assert_string_equal(
		named(a, META(", \"labels\": {\"leaderworkerset.sigs.k8s.io/name\": \"l\"},"
			      "\"annotations\": {\"leaderworkerset.sigs.k8s.io/size\": \"8\","
			      "\"drover.dev/gang\": \"l\", \"drover.dev/gang-size\": \"1\"}")),
		"none");
}

static int size_of(struct arena *a, const char *group)
{
	json_error_t e;
	json_t *o = json_loads(group, 0, &e);
	const struct gang_group *g;

	assert_non_null(o);
	g = gang_project_group(o, a, NULL, NULL);
	json_decref(o);
	return (int)g->size;
}

static void a_group_says_its_size(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	assert_int_equal(size_of(a, "{\"spec\": {\"minMember\": 4}}"), 4);
	assert_int_equal(
		size_of(a, "{\"spec\": {\"schedulingPolicy\": {\"gang\": {\"minCount\": 3}}}}"), 3);
	assert_int_equal(size_of(a, "{\"spec\": {\"schedulingPolicy\": {\"basic\": {}}}}"), 1);
	assert_int_equal(size_of(a, "{\"spec\": {\"minMember\": -4}}"), 0);
	assert_int_equal(size_of(a, "{\"spec\": {\"minMember\": 5000000}}"), 0);
	assert_int_equal(size_of(a, "{}"), 0);
}

/* Returns the gang size of pod group `part` in a Workload with two pod groups, of which only one is
 * a gang. */
static const char *part_of(struct arena *a, const char *part)
{
	static const char workload[] =
		"{\"spec\": {\"podGroups\": [{\"name\": \"workers\", "
		"\"policy\": {\"gang\": {\"minCount\": 4}}},"
		"{\"name\": \"head\", \"policy\": {\"basic\": {}}},"
		"{\"name\": \"odd\", \"policy\": {\"gang\": {\"minCount\": -1}}}]}}";
	const struct gang_name n = {.kind = GANG_WORKLOAD, .name = "w", .part = part};
	struct err e;
	OWN_JSON o = scan_parse(workload, strlen(workload), gang_want_group, &e);
	const char *why;
	int64_t size = 0;

	assert_non_null(o);
	why = gang_size_in(gang_project_group(o, a, NULL, NULL), &n, "workloads", &size, a);
	return why ? why : arena_printf(a, "%d", (int)size);
}

static void a_workload_says_the_size_of_each_pod_group(void **state)
{
	OWN(arena) a = arena_new();

	(void)state;
	assert_string_equal(part_of(a, "workers"), "4");
	assert_string_equal(part_of(a, "head"), "1");
	assert_string_equal(part_of(a, "none"), "pod group none of Workload w does not exist");
	assert_string_equal(part_of(a, "odd"),
			    "pod group odd of Workload w specifies no size from 1 to 4096");
}

/* --- in a cluster ----------------------------------------------------------------------------- */

static struct tenant *team(struct bench *d)
{
	return tenant_get(d->tenants, "team-a");
}

static void serve(struct bench *d)
{
	bench_must(d, &d->team, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		   "{'metadata': {'name': 'podgroups.scheduling.x-k8s.io'}, 'spec': {"
		   "'group': 'scheduling.x-k8s.io', 'scope': 'Namespaced', 'names': {"
		   "'plural': 'podgroups', 'singular': 'podgroup', 'kind': 'PodGroup',"
		   "'listKind': 'PodGroupList'}, 'versions': [{'name': 'v1alpha1', 'served': true,"
		   "'storage': true, 'schema': {'openAPIV3Schema': {'type': 'object',"
		   "'x-kubernetes-preserve-unknown-fields': true}}}]}}");
}

/* Adds a pod of the gang. node NULL: the pod is marked unschedulable. */
static void add_pod(struct bench *d, const char *name, const char *node)
{
	bench_must(d, &d->team, "POST", PODS,
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s',"
				" 'labels': {'scheduling.x-k8s.io/pod-group': 'train'}},"
				" 'spec': {%s%s%s 'containers': [{'name': 'c'}]}}",
				name, node ? "'nodeName': '" : "", str_or(node, ""),
				node ? "'," : ""));
	if (!node)
		bench_must(d, &d->team, "PATCH", arena_printf(d->a, PODS "/%s/status", name),
			   "{'status': {'phase': 'Pending', 'conditions': [{'type': 'PodScheduled',"
			   " 'status': 'False', 'reason': 'Unschedulable'}]}}");
}

static void put_group(struct bench *d, int size)
{
	bench_must(d, &d->team, "POST", COSCHEDULING,
		   arena_printf(d->a,
				"{'apiVersion': 'scheduling.x-k8s.io/v1alpha1', 'kind': 'PodGroup',"
				" 'metadata': {'name': 'train'}, 'spec': {'minMember': %d}}",
				size));
}

static const char *seen(struct bench *d, const char *pod)
{
	const struct world_pod *p = tenant_world_pod(team(d), "default", pod, d->a);

	if (!p)
		return "none";
	if (p->gang_wait)
		return arena_printf(d->a, "waits: %s", p->gang_wait);
	if (!p->unschedulable && !p->node)
		return "not known yet";
	return p->gang.key ? arena_printf(d->a, "%s %d", p->gang.key, (int)p->gang.min) : "alone";
}

static void nobody_asks_for_groups_where_no_pod_waits_for_one(void **state)
{
	struct bench *d = *state;

	d->team.denied_at = "/podgroups";
	add_pod(d, "runs", "n-1");
	bench_run(d, 60000);
	assert_int_equal(d->team.denials, 0);
	add_pod(d, "train", NULL);
	bench_run(d, SOON_MS);
	assert_true(d->team.denials > 0);
	assert_string_equal(seen(d, "train"), "waits: drover may not get, list and watch "
					      "podgroups.scheduling.x-k8s.io in this cluster");
	assert_true(bench_events(&d->team, "GangUnknown") >= 1);
}

static void a_kind_that_is_not_served_is_named(void **state)
{
	struct bench *d = *state;

	add_pod(d, "train", NULL);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"),
			    "waits: this cluster does not serve podgroups.scheduling.x-k8s.io in a "
			    "version that drover supports");
}

static void a_pod_follows_its_group(void **state)
{
	struct bench *d = *state;

	serve(d);
	bench_run(d, SOON_MS);
	add_pod(d, "train", NULL);
	add_pod(d, "runs", "n-1");
	bench_run(d, SOON_MS);
	assert_string_equal(
		seen(d, "train"),
		"waits: PodGroup train of podgroups.scheduling.x-k8s.io does not exist");
	put_group(d, 4);
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"), "default/podgroups.scheduling.x-k8s.io/train 4");
	assert_string_equal(seen(d, "runs"), "default/podgroups.scheduling.x-k8s.io/train 4");
	/* No event: the gang has started. */
	assert_true(bench_events(&d->team, "GangIncomplete") == 0);
	bench_must(d, &d->team, "PATCH", COSCHEDULING "/train", "{'spec': {'minMember': 1}}");
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "train"), "alone");
	bench_must(d, &d->team, "DELETE", COSCHEDULING "/train", NULL);
	bench_run(d, SOON_MS);
	assert_non_null(strstr(seen(d, "train"), "does not exist"));
}

/* The API group of Workload is built into the embedded API server, so the test cannot add the kind.
 * drover reports the kind as not served. */
static void a_pod_of_a_workload_is_told_that_it_is_not_served(void **state)
{
	struct bench *d = *state;

	bench_must(d, &d->team, "POST", PODS,
		   "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': 'one'}, 'spec':"
		   " {'workloadRef': {'name': 'w', 'podGroup': 'workers'}, "
		   "'containers': [{'name': 'c'}]}}");
	bench_must(d, &d->team, "PATCH", PODS "/one/status",
		   "{'status': {'phase': 'Pending', 'conditions': [{'type': 'PodScheduled',"
		   " 'status': 'False', 'reason': 'Unschedulable'}]}}");
	bench_run(d, SOON_MS);
	assert_string_equal(seen(d, "one"),
			    "waits: this cluster does not serve workloads.scheduling.k8s.io in a "
			    "version that drover supports");
}

#define T(test) cmocka_unit_test_setup_teardown(test, bench_setup_fleet, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_says_of_which_gang_it_is),
		cmocka_unit_test(a_group_says_its_size),
		cmocka_unit_test(a_workload_says_the_size_of_each_pod_group),
		T(nobody_asks_for_groups_where_no_pod_waits_for_one),
		T(a_kind_that_is_not_served_is_named),
		T(a_pod_follows_its_group),
		T(a_pod_of_a_workload_is_told_that_it_is_not_served),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
