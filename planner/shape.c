/*
 * shape: pods with equal constraints share one copy of the constraints (a shape). Shapes are found
 * by a canonical text, the key.
 *
 * In the key, every string is prefixed by its length. The order of labels and resources does not
 * matter. A different order of terms or tolerations gives a different shape, which costs time but
 * changes no result.
 * Tests: tests/unit/planner/test_topology.c, tests/unit/planner/test_plan.c
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "planner/world_impl.h"

static void grow(struct world *w, size_t more)
{
	if (w->len + more + 1 <= w->cap)
		return;
	w->cap = (w->len + more + 1) * 2;
	w->text = mem_realloc_array(w->text, w->cap, 1);
}

void world_text_clear(struct world *w)
{
	grow(w, 256);
	w->len = 0;
	w->text[0] = '\0';
}

/* Appends number n to w->text: its 6-bit digits, lowest first, as printable characters, then a
 * blank. */
static void world_text_number(struct world *w, uint64_t n)
{
	grow(w, 12);
	for (; n; n >>= 6)
		w->text[w->len++] = (char)('0' + (n & 63));
	w->text[w->len++] = ' ';
	w->text[w->len] = '\0';
}

void world_text_add(struct world *w, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	world_text_number(w, s ? n + 1 : 0);
	grow(w, n);
	if (n)
		memcpy(w->text + w->len, s, n);
	w->len += n;
	w->text[w->len] = '\0';
}

static void add_labels(struct world *w, const struct labels *l)
{
	world_text_number(w, l->n);
	for (size_t i = 0; i < l->n; i++) {
		world_text_add(w, l->v[i].key);
		world_text_add(w, l->v[i].value);
	}
}

static void add_resources(struct world *w, const struct resources *r)
{
	world_text_number(w, r->n);
	for (size_t i = 0; i < r->n; i++) {
		world_text_add(w, r->v[i].name);
		world_text_number(w, (uint64_t)r->v[i].q.nano);
		world_text_number(w, (uint64_t)(r->v[i].q.nano >> 64));
	}
}

static void add_selector(struct world *w, const struct selector *s)
{
	world_text_number(w, s->n);
	for (size_t i = 0; i < s->n; i++) {
		world_text_add(w, s->v[i].key);
		world_text_number(w, s->v[i].op);
		world_text_number(w, s->v[i].nvalues);
		for (size_t k = 0; k < s->v[i].nvalues; k++)
			world_text_add(w, s->v[i].values[k]);
	}
}

static void add_volume(struct world *w, const struct world_volume *v)
{
	world_text_add(w, v->name);
	world_text_add(w, v->node);
	world_text_number(w, v->n);
	for (size_t i = 0; i < v->n; i++)
		add_selector(w, &v->v[i]);
}

static bool labels_sorted(const struct labels *l)
{
	for (size_t i = 1; i < l->n; i++)
		if (strcmp(l->v[i - 1].key, l->v[i].key) > 0)
			return false;
	return true;
}

static bool resources_sorted(const struct resources *r)
{
	for (size_t i = 1; i < r->n; i++)
		if (strcmp(r->v[i - 1].name, r->v[i].name) > 0)
			return false;
	return true;
}

static void add_affinity(struct world *w, const struct world_pod *p)
{
	add_labels(w, &p->node_selector);
	world_text_number(w, p->affinity.n);
	for (size_t i = 0; i < p->affinity.n; i++)
		add_selector(w, &p->affinity.v[i]);
}

static void add_tolerations(struct world *w, const struct world_pod *p)
{
	world_text_number(w, p->tolerations.n);
	for (size_t i = 0; i < p->tolerations.n; i++) {
		world_text_add(w, p->tolerations.v[i].key);
		world_text_add(w, p->tolerations.v[i].value);
		world_text_add(w, p->tolerations.v[i].effect);
		world_text_number(w, p->tolerations.v[i].op);
	}
}

static void make_fit_key(struct world *w, const struct world_pod *p)
{
	world_text_clear(w);
	world_text_number(w, 0);
	world_text_add(w, p->tenant);
	world_text_add(w, p->unsupported);
	world_text_add(w, p->volume_wait);
	world_text_add(w, p->device_wait);
	world_text_add(w, p->gang_wait);
	world_text_add(w, p->runtime_class);
	world_text_add(w, p->permit);
	world_text_number(w, p->denied != NULL);
	world_text_number(w, p->owned_only);
	add_affinity(w, p);
	add_selector(w, &p->devices);
	add_selector(w, &p->also);
	world_text_number(w, p->volumes.n);
	for (size_t i = 0; i < p->volumes.n; i++)
		add_volume(w, &p->volumes.v[i]);
	world_text_number(w, p->preferences.n);
	for (size_t i = 0; i < p->preferences.n; i++) {
		world_text_number(w, (uint64_t)p->preferences.v[i].weight);
		add_selector(w, &p->preferences.v[i].term);
	}
	add_tolerations(w, p);
}

static void make_key(struct world *w, const struct world_pod *p)
{
	make_fit_key(w, p);
	add_resources(w, &p->requests);
	world_text_number(w, p->shared.n);
	for (size_t i = 0; i < p->shared.n; i++) {
		world_text_add(w, p->shared.v[i].driver);
		world_text_add(w, p->shared.v[i].volume);
	}
}

static struct world_volume copy_volume(const struct world_volume *v, struct arena *a)
{
	struct world_volume c = {arena_strdup(a, v->name), arena_strdup(a, v->node),
				 world_copy_array(a, v->n, sizeof(*c.v)), v->n};

	for (size_t i = 0; i < v->n; i++)
		c.v[i] = world_copy_selector(&v->v[i], a);
	return c;
}

/* Compares preferences for sorting: the largest weight first. */
static int by_weight(const void *x, const void *y)
{
	const struct world_preference *const *a = x, *const *b = y;

	if ((*a)->weight != (*b)->weight)
		return (*a)->weight > (*b)->weight ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static void copy_affinity(struct world_pod *c, const struct world_pod *p, struct arena *a)
{
	c->node_selector = world_copy_labels(&p->node_selector, a);
	c->affinity.n = p->affinity.n;
	c->affinity.v = world_copy_array(a, p->affinity.n, sizeof(*c->affinity.v));
	for (size_t i = 0; i < p->affinity.n; i++)
		c->affinity.v[i] = world_copy_selector(&p->affinity.v[i], a);
}

static void copy_tolerations(struct world_pod *c, const struct world_pod *p, struct arena *a)
{
	c->tolerations.n = p->tolerations.n;
	c->tolerations.v = world_copy_array(a, p->tolerations.n, sizeof(*c->tolerations.v));
	for (size_t i = 0; i < p->tolerations.n; i++) {
		const struct world_toleration *t = &p->tolerations.v[i];

		c->tolerations.v[i] = (struct world_toleration){arena_strdup(a, t->key),
								arena_strdup(a, t->value),
								arena_strdup(a, t->effect), t->op};
	}
}

static void copy_shared(struct world_pod *c, const struct world_pod *p, struct arena *a)
{
	c->shared.n = p->shared.n;
	c->shared.v = world_copy_array(a, p->shared.n, sizeof(*c->shared.v));
	for (size_t i = 0; i < p->shared.n; i++)
		c->shared.v[i] = (struct world_shared){arena_strdup(a, p->shared.v[i].driver),
						       arena_strdup(a, p->shared.v[i].volume)};
}

static void copy(struct world_pod *c, const struct world_pod *p, struct arena *a)
{
	const struct world_preference **order =
		world_copy_array(a, p->preferences.n, sizeof(*order));

	c->tenant = arena_strdup(a, p->tenant);
	c->unsupported = arena_strdup(a, p->unsupported);
	c->volume_wait = arena_strdup(a, p->volume_wait);
	c->device_wait = arena_strdup(a, p->device_wait);
	c->gang_wait = arena_strdup(a, p->gang_wait);
	c->runtime_class = arena_strdup(a, p->runtime_class);
	c->permit = arena_strdup(a, p->permit);
	/* The pods of a shape may have different texts. */
	c->denied = p->denied ? "" : NULL;
	c->owned_only = p->owned_only;
	c->requests = world_copy_resources(&p->requests, a);
	copy_affinity(c, p, a);
	c->devices = world_copy_selector(&p->devices, a);
	c->also = world_copy_selector(&p->also, a);
	c->volumes.n = p->volumes.n;
	c->volumes.v = world_copy_array(a, p->volumes.n, sizeof(*c->volumes.v));
	for (size_t i = 0; i < p->volumes.n; i++)
		c->volumes.v[i] = copy_volume(&p->volumes.v[i], a);
	copy_shared(c, p, a);
	for (size_t i = 0; i < p->preferences.n; i++)
		order[i] = &p->preferences.v[i];
	if (p->preferences.n)
		qsort(order, p->preferences.n, sizeof(struct world_preference *), by_weight);
	c->preferences.n = p->preferences.n;
	c->preferences.v = world_copy_array(a, p->preferences.n, sizeof(*c->preferences.v));
	for (size_t i = 0; i < p->preferences.n; i++)
		c->preferences.v[i] = (struct world_preference){
			order[i]->weight, world_copy_selector(&order[i]->term, a)};
	copy_tolerations(c, p, a);
}

static void add_selected(struct world *w, const struct world_topology *t, const char *ns)
{
	add_selector(w, &t->pods);
	world_text_number(w, t->everywhere);
	if (t->everywhere)
		return;
	world_text_number(w, t->nnamespaces);
	for (size_t k = 0; k < t->nnamespaces; k++)
		world_text_add(w, t->namespaces[k]);
	if (!t->nnamespaces)
		world_text_add(w, ns);
}

bool shape_is_wide_spread(const struct world_topology *t)
{
	return t->kind == WORLD_SPREAD && !str_eq(t->key, WORLD_HOSTNAME);
}

void shape_nodes_key(struct world *w, const struct world_topology *t, const struct world_pod *of)
{
	world_text_add(w, t->key);
	for (size_t i = 0; i < of->topology.n; i++)
		if (shape_is_wide_spread(&of->topology.v[i]))
			world_text_add(w, of->topology.v[i].key);
	world_text_add(w, NULL);
	world_text_number(w, t->nodes.ignore_affinity);
	if (!t->nodes.ignore_affinity)
		add_affinity(w, of);
	world_text_number(w, t->nodes.honor_taints);
	if (t->nodes.honor_taints)
		add_tolerations(w, of);
}

void shape_group_key(struct world *w, const struct world_topology *t, const struct world_pod *of,
		     unsigned what)
{
	world_text_clear(w);
	world_text_number(w, what);
	world_text_add(w, t->key);
	if (t->kind != WORLD_TOGETHER) {
		add_selected(w, t, of->ns);
		if (shape_is_wide_spread(t))
			shape_nodes_key(w, t, of);
		return;
	}
	for (size_t i = 0; i < of->topology.n; i++)
		if (of->topology.v[i].kind == WORLD_TOGETHER)
			add_selected(w, &of->topology.v[i], of->ns);
}

/* Sets whether the pod's node affinity (*affinity) and tolerations (*taints) also decide which
 * nodes its topology spreads count. */
static void nodes_asked(const struct world_pod *p, bool *affinity, bool *taints)
{
	*affinity = *taints = false;
	for (size_t i = 0; i < p->topology.n; i++)
		if (shape_is_wide_spread(&p->topology.v[i])) {
			*affinity |= !p->topology.v[i].nodes.ignore_affinity;
			*taints |= p->topology.v[i].nodes.honor_taints;
		}
}

static void make_profile_key(struct world *w, const struct world_pod *p)
{
	bool affinity, taints;

	world_text_clear(w);
	world_text_number(w, 1);
	world_text_add(w, p->tenant);
	world_text_add(w, p->ns);
	add_labels(w, &p->labels);
	world_text_number(w, p->topology.n);
	for (size_t i = 0; i < p->topology.n; i++) {
		const struct world_topology *t = &p->topology.v[i];

		world_text_number(w, t->kind);
		world_text_add(w, t->key);
		world_text_number(w, (uint64_t)t->max_skew);
		world_text_number(w, (uint64_t)t->min_domains);
		world_text_number(w, t->nodes.ignore_affinity);
		world_text_number(w, t->nodes.honor_taints);
		add_selector(w, &t->pods);
		world_text_number(w, t->everywhere);
		world_text_number(w, t->nnamespaces);
		for (size_t k = 0; k < t->nnamespaces; k++)
			world_text_add(w, t->namespaces[k]);
	}
	nodes_asked(p, &affinity, &taints);
	if (affinity)
		add_affinity(w, p);
	if (taints)
		add_tolerations(w, p);
}

static void copy_profile(struct world_pod *c, const struct world_pod *p, struct arena *a)
{
	bool affinity, taints;

	c->tenant = arena_strdup(a, p->tenant);
	c->ns = arena_strdup(a, p->ns);
	c->labels = world_copy_labels(&p->labels, a);
	c->topology.n = p->topology.n;
	c->topology.v = world_copy_array(a, p->topology.n, sizeof(*c->topology.v));
	for (size_t i = 0; i < p->topology.n; i++) {
		struct world_topology *t = &c->topology.v[i];

		*t = p->topology.v[i];
		t->key = arena_strdup(a, t->key);
		t->pods = world_copy_selector(&t->pods, a);
		t->namespaces = world_copy_strings(t->namespaces, t->nnamespaces, a);
	}
	nodes_asked(p, &affinity, &taints);
	if (affinity)
		copy_affinity(c, p, a);
	if (taints)
		copy_tolerations(c, p, a);
}

static bool same_labels(const struct labels *a, const struct labels *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++)
		if (!str_eq(a->v[i].key, b->v[i].key) || !str_eq(a->v[i].value, b->v[i].value))
			return false;
	return a->n == b->n;
}

static bool same_tolerations(const struct world_pod *a, const struct world_pod *b)
{
	for (size_t i = 0; i < a->tolerations.n && i < b->tolerations.n; i++) {
		const struct world_toleration *x = &a->tolerations.v[i], *y = &b->tolerations.v[i];

		if (!str_eq(x->key, y->key) || !str_eq(x->value, y->value) ||
		    !str_eq(x->effect, y->effect) || x->op != y->op)
			return false;
	}
	return a->tolerations.n == b->tolerations.n;
}

/* True if the pod has selector terms (affinity, devices, excluded nodes, volumes or preferences) or
 * shared volumes. is_like() does not compare these; only the key contains them. */
static bool has_terms(const struct world_pod *p)
{
	return p->affinity.n || p->devices.n || p->also.n || p->volumes.n || p->preferences.n ||
	       p->shared.n;
}

/* True if pod p certainly has the same constraints as `last`, the pod that was put last. Then no
 * key needs to be built. False: the constraints may differ, and the caller must compare keys. */
static bool is_like(const struct world_pod *last, const struct world_pod *p)
{
	return !has_terms(last) && !has_terms(p) && str_eq(last->tenant, p->tenant) &&
	       str_eq(last->unsupported, p->unsupported) &&
	       str_eq(last->volume_wait, p->volume_wait) &&
	       str_eq(last->device_wait, p->device_wait) && str_eq(last->gang_wait, p->gang_wait) &&
	       str_eq(last->runtime_class, p->runtime_class) && str_eq(last->permit, p->permit) &&
	       !last->denied == !p->denied && last->owned_only == p->owned_only &&
	       same_labels(&last->node_selector, &p->node_selector) && same_tolerations(last, p) &&
	       resources_equal(&last->requests, &p->requests);
}

static bool is_like_to_others(const struct world_pod *last, const struct world_pod *p)
{
	return !last->topology.n && !p->topology.n && str_eq(last->tenant, p->tenant) &&
	       str_eq(last->ns, p->ns) && same_labels(&last->labels, &p->labels);
}

/* Returns the shape whose key is in w->text, and counts one more pod of that shape. If the shape is
 * missing, creates it: copy_to() copies the constraints of *p. */
static struct world_shape *keep(struct world *w, const struct world_pod *p,
				struct world_shape **last,
				void (*copy_to)(struct world_pod *, const struct world_pod *,
						struct arena *))
{
	struct world_shape *s =
		*last && strcmp((*last)->key, w->text) == 0 ? *last : map_get(w->shapes, w->text);

	if (!s) {
		s = mem_new(struct world_shape);
		s->world = w;
		s->arena = arena_new();
		s->key = mem_strdup(w->text);
		copy_to(&s->pod, p, s->arena);
		map_put(w->shapes, s->key, s);
	}
	s->pods++;
	return *last = s;
}

static struct world_fit *keep_fit(struct world *w, const struct world_pod *p)
{
	struct world_fit *f;

	make_fit_key(w, p);
	f = map_get(w->fits, w->text);
	if (!f) {
		f = mem_new(struct world_fit);
		f->key = mem_strdup(w->text);
		map_put(w->fits, f->key, f);
	}
	f->shapes++;
	return f;
}

struct world_shape *shape_of(struct world *w, const struct world_pod *p)
{
	OWN(arena) tmp = NULL;
	struct world_pod sorted;
	struct world_shape *s = w->last[0];

	if (s && is_like(&s->pod, p)) {
		s->pods++;
		return s;
	}
	sorted = *p;
	if (!labels_sorted(&p->node_selector) || !resources_sorted(&p->requests)) {
		tmp = arena_new();
		sorted.node_selector = world_copy_labels(&p->node_selector, tmp);
		sorted.requests = world_copy_resources(&p->requests, tmp);
	}
	make_key(w, &sorted);
	s = keep(w, &sorted, &w->last[0], copy);
	if (!s->fit)
		s->fit = keep_fit(w, &sorted);
	return s;
}

struct world_shape *shape_profile(struct world *w, const struct world_pod *p)
{
	OWN(arena) tmp = NULL;
	struct world_pod sorted;
	struct world_shape *s = w->last[1];

	if (s && is_like_to_others(&s->pod, p)) {
		s->pods++;
		return s;
	}
	sorted = *p;
	if (!labels_sorted(&p->labels) || !labels_sorted(&p->node_selector)) {
		tmp = arena_new();
		sorted.labels = world_copy_labels(&p->labels, tmp);
		sorted.node_selector = world_copy_labels(&p->node_selector, tmp);
	}
	make_profile_key(w, &sorted);
	s = keep(w, &sorted, &w->last[1], copy_profile);
	s->is_profile = true;
	return s;
}

void shape_release(struct world_shape *s)
{
	struct world *w = s->world;

	if (--s->pods)
		return;
	for (int i = 0; i < 2; i++)
		if (w->last[i] == s)
			w->last[i] = NULL;
	(void)map_take(w->shapes, s->key);
	if (s->fit && --s->fit->shapes == 0) {
		(void)map_take(w->fits, s->fit->key);
		free(s->fit->key);
		free(s->fit);
	}
	arena_free(s->arena);
	free(s->key);
	free(s);
}
