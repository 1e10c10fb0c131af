/* Tests what `drover tenant import` prints for the vClusters of a host cluster, on the simulated
 * loop. */
#include "tests/unit/cli/verb.h"
#include "tests/unit/controller/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/yaml.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/verbs.h"

static struct cli_client c;
static char *said;
static size_t said_len;

static int setup(void **state)
{
	struct bench *d;

	bench_setup(state);
	d = *state;
	c = (struct cli_client){.verb = "drover tenant",
				.loop = d->l,
				.group = d->g,
				.host = d->c.host,
				.out = open_memstream(&said, &said_len)};
	return 0;
}

static int teardown(void **state)
{
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

/* Creates the Services of a vCluster as its chart does. more: further labels of the first
 * Service. */
static void vcluster(struct bench *d, const char *ns, const char *name, const char *more)
{
	const char *path = arena_printf(d->a, "/api/v1/namespaces/%s/services", ns);

	(void)bench_do(
		d, &d->host, "POST", "/api/v1/namespaces",
		arena_printf(
			d->a,
			"{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': '%s'}}",
			ns));
	bench_must(d, &d->host, "POST", path,
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Service', "
				"'metadata': {'name': '%s', 'labels': {'app': "
				"'vcluster', 'release': '%s'%s}}, "
				"'spec': {'clusterIP': '10.96.3.4', 'ports': [{'name': "
				"'kubelet', 'port': 10250}, {'name': 'https', 'port': 443}]}}",
				name, name, more));
	bench_must(d, &d->host, "POST", path,
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Service', "
				"'metadata': {'name': '%s-headless', 'labels': "
				"{'app': 'vcluster', 'release': '%s'}}, "
				"'spec': {'clusterIP': 'None', 'ports': "
				"[{'name': 'https', 'port': 443}]}}",
				name, name));
}

static int import(const char *of, const char *quota)
{
	return cli_do_import(&c, &(struct cli_import){.of = of, .quota = quota, .ns = BENCH_NS});
}

/* Returns the documents that the command printed as an array, which the caller owns. */
static json_t *printed(void)
{
	struct err e;
	json_t *all;

	fflush(c.out);
	all = yaml_parse_all(said, said_len, &e);
	if (!all)
		fail_msg("%s: %s", e.text, said);
	return all;
}

static const json_t *of_kind(const json_t *all, const char *kind)
{
	size_t i;
	json_t *v;

	json_array_foreach (all, i, v)
		if (str_eq(json_str_at(v, "kind"), kind))
			return v;
	fail_msg("no %s in: %s", kind, said);
	return NULL;
}

static void a_vcluster_becomes_a_tenant_with_a_right_to_one_secret(void **state)
{
	struct bench *d = *state;
	OWN(arena) a = arena_new();
	OWN_JSON all = NULL;
	const json_t *o, *rule;
	const struct virtual_cluster *vc;
	struct err e;
	void *out;

	vcluster(d, "vc-team-x", "team-x", "");
	bench_must(
		d, &d->host, "POST", "/apis/apps/v1/namespaces/vc-team-x/statefulsets",
		"{'apiVersion': 'apps/v1', 'kind': 'StatefulSet', 'metadata': {'name': 'team-x'}, "
		"'spec': {'serviceName': 'team-x-headless', 'selector': {'matchLabels': {'app': "
		"'vcluster'}}, 'template': {'metadata': {'labels': {'app': 'vcluster'}}, 'spec': "
		"{'containers': [{'name': 'syncer', 'image': 'x'}]}}}}");
	d->host.denied_at = "/secrets";
	assert_int_equal(import(NULL, "64"), 0);
	assert_int_equal(d->host.denials, 0);
	all = printed();
	assert_int_equal(json_array_size(all), 3);
	o = of_kind(all, "VirtualCluster");
	assert_int_equal(object_decode(&object_kinds[OBJECT_VIRTUAL_CLUSTER], o, a, &out, &e), 0);
	assert_int_equal(object_check(&object_kinds[OBJECT_VIRTUAL_CLUSTER], out, NULL, &e), 0);
	vc = out;
	assert_string_equal(vc->meta.name, "team-x");
	assert_string_equal(vc->spec.kubeconfig_secret_ref.namespace, "vc-team-x");
	assert_string_equal(vc->spec.kubeconfig_secret_ref.name, "vc-team-x");
	assert_string_equal(vc->spec.server, "https://10.96.3.4:443");
	assert_null(vc->spec.join_endpoint);
	assert_int_equal(vc->spec.control_plane->kind, CONTROL_PLANE_STATEFUL_SET);
	assert_string_equal(json_str_at(o, "spec", "quota", "nvidia.com/gpu"), "64");
	o = of_kind(all, "Role");
	assert_string_equal(json_str_at(o, "metadata", "namespace"), "vc-team-x");
	rule = json_array_get(json_at(o, "rules"), 0);
	assert_string_equal(json_string_value(json_array_get(json_at(rule, "resourceNames"), 0)),
			    "vc-team-x");
	rule = json_array_get(json_at(o, "rules"), 1);
	assert_string_equal(json_string_value(json_array_get(json_at(rule, "resources"), 0)),
			    "statefulsets");
	o = json_array_get(json_at(of_kind(all, "RoleBinding"), "subjects"), 0);
	assert_string_equal(json_str_at(o, "namespace"), BENCH_NS);
}

static void an_address_outside_is_where_nodes_join(void **state)
{
	struct bench *d = *state;

	vcluster(d, "vc-team-x", "team-x", "");
	bench_must(d, &d->host, "PATCH", "/api/v1/namespaces/vc-team-x/services/team-x/status",
		   "{'status': {'loadBalancer': {'ingress': [{'ip': 'fd00::7'}]}}}");
	assert_int_equal(import("team-x", NULL), 0);
	assert_said("joinEndpoint: \"[fd00::7]:443\"\n");
	assert_said("# vCluster vc-team-x/team-x becomes tenant team-x\n"
		    "#   quota: 0 GPUs; set another number with --quota\n"
		    "#   controlPlane: found no StatefulSet or Deployment of this name");
	assert_said("nvidia.com/gpu: \"0\"");
}

static void who_is_a_tenant_already_is_left_out(void **state)
{
	struct bench *d = *state;

	bench_fleet(d);
	bench_must(d, &d->host, "PATCH", "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a",
		   "{'spec': {'kubeconfigSecretRef': {'namespace': 'ns-1', 'name': 'vc-team-a'}}}");
	vcluster(d, "ns-1", "team-a", "");
	vcluster(d, "ns-2", "team-a", "");
	assert_int_equal(import(NULL, NULL), 0);
	assert_said("# vCluster ns-1/team-a is already tenant team-a\n");
	assert_said("# vCluster ns-2/team-a becomes tenant ns-2-team-a\n");
	fflush(c.out);
	assert_null(strstr(said, "namespace: ns-1"));
}

/* A Service that a tenant creates in its vCluster is synced to the vCluster's namespace in the host
 * cluster. drover must not mistake this Service for another vCluster. */
static void a_service_of_a_tenants_is_no_vcluster(void **state)
{
	struct bench *d = *state;

	vcluster(d, "ns-1", "evil", ", 'vcluster.loft.sh/managed-by': 'team-a'");
	verb_errors_begin();
	assert_int_equal(import(NULL, NULL), 1);
	verb_errors_end("found no vCluster in this cluster");
}

static void one_is_chosen_by_name_or_place(void **state)
{
	struct bench *d = *state;

	vcluster(d, "ns-1", "a", "");
	vcluster(d, "ns-2", "a", "");
	c.json = true;
	assert_int_equal(import("ns-2/a", NULL), 0);
	assert_said("\"namespace\": \"ns-2\"");
	fflush(c.out);
	assert_null(strstr(said, "ns-1"));
	verb_errors_begin();
	assert_int_equal(import("ns-3/a", NULL), 1);
	verb_errors_end("found no vCluster ns-3/a in this cluster");
	d->host.denied_at = "/services";
	verb_errors_begin();
	assert_int_equal(import("a", NULL), 1);
	verb_errors_end("to need it in one namespace only, give NAMESPACE/NAME");
}

static void a_wrong_command_line_is_refused_by_name(void **state)
{
	static const struct {
		const char *args[5], *said;
	} lines[] = {
		{{NULL}, "want import"},
		{{"export", NULL}, "unknown subcommand 'export': want import"},
		{{"import", "a", "b", NULL}, "give at most one vCluster"},
		{{"import", "-n", "a/b", NULL},
		 "--namespace: want the name of a namespace, got 'a/b'"},
		{{"import", "--quota", "many", NULL}, "want a number of GPUs, got 'many'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		assert_int_equal(verb_run("drover tenant", cli_tenant, NULL, lines[i].args), 2);
		verb_assert_said(lines[i].said);
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_vcluster_becomes_a_tenant_with_a_right_to_one_secret),
		T(an_address_outside_is_where_nodes_join),
		T(who_is_a_tenant_already_is_left_out),
		T(a_service_of_a_tenants_is_no_vcluster),
		T(one_is_chosen_by_name_or_place),
		cmocka_unit_test(a_wrong_command_line_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
