/*
 * objects: the objects that `drover up` applies to the host cluster: drover's
 * CustomResourceDefinitions, a Provider with its Machines, one NodePool, two VirtualClusters, and
 * their Secrets.
 * Tests: tests/real/up.py, examples/demo.py
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "api/crd.h"
#include "base/arena.h"
#include "base/crypto.h"
#include "base/data/yaml.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/up/server.h"
#include "cli/up/up.h"

#define TEXT_MAX (1u << 20)
#define NAMESPACE "drover-system"
#define READER "drover-view-reader" /* ClusterRole that may read the view */

/* --- which objects ---------------------------------------------------------------------------- */

static json_t *namespace(const char *name)
{
	return json_pack("{s:s,s:s,s:{s:s}}", "apiVersion", "v1", "kind", "Namespace", "metadata",
			 "name", name);
}

static void put_data(json_t *secret, const char *key, const char *value)
{
	char *b = crypto_base64(value, strlen(value));

	json_object_set_new(json_object_get(secret, "data"), key, json_string(b));
	free(b);
}

static json_t *secret(const char *ns, const char *name)
{
	return json_pack("{s:s,s:s,s:{s:s,s:s},s:{}}", "apiVersion", "v1", "kind", "Secret",
			 "metadata", "name", name, "namespace", ns, "data");
}

static int add_crds(json_t *list, struct err *e)
{
	struct buf text;
	json_t *crds;

	buf_init(&text, TEXT_MAX);
	crds_write(&text);
	crds = yaml_parse_all(text.data, text.len, e);
	buf_done(&text);
	if (!crds)
		return err_wrap(e, "CustomResourceDefinitions");
	json_array_extend(list, crds);
	json_decref(crds);
	return 0;
}

static void add_tenant(json_t *list, const struct up_cluster *t)
{
	OWN(secret) conf = up_server_kubeconfig(t->server);
	const char *url = up_server_url(t->server);
	char *ns = mem_printf("vc-%s", t->name);
	json_t *s = secret(ns, ns);

	put_data(s, "config", secret_expose(conf));
	json_array_append_new(list, namespace(ns));
	json_array_append_new(list, s);
	/* Set spec.server, because drover refuses a loopback address that only a kubeconfig
	 * names. */
	json_array_append_new(
		list, json_pack("{s:s,s:s,s:{s:s,s:{s:s}},s:{s:{s:s,s:s,s:s},s:s,s:s,s:{s:s}}}",
				"apiVersion", OBJECT_API_VERSION, "kind", "VirtualCluster",
				"metadata", "name", t->name, "labels", "tier", "research", "spec",
				"kubeconfigSecretRef", "namespace", ns, "name", ns, "key", "config",
				"server", url, "joinEndpoint", url + strlen("https://"), "quota",
				"nvidia.com/gpu", "64"));
	free(ns);
}

/* Returns the NodePool, owned by the caller. Its empty nodes are removed after a few seconds, so
 * that a user sees the removal happen. */
static json_t *pool(const struct up *u, const char *digest)
{
	char *url = up_url(u->port, "http", UP_PORT_IMAGES);
	char *image = mem_printf("%s/node.raw", url);
	json_t *o = json_pack(
		"{s:s,s:s,s:{s:s},s:{s:{},s:{s:{s:[{s:s}],s:[{s:s,s:s,s:[s]}],s:[{s:s,s:s}],"
		"s:[{s:s,s:s,s:s,s:s}],s:{s:s},s:s}},s:{s:s,s:[{s:s}]},s:{s:{s:s,s:s}}}}",
		"apiVersion", OBJECT_API_VERSION, "kind", "NodePool", "metadata", "name", "h100",
		"spec", "virtualClusterSelector", "template", "spec", "providerRefs", "name",
		UP_PROVIDER, "requirements", "key", "node.kubernetes.io/instance-type", "operator",
		"In", "values", "hgx-h100-8", "taints", "key", "nvidia.com/gpu", "effect",
		"NoSchedule", "images", "kubernetesVersion", "1.36", "url", image, "format", "raw",
		"digest", digest, "network", "isolation", "Required", "terminationGracePeriod",
		"1m", "disruption", "consolidateAfter", "5s", "budgets", "nodes", "100%", "wipe",
		"minimumLevel", "flash", "Clear", "hdd", "Clear");

	free(image);
	free(url);
	return o;
}

/* Adds the account whose tokens readers of the view get, as in deploy/rbac.yaml. */
static void add_reader(json_t *list)
{
	const char *group = "rbac.authorization.k8s.io", *version = "rbac.authorization.k8s.io/v1";

	json_array_append_new(list, json_pack("{s:s,s:s,s:{s:s,s:s}}", "apiVersion", "v1", "kind",
					      "ServiceAccount", "metadata", "name", VIEW_NAME,
					      "namespace", NAMESPACE));
	json_array_append_new(list,
			      json_pack("{s:s,s:s,s:{s:s},s:[{s:[s],s:[s]}]}", "apiVersion",
					version, "kind", "ClusterRole", "metadata", "name", READER,
					"rules", "nonResourceURLs", "/v1/*", "verbs", "get"));
	json_array_append_new(list, json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:s,s:s},s:[{s:s,s:s,s:s}]}",
					      "apiVersion", version, "kind", "ClusterRoleBinding",
					      "metadata", "name", READER, "roleRef", "apiGroup",
					      group, "kind", "ClusterRole", "name", READER,
					      "subjects", "kind", "ServiceAccount", "name",
					      VIEW_NAME, "namespace", NAMESPACE));
}

static json_t *all_objects(const struct up *u, const json_t *rack, const char *digest,
			   struct err *e)
{
	json_t *list = json_array(), *bmc = secret(NAMESPACE, UP_PROVIDER "-bmc"),
	       *ca = secret(NAMESPACE, UP_PROVIDER "-ca");
	int rc = add_crds(list, e);

	put_data(bmc, "username", "drover");
	put_data(bmc, "password", secret_expose(u->bmc_password));
	put_data(ca, "ca.crt", up_server_ca_pem(u->host.server));
	json_array_append_new(list, namespace(NAMESPACE));
	json_array_append_new(list, bmc);
	json_array_append_new(list, ca);
	add_reader(list);
	if (rc < 0) {
		json_decref(list);
		return NULL;
	}
	for (int i = 0; i < UP_TENANTS; i++)
		add_tenant(list, &u->tenants[i]);
	json_array_extend(list, (json_t *)rack);
	json_array_append_new(list, pool(u, digest));
	return list;
}

/* --- apply ------------------------------------------------------------------------------------ */

struct up_apply {
	struct up *u;
	struct http_peer *peer;
	const struct secret *token;
	/* objects of the cluster whose turn it is, and index of the one that is being created */
	json_t *list;
	size_t at;
	/* number of clusters that are complete: the host first, then the tenants */
	size_t complete;
	struct http_req *req;
	void (*done)(const struct err *e, void *arg);
	void *arg;
};

static void next(struct up_apply *a);

/* Returns the URL path of the collection to which the object belongs, in the arena. */
static const char *path_of(const json_t *o, struct arena *a)
{
	const char *version = json_str_at(o, "apiVersion"), *kind = json_str_at(o, "kind"),
		   *ns = json_str_at(o, "metadata", "namespace");
	const struct object_kind *k = object_kind_find(kind);

	if (str_eq(version, OBJECT_API_VERSION) && k)
		return arena_printf(a, "/apis/%s/%s", version, k->plural);
	if (str_eq(kind, "CustomResourceDefinition"))
		return arena_printf(a, "/apis/%s/customresourcedefinitions", version);
	if (str_eq(kind, "Namespace"))
		return "/api/v1/namespaces";
	if (str_starts(kind, "ClusterRole"))
		return arena_printf(a, "/apis/%s/%s", version,
				    str_eq(kind, "ClusterRole") ? "clusterroles"
								: "clusterrolebindings");
	return arena_printf(a, "/api/v1/namespaces/%s/%s", str_or(ns, "default"),
			    str_eq(kind, "ServiceAccount") ? "serviceaccounts" : "secrets");
}

static void send(struct up_apply *a, const char *method, bool item, const char *type,
		 void (*done)(const struct http_reply *r, const struct err *e, void *arg))
{
	const json_t *o = json_array_get(a->list, a->at);
	OWN(arena) arena = arena_new();
	const char *path = path_of(o, arena);
	char *text = json_text(o);
	struct http_call call = {
		.method = method,
		.path = item ? arena_printf(arena, "%s/%s", path,
					    json_str_at(o, "metadata", "name"))
			     : path,
		.bearer = a->token,
		.body = text,
		.body_len = strlen(text),
		.content_type = type,
		.max_body = TEXT_MAX,
		.done = done,
		.arg = a,
	};

	a->req = http_start(a->peer, &call);
	secret_wipe(text, strlen(text));
	free(text);
}

static void failed(struct up_apply *a, struct err *e)
{
	const json_t *o = json_array_get(a->list, a->at);

	if (err_wrap(e, "%s %s", str_or(json_str_at(o, "kind"), "object"),
		     str_or(json_str_at(o, "metadata", "name"), "")) < 0)
		a->done(e, a->arg);
}

static void on_merged(const struct http_reply *r, const struct err *e, void *arg)
{
	struct up_apply *a = arg;
	struct err bad;

	a->req = NULL;
	if (!r || http_err(r, &bad) < 0) {
		bad = r ? bad : *e;
		failed(a, &bad);
		return;
	}
	a->at++;
	next(a);
}

/* True for kinds of which a start creates missing objects, but leaves existing objects unchanged,
 * because users may have changed them. */
static bool is_made_once(const json_t *o)
{
	const char *kind = json_str_at(o, "kind");

	return str_eq(kind, "NodePool") || str_eq(kind, "Namespace") || str_eq(kind, "Machine");
}

static void on_created(const struct http_reply *r, const struct err *e, void *arg)
{
	struct up_apply *a = arg;
	const json_t *o = json_array_get(a->list, a->at);
	struct err bad;

	a->req = NULL;
	if (r && r->status == 409 && !is_made_once(o)) {
		send(a, "PATCH", true, "application/merge-patch+json", on_merged);
	} else if (!r || (r->status != 409 && http_err(r, &bad) < 0)) {
		bad = r ? bad : *e;
		failed(a, &bad);
	} else {
		a->at++;
		next(a);
	}
}

/* Begins to create the objects of a cluster. Takes ownership of list. */
static int begin(struct up_apply *a, const struct up_cluster *on, json_t *list, struct err *e)
{
	struct http_peer_spec peer = {.base_url = up_server_url(on->server),
				      .ca_pem = up_server_ca_pem(on->server)};

	http_peer_free(a->peer);
	json_decref(a->list);
	a->at = 0;
	a->list = list;
	a->token = up_server_token(on->server);
	a->peer = list ? http_peer_new(a->u->http, &peer, e) : NULL;
	if (!a->peer)
		return -1;
	next(a);
	return 0;
}

static void next(struct up_apply *a)
{
	struct err e;

	if (a->at < json_array_size(a->list)) {
		send(a, "POST", false, NULL, on_created);
	} else if (a->complete == UP_TENANTS) {
		a->done(NULL, a->arg);
	} else {
		/* Create the namespace in which drover stores the tenant's list of waiting pods
		 * (controller/view/tenant_list.h). In other clusters, deploy/tenant-rbac.yaml
		 * creates it. */
		json_t *list = json_pack("[o]", namespace(NAMESPACE));

		if (begin(a, &a->u->tenants[a->complete++], list, &e) < 0)
			a->done(&e, a->arg);
	}
}

struct up_apply *up_apply_new(struct up *u, const json_t *rack, const char *digest,
			      void (*done)(const struct err *e, void *arg), void *arg,
			      struct err *e)
{
	struct up_apply *a = mem_new(struct up_apply);

	a->u = u;
	a->done = done;
	a->arg = arg;
	if (begin(a, &u->host, all_objects(u, rack, digest, e), e) < 0) {
		up_apply_free(a);
		return NULL;
	}
	return a;
}

void up_apply_free(struct up_apply *a)
{
	if (!a)
		return;
	http_cancel(a->req);
	http_peer_free(a->peer);
	json_decref(a->list);
	free(a);
}
