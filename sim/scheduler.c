#include "sim/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/data/quantity.h"
#include "base/data/selector.h"
#include "base/str.h"

#define PERIOD_MS 500
#define BODY_MAX (16u << 20)
#define NAME "default-scheduler"
#define MESSAGE_MAX 1024

/* --- does it fit? --------------------------------------------------------------------------------- */

static struct quantity amount_of(const json_t *v)
{
	struct quantity q = {0};
	struct err e;

	if (json_is_integer(v))
		return quantity_of(json_integer_value(v));
	if (json_is_string(v) && quantity_parse(json_string_value(v), &q, &e) < 0)
		q = quantity_of(0);
	return q;
}

static struct quantity wanted_by(const json_t *container, const char *resource)
{
	json_t *v = json_at(container, "resources", "requests");

	v = v ? json_object_get(v, resource) : NULL;
	if (!v) /* as the API server defaults it */
		v = json_object_get(json_at(container, "resources", "limits"), resource);
	return amount_of(v);
}

/* Containers together, or the greatest of the init containers. */
static struct quantity request_of(const json_t *pod, const char *resource)
{
	struct quantity sum = {0}, most = {0};
	json_t *c;
	size_t i;

	if (str_eq(resource, "pods"))
		return quantity_of(1);
	json_array_foreach (json_at(pod, "spec", "containers"), i, c)
		sum = quantity_add(sum, wanted_by(c, resource));
	json_array_foreach (json_at(pod, "spec", "initContainers"), i, c) {
		struct quantity q = wanted_by(c, resource);

		if (quantity_cmp(q, most) > 0)
			most = q;
	}
	return quantity_cmp(most, sum) > 0 ? most : sum;
}

static bool is_over(const json_t *pod)
{
	const char *phase = json_str_at(pod, "status", "phase");

	return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

static const char *lacks(const json_t *pod, const json_t *node, const json_t *pods,
			 const char *resource)
{
	struct quantity want = request_of(pod, resource), used = {0}, has;
	const char *name = json_str_at(node, "metadata", "name");
	json_t *p;
	size_t i;

	if (want.nano == 0)
		return NULL;
	has = amount_of(json_object_get(json_at(node, "status", "allocatable"), resource));
	json_array_foreach (pods, i, p)
		if (str_eq(json_str_at(p, "spec", "nodeName"), name) && !is_over(p))
			used = quantity_add(used, request_of(p, resource));
	return quantity_cmp(quantity_add(used, want), has) > 0 ? resource : NULL;
}

/* The first resource that there is too little of. */
static const char *lacks_any(const json_t *pod, const json_t *node, const json_t *pods)
{
	static const char *const lists[] = {"containers", "initContainers"};
	static const char *const kinds[] = {"requests", "limits"};
	const char *key, *missing = lacks(pod, node, pods, "pods");
	json_t *c, *v;
	size_t i;

	for (size_t k = 0; k < 4 && !missing; k++)
		json_array_foreach (json_at(pod, "spec", lists[k / 2]), i, c)
			json_object_foreach (json_at(c, "resources", kinds[k % 2]), key, v)
				if (!missing)
					missing = lacks(pod, node, pods, key);
	return missing;
}

static bool tolerates(const json_t *pod, const json_t *taint)
{
	const char *key = json_str_at(taint, "key"), *effect = json_str_at(taint, "effect");
	json_t *t;
	size_t i;

	json_array_foreach (json_at(pod, "spec", "tolerations"), i, t) {
		const char *k = json_str_at(t, "key"), *f = json_str_at(t, "effect");

		if (!str_empty(f) && !str_eq(f, effect))
			continue;
		if (str_eq(json_str_at(t, "operator"), "Exists")) {
			if (str_empty(k) || str_eq(k, key))
				return true;
		} else if (str_eq(k, key) && str_eq(str_or(json_str_at(t, "value"), ""),
						    str_or(json_str_at(taint, "value"), ""))) {
			return true;
		}
	}
	return false;
}

static struct labels labels_of(const json_t *node, struct arena *a)
{
	json_t *from = json_at(node, "metadata", "labels"), *v;
	struct labels l = {.v = arena_calloc(a, json_object_size(from) + 1, sizeof(*l.v))};
	const char *key;

	json_object_foreach (from, key, v)
		l.v[l.n++] = (struct label){key, str_or(json_string_value(v), "")};
	labels_sort(&l);
	return l;
}

/* One expression; what cannot be read matches nothing. */
static bool expression_fits(const json_t *x, const struct labels *l, struct arena *a)
{
	json_t *values = json_at(x, "values"), *v;
	struct requirement r = {
		.key = json_str_at(x, "key"),
		.values = arena_calloc(a, json_array_size(values) + 1, sizeof(*r.values))};
	size_t i;

	json_array_foreach (values, i, v)
		r.values[r.nvalues++] = str_or(json_string_value(v), "");
	return r.key && selector_op_parse(json_str_at(x, "operator"), &r.op) &&
	       requirement_matches(&r, l);
}

static bool term_fits(const json_t *term, const json_t *node, const struct labels *l,
		      struct arena *a)
{
	struct label name = {"metadata.name", json_str_at(node, "metadata", "name")};
	struct labels fields = {&name, 1};
	json_t *x, *labels = json_at(term, "matchExpressions"),
		   *names = json_at(term, "matchFields");
	size_t i;

	json_array_foreach (labels, i, x)
		if (!expression_fits(x, l, a))
			return false;
	json_array_foreach (names, i, x)
		if (!expression_fits(x, &fields, a))
			return false;
	return json_array_size(labels) || json_array_size(names); /* an empty term fits nothing */
}

static bool affinity_fits(const json_t *pod, const json_t *node)
{
	OWN(arena) a = arena_new();
	struct labels l = labels_of(node, a);
	json_t *v, *terms = json_at(pod, "spec", "affinity", "nodeAffinity",
				    "requiredDuringSchedulingIgnoredDuringExecution",
				    "nodeSelectorTerms");
	const char *key;
	size_t i;

	json_object_foreach (json_at(pod, "spec", "nodeSelector"), key, v)
		if (!str_eq(labels_get(&l, key), json_string_value(v)))
			return false;
	if (!terms)
		return true;
	json_array_foreach (terms, i, v)
		if (term_fits(v, node, &l, a))
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

const char *sim_scheduler_misfit(const json_t *pod, const json_t *node, const json_t *pods)
{
	json_t *t;
	size_t i;

	if (json_true_at(node, "spec", "unschedulable"))
		return "node(s) were unschedulable";
	if (!is_ready(node))
		return "node(s) were not ready";
	if (!affinity_fits(pod, node))
		return "node(s) didn't match Pod's node affinity/selector";
	json_array_foreach (json_at(node, "spec", "taints"), i, t) {
		const char *effect = json_str_at(t, "effect");

		if (!str_eq(effect, "PreferNoSchedule") && !tolerates(pod, t))
			return "node(s) had untolerated taint(s)";
	}
	return lacks_any(pod, node, pods) ? "Insufficient resources" : NULL;
}

/* --- rounds --------------------------------------------------------------------------------------- */

struct sim_scheduler {
	struct loop_group *group;
	struct http_peer *peer;
	struct secret *token;
	int64_t period_ms;
	struct loop_timer timer;
	struct list asks;
	json_t *pending; /* pods without a node, in the order of their turn */
	json_t *nodes;
};

struct ask {
	struct list link;
	struct sim_scheduler *s;
	struct http_req *req;
	void (*then)(struct sim_scheduler *s, json_t *items); /* NULL: a write; items is lent */
};

static void rest(struct sim_scheduler *s)
{
	if (list_empty(&s->asks))
		loop_timer_start(&s->timer, s->period_ms);
}

static void on_answer(const struct http_reply *r, const struct err *e, void *arg)
{
	struct ask *ask = arg;
	struct sim_scheduler *s = ask->s;
	void (*then)(struct sim_scheduler *, json_t *) = ask->then;
	struct err bad;
	OWN_JSON o = NULL;

	(void)e; /* the next round tries again */
	if (then && r && r->status == 200)
		o = json_parse(r->body, r->body_len, &bad);
	list_remove(&ask->link);
	free(ask);
	if (o)
		then(s, json_at(o, "items"));
	rest(s);
}

static void send(struct sim_scheduler *s, const char *method, const char *path, const json_t *body,
		 void (*then)(struct sim_scheduler *s, json_t *items))
{
	struct ask *ask = mem_new(struct ask);
	char *text = body ? json_text(body) : NULL;
	struct http_call call = {
		.method = method,
		.path = path,
		.bearer = s->token,
		.body = text,
		.body_len = text ? strlen(text) : 0,
		.content_type =
			str_eq(method, "PATCH") ? "application/strategic-merge-patch+json" : NULL,
		.max_body = BODY_MAX,
		.done = on_answer,
		.arg = ask,
	};

	ask->s = s;
	ask->then = then;
	list_push_back(&s->asks, &ask->link);
	ask->req = http_start(s->peer, &call);
	free(text);
}

/* metadata and spec of a name go into a path: DNS names, but the server is the judge of that. */
static const char *pod_path(const json_t *pod, const char *sub, struct buf *out)
{
	buf_puts(out, "/api/v1/namespaces/");
	http_escape(out, str_or(json_str_at(pod, "metadata", "namespace"), ""));
	buf_puts(out, "/pods/");
	http_escape(out, str_or(json_str_at(pod, "metadata", "name"), ""));
	buf_printf(out, "/%s", sub);
	return out->data;
}

static void bind_pod(struct sim_scheduler *s, const json_t *pod, const char *node)
{
	OWN_JSON body =
		json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:s}}", "apiVersion", "v1", "kind", "Binding",
			  "metadata", "name", json_str_at(pod, "metadata", "name"), "target",
			  "kind", "Node", "name", node);
	struct buf path;

	buf_init(&path, 4096);
	send(s, "POST", pod_path(pod, "binding", &path), body, NULL);
	buf_done(&path);
}

static bool is_told(const json_t *pod, const char *message)
{
	json_t *c;
	size_t i;

	json_array_foreach (json_at(pod, "status", "conditions"), i, c)
		if (str_eq(json_str_at(c, "type"), "PodScheduled"))
			return str_eq(json_str_at(c, "reason"), "Unschedulable") &&
			       str_eq(json_str_at(c, "message"), message);
	return false;
}

static void tell_pod(struct sim_scheduler *s, const json_t *pod, const char *message)
{
	char now[STR_TIME_SIZE];
	OWN_JSON body = NULL;
	struct buf path;

	if (is_told(pod, message))
		return;
	body = json_pack("{s:{s:s,s:[{s:s,s:s,s:s,s:s,s:s}]}}", "status", "phase", "Pending",
			 "conditions", "type", "PodScheduled", "status", "False", "reason",
			 "Unschedulable", "message", message, "lastTransitionTime",
			 str_time(now, loop_wall(loop_of(s->group))));
	buf_init(&path, 4096);
	send(s, "PATCH", pod_path(pod, "status", &path), body, NULL);
	buf_done(&path);
}

/* "0/3 nodes are available: 2 Insufficient nvidia.com/gpu, 1 node(s) were not ready." */
struct reasons {
	char text[8][160];
	unsigned count[8];
	size_t n;
};

static void count_reason(struct reasons *r, const char *text)
{
	for (size_t i = 0; i < r->n; i++)
		if (str_eq(r->text[i], text)) {
			r->count[i]++;
			return;
		}
	if (r->n == sizeof(r->count) / sizeof(*r->count))
		return;
	str_copy(r->text[r->n], sizeof(r->text[0]), text);
	r->count[r->n++] = 1;
}

static void say_reasons(const struct reasons *r, size_t nodes, struct buf *out)
{
	buf_printf(out, "0/%zu nodes are available", nodes);
	for (size_t i = 0; i < r->n; i++)
		buf_printf(out, "%s %u %s", i ? "," : ":", r->count[i], r->text[i]);
	buf_puts(out, ".");
}

static void place(struct sim_scheduler *s, json_t *pod, json_t *pods)
{
	struct reasons why = {0};
	struct buf message;
	json_t *node;
	size_t i;

	json_array_foreach (s->nodes, i, node) {
		const char *misfit = sim_scheduler_misfit(pod, node, pods), *name;
		char text[160];

		name = json_str_at(node, "metadata", "name");
		if (!misfit && name) {
			bind_pod(s, pod, name);
			/* The next one counts with it. */
			json_object_set_new(json_at(pod, "spec"), "nodeName", json_string(name));
			json_array_append(pods, pod);
			return;
		}
		if (misfit && str_eq(misfit, "Insufficient resources")) {
			str_format(text, sizeof(text), "Insufficient %s",
				   lacks_any(pod, node, pods));
			misfit = text;
		}
		count_reason(&why, str_or(misfit, "node(s) without a name"));
	}
	buf_init(&message, MESSAGE_MAX);
	say_reasons(&why, json_array_size(s->nodes), &message);
	tell_pod(s, pod, message.data);
	buf_done(&message);
}

static void on_pods(struct sim_scheduler *s, json_t *items)
{
	json_t *pod;
	size_t i;

	json_array_foreach (s->pending, i, pod)
		place(s, pod, items);
}

static void on_nodes(struct sim_scheduler *s, json_t *items)
{
	json_decref(s->nodes);
	s->nodes = json_incref(items);
	send(s, "GET", "/api/v1/pods", NULL, on_pods);
}

static bool waits_for_us(const json_t *pod)
{
	return str_empty(json_str_at(pod, "spec", "nodeName")) && !is_over(pod) &&
	       !json_at(pod, "metadata", "deletionTimestamp") &&
	       !json_array_size(json_at(pod, "spec", "schedulingGates")) &&
	       str_eq(str_or(json_str_at(pod, "spec", "schedulerName"), NAME), NAME);
}

static int by_turn(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	json_int_t p = json_int_at(x, "spec", "priority"), q = json_int_at(y, "spec", "priority");
	int rc;

	if (p != q)
		return p > q ? -1 : 1;
	rc = strcmp(str_or(json_str_at(x, "metadata", "creationTimestamp"), ""),
		    str_or(json_str_at(y, "metadata", "creationTimestamp"), ""));
	return rc ? rc
		  : strcmp(str_or(json_str_at(x, "metadata", "name"), ""),
			   str_or(json_str_at(y, "metadata", "name"), ""));
}

static void on_pending(struct sim_scheduler *s, json_t *items)
{
	json_t **v = mem_calloc(json_array_size(items) + 1, sizeof(*v)), *pod;
	size_t n = 0, i;

	json_array_foreach (items, i, pod)
		if (waits_for_us(pod))
			v[n++] = pod;
	qsort(v, n, sizeof(*v), by_turn);
	json_array_clear(s->pending);
	for (i = 0; i < n; i++)
		json_array_append(s->pending, v[i]);
	free(v);
	if (n)
		send(s, "GET", "/api/v1/nodes", NULL, on_nodes);
}

static void on_timer(void *arg)
{
	send(arg, "GET", "/api/v1/pods?fieldSelector=spec.nodeName%3D", NULL, on_pending);
}

struct sim_scheduler *sim_scheduler_new(struct loop_group *g, const struct sim_scheduler_spec *sp,
					struct err *e)
{
	struct sim_scheduler *s = mem_new(struct sim_scheduler);
	struct http_peer_spec peer = {.base_url = sp->server, .ca_pem = sp->ca_pem};

	s->group = g;
	s->period_ms = sp->period_ms ? sp->period_ms : PERIOD_MS;
	list_init(&s->asks);
	loop_timer_init(&s->timer, g, on_timer, s);
	s->pending = json_array();
	s->token = secret_copy(sp->token);
	s->peer = http_peer_new(sp->http, &peer, e);
	if (!s->peer) {
		sim_scheduler_free(s);
		return NULL;
	}
	loop_timer_start(&s->timer, 0);
	return s;
}

void sim_scheduler_free(struct sim_scheduler *s)
{
	if (!s)
		return;
	loop_timer_stop(&s->timer);
	list_for_each (ask, &s->asks, struct ask, link) {
		http_cancel(ask->req);
		list_remove(&ask->link);
		free(ask);
	}
	http_peer_free(s->peer);
	secret_free(s->token);
	json_decref(s->pending);
	json_decref(s->nodes);
	free(s);
}
