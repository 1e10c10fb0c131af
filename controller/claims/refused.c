/* refused: records which pods stayed unbound on which Nodes. Separate from the planner, which keeps
 * nothing between plans. */
#include "controller/claims/refused.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/request_objects.h"
#include "controller/tenant/tenant.h"

#define TYPE "node.kubernetes.io/instance-type"
/* Maximum number of excluded Nodes recorded per pod. For one more, the oldest is dropped, and plans
 * may use it for the pod again. */
#define NODES_MAX 16
#define NODES_OF_TYPE 2
/* A sign of kube-scheduler (struct sign) counts even if it is this much older than the first plan
 * that places the pod on a Node, because kube-scheduler may judge the pod for the Node before
 * drover does */
#define BEFORE_MS 10000

struct refused {
	struct context *c;
	const struct tenants *tenants;
	void (*again)(const char *tenant, const char *ns, const char *name, void *arg);
	void *arg;
	/* Key: "tenant/ns/name" of a pod; value: struct placed_pod */
	struct map *pods;
	/* Key: name of a tenant; value: struct sign */
	struct map *signs;
};

struct sign {
	/* loop_now() at which kube-scheduler last judged or bound a pod of the tenant */
	int64_t at;
};

struct placed_pod {
	char *tenant, *ns, *name, *uid;
	/* Name of the Node on which plans place the pod; NULL: none */
	char *on;
	/* loop_now() since when plans place the pod on the Node `on` */
	int64_t since;
	/* loop_now() since when every plan has placed the pod on some Node; 0: the last plan did
	 * not */
	int64_t began;
	/* loop_now() at which a Node was last excluded */
	int64_t last;
	struct excluded_node {
		/* node: name of an excluded Node; type: value of its instance type label, NULL:
		 * none */
		char *node, *type;
	} left[NODES_MAX];
	size_t nleft;
};

static void left_done(struct excluded_node *l)
{
	free(l->node);
	free(l->type);
}

static void row_free(void *arg)
{
	struct placed_pod *row = arg;

	for (size_t i = 0; i < row->nleft; i++)
		left_done(&row->left[i]);
	free(row->tenant);
	free(row->ns);
	free(row->name);
	free(row->uid);
	free(row->on);
	free(row);
}

static const char *key_of(const char *tenant, const char *ns, const char *name, struct arena *a)
{
	return arena_printf(a, "%s/%s/%s", tenant, ns, name);
}

static struct placed_pod *row_of(const struct refused *r, const char *tenant, const char *ns,
				 const char *name)
{
	OWN(arena) a = arena_new();

	return map_size(r->pods) ? map_get(r->pods, key_of(tenant, ns, name, a)) : NULL;
}

/* --- exclusions ------------------------------------------------------------------------------- */

static bool is_excluded(const struct placed_pod *row, const char *type)
{
	size_t n = 0;

	for (size_t i = 0; i < row->nleft; i++)
		n += type && str_eq(row->left[i].type, type);
	return n >= NODES_OF_TYPE;
}

/* True if entry number `at` is the first one of its type. */
static bool is_first(const struct placed_pod *row, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (str_eq(row->left[i].type, row->left[at].type))
			return false;
	return true;
}

static size_t types_of(const struct placed_pod *row, const char **out)
{
	size_t n = 0;

	for (size_t i = 0; i < row->nleft; i++)
		if (is_excluded(row, row->left[i].type) && is_first(row, i))
			out[n++] = row->left[i].type;
	return n;
}

static void require(struct selector *s, const char *key, const char **values, size_t n)
{
	if (n)
		s->v[s->n++] = (struct requirement){
			.key = key, .op = SELECTOR_NOT_IN, .values = values, .nvalues = n};
}

const struct world_pod *refused_apply(const struct refused *r, const struct world_pod *p,
				      struct arena *a)
{
	const struct placed_pod *row = row_of(r, p->tenant, p->ns, p->name);
	const char **nodes, **types;
	struct world_pod *out;

	if (!row || !row->nleft || !str_eq(row->uid, p->uid))
		return p;
	out = arena_new_obj(a, struct world_pod);
	*out = *p;
	nodes = arena_calloc(a, row->nleft, sizeof(*nodes));
	types = arena_calloc(a, row->nleft, sizeof(*types));
	for (size_t i = 0; i < row->nleft; i++)
		nodes[i] = row->left[i].node;
	out->also.v = arena_calloc(a, 2, sizeof(*out->also.v));
	require(&out->also, WORLD_NODE_NAME, nodes, row->nleft);
	require(&out->also, TYPE, types, types_of(row, types));
	return out;
}

const char *refused_words(const struct refused *r, const char *tenant, const char *ns,
			  const char *name, struct arena *a)
{
	const struct placed_pod *row = row_of(r, tenant, ns, name);
	const char *types[NODES_MAX], *text = "kube-scheduler did not bind it within a minute on";
	size_t n;

	if (!row || !row->nleft)
		return NULL;
	for (size_t i = 0; i < row->nleft; i++)
		text = arena_printf(a, "%s%s Node %s", text, i ? "," : "", row->left[i].node);
	n = types_of(row, types);
	for (size_t i = 0; i < n; i++)
		text = arena_printf(a, "%s%s type %s", text,
				    i ? "," : ": drover plans no more machines for it of",
				    types[i]);
	return text;
}

/* --- learning --------------------------------------------------------------------------------- */

static void set_on(struct placed_pod *row, const char *node)
{
	free(row->on);
	row->on = mem_strdup(node);
}

static void learn(struct refused *r, struct placed_pod *row, const struct plan_pod *p,
		  const struct tenant_node *n)
{
	const char *type = labels_get(&n->world.labels, TYPE);

	if (row->nleft == NODES_MAX) {
		left_done(&row->left[0]);
		memmove(row->left, row->left + 1, --row->nleft * sizeof(row->left[0]));
	}
	row->left[row->nleft++] = (struct excluded_node){mem_strdup(p->target), mem_strdup(type)};
	row->last = loop_now(r->c->loop);
	set_on(row, NULL);
	log_warn("pod not bound on the Node that has room for it: it is planned elsewhere",
		 LOG_S("tenant", p->tenant), LOG_S("ns", p->ns), LOG_S("pod", p->name),
		 LOG_S("node", p->target), LOG_S("type", str_or(type, "")),
		 LOG_S("excluded", is_excluded(row, type) ? "type" : "node"));
	r->again(p->tenant, p->ns, p->name, r->arg);
}

static struct placed_pod *row_for(struct refused *r, const struct plan_pod *p)
{
	OWN(arena) a = arena_new();
	const char *key = key_of(p->tenant, p->ns, p->name, a);
	struct placed_pod *row = map_get(r->pods, key);

	if (row && str_eq(row->uid, p->uid))
		return row;
	map_del(r->pods, key);
	row = mem_new(struct placed_pod);
	row->tenant = mem_strdup(p->tenant);
	row->ns = mem_strdup(p->ns);
	row->name = mem_strdup(p->name);
	row->uid = mem_strdup(p->uid);
	map_put(r->pods, key, row);
	return row;
}

/* Checks whether the Node on which the plan places pod p has to be excluded for the pod. Returns
 * the ms until the next check. */
static int64_t look(struct refused *r, const struct plan_pod *p)
{
	struct tenant *t = tenant_get(r->tenants, p->tenant);
	const struct tenant_node *n = t ? tenant_node_get(t, p->target) : NULL;
	const struct sign *sign = map_get(r->signs, p->tenant);
	const int64_t now = loop_now(r->c->loop);
	struct placed_pod *row = row_for(r, p);

	if (!str_eq(row->on, p->target)) {
		set_on(row, p->target);
		row->since = now;
		row->began = row->began ? row->began : now;
	}
	if (now - row->since < REFUSED_MS)
		return row->since + REFUSED_MS - now;
	if (sign && sign->at >= row->began - BEFORE_MS && n)
		learn(r, row, p, n);
	return REFUSED_MS;
}

/* Clears the pod's Node, because the plan places the pod on no existing Node. */
static void leave(struct refused *r, const struct plan_pod *p)
{
	struct placed_pod *row = row_of(r, p->tenant, p->ns, p->name);

	if (!row)
		return;
	set_on(row, NULL);
	row->began = 0;
	if (!row->nleft)
		refused_forget(r, p->tenant, p->ns, p->name);
}

static void forget_old(struct refused *r)
{
	const int64_t now = loop_now(r->c->loop);
	struct map_iter it;

	map_for_each (it, r->pods) {
		struct placed_pod *row = it.value;

		if (!row->nleft || now - row->last < REFUSED_FORGET_MS)
			continue;
		for (size_t i = 0; i < row->nleft; i++)
			left_done(&row->left[i]);
		row->nleft = 0;
		r->again(row->tenant, row->ns, row->name, r->arg);
	}
}

int64_t refused_plan(struct refused *r, const struct plan *plan)
{
	int64_t first = 0, ms;

	forget_old(r);
	for (size_t i = 0; i < plan->npods; i++) {
		/* Skip a pod that a ProvisioningRequest announces: the pod does not exist, so it is
		 * never bound. */
		if (request_of_pod(plan->pods[i].name, NULL, NULL))
			continue;
		if (plan->pods[i].outcome != PLAN_ON_NODE) {
			leave(r, &plan->pods[i]);
			continue;
		}
		ms = look(r, &plan->pods[i]);
		if (!first || ms < first)
			first = ms;
	}
	return first;
}

void refused_sign(struct refused *r, const char *tenant)
{
	struct sign *s = map_get(r->signs, tenant);

	if (!s) {
		s = mem_new(struct sign);
		map_put(r->signs, tenant, s);
	}
	s->at = loop_now(r->c->loop);
}

/* --- start and stop --------------------------------------------------------------------------- */

void refused_forget(struct refused *r, const char *tenant, const char *ns, const char *name)
{
	OWN(arena) a = NULL;

	if (!map_size(r->pods))
		return;
	a = arena_new();
	map_del(r->pods, key_of(tenant, ns, name, a));
}

void refused_forget_tenant(struct refused *r, const char *tenant)
{
	struct map_iter it;

	map_for_each (it, r->pods)
		if (str_eq(((struct placed_pod *)it.value)->tenant, tenant))
			map_del(r->pods, it.key);
	map_del(r->signs, tenant);
}

struct refused *refused_new(struct context *c, const struct tenants *tenants,
			    void (*again)(const char *tenant, const char *ns, const char *name,
					  void *arg),
			    void *arg)
{
	struct refused *r = mem_new(struct refused);

	*r = (struct refused){.c = c,
			      .tenants = tenants,
			      .again = again,
			      .arg = arg,
			      .pods = map_new(row_free),
			      .signs = map_new(free)};
	return r;
}

void refused_free(struct refused *r)
{
	if (!r)
		return;
	map_free(r->pods);
	map_free(r->signs);
	free(r);
}
