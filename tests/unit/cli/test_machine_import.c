/* Tests what `drover machine import` prints for the BareMetalHosts of a cluster, on the simulated
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
	c = (struct cli_client){.verb = "drover machine",
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

static void metal3(struct bench *d)
{
	bench_must(d, &d->host, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		   "{'apiVersion': 'apiextensions.k8s.io/v1', 'kind': 'CustomResourceDefinition', "
		   "'metadata': {'name': 'baremetalhosts.metal3.io'}, 'spec': {'group': "
		   "'metal3.io', 'scope': 'Namespaced', 'names': {'kind': 'BareMetalHost', "
		   "'listKind': 'BareMetalHostList', 'plural': 'baremetalhosts', 'singular': "
		   "'baremetalhost'}, 'versions': [{'name': 'v1alpha1', 'served': true, 'storage': "
		   "true, 'schema': {'openAPIV3Schema': {'type': 'object', "
		   "'x-kubernetes-preserve-unknown-fields': true}}}]}}");
}

static void host(struct bench *d, const char *ns, const char *name, const char *address)
{
	(void)bench_do(
		d, &d->host, "POST", "/api/v1/namespaces",
		arena_printf(
			d->a,
			"{'apiVersion': 'v1', 'kind': 'Namespace', 'metadata': {'name': '%s'}}",
			ns));
	bench_must(d, &d->host, "POST",
		   arena_printf(d->a, "/apis/metal3.io/v1alpha1/namespaces/%s/baremetalhosts", ns),
		   arena_printf(d->a,
				"{'apiVersion': 'metal3.io/v1alpha1', 'kind': 'BareMetalHost', "
				"'metadata': {'name': '%s'}, 'spec': {'bmc': {'address': '%s', "
				"'credentialsName': '%s-bmc'}, 'bootMACAddress': "
				"'80:c1:6e:7a:e8:10'}}",
				name, address, name));
}

static int import(const char *of)
{
	return cli_do_import_hosts(
		&c, &(struct cli_import_hosts){.of = of, .provider = "hall-a", .ns = BENCH_NS});
}

static void assert_said(const char *what)
{
	fflush(c.out);
	if (!strstr(said, what))
		fail_msg("want '%s' in: %s", what, said);
}

static void each_host_is_printed_as_a_machine_and_no_secret_is_read(void **state)
{
	struct bench *d = *state;
	struct err e;
	OWN_JSON all = NULL;

	metal3(d);
	host(d, "rack-2", "node-1", "redfish://10.0.8.18/redfish/v1/Systems/1");
	host(d, "rack-1", "node-0", "ipmi://10.0.8.17");
	host(d, "rack-1", "old", "irmc://10.0.8.19");
	d->host.denied_at = "/secrets";
	assert_int_equal(import(NULL), 0);
	assert_int_equal(d->host.denials, 0);
	fflush(c.out);
	all = yaml_parse_all(said, said_len, &e);
	assert_int_equal(json_array_size(all), 2);
	assert_string_equal(json_str_at(json_array_get(all, 0), "metadata", "name"), "node-0");
	assert_string_equal(json_str_at(json_array_get(all, 1), "spec", "bmc", "address"),
			    "https://10.0.8.18/redfish/v1/Systems/1");
	assert_said("# BareMetalHost rack-1/old becomes Machine old\n#   not imported: ");
	assert_said("copy Secret rack-2/node-1-bmc to " BENCH_NS "/node-1-bmc:");
	for (size_t i = 0; i < 2; i++) { /* The API server accepts what was printed. */
		char *text = json_text(json_array_get(all, i));

		bench_must(d, &d->host, "POST", "/apis/" OBJECT_API_VERSION "/machines", text);
		free(text);
	}
}

static void a_host_that_is_a_machine_is_not_printed_again(void **state)
{
	struct bench *d = *state;
	struct err e;
	OWN_JSON all = NULL;

	metal3(d);
	host(d, "rack-1", "node-0", "ipmi://10.0.8.17");
	host(d, "rack-1", "node-1", "ipmi://10.0.8.18");
	bench_put(d, "{'kind': 'Machine', 'metadata': {'name': 'gpu-1'}, 'spec': {'providerRef': "
		     "{'name': 'hall-a'}, 'bmc': {'address': 'ipmi://10.0.8.17'}}}");
	bench_put(d, "{'kind': 'Machine', 'metadata': {'name': 'node-1'}, 'spec': {'providerRef': "
		     "{'name': 'hall-a'}, 'bmc': {'address': 'ipmi://10.0.8.99'}}}");
	assert_int_equal(import(NULL), 0);
	assert_said("# BareMetalHost rack-1/node-0 is already Machine gpu-1\n# BareMetalHost "
		    "rack-1/node-1 becomes Machine rack-1-node-1\n");
	all = yaml_parse_all(said, said_len, &e);
	assert_int_equal(json_array_size(all), 1);
}

static void one_host_is_selected_by_name(void **state)
{
	struct bench *d = *state;
	OWN_JSON list = NULL;
	struct err e;

	metal3(d);
	host(d, "rack-1", "node-0", "ipmi://10.0.8.17");
	host(d, "rack-2", "node-0", "ipmi://10.0.8.18");
	host(d, "rack-2", "node-1", "ipmi://10.0.8.19");
	c.json = true;
	verb_errors_begin();
	assert_int_equal(import("rack-2/node-0"), 0);
	verb_errors_end("# BareMetalHost rack-2/node-0 becomes Machine node-0\n");
	fflush(c.out);
	list = json_parse(said, said_len, &e);
	assert_int_equal(json_array_size(json_at(list, "items")), 1);
	verb_errors_begin();
	assert_int_equal(import("node-7"), 1);
	verb_errors_end("found no BareMetalHost node-7 in this cluster");
}

static void a_cluster_without_metal3_is_an_error_that_says_so(void **state)
{
	(void)state;
	verb_errors_begin();
	assert_int_equal(import(NULL), 1);
	verb_errors_end("this cluster has no BareMetalHosts of Metal3: check --kubeconfig");
}

static void a_wrong_command_line_is_refused_by_name(void **state)
{
#define MACHINE(...)                                                                               \
	verb_run("drover machine", cli_machine_import, NULL,                                       \
		 (const char *const[]){__VA_ARGS__, NULL})
	(void)state;
	assert_int_equal(MACHINE("import"), 2);
	verb_assert_said("Give --provider");
	assert_int_equal(MACHINE("export"), 2);
	verb_assert_said("unknown subcommand 'export': want import");
	assert_int_equal(MACHINE("import", "a", "b", "--provider", "x"), 2);
	verb_assert_said("give at most one BareMetalHost");
	assert_int_equal(MACHINE("import", "--provider", "a b"), 2);
	verb_assert_said("want the name of a Provider");
	assert_int_equal(MACHINE("--provider", "x"), 2);
	verb_assert_said("missing subcommand");
	assert_int_equal(MACHINE("import", "--provider", "x"), 1);
	verb_assert_said("no cluster given");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(each_host_is_printed_as_a_machine_and_no_secret_is_read),
		T(a_host_that_is_a_machine_is_not_printed_again),
		T(one_host_is_selected_by_name),
		T(a_cluster_without_metal3_is_an_error_that_says_so),
		cmocka_unit_test(a_wrong_command_line_is_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
