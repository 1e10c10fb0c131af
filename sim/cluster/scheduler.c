#include "sim/cluster/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/data/quantity.h"
#include "base/str.h"
#include "sim/cluster/objects.h"

#define NAME "default-scheduler"
#define MESSAGE_MAX 1024

/* --- does a pod fit a node? ------------------------------------------------------------------- */

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
	/* Uses the limit if there is no request, because the API server defaults the request to the
	 * limit. */
	if (!v)
		v = json_object_get(json_at(container, "resources", "limits"), resource);
	return amount_of(v);
}

/* Returns the pod's request of a resource: the sum of its containers, or its largest init container
 * if that is more. */
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
		if (str_eq(json_str_at(p, "spec", "nodeName"), name) && !sim_pod_is_over(p))
			used = quantity_add(used, request_of(p, resource));
	return quantity_cmp(quantity_add(used, want), has) > 0 ? resource : NULL;
}

/* Returns the first resource of which the node has too little; NULL: none. */
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

/* True if the operator op holds: the taint's value is greater (Gt) or less (Lt) than bound, the
 * value of the toleration. */
static bool compares(const char *op, const char *taint, const char *bound)
{
	int64_t has, than;

	if (!str_to_canonical_i64(taint, &has) || !str_to_canonical_i64(bound, &than))
		return false;
	return str_eq(op, "Gt") ? has > than : str_eq(op, "Lt") && has < than;
}

static bool tolerates(const json_t *t, const json_t *taint)
{
	const char *op = json_str_at(t, "operator"), *key = json_str_at(t, "key"),
		   *effect = json_str_at(t, "effect"), *value = str_or(json_str_at(t, "value"), ""),
		   *has = str_or(json_str_at(taint, "value"), "");

	if (!str_empty(effect) && !str_eq(effect, json_str_at(taint, "effect")))
		return false;
	if (str_empty(key))
		return str_eq(op, "Exists");
	if (!str_eq(key, json_str_at(taint, "key")))
		return false;
	if (str_empty(op) || str_eq(op, "Equal"))
		return str_eq(value, has);
	return str_eq(op, "Exists") || compares(op, has, value);
}

static bool is_tolerated(const json_t *pod, const json_t *taint)
{
	json_t *t;
	size_t i;

	json_array_foreach (json_at(pod, "spec", "tolerations"), i, t)
		if (tolerates(t, taint))
			return true;
	return false;
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
		if (!sim_expression_matches(x, l, a))
			return false;
	json_array_foreach (names, i, x)
		if (!sim_expression_matches(x, &fields, a))
			return false;
	/* A term without any expression matches nothing. */
	return json_array_size(labels) || json_array_size(names);
}

static bool affinity_fits(const json_t *pod, const json_t *node)
{
	OWN(arena) a = arena_new();
	struct labels l = sim_object_labels(json_at(node, "metadata", "labels"), a);
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

const char *sim_scheduler_misfit(const json_t *pod, const json_t *node, const json_t *pods)
{
	json_t *t;
	size_t i;

	if (json_true_at(node, "spec", "unschedulable"))
		return "node(s) were unschedulable";
	if (!sim_object_is(node, "Ready"))
		return "node(s) were not ready";
	if (!affinity_fits(pod, node))
		return "node(s) didn't match Pod's node affinity/selector";
	json_array_foreach (json_at(node, "spec", "taints"), i, t) {
		const char *effect = json_str_at(t, "effect");

		if (!str_eq(effect, "PreferNoSchedule") && !is_tolerated(pod, t))
			return "node(s) had untolerated taint(s)";
	}
	return lacks_any(pod, node, pods) ? "Insufficient resources" : NULL;
}

/* --- rounds ----------------------------------------------------------------------------------- */

struct sim_scheduler {
	struct sim_rounds *rounds;
	/* Pods without a node, in scheduling order. */
	json_t *pending;
	json_t *nodes;
};

static void write_pod(struct sim_scheduler *s, const char *method, const json_t *pod,
		      const char *sub, const json_t *body)
{
	char *path = sim_object_path_of(&sim_kind_pod, pod, sub);

	sim_rounds_write(s->rounds,
			 &(struct sim_write){.method = method, .path = path, .body = body});
	free(path);
}

static void bind_pod(struct sim_scheduler *s, const json_t *pod, const char *node)
{
	OWN_JSON body =
		json_pack("{s:s,s:s,s:{s:s},s:{s:s,s:s}}", "apiVersion", "v1", "kind", "Binding",
			  "metadata", "name", json_str_at(pod, "metadata", "name"), "target",
			  "kind", "Node", "name", node);

	write_pod(s, "POST", pod, "binding", body);
}

static bool is_told(const json_t *pod, const char *message)
{
	const json_t *c = sim_object_condition(pod, "PodScheduled");

	return str_eq(json_str_at(c, "reason"), "Unschedulable") &&
	       str_eq(json_str_at(c, "message"), message);
}

static void tell_pod(struct sim_scheduler *s, const json_t *pod, const char *message)
{
	char now[STR_TIME_SIZE];
	OWN_JSON body = NULL;

	if (is_told(pod, message))
		return;
	body = json_pack("{s:{s:s,s:[{s:s,s:s,s:s,s:s,s:s}]}}", "status", "phase", "Pending",
			 "conditions", "type", "PodScheduled", "status", "False", "reason",
			 "Unschedulable", "message", message, "lastTransitionTime",
			 str_time(now, sim_rounds_wall(s->rounds)));
	write_pod(s, "PATCH", pod, "status", body);
}

/* Reasons why nodes do not fit, with the number of nodes, for the message: "0/3 nodes are
 * available: 2 Insufficient nvidia.com/gpu, 1 node(s) were not ready." */
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
			/* Adds the pod to the list as bound, because the next pods of this round
			 * must count it. */
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

static void on_pods(void *arg, json_t *items)
{
	struct sim_scheduler *s = arg;
	json_t *pod;
	size_t i;

	json_array_foreach (s->pending, i, pod)
		place(s, pod, items);
}

static void on_nodes(void *arg, json_t *items)
{
	struct sim_scheduler *s = arg;

	json_decref(s->nodes);
	s->nodes = json_incref(items);
	sim_rounds_list(s->rounds, "/api/v1/pods", on_pods);
}

static bool waits_for_us(const json_t *pod)
{
	return str_empty(json_str_at(pod, "spec", "nodeName")) && !sim_pod_is_over(pod) &&
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

static void on_pending(void *arg, json_t *items)
{
	struct sim_scheduler *s = arg;
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
		sim_rounds_list(s->rounds, "/api/v1/nodes", on_nodes);
}

static void on_begin(void *arg)
{
	struct sim_scheduler *s = arg;

	sim_rounds_list(s->rounds, "/api/v1/pods?fieldSelector=spec.nodeName%3D", on_pending);
}

struct sim_scheduler *sim_scheduler_new(struct loop_group *g, const struct sim_rounds_spec *spec,
					struct err *e)
{
	struct sim_scheduler *s = mem_new(struct sim_scheduler);

	s->pending = json_array();
	s->rounds = sim_rounds_new(g, spec, on_begin, s, e);
	if (!s->rounds) {
		sim_scheduler_free(s);
		return NULL;
	}
	return s;
}

void sim_scheduler_free(struct sim_scheduler *s)
{
	if (!s)
		return;
	sim_rounds_free(s->rounds);
	json_decref(s->pending);
	json_decref(s->nodes);
	free(s);
}
