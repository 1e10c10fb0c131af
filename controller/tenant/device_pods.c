/*
 * device_pods: computes pods and Nodes for the planner from the objects that devices.c has read.
 * Separate from devices.c because of the size of that file.
 * Tests: tests/unit/controller/tenant/test_devices.c
 */
#include <stdlib.h>
#include <string.h>

#include "controller/tenant/devices_impl.h"
#include "base/index.h"
#include "base/str.h"
#include "controller/tenant/tenant.h"

/* --- pods ------------------------------------------------------------------------------------- */

static const struct device_class *class_named(const char *name, void *arg)
{
	return devices_look_up(arg, DEVICES_CLASSES, "", name);
}

/* Sum of what the resource claims of one pod need. */
struct sum {
	const struct devices *d;
	const struct tenant_pod *p;
	int64_t gpus;
	bool channel;
	const char *domain;
	struct selector node;
	const char *unjudged, *wait;
	struct arena *a;
};

static void add_selector(struct sum *s, const struct selector *more)
{
	struct requirement *v = arena_calloc(s->a, s->node.n + more->n + 1, sizeof(*v));

	if (s->node.n)
		memcpy(v, s->node.v, s->node.n * sizeof(*v));
	if (more->n)
		memcpy(v + s->node.n, more->v, more->n * sizeof(*v));
	s->node.v = v;
	s->node.n += more->n;
}

static void add_allocated(struct sum *s, const struct tenant_device *v,
			  const struct device_claim *c)
{
	const bool counts = !c->first || str_eq(c->first, s->p->world.uid);
	const struct kube_cache *slices = s->d->of[DEVICES_SLICES].cache;

	if (!s->p->world.node && c->elsewhere)
		s->unjudged = arena_printf(s->a, "ResourceClaim %s: allocated with %s", v->claim,
					   c->elsewhere);
	add_selector(s, &c->node);
	for (size_t i = 0; counts && i < c->nresults; i++) {
		s->gpus += (int64_t)device_slices_takes(s->d->slices, slices, &c->results[i]);
		s->channel |= str_eq(c->results[i].driver, DEVICE_CHANNEL_DRIVER);
	}
}

struct sharing {
	const struct sum *s;
	/* name of another pending pod that shares the claim and gets a machine first; NULL: this
	 * pod is first */
	const char *first;
};

static bool is_first(const char *key, void *arg)
{
	struct sharing *h = arg;
	const struct world_pod *p = &h->s->p->world;
	const char *slash = strchr(key, '/');
	const struct tenant_pod *other =
		KUBE_CACHE_GET(h->s->d->t->pods, tenant_pod,
			       arena_strndup(h->s->a, key, (size_t)(slash - key)), slash + 1);

	if (str_eq(slash + 1, p->name))
		return false;
	if (!other || !other->world.unschedulable)
		return true;
	h->first = other->world.name;
	return false;
}

static void add_asked(struct sum *s, const struct tenant_device *v, const struct device_asks *asks)
{
	struct sharing h = {.s = s};
	struct device_answer answer;
	struct device_refusal no;

	if (!device_judge(asks, class_named, (void *)s->d, &answer, &no, s->a)) {
		s->unjudged = no.unjudged;
		s->wait = no.wait;
		return;
	}
	if (!v->template_)
		index_each(s->d->users, 0,
			   devices_text_of(DEVICES_CLAIMS, s->p->world.ns, v->claim, s->a),
			   is_first, &h);
	if (h.first) {
		s->wait = arena_printf(
			s->a, "ResourceClaim %s is shared with pod %s, which gets a machine first",
			v->claim, h.first);
		return;
	}
	s->gpus += answer.gpus;
	add_selector(s, &answer.node);
	s->channel |= answer.channel;
	if (answer.channel && !asks->domain)
		s->unjudged = "a channel that names no ComputeDomain";
}

static void add_device(struct sum *s, const struct tenant_device *v)
{
	const char *ns = s->p->world.ns;
	const struct device_claim *c = devices_look_up(s->d, DEVICES_CLAIMS, ns, v->claim);
	const struct device_template *t =
		devices_look_up(s->d, DEVICES_TEMPLATES, ns, v->template_);
	const struct device_asks *asks = c ? &c->asks : t ? &t->asks : NULL;

	if (asks && asks->domain)
		s->domain = asks->domain;
	if (c && c->allocated)
		add_allocated(s, v, c);
	else if (c && c->deleting)
		s->wait = arena_printf(s->a, "ResourceClaim %s is being deleted", v->claim);
	else if (asks)
		add_asked(s, v, asks);
	else
		s->wait = arena_printf(
			s->a, "%s %s %s", v->template_ ? "ResourceClaimTemplate" : "ResourceClaim",
			str_or(v->template_ ? v->template_ : v->claim, "(none)"),
			kube_cache_over(
				s->d->of[v->template_ ? DEVICES_TEMPLATES : DEVICES_CLAIMS].cache)
				? "is not among those that drover reads"
				: "does not exist");
	if (s->unjudged)
		s->unjudged = arena_printf(s->a, "resource claim %s: %s", v->name, s->unjudged);
	if (s->wait)
		s->wait = arena_printf(s->a, "resource claim %s: %s", v->name, s->wait);
}

static int by_key(const void *x, const void *y)
{
	return strcmp(((const struct label *)x)->key, ((const struct label *)y)->key);
}

/* Increases resource `name` by n; adds the resource if it is missing. */
static void add_resource(struct resources *r, const char *name, int64_t n, struct arena *a)
{
	struct resource *v = arena_calloc(a, r->n + 1, sizeof(*v));

	if (r->n)
		memcpy(v, r->v, r->n * sizeof(*v));
	r->v = v;
	for (size_t i = 0; i < r->n; i++)
		if (str_eq(v[i].name, name)) {
			v[i].q = quantity_add(v[i].q, quantity_of(n));
			return;
		}
	v[r->n++] = (struct resource){name, quantity_of(n)};
	resources_sort(r);
}

/* Adds a label unless the key is already present. The labels stay sorted. */
static void add_label(struct labels *l, const char *key, const char *value, struct arena *a)
{
	struct label *v;

	if (labels_get(l, key))
		return;
	v = arena_calloc(a, l->n + 1, sizeof(*v));
	if (l->n)
		memcpy(v, l->v, l->n * sizeof(*v));
	v[l->n++] = (struct label){key, value};
	l->v = v;
	qsort(v, l->n, sizeof(*v), by_key);
}

static struct requirement one_value(enum selector_op op, const char *key, const char *value,
				    struct arena *a)
{
	struct requirement q = {.key = key, .op = op};

	q.values = arena_calloc(a, 1, sizeof(*q.values));
	q.values[q.nvalues++] = value;
	return q;
}

/* Excludes Nodes whose GPUs are allocated by `by` (DEVICES_BY_CLAIM or DEVICES_BY_PLUGIN). */
static void keep_off(struct sum *s, const char *by)
{
	struct requirement q = one_value(SELECTOR_NOT_IN, DEVICES_BY, by, s->a);

	add_selector(s, &(struct selector){.v = &q, .n = 1});
}

/* Requires that all pods of a ComputeDomain are placed in the NVLink domain of its first pod. */
static void join_domain(struct world_pod *c, const char *domain, struct arena *a)
{
	struct world_topology *v = arena_calloc(a, c->topology.n + 1, sizeof(*v));
	struct requirement *q = arena_new_obj(a, struct requirement);

	add_label(&c->labels, DEVICES_DOMAIN, domain, a);
	if (c->node)
		return;
	*q = one_value(SELECTOR_IN, DEVICES_DOMAIN, domain, a);
	if (c->topology.n)
		memcpy(v, c->topology.v, c->topology.n * sizeof(*v));
	v[c->topology.n++] = (struct world_topology){
		.kind = WORLD_TOGETHER, .key = DEVICES_CLIQUE, .pods = {.v = q, .n = 1}};
	c->topology.v = v;
}

static const struct world_pod *without_claims(const struct devices *d, const struct tenant_pod *p,
					      const struct world_pod *w, struct arena *a)
{
	struct sum s = {.d = d, .p = p, .a = a};
	struct world_pod *c;

	if (!d->of[DEVICES_SLICES].cache || d->mapped || !devices_asks_plainly(w))
		return w;
	c = arena_new_obj(a, struct world_pod);
	*c = *w;
	keep_off(&s, DEVICES_BY_CLAIM);
	c->devices = s.node;
	return c;
}

const struct world_pod *devices_of_pod(const struct devices *d, const struct tenant_pod *p,
				       const struct world_pod *w, struct arena *a)
{
	struct sum s = {.d = d, .p = p, .a = a};
	struct world_pod *c;
	bool soon;

	if (!p->ndevices)
		return without_claims(d, p, w, a);
	/* A pod that is unsupported for a reason other than its claims stays unsupported, whatever
	 * its claims need: return it unchanged. The claims of pods that are too large or run on the
	 * host cluster cannot be evaluated at all. */
	if (p->large || d->t->on_host || (w->unsupported && w->unsupported != p->undecided))
		return w;
	s.wait = devices_unread(d, &soon, a);
	if (w->node && (soon || s.wait))
		return w;
	c = arena_new_obj(a, struct world_pod);
	*c = *w;
	c->unsupported = NULL;
	if (soon)
		/* Until the claims are read, the pod must not request a machine. */
		c->unschedulable = false;
	for (size_t i = 0; !soon && i < p->ndevices && !s.wait && !s.unjudged; i++)
		add_device(&s, &p->devices[i]);
	if (!w->node) {
		/* These members concern waiting pods only. A running pod continues even if its
		 * claims were changed or deleted. */
		c->unsupported = s.unjudged;
		c->device_wait = s.wait;
		if (s.gpus)
			keep_off(&s, DEVICES_BY_PLUGIN);
		c->devices = s.node;
	}
	if (s.gpus)
		add_resource(&c->requests, DEVICES_GPU, s.gpus, a);
	if (s.domain)
		join_domain(c, s.domain, a);
	if (s.channel)
		add_resource(&c->requests, DEVICES_CHANNEL, 1, a);
	return c;
}

/* --- Nodes ------------------------------------------------------------------------------------ */

size_t devices_on(const struct devices *d, const char *node)
{
	struct labels ignored;

	return device_slices_on(d->slices, d->of[DEVICES_SLICES].cache, node, &ignored);
}

struct world_node devices_of_node(const struct devices *d, const struct world_node *n,
				  struct arena *a)
{
	const struct quantity *plugin = resources_get(&n->allocatable, DEVICES_GPU);
	struct labels said;
	const size_t whole =
		device_slices_on(d->slices, d->of[DEVICES_SLICES].cache, n->name, &said);
	struct world_node c = *n;

	if (!d->of[DEVICES_SLICES].cache || (whole && plugin && plugin->nano > 0))
		return c;
	if (plugin && plugin->nano > 0)
		add_label(&c.labels, DEVICES_BY, DEVICES_BY_PLUGIN, a);
	if (!whole)
		return c;
	add_resource(&c.allocatable, DEVICES_GPU, (int64_t)whole, a);
	add_label(&c.labels, DEVICES_BY, DEVICES_BY_CLAIM, a);
	for (size_t i = 0; i < said.n; i++)
		add_label(&c.labels, said.v[i].key, said.v[i].value, a);
	return c;
}
