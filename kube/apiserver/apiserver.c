#include "kube/apiserver/apiserver.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/lines.h"

/* --- life cycle ------------------------------------------------------------------------------- */

static void create_namespace(struct apiserver *a, const char *name)
{
	OWN_JSON obj = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", "v1", "kind", "Namespace",
				 "metadata", "name", name);

	apiserver_create(a, "", "namespaces", obj);
}

/* Creates the ConfigMap kube-system/kubeadm-config with the same contents as `kubeadm init`,
 * because nodes read it when they join. */
static void create_kubeadm_config(struct apiserver *a, const char *endpoint)
{
	char *text = mem_printf("apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\n"
				"clusterName: kubernetes\ncontrolPlaneEndpoint: \"%s\"\n",
				endpoint);
	OWN_JSON obj = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s}}", "apiVersion", "v1", "kind",
				 "ConfigMap", "metadata", "name", "kubeadm-config", "namespace",
				 "kube-system", "data", "ClusterConfiguration", text);

	apiserver_create(a, "", "configmaps", obj);
	free(text);
}

struct apiserver *apiserver_new(struct loop_group *g, struct store *s,
				const struct apiserver_spec *spec)
{
	static const char *const namespaces[] = {"default", "kube-system", "kube-public",
						 "kube-node-lease"};
	struct apiserver *a = mem_new(struct apiserver);

	a->group = g;
	a->loop = loop_of(g);
	a->store = s;
	if (spec)
		a->spec = *spec;
	a->version = mem_strdup(str_or(a->spec.version, "v1.33.0"));
	a->spec.version = NULL;
	a->ca_pem = a->spec.ca_pem ? mem_strdup(a->spec.ca_pem) : NULL;
	a->spec.ca_pem = NULL;
	list_init(&a->customs);
	list_init(&a->watches);
	list_init(&a->observers);
	a->lines = lines_new(g);
	resources_load(a);
	for (size_t i = 0; i < sizeof(namespaces) / sizeof(*namespaces); i++)
		create_namespace(a, namespaces[i]);
	if (a->spec.join_endpoint)
		create_kubeadm_config(a, a->spec.join_endpoint);
	a->spec.join_endpoint = NULL;
	if (a->spec.controllers) {
		collector_start(a);
		budgets_start(a);
	}
	if (a->spec.rbac) {
		rbac_start(a);
		rbac_create_defaults(a);
	}
	return a;
}

void apiserver_free(struct apiserver *a)
{
	if (!a)
		return;
	/* The caller must already have called httpd_free(), which ends all watches. */
	assert(list_empty(&a->watches));
	lines_free(a->lines);
	resources_free(a);
	rbac_free(a->rbac);
	collector_free(a->collector);
	budgets_free(a->budgets);
	crypto_key_free(a->token_key);
	free(a->ca_pem);
	free(a->version);
	free(a);
}

/* --- the path of a request -------------------------------------------------------------------- */

#define MAX_PARTS 8

/* Parses the part of the path behind group and version into the request:
 * namespaces/NS/RESOURCE/NAME/SUB or RESOURCE/NAME/SUB. */
static bool parse_target(struct request *rq, const char *group, const char *version, char **part,
			 size_t n)
{
	if (n >= 3 && str_eq(part[0], "namespaces")) {
		rq->r = resource_find(rq->a, group, version, part[2]);
		if (rq->r && rq->r->namespaced) {
			rq->ns = part[1];
			part += 2;
			n -= 2;
		}
	}
	if (!rq->ns)
		rq->r = resource_find(rq->a, group, version, part[0]);
	rq->name = n > 1 ? part[1] : NULL;
	rq->sub = n > 2 ? part[2] : NULL;
	return rq->r && n <= 3 && !(rq->name && rq->r->namespaced && !rq->ns);
}

static void refuse(struct request *rq, enum fault_kind kind, const char *text)
{
	(void)!fault_set(&rq->fault, kind, "%s", text);
	reply_fault(rq);
}

static void do_object(struct request *rq)
{
	const char *method = httpd_method(rq->q);

	if (str_eq(method, "GET") || str_eq(method, "HEAD"))
		do_get(rq);
	else if (str_eq(method, "PUT"))
		do_update(rq);
	else if (str_eq(method, "PATCH"))
		do_patch(rq);
	else if (str_eq(method, "DELETE") && !rq->sub)
		do_delete(rq);
	else
		refuse(rq, FAULT_METHOD,
		       "the server does not allow this method on the requested resource");
}

static void do_collection(struct request *rq)
{
	const char *method = httpd_method(rq->q);

	if (str_eq(method, "GET") && name_is_true(httpd_query(rq->q, "watch")))
		do_watch(rq);
	else if (str_eq(method, "GET") || str_eq(method, "HEAD"))
		do_list(rq);
	else if (str_eq(method, "POST"))
		do_create(rq);
	else if (str_eq(method, "DELETE") && !str_eq(rq->r->key, "namespaces/"))
		do_delete_all(rq);
	else
		refuse(rq, FAULT_METHOD,
		       "the server does not allow this method on the requested resource");
}

static void refuse_or_review(struct request *rq)
{
	if (!rq->name && str_eq(httpd_method(rq->q), "POST"))
		do_review(rq);
	else
		refuse(rq, rq->name ? FAULT_NOT_FOUND : FAULT_METHOD,
		       "the server does not allow this method on the requested resource");
}

static void do_resource(struct request *rq)
{
	bool post = str_eq(httpd_method(rq->q), "POST"), pod = str_eq(rq->r->key, "pods/");

	if (rq->r->review)
		refuse_or_review(rq);
	else if (!rq->name)
		do_collection(rq);
	else if (!rq->sub || (str_eq(rq->sub, "status") && rq->r->has_status))
		do_object(rq);
	else if (rq->r->scale_spec && str_eq(rq->sub, "scale"))
		do_scale(rq);
	else if (pod && post && str_eq(rq->sub, "eviction"))
		do_eviction(rq);
	else if (str_eq(rq->r->key, "namespaces/") && str_eq(rq->sub, "finalize") &&
		 str_eq(httpd_method(rq->q), "PUT"))
		do_update(rq);
	else if (pod && post && str_eq(rq->sub, "binding"))
		do_binding(rq);
	else if (post && str_eq(rq->sub, "token") && str_eq(rq->r->key, "serviceaccounts/"))
		do_token_request(rq);
	else
		refuse(rq, FAULT_NOT_FOUND, "the server could not find the requested resource");
}

static bool dry_run_is_valid(struct request *rq)
{
	const char *dry_run = httpd_query(rq->q, "dryRun");

	rq->dry_run = str_eq(dry_run, "All");
	return !dry_run || rq->dry_run;
}

static void do_paths(struct request *rq, const char *group, const char *version)
{
	if (rbac_check(rq) < 0)
		reply_fault(rq);
	else
		do_discovery(rq, group, version);
}

static void dispatch(struct request *rq)
{
	char *rest = arena_strdup(rq->arena, httpd_path(rq->q) + 1), *part[MAX_PARTS];
	size_t n = 0, head;
	const char *group, *version;

	for (char *one; n < MAX_PARTS && (one = strsep(&rest, "/"));)
		if (*one)
			part[n++] = one;
	/* head: number of path parts up to the version, in api/VERSION/... or
	 * apis/GROUP/VERSION/... */
	head = str_eq(part[0], "api") ? 2 : 3;
	group = head == 2 ? "" : n > 1 ? part[1] : NULL;
	version = n >= head ? part[head - 1] : NULL;
	if (rest)
		refuse(rq, FAULT_NOT_FOUND, "the server could not find the requested resource");
	else if (n <= head)
		do_paths(rq, group, version);
	else if (!parse_target(rq, group, version, part + head, n - head))
		refuse(rq, FAULT_NOT_FOUND, "the server could not find the requested resource");
	else if (rbac_check(rq) < 0)
		reply_fault(rq);
	else if (!dry_run_is_valid(rq))
		refuse(rq, FAULT_INVALID, "dryRun: Unsupported value: supported values: \"All\"");
	else
		do_resource(rq);
}

/* --- routes ----------------------------------------------------------------------------------- */

static bool is_known(struct request *rq)
{
	if (auth_request(rq) == 0)
		return true;
	reply_fault(rq);
	return false;
}

static void on_api(struct httpd_req *q, void *arg)
{
	struct request rq = {.a = arg, .q = q, .arena = arena_new()};

	if (is_known(&rq))
		dispatch(&rq);
	arena_free(rq.arena);
}

static void on_version(struct httpd_req *q, void *arg)
{
	struct request rq = {.a = arg, .q = q, .arena = arena_new()};

	do_version(&rq);
	arena_free(rq.arena);
}

static void openapi(struct httpd_req *q, void *arg, void (*answer)(struct request *rq))
{
	struct request rq = {.a = arg, .q = q, .arena = arena_new()};

	if (!is_known(&rq))
		; /* Do nothing: auth_request() failed, and is_known() has sent the reply. */
	else if (rbac_check(&rq) < 0)
		reply_fault(&rq);
	else
		answer(&rq);
	arena_free(rq.arena);
}

static void on_openapi(struct httpd_req *q, void *arg)
{
	openapi(q, arg, do_openapi);
}

static void on_openapi_v2(struct httpd_req *q, void *arg)
{
	openapi(q, arg, do_openapi_v2);
}

static void on_health(struct httpd_req *q, void *arg)
{
	(void)arg;
	httpd_reply(q, 200, "text/plain", "ok", 2);
}

void apiserver_routes(struct apiserver *a, struct httpd *d)
{
	static const char *const health[] = {"/healthz", "/livez", "/readyz"};

	for (size_t i = 0; i < sizeof(health) / sizeof(*health); i++)
		httpd_route(d, "GET", health[i], 0, on_health, a);
	httpd_route(d, "GET", "/version", 0, on_version, a);
	httpd_route(d, "GET", "/openapi/v2", 0, on_openapi_v2, a);
	httpd_route(d, "GET", "/openapi/v3/**", 0, on_openapi, a);
	httpd_route(d, "*", "/api/**", MAX_BODY, on_api, a);
	httpd_route(d, "*", "/apis/**", MAX_BODY, on_api, a);
}
