/* Tests provisioning_requests: discovery of the ProvisioningRequest API, and the future pods in the
 * planner's world as requests are added and removed. */
#include "tests/unit/controller/bench.h"

#include "base/str.h"
#include "controller/tenant/provisioning_requests.h"

#define NS "/namespaces/default/"
#define CRDS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define REQUESTS_PATH "/apis/autoscaling.x-k8s.io/v1" NS "provisioningrequests"
#define TEMPLATES "/api/v1" NS "podtemplates"
#define PODS "/api/v1" NS "pods"
#define SOON_MS 3000
#define ASKED_MS 310000

static struct tenant *team(struct bench *d)
{
	return tenant_get(d->tenants, "team-a");
}

static void serve(struct bench *d)
{
	bench_must(d, &d->team, "POST", CRDS,
		   "{'metadata': {'name': 'provisioningrequests.autoscaling.x-k8s.io'}, 'spec': {"
		   "'group': 'autoscaling.x-k8s.io', 'scope': 'Namespaced', 'names': {"
		   "'plural': 'provisioningrequests', 'singular': 'provisioningrequest', 'kind':"
		   "'ProvisioningRequest', 'listKind': 'ProvisioningRequestList'}, 'versions': [{"
		   "'name': 'v1', 'served': true, 'storage': true, 'subresources': {'status': {}},"
		   "'schema': {'openAPIV3Schema': {'type': 'object',"
		   "'x-kubernetes-preserve-unknown-fields': true}}}]}}");
}

static void add_template(struct bench *d, const char *gpus)
{
	bench_must(
		d, &d->team, "POST", TEMPLATES,
		arena_printf(d->a,
			     "{'metadata': {'name': 'eight'}, 'template': {'spec': {'containers':"
			     " [{'name': 'c', 'resources': {'limits': {'nvidia.com/gpu': '%s'}}}],"
			     " 'tolerations': [{'key': 'nvidia.com/gpu', 'operator': 'Exists'}]}}}",
			     gpus));
}

static void ask(struct bench *d, const char *name, int count)
{
	bench_must(d, &d->team, "POST", REQUESTS_PATH,
		   arena_printf(
			   d->a,
			   "{'metadata': {'name': '%s'}, 'spec': {'provisioningClassName':"
			   " 'queued.drover.dev', 'podSets': [{'podTemplateRef': {'name': 'eight'},"
			   " 'count': %d}]}}",
			   name, count));
}

static void add_pod(struct bench *d, const char *name, const char *request)
{
	bench_must(
		d, &d->team, "POST", PODS,
		arena_printf(d->a,
			     "{'apiVersion': 'v1', 'kind': 'Pod', 'metadata': {'name': '%s',"
			     " 'annotations': {'autoscaling.x-k8s.io/consume-provisioning-request':"
			     " '%s'}}, 'spec': {'containers': [{'name': 'c'}]}}",
			     name, request));
	bench_must(d, &d->team, "PATCH", arena_printf(d->a, PODS "/%s/status", name),
		   "{'status': {'conditions': [{'type': 'PodScheduled', 'status': 'False',"
		   " 'reason': 'Unschedulable'}]}}");
}

static const struct world_pod *seen(struct bench *d, const char *name)
{
	return tenant_world_pod(team(d), "default", name, d->a);
}

/* Returns the request's conditions: "TYPE=STATUS REASON: MESSAGE", one after the other. */
static const char *told(struct bench *d, const char *name)
{
	json_t *o = bench_stored(&d->team, arena_printf(d->a, REQUEST_PLURAL "/default/%s", name)),
	       *c;
	const char *text = "";
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		text = arena_printf(d->a, "%s%s=%s %s: %s\n", text, json_str_at(c, "type"),
				    json_str_at(c, "status"), json_str_at(c, "reason"),
				    json_str_at(c, "message"));
	json_decref(o);
	return text;
}

static void where_they_are_not_served_nothing_is_read(void **state)
{
	struct bench *d = *state;

	d->team.denied_at = "/podtemplates";
	bench_run(d, ASKED_MS);
	assert_int_equal(d->team.denials, 0);
	assert_null(team(d)->reason);
	/* The pod names a request that does not exist, so it is an ordinary pod. */
	add_pod(d, "train-0", "train");
	bench_run(d, SOON_MS);
	assert_true(seen(d, "train-0")->unschedulable);
}

static void a_request_is_pods_to_come_once_its_template_is_there(void **state)
{
	struct bench *d = *state;
	const struct world_pod *p;

	serve(d);
	bench_run(d, ASKED_MS);
	ask(d, "train", 2);
	bench_run(d, SOON_MS);
	assert_null(seen(d, "train:0:0"));
	bench_run(d, 30000);
	assert_non_null(strstr(told(d, "train"), "Accepted=True"));
	assert_non_null(strstr(told(d, "train"), "Provisioned=False PodTemplateNotFound: "
						 "PodTemplate eight does not exist"));
	add_template(d, "8");
	bench_run(d, SOON_MS);
	p = seen(d, "train:0:1");
	assert_non_null(p);
	assert_string_equal(p->tenant, "team-a");
	assert_true(p->unschedulable);
	assert_int_equal(p->gang.min, 2);
	assert_int_equal(p->tolerations.n, 1);
	assert_int_equal(resources_get(&p->requests, "nvidia.com/gpu")->nano, quantity_of(8).nano);
	assert_null(seen(d, "train:0:2"));
	add_pod(d, "train-0", "train");
	add_pod(d, "other-0", "other");
	bench_run(d, SOON_MS);
	assert_false(seen(d, "train-0")->unschedulable);
	assert_true(seen(d, "other-0")->unschedulable);
	bench_must(d, &d->team, "DELETE", REQUESTS_PATH "/train", NULL);
	bench_run(d, SOON_MS);
	assert_null(seen(d, "train:0:1"));
	assert_true(seen(d, "train-0")->unschedulable);
}

static void what_may_not_be_read_is_as_if_it_were_not_there(void **state)
{
	struct bench *d = *state;

	serve(d);
	d->team.denied_at = "/provisioningrequests";
	bench_run(d, ASKED_MS);
	assert_true(d->team.denials > 0);
	assert_null(team(d)->reason); /* the tenant is usable */
	add_pod(d, "train-0", "train");
	bench_run(d, SOON_MS);
	assert_true(seen(d, "train-0")->unschedulable);
}

static void when_they_are_served_no_more_pods_to_come_go(void **state)
{
	struct bench *d = *state;

	serve(d);
	bench_run(d, ASKED_MS);
	add_template(d, "8");
	ask(d, "train", 2);
	bench_run(d, SOON_MS);
	assert_non_null(seen(d, "train:0:0"));
	bench_must(d, &d->team, "DELETE", CRDS "/provisioningrequests.autoscaling.x-k8s.io", NULL);
	bench_run(d, 60000);
	assert_null(seen(d, "train:0:0"));
	assert_null(team(d)->reason);
	serve(d);
	bench_run(d, ASKED_MS);
	ask(d, "train", 1);
	bench_run(d, SOON_MS);
	assert_non_null(seen(d, "train:0:0"));
}

static void one_cluster_has_so_many_pods_to_come_and_no_more(void **state)
{
	struct bench *d = *state;

	serve(d);
	bench_run(d, ASKED_MS);
	add_template(d, "8");
	ask(d, "a", 4096);
	ask(d, "b", 4096);
	bench_run(d, SOON_MS);
	ask(d, "c", 1);
	bench_run(d, 15000);
	assert_non_null(seen(d, "b:0:4095"));
	assert_null(seen(d, "c:0:0"));
	assert_non_null(strstr(told(d, "c"), "Provisioned=False OverBudget: "));
	bench_must(d, &d->team, "DELETE", REQUESTS_PATH "/a", NULL);
	bench_run(d, 15000);
	assert_non_null(seen(d, "c:0:0"));
}

/* Does nothing. The lease must be held, since only its holder writes. */
static void on_started(int64_t transitions, void *arg)
{
	(void)transitions;
	(void)arg;
}

static void on_stopped(void *arg)
{
	(void)arg;
}

static int setup(void **state)
{
	struct kube_lease_spec s = {.ns = BENCH_NS,
				    .name = "lead",
				    .identity = "bench",
				    .on_started = on_started,
				    .on_stopped = on_stopped};
	struct bench *d;

	bench_setup_fleet(state);
	d = *state;
	s.client = d->c.host;
	d->c.lease = kube_lease_new(d->g, &s);
	bench_run(d, 5000);
	return 0;
}

static int teardown(void **state)
{
	struct bench *d = *state;

	kube_lease_free(d->c.lease);
	d->c.lease = NULL;
	return bench_teardown(state);
}

#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(where_they_are_not_served_nothing_is_read),
		T(a_request_is_pods_to_come_once_its_template_is_there),
		T(what_may_not_be_read_is_as_if_it_were_not_there),
		T(when_they_are_served_no_more_pods_to_come_go),
		T(one_cluster_has_so_many_pods_to_come_and_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
