/* Tests how `drover cost` shows the bills of deleted tenants, with an embedded API server. */
#include "tests/unit/testing.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "controller/rules/kept_bills.h"
#include "kube/config.h"
#include "tests/unit/cli/program.h"
#include "tests/unit/cli/verb.h"

#define NS "/api/v1/namespaces/drover-system"
#define TENANTS "/apis/drover.dev/v1alpha1/virtualclusters"
#define COST(r, ...)                                                                               \
	verb_run("drover cost", cli_cost, NULL,                                                    \
		 (const char *const[]){"-k", (r)->kubeconfig, "-o", "csv", __VA_ARGS__, NULL})

struct rig {
	struct program api;
	struct kube_config *host;
	char folder[64], kubeconfig[96];
};

static void post(struct rig *r, const char *path, json_t *body)
{
	char *text = json_text(body);
	struct program_call call = {.url = r->host->server,
				    .ca_pem = r->host->ca_pem,
				    .bearer = secret_expose(r->host->token),
				    .method = "POST",
				    .path = path,
				    .body = text};

	if (program_ask(&call) != 201)
		fail_msg("%s: %s", path, program_text);
	json_decref(body);
	free(text);
}

static int setup(void **state)
{
	struct rig *r = mem_new(struct rig);
	OWN_JSON crds = NULL;
	struct err e;
	json_t *crd;
	size_t i;

	*state = r;
	program_folder(r->folder);
	str_format(r->kubeconfig, sizeof(r->kubeconfig), "%s/host.conf", r->folder);
	program_start(&r->api, "drover apiserver", cli_apiserver,
		      (const char *const[]){"--listen", "127.0.0.1:0", "--kubeconfig-out",
					    r->kubeconfig, NULL});
	program_await(&r->api, "kubectl ");
	r->host = kube_config_load(r->kubeconfig, NULL, &e);
	assert_non_null(r->host);
	post(r, "/api/v1/namespaces", json_pack("{s:{s:s}}", "metadata", "name", "drover-system"));
	assert_int_equal(verb_run("drover crds", cli_crds, NULL, (const char *const[]){NULL}), 0);
	crds = yaml_parse_all(verb_said, strlen(verb_said), &e);
	json_array_foreach (crds, i, crd)
		post(r, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		     json_incref(crd));
	return 0;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	program_end(&r->api, SIGTERM);
	kube_config_free(r->host);
	program_folder_done(r->folder);
	free(r);
	return 0;
}

/* Creates a VirtualCluster and returns the UID that the API server gave it; the caller frees it. */
static char *standing(struct rig *r, const char *name)
{
	OWN_JSON got = NULL;
	struct err e;

	post(r, TENANTS,
	     json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:s, s:s, s:s}, s:s, s:s, s:{s:s}}}",
		       "apiVersion", "drover.dev/v1alpha1", "kind", "VirtualCluster", "metadata",
		       "name", name, "spec", "kubeconfigSecretRef", "namespace", "vc", "name", "vc",
		       "key", "config", "server", "https://1.2.3.4:443", "joinEndpoint",
		       "1.2.3.4:443", "quota", "nvidia.com/gpu", "8"));
	got = yaml_parse(program_text, strlen(program_text), &e);
	return mem_strdup(json_str_at(got, "metadata", "uid"));
}

static void keep(struct rig *r, const char *uid, const char *name, int64_t seconds)
{
	OWN(arena) a = arena_new();
	struct virtual_cluster_charge x = {.month = "2026-11",
					   .pool = "gpus",
					   .provider = "rack",
					   .instance_type = "h100",
					   .phase = PHASE_READY,
					   .price_per_hour = -1,
					   .gpus = 8,
					   .seconds = seconds};
	struct virtual_cluster_cost cost = {.charges = {.v = &x, .n = 1}};
	struct virtual_cluster vc = {.meta = {.name = (char *)name, .uid = (char *)uid},
				     .status.cost = &cost};
	char map[KEPT_BILLS_NAME];
	size_t dropped;

	assert_true(str_to_time("2026-11-20T12:00:00Z", &cost.time));
	kept_bills_name(kept_bills_of(uid), map);
	post(r, NS "/configmaps",
	     json_pack("{s:s, s:s, s:{s:s}, s:o}", "apiVersion", "v1", "kind", "ConfigMap",
		       "metadata", "name", map, "data",
		       kept_bills_patch(NULL, &vc, cost.time, a, &dropped)));
}

/* A VirtualCluster that still exists counts once, although its bill is already saved. Both exist if
 * a leader died between saving the bill and removing the finalizer. */
static void a_tenant_that_is_gone_is_on_the_bill_once(void **state)
{
	struct rig *r = *state;
	char *uid = standing(r, "team-b");
	const char *gone = "00000000-0000-4000-8000-000000000001";

	keep(r, gone, "team-a", 7200);
	if (kept_bills_of(uid) != kept_bills_of(gone))
		keep(r, uid, "team-b", 3600);
	if (COST(r, "--month", "2026-11"))
		fail_msg("%s", verb_said);
	verb_assert_said("team-a,2026-11,gpus,rack,h100,Ready,2.00,16.00,,,\r\n");
	assert_null(strstr(verb_said, "team-b"));
	assert_int_equal(COST(r, "--tenant", "team-a"), 0);
	verb_assert_said("team-a,2026-11,gpus,rack,h100,Ready,2.00,");
	assert_int_equal(COST(r, "--tenant", "team-c"), 1);
	verb_assert_said("there is no VirtualCluster team-c, and no bill of a deleted "
			 "VirtualCluster of that name");
	free(uid);
}

static void keep_text(struct rig *r, int map, const char *uid, const char *text)
{
	char name[KEPT_BILLS_NAME];

	kept_bills_name(map, name);
	post(r, NS "/configmaps",
	     json_pack("{s:s, s:s, s:{s:s}, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
		       "metadata", "name", name, "data", uid, text));
}

/* An unreadable charge or bill is named, everything else is shown, and the exit status is 1. */
static void what_cannot_be_read_is_named_and_the_rest_is_shown(void **state)
{
	struct rig *r = *state;
	const char *gone = "00000000-0000-4000-8000-000000000001";
	const int map = kept_bills_of(gone);

	keep(r, gone, "team-a", 7200);
	keep_text(r, (map + 1) % KEPT_BILLS, "u-broken", "{\"metadata\":{}}");
	keep_text(r, (map + 2) % KEPT_BILLS, "u-part",
		  "{\"metadata\":{\"name\":\"team-d\"},\"status\":{\"cost\":{"
		  "\"time\":\"2026-11-20T12:00:00Z\",\"charges\":["
		  "{\"month\":\"2026-11\",\"pool\":\"gpus\",\"provider\":\"rack\","
		  "\"instanceType\":\"h100\",\"phase\":\"Ready\",\"gpus\":8,\"seconds\":3600},"
		  "{\"month\":\"2026-11\",\"pool\":\"gpus\",\"provider\":\"rack\","
		  "\"instanceType\":\"h100\",\"phase\":\"Ready\",\"gpus\":\"eight\","
		  "\"seconds\":3600}]}}}");
	assert_int_equal(COST(r, "--month", "2026-11"), 1);
	verb_assert_said("team-a,2026-11,gpus,rack,h100,Ready,2.00,16.00,,,\r\n");
	verb_assert_said("team-d,2026-11,gpus,rack,h100,Ready,1.00,8.00,,,\r\n");
	verb_assert_said("key u-broken: the bill cannot be read and is left out: not a bill");
	verb_assert_said("key u-part: the bill is incomplete, because a part cannot be read: "
			 "status.cost.charges[1].gpus: ");
}

#define PROVIDERS "/apis/drover.dev/v1alpha1/providers"
#define PRICES(r, ...)                                                                             \
	verb_run(                                                                                  \
		"drover cost", cli_cost, NULL,                                                     \
		(const char *const[]){"-k", (r)->kubeconfig, "-o", "opencost", __VA_ARGS__, NULL})

/* Creates a Provider with one instance type at this price per hour; NULL: without a price. */
static void sell(struct rig *r, const char *name, const char *price)
{
	static const char text[] =
		"{apiVersion: drover.dev/v1alpha1, kind: Provider, spec: {type: redfish, "
		"credentialsSecretRef: {name: bmc}, boot: {mediaURL: 'http://10.0.8.2:8080'}, "
		"agent: {endpoint: 'https://10.1.0.5:8443'}, network: {type: none}, "
		"instanceTypes: [{name: h100, match: {pci: [{id: '10de:2330', count: 8}]}, "
		"labels: {nvidia.com/gpu.product: H100}, "
		"capacity: {cpu: '192', memory: 2Ti, nvidia.com/gpu: '8', pods: '110'}}]}}";
	struct err e;
	json_t *provider = yaml_parse(text, strlen(text), &e);
	json_t *type = json_array_get(json_at(provider, "spec", "instanceTypes"), 0);

	json_object_set_new(provider, "metadata", json_pack("{s:s}", "name", name));
	if (price) {
		json_object_set_new(type, "pricePerHour", json_string(price));
		json_object_set_new(type, "currency", json_string("EUR"));
	}
	post(r, PROVIDERS, provider);
}

static void opencost_shows_the_price_of_one_instance_type_alone(void **state)
{
	struct rig *r = *state;

	sell(r, "hall-a", NULL);
	assert_int_equal(PRICES(r, NULL), 1);
	verb_assert_said("no instance type has a price; set pricePerHour");
	assert_int_equal(PRICES(r, "--instance-type", "b200"), 1);
	verb_assert_said("no Provider has instance type b200");
	assert_int_equal(PRICES(r, "--instance-type", "h100"), 1);
	verb_assert_said("instance type h100 of Provider hall-a has no pricePerHour");
	sell(r, "hall-b", "6.50");
	assert_int_equal(PRICES(r, NULL), 0);
	sell(r, "hall-c", "7.00");
	assert_int_equal(PRICES(r, NULL), 1);
	verb_assert_said("2 instance types have a price; select one with --instance-type");
	assert_int_equal(PRICES(r, "--instance-type", "h100"), 1);
	verb_assert_said("3 Providers have instance type h100");
}

static void a_comparison_reads_providers_and_machines(void **state)
{
	struct rig *r = *state;

	sell(r, "rack", "6.40");
	post(r, "/apis/drover.dev/v1alpha1/machines",
	     json_pack("{s:s, s:s, s:{s:s}, s:{s:{s:s}, s:s}}", "apiVersion", "drover.dev/v1alpha1",
		       "kind", "Machine", "metadata", "name", "m-1", "spec", "providerRef", "name",
		       "rack", "instanceType", "h100"));
	keep(r, "00000000-0000-4000-8000-000000000001", "team-a", 72 * 3600);
	assert_int_equal(verb_run("drover cost", cli_cost, NULL,
				  (const char *const[]){"-k", r->kubeconfig, "--compare", "--month",
							"2026-11", NULL}),
			 0);
	/* 72 of 720 hours of 8 GPUs; the hours themselves have no price */
	verb_assert_said("H100                 EUR       576.0           0.00         460.80");
	verb_assert_said("10 %\n");
	assert_int_equal(COST(r, "--compare"), 2);
	verb_assert_said("--compare: --output is table or json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_named_and_the_rest_is_shown,
						setup, teardown),
		cmocka_unit_test_setup_teardown(opencost_shows_the_price_of_one_instance_type_alone,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_tenant_that_is_gone_is_on_the_bill_once, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_comparison_reads_providers_and_machines, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
