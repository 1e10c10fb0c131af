#include "tests/unit/sim/aisle.h"

#include "base/crypto.h"
#include "base/data/json.h"
#include "base/store/store.h"
#include "kube/apiserver/apiserver.h"
#include "sim/iso.h"
#include "sim/node.h"

/* The embedded API server, with authentication and roles, is the judge. */
#define ORIGIN "https://team-a:6443"
#define NODE "/api/v1/nodes/claim-1"
#define POD "/api/v1/namespaces/default/pods/train"
#define LEASE "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/claim-1"

struct town {
	struct aisle *f;
	struct store *store;
	struct apiserver *api;
	struct http *http;
	struct http_peer *peer;
	struct secret *admin, *kubelet;
	struct secret *ca_key;
	char *ca;
	const char *cas[2];
	char ca_hash[CRYPTO_DIGEST_TEXT];
	bool done;
	int status;
	json_t *j;
};

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct town *t = arg;
	struct err bad;

	if (e)
		fail_msg("%s", e->text);
	t->done = true;
	t->status = r->status;
	t->j = json_parse(r->body, r->body_len, &bad);
}

static bool is_done(void *arg)
{
	return ((struct town *)arg)->done;
}

/* body: taken. */
static int ask(struct town *t, const char *method, const char *path, json_t *body)
{
	char *text = body ? json_text(body) : NULL;
	struct http_call c = {
		.method = method,
		.path = path,
		.bearer = t->admin,
		.body = text,
		.body_len = text ? strlen(text) : 0,
		.content_type = str_eq(method, "PATCH") ? "application/merge-patch+json" : NULL,
		.done = on_reply,
		.arg = t,
	};

	json_decref(t->j);
	t->j = NULL;
	t->done = false;
	http_start(t->peer, &c);
	assert_true(loop_sim_run_cond(t->f->l, is_done, t, loop_now(t->f->l) + 60000));
	free(text);
	json_decref(body);
	return t->status;
}

static const char *text_at(struct town *t, const char *path, const char *a, const char *b)
{
	if (ask(t, "GET", path, NULL) != 200)
		return "";
	return str_or(b ? json_str_at(t->j, a, b) : json_str_at(t->j, a), "");
}

static void start_server(struct town *t)
{
	static const char *const masters[] = {"system:masters", NULL};
	static const char *const nodes[] = {"system:nodes", NULL};
	static struct apiserver_token tokens[2];
	struct apiserver_spec spec = {.authenticate = true,
				      .rbac = true,
				      .graceful_pods = true,
				      .tokens = tokens,
				      .ntokens = 2};
	struct http_peer_spec peer = {.base_url = ORIGIN};

	t->admin = secret_from_str("the-admin");
	t->kubelet = secret_from_str("the-kubelets");
	tokens[0] = (struct apiserver_token){t->admin, "admin", masters};
	tokens[1] = (struct apiserver_token){t->kubelet, "system:node:any", nodes};
	t->store = store_mem_new(t->f->server_g, 5000);
	t->api = apiserver_new(t->f->server_g, t->store, &spec);
	apiserver_routes(t->api, t->f->d);
	http_mem_serve(t->f->net, ORIGIN, t->f->d);
	t->http = http_new(t->f->server_g,
			   http_mem_transport(t->f->net, t->f->server_g, "admin", NULL, NULL), 0);
	t->peer = http_peer_new(t->http, &peer, &t->f->e);
}

static void mint(struct town *t)
{
	assert_int_equal(
		ask(t, "POST", "/api/v1/namespaces/kube-system/secrets",
		    json_pack("{s:s, s:s, s:{s:s}, s:s, s:{s:s, s:s, s:s}}", "apiVersion", "v1",
			      "kind", "Secret", "metadata", "name", "bootstrap-token-abcdef",
			      "type", "bootstrap.kubernetes.io/token", "stringData", "token-id",
			      "abcdef", "token-secret", "0123456789abcdef",
			      "usage-bootstrap-authentication", "true")),
		201);
}

static int setup(void **state)
{
	struct town *t = mem_new(struct town);
	uint8_t d[CRYPTO_SHA256];

	t->f = aisle_new(true);
	assert_ok(crypto_ca_new("team-a", 1764000000000, 3650, &t->ca, &t->ca_key, &t->f->e),
		  &t->f->e);
	assert_ok(crypto_cert_spki_sha256(t->ca, d, &t->f->e), &t->f->e);
	crypto_digest_text(d, t->ca_hash);
	t->cas[0] = t->ca;
	start_server(t);
	t->f->rack.spec.cluster_cas = t->cas;
	t->f->rack.spec.kubelet_token = t->kubelet;
	t->f->rack.segment = "tenant/team-a";
	mint(t);
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct town *t = *state;
	struct aisle *f = t->f;

	json_decref(t->j);
	http_peer_free(t->peer);
	http_free(t->http);
	sim_machine_cut(&f->m);
	httpd_free(f->d);
	f->d = NULL;
	apiserver_free(t->api);
	store_free(t->store);
	aisle_free(f);
	secret_free(t->admin);
	secret_free(t->kubelet);
	secret_free(t->ca_key);
	free(t->ca);
	free(t);
	return 0;
}

static void write_drive(struct town *t, const char *extra)
{
	struct drive *root = t->f->m.drives[0];
	char digest[CRYPTO_DIGEST_TEXT];
	char *image = sim_node_image("v1.36.1", 0, digest);
	char *cfg = mem_printf("# joins\nJOIN_ENDPOINT=team-a:6443\nTOKEN=abcdef.0123456789abcdef\n"
			       "CA_CERT_HASH=%s\nNODE_NAME=claim-1\n"
			       "PROVIDER_ID=drover://rack/gpu-1\nNODE_LABELS=a/b=c,d=e\n"
			       "TAINTS=drover.dev/unregistered:NoSchedule,x=y:NoSchedule\n"
			       "MAX_PODS=64\nSYSTEM_RESERVED=cpu=2,memory=4Gi\n"
			       "KUBE_RESERVED=cpu=500m,memory=1Gi\n%s",
			       t->ca_hash, extra);
	struct sim_iso_file file = {"drover-join.cfg", cfg};
	uint8_t *volume = mem_alloc(SIM_CIDATA_BYTES);
	size_t used;

	assert_ok(drive_write(root, image, 64 << 10, 0, &t->f->e), &t->f->e);
	assert_ok(sim_iso_write(&file, 1, volume, &used, &t->f->e), &t->f->e);
	assert_ok(drive_write(root, volume, SIM_CIDATA_BYTES, sim_cidata_at(drive_bytes(root)),
			      &t->f->e),
		  &t->f->e);
	free(volume);
	free(cfg);
	free(image);
}

static void boot(struct town *t)
{
	write_drive(t, "");
	sim_machine_power(&t->f->m, true);
	aisle_run(t->f, 15000);
}

static const char *ready(struct town *t)
{
	json_t *c;
	size_t i;

	if (ask(t, "GET", NODE, NULL) != 200)
		return "absent";
	json_array_foreach (json_at(t->j, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "Ready"))
			return json_str_at(c, "status");
	return "none";
}

static void bind_pod(struct town *t, json_t *annotations, int grace)
{
	assert_int_equal(ask(t, "POST", "/api/v1/namespaces/default/pods",
			     json_pack("{s:s, s:s, s:{s:s, s:o}, s:{s:s, s:i, s:[{s:s, s:s}]}}",
				       "apiVersion", "v1", "kind", "Pod", "metadata", "name",
				       "train", "annotations", annotations, "spec", "nodeName",
				       "claim-1", "terminationGracePeriodSeconds", grace,
				       "containers", "name", "c", "image", "work:1")),
			 201);
}

/* --- joining -------------------------------------------------------------------------------------- */

static void a_written_drive_becomes_a_ready_node(void **state)
{
	struct town *t = *state;
	json_t *taints;

	boot(t);
	assert_int_equal(t->f->m.doing, SIM_NODE);
	assert_string_equal(ready(t), "True");
	assert_string_equal(json_str_at(t->j, "spec", "providerID"), "drover://rack/gpu-1");
	assert_string_equal(json_str_at(t->j, "status", "nodeInfo", "systemUUID"), t->f->m.uuid);
	assert_string_equal(json_str_at(t->j, "status", "nodeInfo", "bootID"), t->f->m.boot_id);
	assert_string_equal(json_str_at(t->j, "status", "nodeInfo", "kubeletVersion"), "v1.36.1");
	assert_string_equal(json_str_at(t->j, "status", "capacity", "nvidia.com/gpu"), "8");
	assert_string_equal(json_str_at(t->j, "status", "capacity", "pods"), "64");
	assert_string_equal(json_str_at(t->j, "status", "allocatable", "cpu"), "189500m");
	assert_string_equal(json_str_at(t->j, "status", "allocatable", "memory"), "2043Gi");
	assert_string_equal(json_str_at(t->j, "metadata", "labels", "a/b"), "c");
	taints = json_at(t->j, "spec", "taints");
	assert_int_equal(json_array_size(taints), 2);
	assert_string_equal(json_str_at(json_array_get(taints, 1), "value"), "y");
}

static void gpus_appear_a_while_after_the_node_is_ready(void **state)
{
	struct town *t = *state;

	write_drive(t, "");
	sim_machine_power(&t->f->m, true);
	while (!str_eq(ready(t), "True"))
		aisle_run(t->f, 200);
	assert_null(json_str_at(t->j, "status", "capacity", "nvidia.com/gpu"));
	aisle_run(t->f, 5000);
	assert_string_equal(text_at(t, NODE, "kind", NULL), "Node");
	assert_string_equal(json_str_at(t->j, "status", "allocatable", "nvidia.com/gpu"), "8");
}

static void its_lease_is_renewed_also_when_the_bootstrap_token_is_gone(void **state)
{
	struct town *t = *state;
	char first[64];

	boot(t);
	assert_int_equal(ask(t, "DELETE",
			     "/api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef", NULL),
			 200);
	str_copy(first, sizeof(first), text_at(t, LEASE, "spec", "renewTime"));
	assert_string_not_equal(first, "");
	aisle_run(t->f, 15000);
	assert_string_not_equal(text_at(t, LEASE, "spec", "renewTime"), first);
}

static void a_token_that_is_not_good_joins_nothing(void **state)
{
	struct town *t = *state;

	assert_int_equal(ask(t, "DELETE",
			     "/api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef", NULL),
			 200);
	boot(t);
	assert_string_equal(ready(t), "absent");
	mint(t);
	aisle_run(t->f, 10000);
	assert_string_equal(ready(t), "True");
}

static void a_node_in_another_segment_reaches_nothing(void **state)
{
	struct town *t = *state;

	t->f->rack.segment = "provisioning";
	boot(t);
	assert_string_equal(ready(t), "absent");
	t->f->rack.segment = "tenant/team-a";
	aisle_run(t->f, 10000);
	assert_string_equal(ready(t), "True");
}

static void a_ca_with_another_hash_is_not_believed(void **state)
{
	struct town *t = *state;

	str_copy(t->ca_hash, sizeof(t->ca_hash),
		 "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	boot(t);
	assert_string_equal(ready(t), "absent");
	assert_non_null(strstr(t->f->m.console, "cluster-info"));
}

static void the_ca_is_found_in_cluster_info_as_kubeadm_does(void **state)
{
	struct town *t = *state;
	char *info = sim_cluster_info(ORIGIN, t->ca);
	json_t *map = json_parse(info, strlen(info), &t->f->e);

	free(info);
	t->f->rack.spec.cluster_cas = NULL;
	boot(t);
	assert_string_equal(ready(t), "absent");
	assert_int_equal(ask(t, "POST", "/api/v1/namespaces/kube-public/configmaps", map), 201);
	assert_int_equal(ask(t, "POST",
			     "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public/roles",
			     json_pack("{s:s, s:s, s:{s:s}, s:[{s:[s], s:[s], s:[s]}]}",
				       "apiVersion", "rbac.authorization.k8s.io/v1", "kind", "Role",
				       "metadata", "name", "info", "rules", "apiGroups", "",
				       "resources", "configmaps", "verbs", "get")),
			 201);
	assert_int_equal(
		ask(t, "POST",
		    "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public/rolebindings",
		    json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:s, s:s}, s:[{s:s, s:s, s:s}]}",
			      "apiVersion", "rbac.authorization.k8s.io/v1", "kind", "RoleBinding",
			      "metadata", "name", "info", "roleRef", "apiGroup",
			      "rbac.authorization.k8s.io", "kind", "Role", "name", "info",
			      "subjects", "apiGroup", "rbac.authorization.k8s.io", "kind", "User",
			      "name", "system:anonymous")),
		201);
	aisle_run(t->f, 15000);
	assert_string_equal(ready(t), "True");
}

static void a_drive_without_image_or_config_boots_nothing(void **state)
{
	struct town *t = *state;

	sim_machine_power(&t->f->m, true);
	aisle_run(t->f, 10000);
	assert_int_equal(t->f->m.doing, SIM_NOTHING);
	sim_machine_cut(&t->f->m);
	write_drive(t, "");
	assert_ok(drive_zero(t->f->m.drives[0], sim_cidata_at(drive_bytes(t->f->m.drives[0])),
			     1 << 20, &t->f->e),
		  &t->f->e);
	sim_machine_power(&t->f->m, true);
	aisle_run(t->f, 10000);
	assert_int_equal(t->f->m.doing, SIM_NOTHING);
	assert_true(t->f->m.on);
}

static void a_kubelet_that_does_not_start_and_one_on_a_wrong_board(void **state)
{
	struct town *t = *state;

	aisle_fault(t->f, "Node", "NoKubelet", 1);
	boot(t);
	assert_int_equal(t->f->m.doing, SIM_NODE);
	assert_string_equal(ready(t), "absent");
	sim_machine_cut(&t->f->m);
	aisle_fault(t->f, "Node", "WrongUUID", 1);
	boot(t);
	assert_string_equal(ready(t), "True");
	assert_string_not_equal(json_str_at(t->j, "status", "nodeInfo", "systemUUID"),
				t->f->m.uuid);
}

/* --- pods ----------------------------------------------------------------------------------------- */

static void a_pod_that_is_bound_runs_and_leaves_traces(void **state)
{
	struct town *t = *state;
	static const char trace[] = SIM_NODE_TRACE "default/train";

	boot(t);
	bind_pod(t, json_object(), 30);
	aisle_run(t->f, 5000);
	assert_string_equal(text_at(t, POD, "status", "phase"), "Running");
	assert_true(str_starts(json_str_at(t->j, "status", "podIP"), "10."));
	assert_true(json_true_at(json_array_get(json_at(t->j, "status", "containerStatuses"), 0),
				 "ready"));
	for (unsigned i = 0; i < 2; i++)
		assert_true(drive_holds(t->f->m.drives[i], trace, strlen(trace)));
}

static void a_pod_runs_as_long_as_its_annotation_says_and_succeeds(void **state)
{
	struct town *t = *state;
	json_t *c;

	boot(t);
	bind_pod(t, json_pack("{s:s}", SIM_NODE_RUN_FOR, "20s"), 30);
	aisle_run(t->f, 15000);
	assert_string_equal(text_at(t, POD, "status", "phase"), "Running");
	aisle_run(t->f, 10000);
	assert_string_equal(text_at(t, POD, "status", "phase"), "Succeeded");
	c = json_array_get(json_at(t->j, "status", "containerStatuses"), 0);
	assert_string_equal(json_str_at(c, "state", "terminated", "reason"), "Completed");
}

static void a_deleted_pod_goes_after_it_stopped_and_within_its_grace(void **state)
{
	struct town *t = *state;

	boot(t);
	bind_pod(t, json_pack("{s:s}", SIM_NODE_STOP_AFTER, "1h"), 20);
	aisle_run(t->f, 5000);
	assert_int_equal(ask(t, "DELETE", POD, NULL), 200);
	aisle_run(t->f, 15000);
	assert_int_equal(ask(t, "GET", POD, NULL), 200);
	aisle_run(t->f, 8000);
	assert_int_equal(ask(t, "GET", POD, NULL), 404);
	bind_pod(t, json_object(), 3600);
	aisle_run(t->f, 5000);
	assert_int_equal(ask(t, "DELETE", POD, NULL), 200);
	aisle_run(t->f, 5000);
	assert_int_equal(ask(t, "GET", POD, NULL), 404);
}

static void a_cut_machine_writes_nothing_any_more(void **state)
{
	struct town *t = *state;
	char last[64];

	boot(t);
	sim_machine_cut(&t->f->m);
	str_copy(last, sizeof(last), text_at(t, LEASE, "spec", "renewTime"));
	bind_pod(t, json_object(), 30);
	aisle_run(t->f, 60000);
	assert_string_equal(text_at(t, LEASE, "spec", "renewTime"), last);
	assert_string_not_equal(text_at(t, POD, "status", "phase"), "Running");
}

static void a_node_outlives_the_rack_that_is_killed(void **state)
{
	struct town *t = *state;
	char boot_id[40], last[64];

	boot(t);
	bind_pod(t, json_pack("{s:s}", SIM_NODE_RUN_FOR, "60s"), 30);
	aisle_run(t->f, 5000);
	assert_int_equal(ask(t, "DELETE",
			     "/api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef", NULL),
			 200);
	str_copy(boot_id, sizeof(boot_id), t->f->m.boot_id);
	str_copy(last, sizeof(last), text_at(t, LEASE, "spec", "renewTime"));
	aisle_kill(t->f);
	assert_true(t->f->m.on);
	assert_int_equal(t->f->m.doing, SIM_NODE);
	aisle_run(t->f, 30000);
	assert_string_equal(t->f->m.boot_id, boot_id);
	assert_string_not_equal(text_at(t, LEASE, "spec", "renewTime"), last);
	assert_string_equal(ready(t), "True");
	aisle_run(t->f, 35000);
	assert_string_equal(text_at(t, POD, "status", "phase"), "Succeeded");
}

static void a_node_that_reboots_is_back_with_another_boot_id(void **state)
{
	struct town *t = *state;
	char boot_id[40];

	boot(t);
	assert_int_equal(ask(t, "DELETE",
			     "/api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef", NULL),
			 200);
	str_copy(boot_id, sizeof(boot_id), t->f->m.boot_id);
	aisle_fault(t->f, "Node", "Reboot", 1);
	aisle_run(t->f, 20000);
	assert_string_not_equal(t->f->m.boot_id, boot_id);
	assert_string_equal(ready(t), "True");
	assert_string_equal(json_str_at(t->j, "status", "nodeInfo", "bootID"), t->f->m.boot_id);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_written_drive_becomes_a_ready_node),
		T(gpus_appear_a_while_after_the_node_is_ready),
		T(its_lease_is_renewed_also_when_the_bootstrap_token_is_gone),
		T(a_token_that_is_not_good_joins_nothing),
		T(a_node_in_another_segment_reaches_nothing),
		T(a_ca_with_another_hash_is_not_believed),
		T(the_ca_is_found_in_cluster_info_as_kubeadm_does),
		T(a_drive_without_image_or_config_boots_nothing),
		T(a_kubelet_that_does_not_start_and_one_on_a_wrong_board),
		T(a_pod_that_is_bound_runs_and_leaves_traces),
		T(a_pod_runs_as_long_as_its_annotation_says_and_succeeds),
		T(a_deleted_pod_goes_after_it_stopped_and_within_its_grace),
		T(a_cut_machine_writes_nothing_any_more),
		T(a_node_outlives_the_rack_that_is_killed),
		T(a_node_that_reboots_is_back_with_another_boot_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
