/* Faults between the image and a usable Node, and tenants that become unreachable. */
#include "tests/unit/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/buf.h"
#include "base/str.h"
#include "tests/contract/slow_bmc.h"
#include "tests/world/leaving.h"
#include "tests/world/world.h"

static bool is_warning(const json_t *o, void *arg)
{
	struct buf *said = arg;

	if (str_eq(json_str_at(o, "type"), "Warning"))
		buf_printf(said, "%s: %s\n", str_or(json_str_at(o, "reason"), "-"),
			   str_or(json_str_at(o, "message"), "-"));
	return true;
}

/* Operators inspect each machine for which a Warning is sent, so a normal cycle must send none. */
static void a_normal_trip_warns_of_nothing(void **state)
{
	struct sim_world w;
	struct buf said;

	(void)state;
	world_start(&w, 70, 2);
	world_replica(&w);
	world_wait_all(&w, "free", 900);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	world_run(&w, 60000);
	world_delete_pod(&w, &w.tenants[0], "train");
	for (unsigned i = 0; i < 2; i++)
		if (*w.servers[i].claim)
			world_release(&w.servers[i]);
	world_wait_all(&w, "free", 900);
	buf_init(&said, 1 << 16);
	buf_puts(&said, "");
	cluster_each(&w.host, "events/", is_warning, &said);
	cluster_each(&w.tenants[0], "events/", is_warning, &said);
	assert_string_equal(said.data, "");
	buf_done(&said);
	world_settle(&w);
	world_stop(&w);
}

#define KUBEADM_CONFIG "/api/v1/namespaces/kube-system/configmaps"

/* The tenant is a virtual cluster without private nodes. Later they are enabled, and the cluster's
 * own config map contains the join endpoint. */
static void a_cluster_that_takes_no_nodes_costs_no_machine(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	int64_t tenancy;

	(void)state;
	world_start(&w, 69, 1);
	world_do(&w, &w.tenants[0], "DELETE", KUBEADM_CONFIG "/kubeadm-config", NULL);
	world_do(&w, &w.host, "PATCH", "/apis/" OBJECT_API_VERSION "/virtualclusters/team-a",
		 json_pack("{s:{s:n}}", "spec", "joinEndpoint"));
	world_replica(&w);
	world_wait_state(b, "free", 900);
	tenancy = b->tenancy;
	world_pod(&w, &w.tenants[0], "train");
	leaving_wait_event(&w, &w.tenants[0], "NodesNotTaken",
			   "pool gpus: virtual cluster team-a does not accept nodes");
	world_run(&w, 120000);
	assert_string_equal(b->state, "free");
	assert_int_equal(b->tenancy, tenancy);
	world_do(&w, &w.tenants[0], "POST", KUBEADM_CONFIG,
		 json_pack("{s:s, s:s, s:{s:s}, s:{s:s}}", "apiVersion", "v1", "kind", "ConfigMap",
			   "metadata", "name", "kubeadm-config", "data", "ClusterConfiguration",
			   "controlPlaneEndpoint: team-a:6443\n"));
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	assert_int_equal(b->tenancy, tenancy + 1);
	world_settle(&w);
	world_stop(&w);
}

static void a_wrong_image_fails_the_claim_and_the_next_one_serves(void **state)
{
	struct sim_world w;
	struct server *bad = NULL;

	(void)state;
	world_start(&w, 71, 2);
	world_replica(&w);
	world_wait_all(&w, "free", 600);
	w.bad_images = 1;
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 1800);
	for (unsigned i = 0; i < 2; i++)
		if (world_has_failure(&w.servers[i], "ImageMismatch"))
			bad = &w.servers[i];
	assert_non_null(bad);
	assert_ptr_not_equal(world_box_of(&w, &w.tenants[0], "train"), bad);
	world_wait_state(bad, "free", 900);
	assert_true(server_is_blank(bad));
	world_run(&w, 10000);
	world_check_serving(&w, &w.tenants[0], "train");
	world_settle(&w);
	world_stop(&w);
}

static void a_claim_withdrawn_in_any_state_gives_the_machine_back(void **state)
{
	static const char *const states[] = {"claimed", "imaging", "attaching", "booting",
					     "joining", "gating",  "serving"};

	(void)state;
	for (unsigned i = 0; i < sizeof(states) / sizeof(*states); i++) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		int64_t tenancy;

		world_start(&w, 80 + i, 1);
		world_replica(&w);
		world_wait_state(b, "free", 600);
		tenancy = b->tenancy;
		world_pod(&w, &w.tenants[0], "train");
		world_wait_state(b, states[i], 600);
		world_delete_pod(&w, &w.tenants[0], "train");
		world_release(b);
		world_wait_state(b, "free", 900);
		assert_true(server_is_blank(b));
		assert_true(b->tenancy ==
			    /* in state claimed, nothing is written */
			    (i ? tenancy + 1 : tenancy));
		assert_string_equal(b->claim, "");
		world_run(&w, 30000);
		assert_string_equal(b->state, "free");
		world_settle(&w);
		world_stop(&w);
	}
}

static bool has_no_claim(void *arg)
{
	const struct server *b = arg;

	return !*b->claim && str_eq(b->state, "free");
}

/* The pod is deleted while its machine is claimed. Nothing is written to the machine for it, so
 * nothing has to be wiped. */
static void a_claim_whose_pod_has_gone_is_not_imaged(void **state)
{
	(void)state;
	for (int64_t ms = 0; ms <= 3000; ms += 3000) {
		struct sim_world w;
		struct server *b = &w.servers[0];
		struct slow_bmc slow;
		int64_t tenancy;
		char claim[128];

		world_start(&w, 65 + (uint64_t)ms, 1);
		slow_bmc_init(&slow, &b->bmc, w.hardware, ms);
		world_replica(&w);
		world_wait_state(b, "free", 1800);
		tenancy = b->tenancy;
		world_pod(&w, &w.tenants[0], "train");
		world_wait_state(b, "claimed", 600);
		str_copy(claim, sizeof(claim), b->claim);
		world_run(&w, ms ? 30000 : 2000);
		assert_string_equal(b->state, "claimed");
		world_delete_pod(&w, &w.tenants[0], "train");
		world_wait(&w, has_no_claim, b, 300, "it is free again");
		world_run(&w, 2000);
		assert_false(leaving_has(&w.host, "nodeclaims.drover.dev", claim));
		leaving_wait_event(&w, &w.host, "NoPodWaits",
				   "withdrawn before its machine was changed");
		assert_int_equal(b->tenancy, tenancy);
		assert_int_equal(w.image_gets, 0);
		assert_true(json_true_at(b->object, "status", "clean"));
		world_pod(&w, &w.tenants[0], "next");
		world_wait_running(&w, &w.tenants[0], "next", 1800);
		assert_int_equal(b->tenancy, tenancy + 1);
		world_settle(&w);
		world_stop(&w);
	}
}

static bool has_agent(void *arg)
{
	return *world_at(arg, "status.agent.bootID") != '\0';
}

/* The pod is deleted, and a Job creates a new pod in time. The claim then serves the new pod. */
static void a_pod_that_comes_in_time_keeps_the_claim(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char claim[128];

	(void)state;
	world_start(&w, 67, 1);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "claimed", 600);
	str_copy(claim, sizeof(claim), b->claim);
	world_wait(&w, has_agent, b, 300, "its agent called");
	assert_string_equal(b->state, "claimed");
	world_delete_pod(&w, &w.tenants[0], "train");
	world_run(&w, 25000);
	assert_string_equal(b->state, "claimed"); /* the claim did not advance meanwhile */
	world_pod(&w, &w.tenants[0], "again");
	world_wait_running(&w, &w.tenants[0], "again", 900);
	assert_string_equal(b->claim, claim);
	world_settle(&w);
	world_stop(&w);
}

/* While the tenant's API server is unreachable, drover cannot know that the tenant's pods are
 * deleted. */
static void a_claim_of_a_tenant_that_is_away_stays(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 68, 1);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "claimed", 600);
	cluster_away(&w.tenants[0], true);
	world_delete_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "imaging", 600);
	cluster_away(&w.tenants[0], false);
	world_wait_state(b, "serving", 900);
	world_settle(&w);
	world_stop(&w);
}

static bool is_token(const json_t *o, void *arg)
{
	unsigned *n = arg;

	*n += json_at(o, "metadata", "labels", "drover.dev/nodeclaim") != NULL;
	return true;
}

/* The request for the bootstrap token is queued behind other requests that the tenant's API server
 * does not answer. Meanwhile the claim is withdrawn. */
static void no_token_is_made_for_a_claim_that_was_withdrawn_in_the_line(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	unsigned tokens = 0;
	char name[32];

	(void)state;
	world_start(&w, 69, 1);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "imaging", 600);
	w.unanswered = "/events";
	for (int i = 0; i < 20; i++) {
		/* No machine is left for these pods. drover queues an event about this for each
		 * pod. */
		str_format(name, sizeof(name), "waiting-%d", i);
		world_pod(&w, &w.tenants[0], name);
	}
	world_run(&w, 8000);
	assert_string_equal(b->state, "imaging");
	world_release(b);
	for (int i = 0; i < 200; i++) {
		world_run(&w, 100);
		cluster_each(&w.tenants[0], "secrets/kube-system/", is_token, &tokens);
		assert_int_equal(tokens, 0);
	}
	w.unanswered = NULL;
	world_wait_state(b, "free", 900);
	world_settle(&w);
	world_stop(&w);
}

static bool token_name(const json_t *o, void *arg)
{
	char *name = arg;

	if (json_at(o, "metadata", "labels", "drover.dev/nodeclaim"))
		(void)str_copy(name, 80, json_str_at(o, "metadata", "name"));
	return !*name;
}

/* A user deletes the bootstrap token while the machine boots. The token is created again, and
 * status shows that it was missing. */
static void a_token_that_is_deleted_comes_back(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char name[80] = "", path[200];

	(void)state;
	world_start(&w, 70, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "booting", 900);
	cluster_each(&w.tenants[0], "secrets/kube-system/", token_name, name);
	assert_true(str_starts(name, "bootstrap-token-"));
	str_format(path, sizeof(path), "/api/v1/namespaces/kube-system/secrets/%s", name);
	world_do(&w, &w.tenants[0], "DELETE", path, NULL);
	world_wait_reason(b, "NodeNotFound", 300);
	assert_string_equal(b->state, "booting");
	assert_non_null(strstr(world_at(b, "status.operation.lastError.message"),
			       " was deleted from the cluster of tenant team-a; drover created it "
			       "again"));
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_settle(&w);
	world_stop(&w);
}

/* Lets the tenant's API server serve CertificateSigningRequests, which nobody approves. */
static void serve_csrs(struct sim_world *w, struct cluster *c)
{
	world_do(w, c, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
		 json_pack("{s:{s:s},s:{s:s,s:s,s:{s:s,s:s,s:s,s:s},s:[{s:s,s:b,s:b,s:{s:{s:s,s:b}"
			   "}}]}}",
			   "metadata", "name", "certificatesigningrequests.certificates.k8s.io",
			   "spec", "group", "certificates.k8s.io", "scope", "Cluster", "names",
			   "plural", "certificatesigningrequests", "singular",
			   "certificatesigningrequest", "kind", "CertificateSigningRequest",
			   "listKind", "CertificateSigningRequestList", "versions", "name", "v1",
			   "served", 1, "storage", 1, "schema", "openAPIV3Schema", "type", "object",
			   "x-kubernetes-preserve-unknown-fields", 1));
}

/* Fails a claim by its deadline, in a cluster with a CSR of this status (NULL: without a CSR), and
 * checks the text. */
static void fail_to_join(unsigned seed, json_t *status, const char *want)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	char name[80] = "", user[96];

	world_start(&w, seed, 1);
	serve_csrs(&w, &w.tenants[0]);
	b->no_kubelet = true;
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "booting", 900);
	cluster_each(&w.tenants[0], "secrets/kube-system/", token_name, name);
	str_format(user, sizeof(user), "system:bootstrap:%s", name + strlen("bootstrap-token-"));
	if (status)
		world_do(&w, &w.tenants[0], "POST",
			 "/apis/certificates.k8s.io/v1/certificatesigningrequests",
			 json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:[s]}, s:o}", "apiVersion",
				   "certificates.k8s.io/v1", "kind", "CertificateSigningRequest",
				   "metadata", "name", "node-csr-1", "spec", "username", user,
				   "usages", "client auth", "status", status));
	world_wait_reason(b, "JoinTimeout", 3600);
	if (!strstr(w.log, want))
		fail_msg("no \"%s\" in the log", want);
	world_stop(&w);
}

static void the_deadline_of_a_kubelet_names_its_csr(void **state)
{
	(void)state;
	fail_to_join(76, NULL,
		     " and no CSR of its bootstrap token in the cluster of tenant team-a; "
		     "its bootstrap token existed at ");
	fail_to_join(77, json_object(),
		     " in the cluster of tenant team-a; its CSR node-csr-1 waits "
		     "for approval; its bootstrap token existed at ");
	fail_to_join(
		78,
		json_pack("{s:[{s:s}, {s:s}]}", "conditions", "type", "Other", "type", "Approved"),
		"; its CSR node-csr-1 is approved, but not signed; ");
	fail_to_join(79,
		     json_pack("{s:[{s:s}], s:s}", "conditions", "type", "Approved", "certificate",
			       "eA=="),
		     "; its CSR node-csr-1 is signed; ");
}

static bool is_refused(void *arg)
{
	return str_eq(world_at(arg, "status.operation.lastError.reason"), "BootstrapTokenRefused");
}

/* drover itself tries the token, because a kubelet whose token is refused leaves no trace. */
static void a_token_that_the_api_server_refuses_is_named(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	const char *said;

	(void)state;
	world_start(&w, 74, 1);
	w.tenants[0].no_bootstrap = true;
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "booting", 900);
	world_run(&w, 600000);
	assert_false(is_refused(b));
	world_wait(&w, is_refused, b, 600, "BootstrapTokenRefused");
	assert_string_equal(b->state, "booting");
	said = world_at(b, "status.operation.lastError.message");
	assert_non_null(strstr(said,
			       "the API server of tenant team-a refuses the machine's bootstrap "
			       "token (401): the bootstrap token authenticator is off"));
	/* no log contains the token */
	assert_null(strstr(w.log, b->token));
	/* the report ends once the API server accepts the token */
	w.tenants[0].no_bootstrap = false;
	b->no_kubelet = true;
	for (int i = 0; i < 300 && is_refused(b); i++)
		world_run(&w, 1000);
	assert_false(is_refused(b));
	assert_string_equal(b->state, "booting");
	w.tenants[0].no_bootstrap = true;
	world_wait(&w, is_refused, b, 600, "BootstrapTokenRefused again");
	while (!world_has_failure(b, "BootstrapTokenRefused"))
		world_run(&w, 1000);
	if (!strstr(w.log,
		    "booting did not finish in time: the API server of tenant team-a refuses"))
		fail_msg("the deadline does not name the refusal");
	w.tenants[0].no_bootstrap = b->no_kubelet = false;
	world_wait_running(&w, &w.tenants[0], "train", 3600);
	world_settle(&w);
	world_stop(&w);
}

static void a_kubelet_that_never_comes_gives_the_machine_back(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	long long hour, minute, second;
	const char *seen;

	(void)state;
	world_start(&w, 72, 1);
	b->no_kubelet = true;
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_reason(b, "JoinTimeout", 3600);
	assert_non_null(strstr(w.log, "booting did not finish in time: its BMC answered On "));
	assert_non_null(strstr(w.log, " s ago; last step power-on (attempt 1); no Node gpus-"));
	seen = strstr(w.log, "; its bootstrap token existed at ");
	assert_non_null(seen);
	assert_int_equal(sscanf(seen, "; its bootstrap token existed at %lld:%lld:%lld", &hour,
				&minute, &second),
			 3);
	/* the last check was just before the deadline */
	assert_in_range((loop_wall(w.loop) / 1000 - (hour * 60 + minute) * 60 - second + 86400) %
				86400,
			0, 35);
	assert_non_null(strstr(w.log, ", and the API server accepts it"));
	assert_in_range(w.tenants[0].tries, 2, 16); /* in half of 30 min, every 2 min */
	world_delete_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "free", 900);
	assert_true(server_is_blank(b));
	b->no_kubelet = false;
	world_pod(&w, &w.tenants[1], "next");
	world_wait_running(&w, &w.tenants[1], "next", 900);
	world_settle(&w);
	world_stop(&w);
}

static void a_node_of_another_machine_is_not_trusted(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct sim_world w;
		struct server *b = &w.servers[0];

		world_start(&w, 73 + (uint64_t)k, 1);
		if (k)
			b->says_provider_id = "drover://rack/gpu-9";
		else
			b->says_uuid = "ffffffff-0035-3410-8050-c6c04f314733";
		world_replica(&w);
		world_pod(&w, &w.tenants[0], "train");
		world_wait_reason(b, "NodeIdentityMismatch", 900);
		world_delete_pod(&w, &w.tenants[0], "train");
		world_wait_state(b, "free", 900);
		assert_true(server_is_blank(b));
		world_settle(&w);
		world_stop(&w);
	}
}

static void a_tenant_that_is_away_loses_nothing(void **state)
{
	struct sim_world w;

	(void)state;
	world_start(&w, 75, 2);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_wait_state(world_box_of(&w, &w.tenants[0], "train"), "serving", 60);
	cluster_away(&w.tenants[0], true);
	world_pod(&w, &w.tenants[1], "train"); /* the other tenant is not affected */
	world_wait_running(&w, &w.tenants[1], "train", 900);
	world_run(&w, 3600 * 1000);
	world_check_serving(&w, &w.tenants[0], "train");
	world_check_serving(&w, &w.tenants[1], "train");
	cluster_away(&w.tenants[0], false);
	world_run(&w, 300 * 1000);
	world_check_serving(&w, &w.tenants[0], "train");
	world_settle(&w);
	world_stop(&w);
}

/* The claim ends while the tenant's API server is unreachable: the machine is released
 * nevertheless, and the deletion of the Node becomes a pending cleanup. */
static void a_tenant_that_is_away_is_owed_its_node(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];
	OWN_JSON vc = NULL;

	(void)state;
	world_start(&w, 76, 1);
	world_replica(&w);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_wait_state(b, "serving", 60);
	cluster_away(&w.tenants[0], true);
	w.tenants[0].owed = true;
	world_release(b);
	world_wait_state(b, "free", 2 * 3600);
	assert_true(server_is_blank(b));
	vc = cluster_get(&w.host, "virtualclusters.drover.dev/team-a");
	assert_int_equal(json_array_size(json_at(vc, "status", "debts")), 1);
	world_pod(&w, &w.tenants[1], "next");
	world_wait_running(&w, &w.tenants[1], "next", 900);
	cluster_away(&w.tenants[0], false);
	world_settle(&w); /* the cleanup is done */
	w.tenants[0].owed = false;
	world_stop(&w);
}

static void a_tenant_that_is_away_while_its_machine_comes_is_waited_for(void **state)
{
	struct sim_world w;
	struct server *b = &w.servers[0];

	(void)state;
	world_start(&w, 77, 1);
	world_replica(&w);
	world_wait_state(b, "free", 600);
	world_pod(&w, &w.tenants[0], "train");
	world_wait_state(b, "imaging", 300);
	cluster_away(&w.tenants[0], true);
	world_run(&w, 120 * 1000);
	cluster_away(&w.tenants[0], false);
	world_wait_running(&w, &w.tenants[0], "train", 900);
	world_settle(&w);
	world_stop(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_normal_trip_warns_of_nothing),
		cmocka_unit_test(a_cluster_that_takes_no_nodes_costs_no_machine),
		cmocka_unit_test(a_wrong_image_fails_the_claim_and_the_next_one_serves),
		cmocka_unit_test(a_claim_withdrawn_in_any_state_gives_the_machine_back),
		cmocka_unit_test(a_claim_whose_pod_has_gone_is_not_imaged),
		cmocka_unit_test(a_pod_that_comes_in_time_keeps_the_claim),
		cmocka_unit_test(a_claim_of_a_tenant_that_is_away_stays),
		cmocka_unit_test(no_token_is_made_for_a_claim_that_was_withdrawn_in_the_line),
		cmocka_unit_test(a_token_that_is_deleted_comes_back),
		cmocka_unit_test(the_deadline_of_a_kubelet_names_its_csr),
		cmocka_unit_test(a_token_that_the_api_server_refuses_is_named),
		cmocka_unit_test(a_kubelet_that_never_comes_gives_the_machine_back),
		cmocka_unit_test(a_node_of_another_machine_is_not_trusted),
		cmocka_unit_test(a_tenant_that_is_away_loses_nothing),
		cmocka_unit_test(a_tenant_that_is_away_is_owed_its_node),
		cmocka_unit_test(a_tenant_that_is_away_while_its_machine_comes_is_waited_for),
	};

	cmocka_set_test_filter(getenv("ONLY"));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
