#ifndef TESTS_UNIT_SIM_NODE_TOWN_H
#define TESTS_UNIT_SIM_NODE_TOWN_H

#include "tests/unit/sim/machine/aisle.h"

#include "base/crypto.h"
#include "base/data/json.h"
#include "base/store/store.h"
#include "kube/apiserver/apiserver.h"
#include "sim/machine/iso.h"
#include "sim/node/node.h"

/*
 * town: an aisle (one machine) and a tenant's API server. The embedded API server, with
 * authentication and roles, checks what the operating system on the machine's root drive does. Each
 * test program can include it only once.
 */
#define ORIGIN "https://team-a:6443"
#define NODE "/api/v1/nodes/claim-1"
#define LEASE "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/claim-1"
#define TOKEN "/api/v1/namespaces/kube-system/secrets/bootstrap-token-abcdef"

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

static inline void town_on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct town *t = arg;
	struct err bad;

	if (e)
		fail_msg("%s", e->text);
	t->done = true;
	t->status = r->status;
	t->j = json_parse(r->body, r->body_len, &bad);
}

static inline bool town_is_done(void *arg)
{
	return ((struct town *)arg)->done;
}

/* Sends a request to the tenant's API server and waits; returns the HTTP status. Takes ownership of
 * body. */
static inline int ask(struct town *t, const char *method, const char *path, json_t *body)
{
	char *text = body ? json_text(body) : NULL;
	struct http_call c = {
		.method = method,
		.path = path,
		.bearer = t->admin,
		.body = text,
		.body_len = text ? strlen(text) : 0,
		.content_type = str_eq(method, "PATCH") ? "application/merge-patch+json" : NULL,
		.done = town_on_reply,
		.arg = t,
	};

	json_decref(t->j);
	t->j = NULL;
	t->done = false;
	http_start(t->peer, &c);
	assert_true(loop_sim_run_cond(t->f->l, town_is_done, t, loop_now(t->f->l) + 60000));
	free(text);
	json_decref(body);
	return t->status;
}

static inline const char *text_at(struct town *t, const char *path, const char *a, const char *b)
{
	if (ask(t, "GET", path, NULL) != 200)
		return "";
	return str_or(b ? json_str_at(t->j, a, b) : json_str_at(t->j, a), "");
}

static inline void start_server(struct town *t)
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

static inline void mint(struct town *t)
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

/* Creates a town. more: adds routes before those of the API server; NULL: none. */
static inline struct town *town_new(void (*more)(struct town *t))
{
	struct town *t = mem_new(struct town);
	uint8_t d[CRYPTO_SHA256];

	t->f = aisle_new(true);
	assert_ok(crypto_ca_new("team-a", 1764000000000, 3650, &t->ca, &t->ca_key, &t->f->e),
		  &t->f->e);
	assert_ok(crypto_cert_spki_sha256(t->ca, d, &t->f->e), &t->f->e);
	crypto_digest_text(d, t->ca_hash);
	t->cas[0] = t->ca;
	if (more)
		more(t);
	start_server(t);
	t->f->site.cluster_cas = t->cas;
	t->f->site.kubelet_token = t->kubelet;
	aisle_move(t->f, "tenant/team-a");
	mint(t);
	return t;
}

static inline int setup(void **state)
{
	*state = town_new(NULL);
	return 0;
}

static inline int teardown(void **state)
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

static inline void write_drive(struct town *t, const char *extra)
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

static inline void boot(struct town *t)
{
	write_drive(t, "");
	sim_machine_power(&t->f->m, true);
	aisle_run(t->f, 15000);
}

static inline const char *ready(struct town *t)
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

#endif
