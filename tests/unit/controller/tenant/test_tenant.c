#include "tests/unit/controller/bench.h"

#include <stdlib.h>
#include "base/crypto.h"
#include "base/str.h"
#include "tests/data/pems.h"

static int setup(void **state)
{
	bench_setup(state);
	bench_tenants(*state);
	bench_fleet(*state);
	return 0;
}

static struct tenant *team(struct bench *d)
{
	struct tenant *t = tenant_get(d->tenants, "team-a");

	assert_non_null(t);
	return t;
}

static const char *condition(struct bench *d, const char *type)
{
	return bench_condition(d, OBJECT_VIRTUAL_CLUSTER, "team-a", type);
}

static const char *message(struct bench *d, const char *type)
{
	OWN_JSON o = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	json_t *c;
	size_t i;

	json_array_foreach (json_at(o, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), type))
			return arena_strdup(d->a, json_str_at(c, "message"));
	return "";
}

static void new_kubeconfig(struct bench *d, const char *text)
{
	bench_secret(d, "team-a", "config", text, NULL, NULL);
	bench_run(d, 40000);
}

static void put_node(struct bench *d, const char *name, const char *uuid)
{
	bench_must(d, &d->team, "POST", "/api/v1/nodes",
		   arena_printf(d->a,
				"{'apiVersion': 'v1', 'kind': 'Node', 'metadata': {'name': '%s'},"
				" 'status': {'nodeInfo': {'systemUUID': '%s'}}}",
				name, uuid));
}

static void a_tenant_whose_kubeconfig_works_is_usable(void **state)
{
	struct bench *d = *state;

	bench_run(d, 5000);
	assert_true(tenant_usable(team(d)));
	assert_string_equal(team(d)->version, "1.36");
	assert_true(str_starts(team(d)->ca_pem, "-----BEGIN CERTIFICATE-----"));
	assert_string_equal(condition(d, "KubeconfigAccepted"), "True Ok");
	assert_string_equal(condition(d, "Permitted"), "True Ok");
	assert_string_equal(condition(d, "Reachable"), "True Ok");
	assert_string_equal(condition(d, "Ready"), "True Ok");
	OWN_JSON vc = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	OWN_JSON ns = bench_stored(&d->team, "namespaces/kube-system");
	assert_string_equal(json_str_at(vc, "status", "clusterUID"),
			    json_str_at(ns, "metadata", "uid"));
	assert_string_equal(json_str_at(vc, "status", "version"), "1.36");
}

/* 500 tenants may start at the same time. Reporting the reason Syncing at once would cause a second
 * write for each. */
static void what_is_read_soon_is_not_said_to_be_read(void **state)
{
	struct bench *d = *state;

	for (int i = 0; i < 300; i++) {
		bench_run(d, 20);
		assert_string_not_equal(condition(d, "Ready"), "False Syncing");
	}
	assert_string_equal(condition(d, "Ready"), "True Ok");
	/* The tenant has a new kubeconfig, and its server does not answer: Syncing is reported
	 * after a while, before the request times out. */
	http_mem_hang(d->net, BENCH_TEAM, true);
	bench_secret(d, "team-a", "config", bench_kubeconfig(d, BENCH_TEAM, ""), NULL, NULL);
	for (int i = 0; i < 400 && !str_eq(condition(d, "Ready"), "False Syncing"); i++)
		bench_run(d, 100);
	assert_string_equal(condition(d, "Ready"), "False Syncing");
}

static unsigned closings;

static void on_closing(struct bench *d, const struct tenant *t)
{
	(void)d;
	(void)t;
	closings++;
}

/* Each closing looks at all machines, so 500 tenants that start must not cause one each. */
static void only_a_client_that_existed_is_closed(void **state)
{
	struct bench *d = *state;

	closings = 0;
	d->on_closing = on_closing;
	bench_tenants(d);
	bench_fleet(d);
	bench_run(d, 5000);
	assert_true(tenant_usable(team(d)));
	assert_int_equal(closings, 0);
	bench_secret(d, "team-a", "config", bench_kubeconfig(d, BENCH_TEAM, ""), NULL, NULL);
	bench_run(d, 60000);
	assert_int_equal(closings, 1);
	d->on_closing = NULL;
}

static const char *key_pair(struct bench *d, const char *key)
{
	char *cert64 = crypto_base64(PEMS_CERT, strlen(PEMS_CERT));
	char *key64 = crypto_base64(key, strlen(key));
	const char *text = arena_printf(
		d->a, ", 'client-certificate-data': '%s', 'client-key-data': '%s'", cert64, key64);

	free(cert64);
	free(key64);
	return text;
}

static void a_kubeconfig_that_could_turn_on_us_is_refused_with_the_field_named(void **state)
{
	struct bench *d = *state;
	const struct {
		const char *server, *more, *says;
	} cases[] = {
		{BENCH_TEAM, ", 'exec': {'command': '/bin/sh'}", "exec"},
		{BENCH_TEAM, ", 'tokenFile': '/var/run/secrets/token'", "tokenFile"},
		{"http://team-a.test:6443", "", "server"},
		{"https://127.0.0.1:6443", "", "server"},
		{"https://169.254.169.254", "", "server"},
		{BENCH_TEAM, key_pair(d, PEMS_KEY_SEC1_ENCRYPTED),
		 "users[0].user.client-key-data: is encrypted"},
		{BENCH_TEAM, key_pair(d, PEMS_KEY_ENCRYPTED),
		 "users[0].user.client-key-data: is encrypted"},
		{BENCH_TEAM, key_pair(d, PEMS_OTHER_KEY),
		 "users[0].user.client-key-data: is not the key of the certificate"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		new_kubeconfig(d, bench_kubeconfig(d, cases[i].server, cases[i].more));
		assert_false(tenant_usable(team(d)));
		assert_string_equal(condition(d, "KubeconfigAccepted"), "False KubeconfigRefused");
		assert_string_equal(condition(d, "Reachable"), "Unknown KubeconfigRefused");
		assert_string_equal(condition(d, "Ready"), "False KubeconfigRefused");
		if (!strstr(message(d, "KubeconfigAccepted"), cases[i].says))
			fail_msg("%s", message(d, "KubeconfigAccepted"));
		assert_null(team(d)->client);
		assert_null(strstr(message(d, "KubeconfigAccepted"), "bench-token"));
	}
	new_kubeconfig(d, "{");
	assert_string_equal(condition(d, "KubeconfigAccepted"), "False KubeconfigRefused");
	new_kubeconfig(d, bench_kubeconfig(d, BENCH_TEAM, ""));
	assert_true(tenant_usable(team(d)));
}

static void a_server_that_an_admin_wrote_stands_in_for_a_local_one(void **state)
{
	struct bench *d = *state;

	new_kubeconfig(d, bench_kubeconfig(d, "https://localhost:8443", ""));
	assert_false(tenant_usable(team(d)));
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'server': '" BENCH_TEAM "'}}");
	bench_run(d, 5000);
	assert_true(tenant_usable(team(d)));
}

static void a_secret_that_changed_with_its_spec_is_read_at_once(void **state)
{
	struct bench *d = *state;

	new_kubeconfig(d, "{}");
	assert_false(tenant_usable(team(d)));
	bench_secret(d, "team-a", "config", bench_kubeconfig(d, "https://localhost:8443", ""), NULL,
		     NULL);
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'spec': {'server': '" BENCH_TEAM "'}}");
	bench_run(d, 5000);
	assert_true(tenant_usable(team(d)));
}

static void an_absent_secret_or_key_is_said_and_comes_back(void **state)
{
	struct bench *d = *state;

	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    "{'spec': {'kubeconfigSecretRef': {'name': 'other'}}}");
	bench_run(d, 5000);
	assert_string_equal(condition(d, "KubeconfigAccepted"), "False KubeconfigAbsent");
	bench_secret(d, "other", "value", "x", NULL, NULL);
	bench_run(d, 5000);
	assert_string_equal(condition(d, "KubeconfigAccepted"), "False KubeconfigRefused");
	assert_string_equal(message(d, "Ready"), "Secret other has no key config");
	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    "{'spec': {'kubeconfigSecretRef': {'name': 'team-a'}}}");
	bench_run(d, 40000);
	assert_true(tenant_usable(team(d)));
}

static void forget_contact(json_t *vc)
{
	json_object_del(json_at(vc, "status"), "lastContactTime");
	json_object_del(json_at(vc, "metadata"), "resourceVersion");
}

static void what_is_known_of_a_tenant_outlives_its_secret(void **state)
{
	struct bench *d = *state;

	put_node(d, "n-1", "4C4C4544-0035-3410-8050-C6C04F314733");
	bench_run(d, 5000);
	assert_non_null(tenant_node_get(team(d), "n-1"));
	bench_must(d, &d->host, "DELETE", "/api/v1/namespaces/" BENCH_NS "/secrets/team-a", NULL);
	bench_run(d, 40000);
	OWN_JSON before = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	bench_run(d, 300000);
	/* drover still uses the previous kubeconfig and updates lastContactTime; the conditions
	 * stay the same. */
	OWN_JSON after = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	forget_contact(before);
	forget_contact(after);
	assert_true(json_equal(before, after));
	assert_false(tenant_usable(team(d)));
	assert_non_null(tenant_node_get(team(d), "n-1"));
	assert_string_equal(condition(d, "KubeconfigAccepted"), "False KubeconfigAbsent");
	bench_secret(d, "team-a", "config", bench_kubeconfig(d, BENCH_TEAM, ""), NULL, NULL);
	bench_run(d, 10000);
	assert_true(tenant_usable(team(d)));
}

static void an_api_that_is_away_is_not_a_tenant_that_is_gone(void **state)
{
	struct bench *d = *state;
	char node[80];

	put_node(d, "n-1", "4C4C4544-0035-3410-8050-C6C04F314733");
	bench_run(d, 5000);
	bench_away(d, &d->team, true);
	bench_run(d, 120000);
	assert_false(tenant_usable(team(d)));
	assert_string_equal(condition(d, "Reachable"), "False Unreachable");
	assert_string_equal(condition(d, "Permitted"), "True Ok");
	assert_non_null(tenant_node_get(team(d), "n-1"));
	assert_true(tenants_may_run(d->tenants, "4c4c4544-0035-3410-8050-c6c04f314733", NULL, node,
				    sizeof(node)));
	bench_away(d, &d->team, false);
	bench_run(d, 60000);
	assert_true(tenant_usable(team(d)));
	assert_string_equal(condition(d, "Ready"), "True Ok");
}

static void a_login_that_is_refused_is_said(void **state)
{
	struct bench *d = *state;

	bench_run(d, 5000);
	d->team.denied = true;
	bench_run(d, 120000);
	assert_false(tenant_usable(team(d)));
	assert_string_equal(condition(d, "Permitted"), "False NotPermitted");
	d->team.denied = false;
	bench_run(d, 120000);
	assert_true(tenant_usable(team(d)));
}

static void another_cluster_behind_the_same_name_stops_everything(void **state)
{
	struct bench *d = *state;

	put_node(d, "n-1", "4C4C4544-0035-3410-8050-C6C04F314733");
	bench_run(d, 5000);
	/* The status keeps the first UID; the kubeconfig now leads to a different cluster. */
	OWN_JSON vc = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	const char *uid = json_str_at(vc, "status", "clusterUID");
	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'clusterUID': 'the one before'}");
	bench_run(d, 120000);
	assert_false(tenant_usable(team(d)));
	assert_string_equal(condition(d, "Ready"), "False ClusterChanged");
	assert_string_equal(condition(d, "Reachable"), "True Ok");
	assert_non_null(strstr(message(d, "Ready"), uid));
	OWN_JSON after = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	assert_string_equal(json_str_at(after, "status", "clusterUID"), "the one before");
	/* Changes that arrive between two probes do not make the tenant usable again. */
	for (int i = 0; i < 10; i++) {
		put_node(d, arena_printf(d->a, "more-%d", i), "AAAA-2");
		bench_away(d, &d->team, true);
		bench_run(d, 4000);
		bench_away(d, &d->team, false);
		for (int k = 0; k < 15; k++) {
			bench_run(d, 1000);
			assert_false(tenant_usable(team(d)));
		}
	}
	bench_run(d, 120000);
	assert_string_equal(condition(d, "Ready"), "False ClusterChanged");
	/* An operator confirms that the new cluster is the tenant's. */
	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		     arena_printf(d->a, "{'clusterUID': '%s'}", uid));
	bench_run(d, 120000);
	assert_true(tenant_usable(team(d)));
}

static void a_cluster_that_does_not_say_who_it_is_is_not_used(void **state)
{
	struct bench *d = *state;
	struct store_change gone = {.key = "namespaces/kube-system", .if_rev = -1};

	/* Removes the Namespace kube-system from the store without a deletion event, as if the
	 * store had lost it. */
	assert_int_equal(store_commit(d->team.store, &gone, 1, NULL, NULL, NULL, &d->e), 0);
	bench_run(d, 120000);
	assert_false(tenant_usable(team(d)));
	assert_string_equal(condition(d, "Reachable"), "False Unreachable");
}

static void a_node_is_found_by_its_system_uuid_in_any_case_and_order(void **state)
{
	struct bench *d = *state;
	char out[80] = "";

	put_node(d, "n-1", "4C4C4544-0035-3410-8050-C6C04F314733");
	bench_run(d, 5000);
	assert_true(tenants_may_run(d->tenants, "4c4c4544-0035-3410-8050-c6c04f314733", NULL, out,
				    sizeof(out)));
	assert_string_equal(out, "team-a/n-1");
	assert_true(tenants_may_run(d->tenants, "44454c4c-3500-1034-8050-c6c04f314733", NULL, out,
				    sizeof(out)));
	assert_false(tenants_may_run(d->tenants, "4c4c4544-0035-3410-8050-c6c04f314734", NULL, out,
				     sizeof(out)));
	assert_false(tenants_may_run(d->tenants, "", NULL, out, sizeof(out)));
	put_node(d, "n-2", "03000200-0400-0500-0006-000700080009");
	bench_run(d, 5000);
	assert_true(tenants_may_run(d->tenants, "", NULL, out, sizeof(out)));
	assert_string_equal(out, "team-a/n-2");
}

static enum tenants_are unread(struct bench *d, char out[static 200])
{
	return tenants_unread(d->tenants, out, 200);
}

static void all_are_read_when_each_list_was_in_once(void **state)
{
	struct bench *d = *state;
	char out[200];

	assert_int_equal(unread(d, out), TENANTS_STARTING);
	bench_run(d, 5000);
	assert_int_equal(unread(d, out), TENANTS_READ);
	bench_away(d, &d->team, true);
	bench_run(d, 120000);
	/* The tenant was read once, so it still counts as read while it is unreachable. */
	assert_int_equal(unread(d, out), TENANTS_READ);
	new_kubeconfig(d, "{");
	assert_int_equal(unread(d, out), TENANTS_UNREAD);
	assert_true(str_starts(out, "team-a ("));
	bench_away(d, &d->team, false);
	new_kubeconfig(d, bench_kubeconfig(d, BENCH_TEAM, ""));
	assert_int_equal(unread(d, out), TENANTS_READ);
	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'clusterUID': 'the one before'}");
	bench_run(d, 120000);
	/* The clusterUID differs, so it is unknown whose Nodes these are. */
	assert_int_equal(unread(d, out), TENANTS_UNREAD);
}

static void one_that_this_version_cannot_read_is_unread(void **state)
{
	struct bench *d = *state;
	char out[200];

	bench_run(d, 5000);
	tenants_bad(d->tenants, "team-c");
	assert_int_equal(unread(d, out), TENANTS_UNREAD);
	assert_true(str_starts(out, "team-c ("));
	tenants_update(d->tenants, "team-c");
	assert_int_equal(unread(d, out), TENANTS_READ);
}

/* For an unreachable tenant, the last known Node is still returned, but not reported as current. */
static void the_node_of_a_claim_is_its_tenants_by_the_claims_name(void **state)
{
	struct bench *d = *state;
	struct node_claim n = {.meta.name = "c-1", .spec.virtual_cluster_ref.name = "team-a"},
			  other = n, elsewhere = n, nowhere = n;

	other.meta.name = "c-2";
	elsewhere.spec.virtual_cluster_ref.name = "team-b";
	nowhere.spec.virtual_cluster_ref.name = NULL;
	bench_run(d, 5000);
	assert_null(tenant_node_of(d->tenants, &n));
	put_node(d, "c-1", "00000000-0000-0000-0000-000000000001");
	bench_run(d, 1000);
	assert_string_equal(tenant_node_of(d->tenants, &n)->world.name, "c-1");
	assert_ptr_equal(tenant_node_of(d->tenants, &n), tenant_node_now(d->tenants, &n));
	assert_null(tenant_node_of(d->tenants, &other));
	assert_null(tenant_node_of(d->tenants, &elsewhere));
	assert_null(tenant_node_now(d->tenants, &nowhere));
	bench_away(d, &d->team, true);
	bench_run(d, 120000);
	assert_false(tenant_usable(team(d)));
	assert_non_null(tenant_node_of(d->tenants, &n));
	assert_null(tenant_node_now(d->tenants, &n));
}

/* Makes the tenant unreachable while its store loses the Nodes from..to-1 and gets more changes
 * than its history holds, so that no watch can resume. */
static void lose_nodes(struct bench *d, int from, int to)
{
	bench_away(d, &d->team, true);
	bench_run(d, 2000);
	for (int i = from; i < to; i++) {
		struct store_change gone = {.key = arena_printf(d->a, "nodes/n-%d", i),
					    .if_rev = -1};

		assert_int_equal(store_commit(d->team.store, &gone, 1, NULL, NULL, NULL, &d->e), 0);
	}
	for (int i = 0; i < 10001; i++) {
		struct store_change more = {
			.key = "other/x", .value = "{}", .value_len = 2, .if_rev = -1};

		assert_int_equal(store_commit(d->team.store, &more, 1, NULL, NULL, NULL, &d->e), 0);
	}
	bench_away(d, &d->team, false);
}

static void put_ten(struct bench *d)
{
	for (int i = 0; i < 10; i++)
		put_node(d, arena_printf(d->a, "n-%d", i),
			 arena_printf(d->a, "4C4C4544-0035-3410-8050-C6C04F31470%d", i));
	bench_run(d, 5000);
	assert_int_equal(kube_cache_size(team(d)->nodes), 10);
}

static void a_list_that_lost_many_nodes_is_believed_when_it_goes_on_saying_so(void **state)
{
	struct bench *d = *state;

	put_ten(d);
	lose_nodes(d, 0, 3);
	bench_run(d, 9 * 60000);
	assert_false(tenant_usable(team(d)));
	assert_string_equal(condition(d, "Ready"), "False NodesLost");
	assert_non_null(strstr(message(d, "Ready"), "lacks 3 of 10"));
	assert_int_equal(kube_cache_size(team(d)->nodes), 10);
	lose_nodes(d, 3, 4); /* Another Node is lost, so the wait starts again. */
	bench_run(d, 9 * 60000);
	assert_false(tenant_usable(team(d)));
	bench_run(d, 3 * 60000);
	assert_true(tenant_usable(team(d)));
	assert_int_equal(kube_cache_size(team(d)->nodes), 6);
	lose_nodes(d, 4, 5); /* A loss of one Node of six is not suspicious. */
	bench_run(d, 60000);
	assert_true(tenant_usable(team(d)));
	assert_int_equal(kube_cache_size(team(d)->nodes), 5);
}

static void resume(struct bench *d, int64_t when)
{
	char text[STR_TIME_SIZE];

	bench_patch(d, OBJECT_VIRTUAL_CLUSTER, "team-a",
		    arena_printf(d->a, "{'metadata': {'annotations': {'drover.dev/resume': '%s'}}}",
				 str_time(text, when)));
}

static void a_person_may_say_that_the_nodes_are_gone(void **state)
{
	struct bench *d = *state;

	put_ten(d);
	/* This confirmation is older than the loss, so it does not count. */
	resume(d, loop_wall(d->l));
	bench_run(d, 60000);
	lose_nodes(d, 0, 10);
	bench_run(d, 60000);
	assert_false(tenant_usable(team(d)));
	/* A confirmation with a time in the future does not count. */
	resume(d, loop_wall(d->l) + 3600000);
	bench_run(d, 60000);
	assert_false(tenant_usable(team(d)));
	resume(d, loop_wall(d->l));
	bench_run(d, 60000);
	assert_true(tenant_usable(team(d)));
	assert_int_equal(kube_cache_size(team(d)->nodes), 0);
}

/* The Nodes belong to another cluster, so their loss is never accepted. */
static void nodes_of_another_cluster_are_not_believed_to_be_lost(void **state)
{
	struct bench *d = *state;

	put_ten(d);
	lose_nodes(d, 0, 5);
	bench_status(d, OBJECT_VIRTUAL_CLUSTER, "team-a", "{'clusterUID': 'the one before'}");
	bench_run(d, 60 * 60000);
	assert_string_equal(condition(d, "Ready"), "False ClusterChanged");
	assert_int_equal(kube_cache_size(team(d)->nodes), 10);
}

static void a_tenant_goes_with_its_object(void **state)
{
	struct bench *d = *state;

	bench_run(d, 5000);
	bench_must(d, &d->host, "DELETE", "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a",
		   NULL);
	bench_run(d, 5000);
	assert_null(tenant_get(d->tenants, "team-a"));
}

static void a_replica_that_does_not_lead_looks_but_writes_nothing(void **state)
{
	struct bench *d = *state;

	d->c.leading = false;
	bench_run(d, 30000);
	assert_true(tenant_usable(team(d)));
	OWN_JSON vc = bench_get(d, OBJECT_VIRTUAL_CLUSTER, "team-a");
	assert_null(json_at(vc, "status", "clusterUID"));
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_tenant_whose_kubeconfig_works_is_usable),
		T(what_is_read_soon_is_not_said_to_be_read),
		cmocka_unit_test_setup_teardown(only_a_client_that_existed_is_closed, bench_setup,
						bench_teardown),
		T(a_kubeconfig_that_could_turn_on_us_is_refused_with_the_field_named),
		T(a_server_that_an_admin_wrote_stands_in_for_a_local_one),
		T(a_secret_that_changed_with_its_spec_is_read_at_once),
		T(an_absent_secret_or_key_is_said_and_comes_back),
		T(what_is_known_of_a_tenant_outlives_its_secret),
		T(an_api_that_is_away_is_not_a_tenant_that_is_gone),
		T(a_login_that_is_refused_is_said),
		T(another_cluster_behind_the_same_name_stops_everything),
		T(a_cluster_that_does_not_say_who_it_is_is_not_used),
		T(a_node_is_found_by_its_system_uuid_in_any_case_and_order),
		T(the_node_of_a_claim_is_its_tenants_by_the_claims_name),
		T(all_are_read_when_each_list_was_in_once),
		T(one_that_this_version_cannot_read_is_unread),
		T(a_list_that_lost_many_nodes_is_believed_when_it_goes_on_saying_so),
		T(a_person_may_say_that_the_nodes_are_gone),
		T(nodes_of_another_cluster_are_not_believed_to_be_lost),
		T(a_tenant_goes_with_its_object),
		T(a_replica_that_does_not_lead_looks_but_writes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
