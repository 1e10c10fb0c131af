/* underused: runs the sweeps (searches over all Nodes) and stores their results: the verdict for
 * each claim, and since when its Node may be released. */
#include "controller/claims/underused.h"

#include <stdlib.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/lookup.h"
#include "controller/tenant/tenant.h"
#include "planner/consolidate.h"

#define BARRED_MOST_MS (24 * UNDERUSED_BARRED_MS)

struct underused {
	struct context *c;
	const struct tenants *tenants;
	struct consolidate_run *run;
	struct arena *arena;
	/* loop_now() of the last sweep; 0: none yet */
	int64_t swept_at;
	/* True: the planner's world did not change since the last sweep */
	bool fresh;
	/* Key: name of a NodeClaim; value: struct saving */
	struct map *claims;
	/* Tenants with pods that wait for a machine, or for which a machine is being prepared */
	struct map *needs;
	/* Tenants with pods that wait for a machine */
	struct map *waits;
};

struct saving {
	char uid[64];
	enum consolidate_verdict verdict;
	/* loop_now() since when the Node may be released; 0: the Node may not be released */
	int64_t since;
	/* loop_now() until which the Node may not be released again */
	int64_t barred_until;
	/* Length of the last pause that set barred_until, ms */
	int64_t barred_ms;
	char *text;
	/* True: found in the present sweep */
	bool seen;
};

static void saving_free(void *p)
{
	struct saving *s = p;

	free(s->text);
	free(s);
}

/* True if all pods and Nodes of the tenant are known and up to date. */
static bool is_read(const struct underused *u, const char *tenant)
{
	const struct virtual_cluster *vc =
		CTX_GET(u->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, str_or(tenant, ""));
	struct tenant *t = tenant_get(u->tenants, str_or(tenant, ""));

	return vc && !vc->spec.paused && !vc->meta.deletion_timestamp && t && tenant_usable(t) &&
	       t->pods && kube_cache_synced(t->pods) && !kube_cache_over(t->pods) && t->nodes &&
	       kube_cache_synced(t->nodes);
}

static const struct saving *saving_of(const struct underused *u, const struct node_claim *n)
{
	const struct saving *s = u ? map_get(u->claims, n->meta.name) : NULL;

	return s && str_eq(s->uid, n->meta.uid) ? s : NULL;
}

int64_t underused_ms(const struct underused *u, const struct node_claim *n)
{
	const struct saving *s = saving_of(u, n);
	const char *tenant = n->spec.virtual_cluster_ref.name;

	return s && s->since && u->fresh && loop_now(u->c->loop) >= s->barred_until &&
			       !underused_needs(u, tenant) && is_read(u, tenant)
		       ? loop_now(u->c->loop) - s->since
		       : -1;
}

bool underused_needs(const struct underused *u, const char *tenant)
{
	return map_has(u->needs, str_or(tenant, ""));
}

bool underused_others_wait(const struct underused *u, const char *tenant)
{
	return map_size(u->waits) > (size_t)map_has(u->waits, str_or(tenant, ""));
}

void underused_withdrawn(struct underused *u, const struct node_claim *n)
{
	struct saving *s = map_get(u->claims, n->meta.name);

	if (!s) {
		s = mem_new(struct saving);
		map_put(u->claims, n->meta.name, s);
	}
	str_copy(s->uid, sizeof(s->uid), n->meta.uid);
	s->barred_ms = !s->barred_ms			   ? UNDERUSED_BARRED_MS
		       : 2 * s->barred_ms < BARRED_MOST_MS ? 2 * s->barred_ms
							   : BARRED_MOST_MS;
	s->barred_until = loop_now(u->c->loop) + s->barred_ms;
	s->since = 0;
}

bool underused_condition(const struct underused *u, const struct node_claim *n,
			 struct underused_words *out)
{
	static const char *const reasons[] = {
		[CONSOLIDATE_GIVE] = LEAVE_UNDERUSED, [CONSOLIDATE_EMPTY] = LEAVE_EMPTY,
		[CONSOLIDATE_KEPT] = "PodKeepsNode",  [CONSOLIDATE_GANG] = "PodOfGang",
		[CONSOLIDATE_NO_ROOM] = "NoRoom",     [CONSOLIDATE_RECEIVES] = "ReceivesPods",
		[CONSOLIDATE_OVER] = "OverBudget",
	};
	const struct saving *s = saving_of(u, n);

	if (!s || !s->text)
		return false;
	*out = (struct underused_words){s->verdict == CONSOLIDATE_GIVE ||
						s->verdict == CONSOLIDATE_EMPTY,
					reasons[s->verdict], s->text};
	return true;
}

/* --- sweeps ----------------------------------------------------------------------------------- */

static const char *text_of(const struct consolidate_node *n, struct arena *a)
{
	static const char *const kept[WORLD_KEEPS] = {
		[WORLD_KEEP_NOT] = "",
		[WORLD_KEEP_ASKED] = "an annotation of the pod forbids its disruption",
		[WORLD_KEEP_ALONE] = "it has no controller that would recreate it",
		[WORLD_KEEP_LOCAL] = "it has files on this Node (emptyDir or hostPath)",
		[WORLD_KEEP_VOLUMES] = "it has persistent volumes",
		[WORLD_KEEP_OTHERS] =
			"its placement depends on other pods (topology spread or pod affinity)",
		[WORLD_KEEP_UNKNOWN] = "drover cannot evaluate what it requires of a Node",
	};
	char until[STR_TIME_SIZE];

	switch (n->verdict) {
	case CONSOLIDATE_GIVE:
		return arena_printf(a,
				    "its %zu pod%s on other Nodes of the tenant, for example on %s",
				    n->nmoves, n->nmoves == 1 ? " fits" : "s fit", n->moves[0].to);
	case CONSOLIDATE_EMPTY:
		return "no pod that would have to move runs on it";
	case CONSOLIDATE_KEPT:
		return arena_printf(a, "pod %s/%s stays: %s%s%s", n->ns, n->pod, kept[n->keep],
				    n->keep_until ? ", until " : "",
				    n->keep_until ? str_time(until, n->keep_until) : "");
	case CONSOLIDATE_GANG:
		return arena_printf(a, "pod %s/%s belongs to a gang, which would become incomplete",
				    n->ns, n->pod);
	case CONSOLIDATE_NO_ROOM:
		return arena_printf(a, "pod %s/%s fits on no other Node of its tenant", n->ns,
				    n->pod);
	case CONSOLIDATE_RECEIVES:
		return "its free capacity is needed for waiting pods, or for pods of Nodes that "
		       "are to be released";
	case CONSOLIDATE_OVER:
		break;
	}
	return "evaluating the tenant's pods exceeds the computing time of one tenant";
}

static void keep(struct underused *u, const struct consolidate_node *node, struct arena *a)
{
	const struct node_claim *n = CTX_GET(u->c, OBJECT_NODE_CLAIM, node_claim, node->claim);
	const struct machine *m = n ? machine_of_claim(u->c, n) : NULL;
	struct saving *s = n ? map_get(u->claims, n->meta.name) : NULL;
	const char *text = text_of(node, a);
	bool given = node->verdict == CONSOLIDATE_GIVE;

	if (!n)
		return;
	if (!s || !str_eq(s->uid, n->meta.uid)) {
		s = mem_new(struct saving);
		str_copy(s->uid, sizeof(s->uid), n->meta.uid);
		map_put(u->claims, n->meta.name, s);
	}
	s->seen = true;
	s->since = !given ? 0 : s->since ? s->since : loop_now(u->c->loop);
	s->verdict = node->verdict;
	if (!str_eq(s->text, text)) {
		free(s->text);
		s->text = mem_strdup(text);
		notify(u->c, NOTICE_CLAIM, n->meta.name);
	}
	if (given && m)
		notify(u->c, NOTICE_MACHINE, m->meta.name);
}

static void forget_unseen(struct underused *u)
{
	OWN(map) gone = map_new(NULL);
	struct map_iter it;

	map_for_each (it, u->claims) {
		struct saving *s = it.value;

		if (!s->seen && loop_now(u->c->loop) >= s->barred_until)
			map_put(gone, it.key, u);
		else if (!s->seen)
			s->since = 0;
		s->seen = false;
	}
	map_for_each (it, gone) {
		map_del(u->claims, it.key);
		notify(u->c, NOTICE_CLAIM, it.key);
	}
}

static bool asks(const struct kube_entry *en, void *arg)
{
	const struct node_pool *p = en->object;
	bool *any = arg;

	*any |= p->spec.disruption.consolidation_policy == CONSOLIDATION_WHEN_UNDERUSED;
	return !*any;
}

static bool is_asked(const struct underused *u)
{
	/* A sweep is also needed to remove claims of pools that no longer ask for sweeps. */
	bool any = map_size(u->claims) > 0;

	kube_cache_each(u->c->cache[OBJECT_NODE_POOL], asks, &any);
	return any;
}

static int64_t left_ms(const struct underused *u)
{
	const int64_t left =
		u->swept_at ? u->swept_at + UNDERUSED_SWEEP_MS - loop_now(u->c->loop) : 0;

	return left > 0 ? left : 0;
}

int64_t underused_next_ms(const struct underused *u)
{
	if (!is_asked(u))
		return 0;
	return u->fresh ? UNDERUSED_AGAIN_MS : 1 + left_ms(u);
}

bool underused_runs(const struct underused *u)
{
	return u->run;
}

void underused_stop(struct underused *u)
{
	if (!u->run)
		return;
	consolidate_end(u->run);
	u->run = NULL;
	arena_free(u->arena);
	u->arena = NULL;
}

bool underused_step(struct underused *u, struct world *w)
{
	const struct consolidate *c;

	if (!u->run && (left_ms(u) || !is_asked(u)))
		return false;
	if (!u->run) {
		u->arena = arena_new();
		u->run = consolidate_begin(w, loop_wall(u->c->loop), u->arena);
	}
	c = consolidate_step(u->run, PLAN_SLICE);
	if (!c)
		return true;
	u->swept_at = loop_now(u->c->loop);
	u->fresh = true;
	for (size_t i = 0; i < c->n; i++)
		keep(u, &c->v[i], u->arena);
	forget_unseen(u);
	underused_stop(u);
	return false;
}

/* --- plans and changes ------------------------------------------------------------------------ */

static void mark(struct map *m, const char *tenant, struct underused *u)
{
	if (!map_has(m, tenant))
		map_put(m, tenant, u);
}

void underused_plan(struct underused *u, const struct plan *p)
{
	map_clear(u->needs);
	map_clear(u->waits);
	for (size_t i = 0; i < p->npods; i++) {
		const struct plan_pod *pod = &p->pods[i];
		const bool waits = pod->outcome == PLAN_NOTHING && pod->nreasons &&
				   pod->reasons[0].code == PLAN_NO_MACHINE;

		if (pod->check)
			continue;
		if (waits)
			mark(u->waits, pod->tenant, u);
		if (waits || pod->outcome == PLAN_ON_NEW || pod->outcome == PLAN_ON_CLAIM)
			mark(u->needs, pod->tenant, u);
	}
}

void underused_changed(struct underused *u)
{
	u->fresh = false;
}

void underused_clear(struct underused *u)
{
	underused_stop(u);
	map_clear(u->claims);
	u->fresh = false;
}

struct underused *underused_new(struct context *c, const struct tenants *tenants)
{
	struct underused *u = mem_new(struct underused);

	u->c = c;
	u->tenants = tenants;
	u->claims = map_new(saving_free);
	u->needs = map_new(NULL);
	u->waits = map_new(NULL);
	return u;
}

void underused_free(struct underused *u)
{
	if (!u)
		return;
	underused_stop(u);
	map_free(u->claims);
	map_free(u->needs);
	map_free(u->waits);
	free(u);
}
