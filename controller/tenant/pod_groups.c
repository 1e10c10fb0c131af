#include "controller/tenant/pod_groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/read_result.h"
#include "controller/tenant/replan_queue.h"
#include "controller/tenant/tenant.h"

/* delay that batches changes after which all pods of gangs are passed to the planner again */
#define ALL_MS 1000
#define VERSIONS 2 /* maximum number of API versions of one kind */

struct gang_reading {
	struct pod_groups *g;
	enum gang_kind kind;
	/* cache of this kind and version; NULL: reading has not started */
	struct kube_cache *cache;
	struct read_result read;
};

struct pod_groups {
	struct tenant *t;
	void (*pod)(struct tenant *t, const char *ns, const char *name);
	struct gang_reading of[GANG_KINDS][VERSIONS];
	/* key of an object (text_of()) -> "NAMESPACE/POD" of each pod that names it */
	struct index *users;
	struct replan_queue *replan_queue;
	bool wanted[GANG_KINDS];
	/* set of "NAMESPACE/POD" of the pods that name a PodGroup or Workload */
	struct map *pods;
	struct loop_timer all_timer;
};

/* API versions of each kind in which drover can read the gang size. */
static const struct gang_resource {
	const char *plural;
	struct kube_resource versions[VERSIONS];
} kinds[GANG_KINDS] = {
	[GANG_KUBERNETES] = {"podgroups.scheduling.k8s.io",
			     {{"scheduling.k8s.io", "v1beta1", "podgroups", "PodGroup", true},
			      {"scheduling.k8s.io", "v1alpha2", "podgroups", "PodGroup", true}}},
	[GANG_COSCHEDULING] = {"podgroups.scheduling.x-k8s.io",
			       {{"scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup",
				 true}}},
	[GANG_VOLCANO] = {"podgroups.scheduling.volcano.sh",
			  {{"scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", true}}},
	[GANG_KAI] = {"podgroups.scheduling.run.ai",
		      {{"scheduling.run.ai", "v2alpha2", "podgroups", "PodGroup", true}}},
	[GANG_WORKLOAD] = {"workloads.scheduling.k8s.io",
			   {{"scheduling.k8s.io", "v1alpha1", "workloads", "Workload", true}}},
};

/* --- sizes ------------------------------------------------------------------------------------ */

const struct kube_resource *pod_groups_resource(enum gang_kind kind, int i)
{
	return kind < GANG_KINDS && i < VERSIONS && kinds[kind].versions[i].version
		       ? &kinds[kind].versions[i]
		       : NULL;
}

static const char *not_there(const struct gang_name *n, const char *what, struct arena *a)
{
	return arena_printf(a, "%s %s of %s %s", kinds[n->kind].versions[0].kind, n->name,
			    kinds[n->kind].plural, what);
}

const char *pod_groups_size(const struct tenant_pod *p, const struct gang_group *group,
			    int64_t *size, struct arena *a)
{
	return group ? gang_size_in(group, p->gang, kinds[p->gang->kind].plural, size, a)
		     : not_there(p->gang, "does not exist", a);
}

const struct world_pod *pod_groups_sized(const struct tenant_pod *p, const struct world_pod *w,
					 int64_t size, const char *why, struct arena *a)
{
	struct world_pod *c;

	if (!p->gang || (!why && size == 1))
		return w;
	c = arena_new_obj(a, struct world_pod);
	*c = *w;
	c->gang.key = p->gang->key;
	c->gang.min = size;
	if (!w->node)
		c->gang_wait = why;
	return c;
}

/* --- passing pods to the planner again -------------------------------------------------------- */

static bool mark(const char *pod, void *arg)
{
	struct pod_groups *g = arg;

	replan_queue_pod(g->replan_queue, pod);
	return true;
}

static void mark_all(struct pod_groups *g)
{
	if (!loop_timer_active(&g->all_timer))
		loop_timer_start(&g->all_timer, ALL_MS);
}

static void on_all(void *arg)
{
	struct pod_groups *g = arg;
	struct map_iter it;

	map_for_each (it, g->pods)
		(void)mark(it.key, g);
}

/* Returns the key in `users` of the object that specifies the size of a gang. */
static const char *text_of(enum gang_kind kind, const char *ns, const char *name, struct arena *a)
{
	return arena_printf(a, "%d/%s/%s", (int)kind, ns, name);
}

/* --- caches ----------------------------------------------------------------------------------- */

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	const struct gang_reading *r = arg;
	const struct kube_entry *en = new_ ? new_ : old;
	OWN(arena) a = arena_new();

	index_each(r->g->users, 0, text_of(r->kind, en->ns, en->name, a), mark, r->g);
}

static void on_sync(void *arg)
{
	mark_all(((struct gang_reading *)arg)->g);
}

static void on_health(const struct err *e, void *arg)
{
	struct gang_reading *r = arg;

	if (read_result_set(&r->read, e))
		mark_all(r->g);
}

static void on_over(const json_t *object, void *arg)
{
	(void)object;
	mark_all(((struct gang_reading *)arg)->g);
}

static void read_kind(struct pod_groups *g, enum gang_kind kind)
{
	for (int i = 0; i < VERSIONS && kinds[kind].versions[i].version; i++) {
		const struct kube_cache_spec s = {
			.client = g->t->client,
			.resource = &kinds[kind].versions[i],
			.want = gang_want_group,
			.same_untold = true,
			.project = gang_project_group,
			.on_change = on_change,
			.on_sync = on_sync,
			.on_health = on_health,
			.on_over = on_over,
			.max_objects = POD_GROUPS,
			.max_bytes = POD_GROUPS_BYTES,
			.arg = &g->of[kind][i],
		};

		g->of[kind][i].cache = kube_cache_new(g->t->c->group, &s);
	}
}

static void on_turn(void *arg)
{
	struct pod_groups *g = arg;

	for (int i = 0; i < GANG_KINDS; i++)
		if (g->wanted[i] && !g->of[i][0].cache && g->t->client)
			read_kind(g, (enum gang_kind)i);
}

static void on_pod(const char *ns, const char *name, void *arg)
{
	const struct pod_groups *g = arg;

	g->pod(g->t, ns, name);
}

/* --- pods ------------------------------------------------------------------------------------- */

static bool names_one(const struct tenant_pod *p)
{
	return p && p->gang && p->gang->kind < GANG_KINDS;
}

void pod_groups_pod(struct pod_groups *g, const struct tenant_pod *old,
		    const struct tenant_pod *new_)
{
	OWN(arena) a = arena_new();
	const struct tenant_pod *p = new_ ? new_ : old;
	const bool names = names_one(new_);
	struct index_text text = {.key = 0};
	const char *key;

	if (!names && !names_one(old))
		return;
	key = arena_printf(a, "%s/%s", p->world.ns, p->world.name);
	if (names)
		text.text = text_of(p->gang->kind, p->world.ns, p->gang->name, a);
	index_put(g->users, key, &text, names);
	if (names)
		map_put(g->pods, key, g);
	else
		map_del(g->pods, key);
	if (names && p->world.unschedulable && !g->wanted[p->gang->kind]) {
		g->wanted[p->gang->kind] = true;
		replan_queue_soon(g->replan_queue);
	}
}

/* Returns why objects of the kind cannot be read. NULL: they are read, or, with *soon set to true,
 * are being read for the first time. */
static const char *unread(const struct pod_groups *g, enum gang_kind kind, bool *soon,
			  struct arena *a)
{
	const char *why = NULL;
	bool absent = true;

	*soon = false;
	for (int i = 0; i < VERSIONS && kinds[kind].versions[i].version; i++) {
		const struct gang_reading *r = &g->of[kind][i];

		if (r->cache && kube_cache_synced(r->cache) && !r->read.denied)
			return NULL;
		absent &= r->read.absent;
		if (r->read.denied)
			why = arena_printf(a,
					   "drover may not get, list and watch %s in this cluster",
					   kinds[kind].plural);
		else if (!r->read.absent && r->read.error[0])
			why = arena_printf(a, "%s cannot be read: %s", kinds[kind].plural,
					   r->read.error);
		else
			*soon |= !r->read.absent;
	}
	if (absent)
		why = arena_printf(
			a, "this cluster does not serve %s in a version that drover supports",
			kinds[kind].plural);
	*soon &= !why;
	return why;
}

/* Sets *size to the size of p's gang. Returns why the size is not known. NULL: the size is known,
 * or, with *soon set to true, the objects that specify it are being read for the first time. */
static const char *look_up(const struct pod_groups *g, const struct tenant_pod *p, int64_t *size,
			   bool *soon, struct arena *a)
{
	const struct gang_name *n = p->gang;
	const char *why = unread(g, n->kind, soon, a);
	bool over = false;

	if (why || *soon)
		return why;
	for (int i = 0; i < VERSIONS && kinds[n->kind].versions[i].version; i++) {
		struct kube_cache *cache = g->of[n->kind][i].cache;
		const struct gang_group *o =
			KUBE_CACHE_GET(cache, gang_group, p->world.ns, n->name);

		over |= kube_cache_over(cache);
		if (o)
			return pod_groups_size(p, o, size, a);
	}
	return over ? not_there(n, "is not among those that drover reads", a)
		    : pod_groups_size(p, NULL, size, a);
}

const struct world_pod *pod_groups_of_pod(const struct pod_groups *g, const struct tenant_pod *p,
					  const struct world_pod *w, struct arena *a)
{
	int64_t size = p->gang ? p->gang->size : 0;
	const char *why = p->gang ? p->gang->wait : NULL;
	const struct world_pod *out;
	struct world_pod *later;
	bool soon = false;

	if (names_one(p))
		why = look_up(g, p, &size, &soon, a);
	out = pod_groups_sized(p, w, size, why, a);
	if (!soon || w->node)
		return out;
	later = arena_new_obj(a, struct world_pod);
	*later = *out;
	/* Until the size of the gang is known, the pod must not request a machine. */
	later->unschedulable = false;
	return later;
}

/* --- lifecycle -------------------------------------------------------------------------------- */

void pod_groups_forget(struct pod_groups *g)
{
	loop_timer_stop(&g->all_timer);
	for (int i = 0; i < GANG_KINDS; i++) {
		for (int k = 0; k < VERSIONS; k++) {
			kube_cache_free(g->of[i][k].cache);
			g->of[i][k] = (struct gang_reading){.g = g, .kind = (enum gang_kind)i};
		}
		g->wanted[i] = false;
	}
	index_free(g->users);
	g->users = index_new(1);
	map_clear(g->pods);
	replan_queue_clear(g->replan_queue);
}

struct pod_groups *pod_groups_new(struct tenant *t,
				  void (*pod)(struct tenant *t, const char *ns, const char *name))
{
	struct pod_groups *g = mem_new(struct pod_groups);

	g->t = t;
	g->pod = pod;
	g->pods = map_new(NULL);
	g->replan_queue = replan_queue_new(
		t->c->group,
		&(struct replan_queue_hooks){.turn = on_turn, .pod = on_pod, .arg = g});
	loop_timer_init(&g->all_timer, t->c->group, on_all, g);
	pod_groups_forget(g);
	return g;
}

void pod_groups_free(struct pod_groups *g)
{
	if (!g)
		return;
	pod_groups_forget(g);
	index_free(g->users);
	map_free(g->pods);
	replan_queue_free(g->replan_queue);
	free(g);
}
