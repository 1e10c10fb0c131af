/* Tests `drover why` in a tenant's cluster, with a client on the simulated loop. */
#include "tests/unit/cli/verb.h"
#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/verbs.h"
#include "cli/why_tenant.h"

#define LIST "/api/v1/namespaces/drover-system/configmaps"
#define PODS "/api/v1/namespaces/default/pods"

static struct cli_client c;
static struct kube_client *tenant;
static char *said;
static size_t said_len;

static int setup(void **state)
{
	struct kube_client_spec spec = {.name = "tenant"};
	struct bench *d;
	struct err e;

	bench_setup(state);
	d = *state;

	const char *text = bench_kubeconfig(d, BENCH_TEAM, "");
	OWN(kube_config)
	config = kube_config_parse(text, strlen(text), KUBE_CONFIG_TENANT, NULL, NULL, &e);

	assert_non_null(config);
	spec.config = config;
	tenant = kube_client_new(d->g, d->c.http, &spec, &e);
	c = (struct cli_client){.verb = "drover why",
				.loop = d->l,
				.group = d->g,
				.http = d->c.http,
				.host = tenant,
				.out = open_memstream(&said, &said_len)};
	return 0;
}

static int teardown(void **state)
{
	kube_client_free(tenant);
	fclose(c.out);
	free(said);
	return bench_teardown(state);
}

static void assert_said(const char *what)
{
	fflush(c.out);
	if (!strstr(said, what))
		fail_msg("want '%s' in: %s", what, said);
}

static void assert_unsaid(const char *what)
{
	fflush(c.out);
	if (strstr(said, what))
		fail_msg("'%s' is in: %s", what, said);
}

/* Stores drover's list, 12 s old, with this pod in it, in the tenant's cluster. */
static void list(struct bench *d, const char *pods, const char *more)
{
	char time[STR_TIME_SIZE];
	OWN_JSON o = bench_json(arena_printf(
		d->a,
		"{'tenant': 'team-a', 'total': 1, 'queueLength': 17, 'quota': {'nvidia.com/gpu': "
		"'64'}, 'allocated': {'nvidia.com/gpu': '56'}, 'time': '%s', 'pods': [%s]%s}",
		str_time(time, loop_wall(d->l) - 12000), pods, more));
	char *text = json_text(o);
	OWN_JSON map = json_pack("{s:{s:s}, s:{s:s}}", "metadata", "name", "drover-queue", "data",
				 "queue.json", text);
	char *body = json_text(map);

	bench_must(d, &d->team, "POST", "/api/v1/namespaces",
		   "{'metadata': {'name': 'drover-system'}}");
	bench_must(d, &d->team, "POST", LIST, body);
	free(text);
	free(body);
}

#define WAITS                                                                                      \
	"{'pod': 'default/train-0', 'place': 4, 'reason': 'NoCapacity', 'message': 'pool h100: 4 " \
	"machines fit, all taken', 'since': '2025-11-24T16:00:00Z', 'expectedP50': "               \
	"'2090-01-01T00:00:00Z', 'expectedP90': '2090-01-01T01:00:00Z'}"

static void pod(struct bench *d, const char *name, const char *spec)
{
	bench_must(d, &d->team, "POST", PODS,
		   arena_printf(d->a,
				"{'metadata': {'name': '%s'}, 'spec': {%s}, 'status': "
				"{'phase': 'Pending'}}",
				name, spec));
}

static void a_pod_has_its_place_times_reason_quota_and_what_helps(void **state)
{
	struct bench *d = *state;

	list(d, WAITS, "");
	pod(d, "train-0", "");
	assert_int_equal(cli_do_why_here(&c, "train-0", NULL, "default", NULL), 0);
	assert_said("pod          default/train-0\n");
	assert_said("place        4 of 17 in the queue of all tenants\n");
	assert_said("reason       NoCapacity\n");
	assert_said("             pool h100: 4 machines fit, all taken\n");
	assert_said("(half of such pods), in ");
	assert_said("quota        nvidia.com/gpu: 56 of 64 used\n");
	assert_said("what helps   wait; a pod that requests fewer GPUs");
	assert_said("as of        12s ago\n");
	assert_unsaid("note");
}

static void a_pod_is_named_as_kubectl_names_it(void **state)
{
	static const char *const names[] = {"default/train-0", "pod/train-0",
					    "pods/default/train-0", "team-a/default/train-0"};
	struct bench *d = *state;

	list(d, WAITS, "");
	pod(d, "train-0", "");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(cli_do_why_here(&c, names[i], NULL, "default", NULL), 0);
	assert_int_equal(cli_do_why_here(&c, "train-0", "default", "other", NULL), 0);
	verb_errors_begin();
	assert_int_equal(cli_do_why_here(&c, "train-0", NULL, "other", NULL), 1);
	verb_errors_end("pod other/train-0: ");
	verb_errors_begin();
	assert_int_equal(cli_do_why_here(&c, "team-b/default/train-0", NULL, "default", NULL), 1);
	verb_errors_end("this cluster is tenant team-a, not team-b");
	verb_errors_begin();
	assert_int_equal(cli_do_why_here(&c, "../train-0?x=y", NULL, "default", NULL), 1);
	verb_errors_end("want POD or NAMESPACE/POD");
}

static void a_pod_that_is_not_listed_says_what_it_waits_for(void **state)
{
	struct bench *d = *state;

	list(d, "", "");
	pod(d, "new", "");
	pod(d, "runs", "'nodeName': 'n-1'");
	assert_int_equal(cli_do_why_here(&c, "new", NULL, "default", NULL), 0);
	assert_said("waits for    kube-scheduler, or drover's next plan");
	assert_int_equal(cli_do_why_here(&c, "runs", NULL, "default", NULL), 0);
	assert_said("node         n-1\n");
}

static void without_a_name_all_waiting_pods_are_listed(void **state)
{
	struct bench *d = *state;

	list(d, WAITS, ", 'left': 3");
	assert_int_equal(cli_do_why_here(&c, NULL, NULL, "default", NULL), 0);
	assert_said("waits        default/train-0  NoCapacity, place 4\n");
	assert_said("and 3 more\n");
	assert_said("quota        nvidia.com/gpu: 56 of 64 used\n");
}

static void programs_read_json(void **state)
{
	struct bench *d = *state;
	OWN_JSON j = NULL;
	struct err e;

	list(d, WAITS, "");
	pod(d, "train-0", "");
	c.json = true;
	assert_int_equal(cli_do_why_here(&c, "train-0", NULL, "default", NULL), 0);
	fflush(c.out);
	j = json_parse(said, said_len, &e);
	assert_int_equal(json_int_at(j, "waiting", "place"), 4);
	assert_string_equal(json_str_at(j, "quota", "nvidia.com/gpu"), "64");
	assert_non_null(json_str_at(j, "helps"));
}

static void a_list_that_is_old_or_missing_or_broken_is_named(void **state)
{
	struct bench *d = *state;

	verb_errors_begin();
	assert_int_equal(cli_do_why_here(&c, "train-0", NULL, "default", NULL), 1);
	verb_errors_end("no ConfigMap drover-system/drover-queue: use the kubeconfig of");
	list(d, WAITS, "");
	bench_must(d, &d->team, "PATCH", LIST "/drover-queue",
		   "{'data': {'queue.json': '{\\\"time\\\": \\\"2020-01-01T00:00:00Z\\\"}'}}");
	assert_int_equal(cli_do_why_here(&c, NULL, NULL, "default", NULL), 0);
	assert_said("note         drover has not updated this list for more than 10 min");
	bench_must(d, &d->team, "PATCH", LIST "/drover-queue", "{'data': {'queue.json': 'x'}}");
	verb_errors_begin();
	assert_int_equal(cli_do_why_here(&c, NULL, NULL, "default", NULL), 1);
	verb_errors_end("ConfigMap drover-system/drover-queue: ");
	bench_must(d, &d->team, "PATCH", LIST "/drover-queue", "{'data': {'queue.json': null}}");
	verb_errors_begin();
	assert_int_equal(cli_do_why_here(&c, NULL, NULL, "default", NULL), 1);
	verb_errors_end("has no key queue.json");
}

static void a_user_without_the_right_learns_who_can_give_it(void **state)
{
	struct bench *d = *state;

	d->team.denied_at = "configmaps";
	verb_errors_begin();
	assert_int_equal(cli_do_why_here(&c, NULL, NULL, "default", NULL), 1);
	verb_errors_end("deploy/tenant-rbac.yaml");
}

static void texts_of_others_reach_the_terminal_clean(void **state)
{
	struct bench *d = *state;

	list(d, "{'pod': 'default/train-0', 'reason': 'R', 'message': 'a\\u001b[2Jb'}", "");
	pod(d, "train-0", "");
	assert_int_equal(cli_do_why_here(&c, "train-0", NULL, "default", NULL), 0);
	assert_said("a?[2Jb\n");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_pod_has_its_place_times_reason_quota_and_what_helps),
		T(a_pod_is_named_as_kubectl_names_it),
		T(a_pod_that_is_not_listed_says_what_it_waits_for),
		T(without_a_name_all_waiting_pods_are_listed),
		T(programs_read_json),
		T(a_list_that_is_old_or_missing_or_broken_is_named),
		T(a_user_without_the_right_learns_who_can_give_it),
		T(texts_of_others_reach_the_terminal_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
