#include "tests/world/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"

#define HISTORY 20000
#define SCHEDULE_MS 1000
#define GPU "nvidia.com/gpu"

/* --- asking ----------------------------------------------------------------------------------- */

struct ask {
	struct list link;
	cluster_done_fn *done;
	void *arg;
};

static void on_reply(const struct http_reply *r, const struct err *e, void *arg)
{
	struct ask *ask = arg;
	struct err bad;
	OWN_JSON o = r && r->body_len ? json_parse(r->body, r->body_len, &bad) : NULL;

	(void)e;
	list_remove(&ask->link);
	if (ask->done)
		ask->done(r ? r->status : 0, o, ask->arg);
	free(ask);
}

void cluster_ask(struct cluster *p, const char *method, const char *path, json_t *body,
		 cluster_done_fn *done, void *arg)
{
	struct ask *ask = mem_new(struct ask);
	char *text = body ? json_text(body) : NULL;
	struct http_call call = {
		.method = method,
		.path = path,
		.bearer = p->bearer,
		.body = text,
		.body_len = text ? strlen(text) : 0,
		.content_type = str_eq(method, "PATCH") ? "application/merge-patch+json" : NULL,
		.done = on_reply,
		.arg = ask,
	};

	ask->done = done;
	ask->arg = arg;
	list_push_back(&p->asks, &ask->link);
	http_start(p->peer, &call);
	free(text);
	json_decref(body);
}

/* --- looking ---------------------------------------------------------------------------------- */

json_t *cluster_get(const struct cluster *p, const char *key)
{
	struct store_entry en;
	struct err e;

	return store_get(p->store, key, &en) ? json_parse(en.value, en.value_len, &e) : NULL;
}

struct each {
	bool (*fn)(const json_t *o, void *arg);
	void *arg;
};

static bool on_entry(const struct store_entry *en, void *arg)
{
	struct each *each = arg;
	struct err e;
	OWN_JSON o = json_parse(en->value, en->value_len, &e);

	return !o || each->fn(o, each->arg);
}

void cluster_each(const struct cluster *p, const char *prefix,
		  bool (*fn)(const json_t *o, void *arg), void *arg)
{
	struct each each = {fn, arg};

	store_list(p->store, prefix, NULL, 0, on_entry, &each);
}

/* --- scheduler -------------------------------------------------------------------------------- */

struct fit {
	struct cluster *p;
	const json_t *pod;
	char node[256];
	/* True: a picky scheduler refused its Node in this pass, for the first time. */
	bool refused;
	int64_t used, published;
	/* Name of the Node being tried. */
	const char *name;
};

static int64_t gpus_at(const json_t *list)
{
	const char *text = json_str_at(list, GPU);

	return text ? atoll(text) : json_int_at(list, GPU);
}

/* Returns the number of devices that a ResourceClaimTemplate with one request asks for. The
 * template is in the pod's namespace. */
static int64_t template_gpus(const struct cluster *p, const json_t *pod, const char *name)
{
	OWN(arena) a = arena_new();
	OWN_JSON t = cluster_get(p, arena_printf(a, "resourceclaimtemplates.resource.k8s.io/%s/%s",
						 json_str_at(pod, "metadata", "namespace"), name));
	const json_t *list = json_at(t, "spec", "spec", "devices", "requests");

	return json_int_at(json_array_get(list, 0), "exactly", "count");
}

static int64_t pod_gpus(const struct cluster *p, const json_t *pod)
{
	int64_t n = 0;
	json_t *c;
	size_t i;

	json_array_foreach (json_at(pod, "spec", "containers"), i, c)
		n += gpus_at(json_at(c, "resources", "limits"));
	json_array_foreach (json_at(pod, "spec", "resourceClaims"), i, c)
		n += template_gpus(p, pod, json_str_at(c, "resourceClaimTemplateName"));
	return n;
}

static bool count_slice(const json_t *slice, void *arg)
{
	struct fit *f = arg;

	if (str_eq(json_str_at(slice, "spec", "nodeName"), f->name))
		f->published += (int64_t)json_array_size(json_at(slice, "spec", "devices"));
	return true;
}

static bool count_used(const json_t *pod, void *arg)
{
	struct fit *f = arg;

	if (str_eq(json_str_at(pod, "spec", "nodeName"), f->name))
		f->used += pod_gpus(f->p, pod);
	return true;
}

static bool tolerated(const json_t *pod, const json_t *taint)
{
	json_t *t;
	size_t i;

	json_array_foreach (json_at(pod, "spec", "tolerations"), i, t)
		if (str_eq(json_str_at(t, "key"), json_str_at(taint, "key")))
			return true;
	return false;
}

static bool is_ready(const json_t *node)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(node, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "Ready"))
			return str_eq(json_str_at(c, "status"), "True");
	return false;
}

/* True if a picky scheduler refuses the Node. It refuses the first suitable Node, for ever. */
static bool is_refused(struct fit *f)
{
	struct cluster *p = f->p;

	if (!p->picky || (p->refused[0] && !str_eq(p->refused, f->name)))
		return false;
	f->refused = !p->refused[0];
	str_copy(p->refused, sizeof(p->refused), f->name);
	return true;
}

static bool try_node(const json_t *node, void *arg)
{
	struct fit *f = arg;
	json_t *t;
	size_t i;

	f->name = json_str_at(node, "metadata", "name");
	f->used = f->published = 0;
	if (!is_ready(node) || json_true_at(node, "spec", "unschedulable"))
		return true;
	json_array_foreach (json_at(node, "spec", "taints"), i, t)
		if (!tolerated(f->pod, t))
			return true;
	cluster_each(f->p, "pods/", count_used, f);
	cluster_each(f->p, "resourceslices.resource.k8s.io/", count_slice, f);
	if (f->used + pod_gpus(f->p, f->pod) >
	    f->published + gpus_at(json_at(node, "status", "allocatable")))
		return true;
	if (is_refused(f))
		return true;
	str_copy(f->node, sizeof(f->node), f->name);
	return false;
}

static bool is_marked(const json_t *pod)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(pod, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "reason"), "Unschedulable"))
			return true;
	return false;
}

static void on_bound(int status, json_t *o, void *arg)
{
	struct cluster *p = arg;

	(void)status;
	(void)o;
	p->binding = false;
}

static bool try_pod(const json_t *pod, void *arg)
{
	struct cluster *p = arg;
	struct fit f = {.p = p, .pod = pod};
	const char *ns = json_str_at(pod, "metadata", "namespace"),
		   *name = json_str_at(pod, "metadata", "name");
	OWN(arena) a = arena_new();
	char now[STR_TIME_SIZE];

	if (json_at(pod, "spec", "nodeName") || json_at(pod, "metadata", "deletionTimestamp"))
		return true;
	cluster_each(p, "nodes/", try_node, &f);
	if (f.node[0]) {
		p->binding = true;
		cluster_ask(p, "POST",
			    arena_printf(a, "/api/v1/namespaces/%s/pods/%s/binding", ns, name),
			    json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:s}}", "apiVersion", "v1", "kind",
				      "Binding", "metadata", "name", name, "target", "kind", "Node",
				      "name", f.node),
			    on_bound, p);
		/* End the pass, because free capacity must be counted again once this pod is
		 * bound. */
		return false;
	}
	if (is_marked(pod) && !f.refused)
		return true;
	cluster_ask(p, "PATCH", arena_printf(a, "/api/v1/namespaces/%s/pods/%s/status", ns, name),
		    json_pack("{s:{s:s,s:[{s:s,s:s,s:s,s:s?,s:s}]}}", "status", "phase", "Pending",
			      "conditions", "type", "PodScheduled", "status", "False", "reason",
			      "Unschedulable", "message",
			      f.refused ? "0/1 nodes are available" : NULL, "lastTransitionTime",
			      str_time(now, loop_wall(p->loop))),
		    NULL, NULL);
	return true;
}

static void on_schedule(void *arg)
{
	struct cluster *p = arg;

	loop_timer_start(&p->scheduler, SCHEDULE_MS);
	if (p->away || p->binding || p->scheduled == store_rev(p->store))
		return;
	p->scheduled = store_rev(p->store);
	cluster_each(p, "pods/", try_pod, p);
}

void cluster_start_scheduler(struct cluster *p)
{
	loop_timer_start(&p->scheduler, SCHEDULE_MS);
}

/* --- life ------------------------------------------------------------------------------------- */

static const char *user_of(const struct httpd_req *q, void *arg)
{
	struct cluster *p = arg;
	OWN(secret) shown = httpd_bearer(q);

	if (shown && str_ends(httpd_path(q), "/selfsubjectreviews") &&
	    cluster_knows_token(p, secret_expose(shown))) {
		p->tries++;
		str_format(p->bootstrap, sizeof(p->bootstrap), "system:bootstrap:%.6s",
			   secret_expose(shown));
		return p->bootstrap;
	}
	return shown && secret_equal(shown, p->bearer) ? "system:somebody" : NULL;
}

void cluster_away(struct cluster *p, bool away)
{
	p->away = away;
	http_mem_serve(p->net, p->origin, away ? NULL : p->httpd);
}

char *cluster_kubeconfig(const struct cluster *p, const char *server, const char *ca_pem)
{
	char *ca = crypto_base64(ca_pem, strlen(ca_pem));
	char *text = mem_printf("apiVersion: v1\nkind: Config\ncurrent-context: c\n"
				"clusters:\n- name: c\n"
				"  cluster: {server: \"%s\", certificate-authority-data: %s}\n"
				"users:\n- name: u\n  user: {token: %s}\n"
				"contexts:\n- name: c\n  context: {cluster: c, user: u}\n",
				server, ca, p->token);

	free(ca);
	return text;
}

bool cluster_knows_token(const struct cluster *p, const char *token)
{
	OWN(arena) a = arena_new();
	OWN_JSON s = NULL;
	int64_t expires;
	struct err e;
	size_t n;
	const char *dot = strchr(token, '.'), *shown;
	char *secret;
	bool good;

	if (!dot || p->no_bootstrap)
		return false;
	s = cluster_get(p, arena_printf(a, "secrets/kube-system/bootstrap-token-%.*s",
					(int)(dot - token), token));
	shown = json_str_at(s, "data", "token-secret");
	secret = shown ? crypto_base64_decode(shown, strlen(shown), &n, &e) : NULL;
	good = str_eq(secret, dot + 1);
	free(secret);
	shown = json_str_at(s, "data", "expiration");
	secret = shown ? crypto_base64_decode(shown, strlen(shown), &n, &e) : NULL;
	good = good && secret && str_to_time(secret, &expires) && expires > loop_wall(p->loop);
	free(secret);
	return good;
}

static void on_join_script(struct httpd_req *q, void *arg)
{
	struct cluster *p = arg;
	OWN(arena) a = arena_new();
	const char *token = httpd_query(q, "token");
	char *text;

	if (!p->script.bytes || !token || !cluster_knows_token(p, token)) {
		httpd_reply(q, !p->script.bytes ? 404 : token ? 401 : 400, "text/plain", "", 0);
		return;
	}
	text = arena_alloc(a, p->script.bytes);
	memset(text, '#', p->script.bytes);
	p->script.served++;
	httpd_reply(q, 200, "text/plain", text, p->script.bytes);
}

void cluster_init(struct cluster *p, struct loop *l, struct http_mem_net *net, const char *name)
{
	struct apiserver_spec spec = {.version = "v1.36.0", .user_of = user_of, .arg = p};
	char inside[80];
	struct http_peer_spec peer = {.base_url = inside};
	struct err e;

	*p = (struct cluster){.name = name, .loop = l, .net = net};
	str_format(p->origin, sizeof(p->origin), "https://%s:6443", name);
	str_format(p->endpoint, sizeof(p->endpoint), "%s:6443", name);
	spec.join_endpoint = p->endpoint;
	str_format(p->token, sizeof(p->token), "token-of-%s-0123456789", name);
	p->bearer = secret_from_str(p->token);
	list_init(&p->asks);
	p->group = loop_group_new(l, name);
	p->store = store_mem_new(p->group, HISTORY);
	p->api = apiserver_new(p->group, p->store, &spec);
	p->httpd = httpd_new(p->group);
	httpd_route(p->httpd, "GET", "/node/join", 0, on_join_script, p);
	apiserver_routes(p->api, p->httpd);
	http_mem_serve(net, p->origin, p->httpd);
	str_format(inside, sizeof(inside), "https://%s" CLUSTER_INSIDE, name);
	http_mem_serve(net, inside, p->httpd);
	p->http = http_new(p->group, http_mem_transport(net, p->group, name, NULL, NULL), 0);
	p->peer = http_peer_new(p->http, &peer, &e);
	loop_timer_init(&p->scheduler, p->group, on_schedule, p);
}

void cluster_done(struct cluster *p)
{
	loop_timer_stop(&p->scheduler);
	http_peer_free(p->peer);
	http_free(p->http);
	list_for_each (ask, &p->asks, struct ask, link) {
		list_remove(&ask->link);
		free(ask);
	}
	httpd_free(p->httpd);
	apiserver_free(p->api);
	store_free(p->store);
	loop_group_free(p->group);
	secret_free(p->bearer);
}
