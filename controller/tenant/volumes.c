#include "controller/tenant/volumes.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/read_result.h"
#include "controller/tenant/replan_queue.h"
#include "controller/tenant/tenant.h"
#include "controller/tenant/volume_objects.h"

/* delay that batches changes after which all pods with claims are passed to the planner again */
#define ALL_MS 1000

enum kind { CLAIMS, VOLUMES, CLASSES, LIMITS, KINDS };

struct volume_reading {
	struct volumes *v;
	enum kind kind;
	/* cache of this kind; NULL: reading has not started */
	struct kube_cache *cache;
	struct read_result read;
};

struct volumes {
	struct tenant *t;
	struct volumes_hooks hooks;
	struct volume_reading of[KINDS];
	/* "NAMESPACE/CLAIM" -> "NAMESPACE/POD" of each pod that uses the claim */
	struct index *users;
	/* set of "NAMESPACE/POD" of the pods with claims */
	struct map *pods;
	struct replan_queue *replan_queue;
	/* True: the objects of all kinds are to be read */
	bool wanted;
	struct loop_timer all_timer;
};

static const struct volume_kind {
	const struct kube_resource *resource;
	const char *right, *plural;
	const struct scan_want *want;
	void *(*project)(const json_t *o, struct arena *a, void *arg, struct err *e);
} kinds[KINDS] = {
	[CLAIMS] = {&KUBE_PVCS, "persistentvolumeclaims", "PersistentVolumeClaims",
		    volume_want_claim, volume_project_claim},
	[VOLUMES] = {&KUBE_PVS, "persistentvolumes", "PersistentVolumes", volume_want_volume,
		     volume_project_volume},
	[CLASSES] = {&KUBE_STORAGECLASSES, "storageclasses.storage.k8s.io", "StorageClasses",
		     volume_want_class, volume_project_class},
	[LIMITS] = {&KUBE_CSINODES, "csinodes.storage.k8s.io", "CSINodes", volume_want_limits,
		    volume_project_limits},
};

/* --- passing pods to the planner again -------------------------------------------------------- */

static bool mark_pod(const char *name, void *arg)
{
	struct volumes *v = arg;

	replan_queue_pod(v->replan_queue, name);
	return true;
}

static void mark_users(struct volumes *v, const char *ns, const char *claim)
{
	OWN(arena) a = arena_new();

	if (ns && claim)
		index_each(v->users, 0, arena_printf(a, "%s/%s", ns, claim), mark_pod, v);
}

static void mark_all(struct volumes *v)
{
	if (!loop_timer_active(&v->all_timer))
		loop_timer_start(&v->all_timer, ALL_MS);
}

static void on_all(void *arg)
{
	struct volumes *v = arg;
	struct map_iter it;

	map_for_each (it, v->pods)
		replan_queue_pod(v->replan_queue, it.key);
}

/* --- caches ----------------------------------------------------------------------------------- */

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct volume_reading *r = arg;
	struct volumes *v = r->v;
	const struct kube_entry *en = new_ ? new_ : old, *both[] = {old, new_};

	switch (r->kind) {
	case CLAIMS:
		mark_users(v, en->ns, en->name);
		break;
	case VOLUMES:
		for (int i = 0; i < 2; i++) {
			const struct volume *pv = both[i] ? both[i]->object : NULL;

			if (pv)
				mark_users(v, pv->claim_ns, pv->claim_name);
		}
		break;
	case LIMITS:
		replan_queue_node(v->replan_queue, en->name);
		break;
	case CLASSES:
	case KINDS:
		mark_all(v);
		break;
	}
}

static void on_sync(void *arg)
{
	mark_all(((struct volume_reading *)arg)->v);
}

static void on_health(const struct err *e, void *arg)
{
	struct volume_reading *r = arg;

	if (read_result_set(&r->read, e))
		mark_all(r->v);
}

static void on_over(const json_t *object, void *arg)
{
	struct volume_reading *r = arg;

	(void)object;
	r->v->hooks.over(r->v->t);
	mark_all(r->v);
}

static void read_kinds(struct volumes *v)
{
	for (int i = 0; i < KINDS; i++) {
		const struct kube_cache_spec s = {
			.client = v->t->client,
			.resource = kinds[i].resource,
			.want = kinds[i].want,
			.same_untold = true,
			.project = kinds[i].project,
			.on_change = on_change,
			.on_sync = on_sync,
			.on_health = on_health,
			.on_over = on_over,
			.max_objects = TENANT_VOLUMES,
			.max_bytes = TENANT_VOLUMES_BYTES,
			.arg = &v->of[i],
		};

		v->of[i].cache = kube_cache_new(v->t->c->group, &s);
	}
}

static void on_turn(void *arg)
{
	struct volumes *v = arg;

	if (v->wanted && !v->of[0].cache && v->t->client)
		read_kinds(v);
}

static void on_pod(const char *ns, const char *name, void *arg)
{
	const struct volumes *v = arg;

	v->hooks.pod(v->t, ns, name);
}

static void on_node(const char *name, void *arg)
{
	const struct volumes *v = arg;

	v->hooks.node(v->t, name);
}

const char *volumes_over(const struct volumes *v)
{
	for (int i = 0; i < KINDS; i++)
		if (v->of[i].cache && kube_cache_over(v->of[i].cache))
			return kinds[i].plural;
	return NULL;
}

/* --- pods ------------------------------------------------------------------------------------- */

static const char *key_of(const struct tenant_pod *p, struct arena *a)
{
	return arena_printf(a, "%s/%s", p->world.ns, p->world.name);
}

static size_t users_of(const struct volumes *v, const struct tenant_pod *p,
		       const struct tenant_claim *c, struct arena *a)
{
	return index_count(v->users, 0, arena_printf(a, "%s/%s", p->world.ns, c->name));
}

/* Marks all pods that share a ReadWriteOncePod claim with p, because p's change may mean that
 * another pod can use the claim now. */
static void mark_sharers(struct volumes *v, const struct tenant_pod *p)
{
	for (size_t i = 0; v->of[CLAIMS].cache && i < p->nclaims; i++) {
		const struct volume_claim *c = KUBE_CACHE_GET(v->of[CLAIMS].cache, volume_claim,
							      p->world.ns, p->claims[i].name);

		if (c && c->one_pod)
			mark_users(v, p->world.ns, p->claims[i].name);
	}
}

/* Marks the pods that use a claim of p if that claim is shared now and was not before, or the
 * reverse. joins: p is a new user of its claims; otherwise it no longer is one. */
static void mark_shared(struct volumes *v, const struct tenant_pod *p, bool joins)
{
	OWN(arena) a = arena_new();

	for (size_t i = 0; v->of[CLAIMS].cache && i < p->nclaims; i++)
		if (users_of(v, p, &p->claims[i], a) == (joins ? 2 : 1))
			mark_users(v, p->world.ns, p->claims[i].name);
}

void volumes_pod(struct volumes *v, const struct tenant_pod *old, const struct tenant_pod *new_)
{
	OWN(arena) a = arena_new();
	const struct tenant_pod *p = new_ ? new_ : old;
	const size_t n = new_ ? new_->nclaims : 0, was = old ? old->nclaims : 0;
	struct index_text *texts;
	const char *key;

	if (!n && !was)
		return;
	key = key_of(p, a);
	texts = arena_calloc(a, n + 1, sizeof(*texts));
	for (size_t i = 0; i < n; i++)
		texts[i].text = arena_printf(a, "%s/%s", p->world.ns, p->claims[i].name);
	index_put(v->users, key, texts, n);
	if (n)
		map_put(v->pods, key, v);
	else
		map_del(v->pods, key);
	if (!n != !was)
		mark_shared(v, n ? new_ : old, n > 0);
	if (!n != !was || !str_eq(old->world.node, new_->world.node))
		mark_sharers(v, n ? new_ : old);
	if (n && new_->world.unschedulable && !v->wanted) {
		v->wanted = true;
		replan_queue_soon(v->replan_queue);
	}
}

struct in_use {
	const struct volumes *v;
	const struct tenant_pod *p;
	/* name of another pod that uses the claim; NULL: none */
	const char *by;
	struct arena *a;
};

static bool is_used_by(const char *name, void *arg)
{
	struct in_use *u = arg;
	const char *slash = strchr(name, '/');
	const struct tenant_pod *other =
		KUBE_CACHE_GET(u->v->t->pods, tenant_pod,
			       arena_strndup(u->a, name, (size_t)(slash - name)), slash + 1);

	if (!other || !other->world.node || str_eq(other->world.uid, u->p->world.uid))
		return true;
	u->by = other->world.name;
	return false;
}

/* Returns why volumes and claims cannot be read. NULL: they are read, or, with *soon set to true,
 * are being read for the first time. */
static const char *unread(const struct volumes *v, bool *soon, struct arena *a)
{
	*soon = false;
	for (int i = 0; i < KINDS; i++) {
		const struct volume_reading *r = &v->of[i];

		if (r->read.denied)
			return arena_printf(a,
					    "drover may not get, list and watch %s in this cluster",
					    kinds[i].right);
		if (r->cache && kube_cache_synced(r->cache))
			continue;
		if (r->read.error[0])
			return arena_printf(a, "%s cannot be read: %s", kinds[i].plural,
					    r->read.error);
		*soon = true;
	}
	return NULL;
}

static const void *look_up(const struct volumes *v, enum kind kind, const char *ns,
			   const char *name, const char **out_of_room)
{
	const struct kube_entry *en = name ? kube_cache_get(v->of[kind].cache, ns, name) : NULL;

	if (!en && name && kube_cache_over(v->of[kind].cache))
		*out_of_room = kinds[kind].plural;
	return en ? en->object : NULL;
}

/* Sets *out to the effect of one claim. Returns why the pod must wait, or NULL. */
static const char *add_claim(const struct volumes *v, const struct tenant_pod *p,
			     const struct tenant_claim *c, struct volume_answer *out,
			     struct arena *a)
{
	struct volume_use u = {.ns = p->world.ns,
			       .name = c->name,
			       .ephemeral = c->ephemeral,
			       .pod_uid = p->world.uid};
	struct in_use in_use = {v, p, NULL, a};
	const char *out_of_room = NULL, *why;

	u.claim = look_up(v, CLAIMS, u.ns, u.name, &out_of_room);
	if (u.claim) {
		u.volume = look_up(v, VOLUMES, "", u.claim->volume, &out_of_room);
		u.class_ = look_up(v, CLASSES, "", u.claim->class_name, &out_of_room);
	}
	why = volume_judge(&u, out, a);
	if (why && out_of_room)
		return arena_printf(a, "%s; or it is not among the %s that drover reads (%d)", why,
				    out_of_room, TENANT_VOLUMES);
	if (why || !u.claim->one_pod)
		return why;
	index_each(v->users, 0, arena_printf(a, "%s/%s", u.ns, u.name), is_used_by, &in_use);
	return in_use.by ? arena_printf(a,
					"persistentVolumeClaim %s is ReadWriteOncePod, and pod %s "
					"uses it",
					u.name, in_use.by)
			 : NULL;
}

static void attach(struct resources *r, const char *driver, struct arena *a)
{
	const char *name = arena_printf(a, "@%s", driver);

	for (size_t i = 0; i < r->n; i++)
		if (str_eq(r->v[i].name, name)) {
			r->v[i].q = quantity_add(r->v[i].q, quantity_of(1));
			return;
		}
	r->v[r->n++] = (struct resource){name, quantity_of(1)};
}

/* True if several pods may use the claim. A template (tenant_project_template()) stands for several
 * pods, and no pod has a name with a colon. */
static bool is_shared(const struct volumes *v, const struct tenant_pod *p,
		      const struct tenant_claim *c, struct arena *a)
{
	return strchr(p->world.name, ':') || users_of(v, p, c, a) > 1;
}

static void add_attachment(const struct volumes *v, const struct tenant_pod *p,
			   const struct tenant_claim *c, const char *driver, struct world_pod *out,
			   struct arena *a)
{
	attach(&out->requests, driver, a);
	if (is_shared(v, p, c, a))
		out->shared.v[out->shared.n++] =
			(struct world_shared){arena_printf(a, "@%s", driver),
					      arena_printf(a, "%s/%s", p->world.ns, c->name)};
}

/* Returns a copy of r in the arena, with room for `more` elements. */
static struct resources copy_resources(const struct resources *r, size_t more, struct arena *a)
{
	struct resources c = {.v = arena_calloc(a, r->n + more + 1, sizeof(*c.v)), .n = r->n};

	if (r->n)
		memcpy(c.v, r->v, r->n * sizeof(*c.v));
	return c;
}

const struct world_pod *volumes_of_pod(const struct volumes *v, const struct tenant_pod *p,
				       struct arena *a)
{
	struct world_pod *c;
	size_t weight = 0;
	const char *why;
	bool soon;

	if (!p->nclaims || p->large)
		return &p->world;
	c = arena_new_obj(a, struct world_pod);
	*c = p->world;
	c->volume_wait = unread(v, &soon, a);
	if (p->world.node && (soon || c->volume_wait))
		return &p->world;
	if (soon)
		/* Until the claims are read, the pod must not request a machine. */
		c->unschedulable = false;
	if (soon || c->volume_wait)
		return c;
	c->requests = copy_resources(&p->world.requests, p->nclaims, a);
	c->volumes.v = arena_calloc(a, p->nclaims, sizeof(*c->volumes.v));
	c->shared.v = arena_calloc(a, p->nclaims, sizeof(*c->shared.v));
	for (size_t i = 0; i < p->nclaims && !c->volume_wait; i++) {
		struct volume_answer answer;

		why = add_claim(v, p, &p->claims[i], &answer, a);
		if (why) { /* A running pod continues, whatever happened to the claim. */
			c->volume_wait = p->world.node ? NULL : why;
			continue;
		}
		weight += answer.weight;
		if (answer.driver)
			add_attachment(v, p, &p->claims[i], answer.driver, c, a);
		if (!answer.anywhere && !p->world.node)
			c->volumes.v[c->volumes.n++] = answer.place;
	}
	if (weight > TENANT_POD_BYTES) {
		c->unsupported = "more than 16 KiB of topology of its volumes";
		c->volumes.n = 0;
	}
	resources_sort(&c->requests);
	return c;
}

struct world_node volumes_of_node(const struct volumes *v, const struct world_node *n,
				  struct arena *a)
{
	const struct kube_cache *cache = v->of[LIMITS].cache;
	const struct volume_limits *l =
		cache ? KUBE_CACHE_GET(cache, volume_limits, "", n->name) : NULL;
	struct world_node c = *n;

	if (!l || !l->counts.n)
		return c;
	c.allocatable = copy_resources(&n->allocatable, l->counts.n, a);
	memcpy(c.allocatable.v + n->allocatable.n, l->counts.v,
	       l->counts.n * sizeof(*c.allocatable.v));
	c.allocatable.n += l->counts.n;
	resources_sort(&c.allocatable);
	return c;
}

/* --- lifecycle -------------------------------------------------------------------------------- */

void volumes_forget(struct volumes *v)
{
	loop_timer_stop(&v->all_timer);
	for (int i = 0; i < KINDS; i++) {
		kube_cache_free(v->of[i].cache);
		v->of[i] = (struct volume_reading){.v = v, .kind = (enum kind)i};
	}
	v->wanted = false;
	index_free(v->users);
	v->users = index_new(1);
	map_clear(v->pods);
	replan_queue_clear(v->replan_queue);
}

struct volumes *volumes_new(struct tenant *t, const struct volumes_hooks *hooks)
{
	struct volumes *v = mem_new(struct volumes);

	v->t = t;
	v->hooks = *hooks;
	v->users = index_new(1);
	v->pods = map_new(NULL);
	for (int i = 0; i < KINDS; i++)
		v->of[i] = (struct volume_reading){.v = v, .kind = (enum kind)i};
	v->replan_queue = replan_queue_new(
		t->c->group, &(struct replan_queue_hooks){on_turn, on_pod, on_node, v});
	loop_timer_init(&v->all_timer, t->c->group, on_all, v);
	return v;
}

void volumes_free(struct volumes *v)
{
	if (!v)
		return;
	volumes_forget(v);
	index_free(v->users);
	map_free(v->pods);
	replan_queue_free(v->replan_queue);
	free(v);
}
