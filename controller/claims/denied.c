/* denied: one row for each NodeClaim in phase Denied. */
#include "controller/claims/denied.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/rules/claim.h"
#include "controller/tenant/tenant.h"

struct denied {
	const struct tenants *tenants;
	void (*again)(const char *tenant, const char *ns, const char *name, void *arg);
	void *arg;
	/* Key: name of a denied NodeClaim; value: struct row */
	struct map *rows;
};

struct row {
	/* Contains all members and the keys of `pods` */
	struct arena *arena;
	const char *tenant, *text;
	/* UIDs of the pods of the claim; no values */
	struct map *pods;
};

static void row_free(void *p)
{
	struct row *r = p;

	map_free(r->pods);
	arena_free(r->arena);
	free(r);
}

static struct row *row_new(const struct node_claim *n)
{
	const struct condition *c = condition_get(&n->status.conditions, APPROVED_CONDITION);
	struct row *r = mem_new(struct row);

	r->arena = arena_new();
	r->tenant = arena_strdup(r->arena, str_or(n->spec.virtual_cluster_ref.name, ""));
	r->text = arena_printf(r->arena, "claim %s was %.400s", n->meta.name,
			       str_or(c ? c->message : NULL, "denied"));
	r->pods = map_new(NULL);
	for (size_t i = 0; i < n->spec.pods.n; i++)
		map_put(r->pods, n->spec.pods.v[i], r);
	return r;
}

struct found {
	const struct map *uids;
	struct arena *arena;
	/* "NAMESPACE/NAME" of the pods */
	struct strings pods;
};

static bool find_pod(const struct kube_entry *en, void *arg)
{
	const struct tenant_pod *p = en->object;
	struct found *f = arg;

	if (map_has(f->uids, p->world.uid) && f->pods.n < map_size(f->uids))
		f->pods.v[f->pods.n++] = arena_printf(f->arena, "%s/%s", en->ns, en->name);
	return true;
}

/* Has the pods of a row planned again. The pods are collected first, because again() may change the
 * planner's world. */
static void plan_again(struct denied *d, const struct row *r)
{
	OWN(arena) a = arena_new();
	struct tenant *t = tenant_get(d->tenants, r->tenant);
	struct found f = {.uids = r->pods, .arena = a};

	if (!t || !t->pods)
		return;
	f.pods.v = arena_calloc(a, map_size(r->pods) + 1, sizeof(*f.pods.v));
	kube_cache_each(t->pods, find_pod, &f);
	for (size_t i = 0; i < f.pods.n; i++) {
		char *ns = arena_strdup(a, f.pods.v[i]), *slash = strchr(ns, '/');

		*slash = '\0';
		d->again(r->tenant, ns, slash + 1, d->arg);
	}
}

void denied_claim(struct denied *d, const char *name, const struct node_claim *n)
{
	struct row *was = map_take(d->rows, name),
		   *now = n && str_eq(n->status.phase, CLAIM_PHASE_DENIED) &&
					  !n->meta.deletion_timestamp
				  ? row_new(n)
				  : NULL;

	if (now)
		map_put(d->rows, name, now);
	if (was && (!now || !str_eq(was->text, now->text)))
		plan_again(d, was);
	else if (now && !was)
		plan_again(d, now);
	if (was)
		row_free(was);
}

const char *denied_text(const struct denied *d, const char *uid)
{
	struct map_iter it;

	map_for_each (it, d->rows) {
		const struct row *r = it.value;

		if (uid && map_has(r->pods, uid))
			return r->text;
	}
	return NULL;
}

struct denied *denied_new(const struct tenants *tenants,
			  void (*again)(const char *tenant, const char *ns, const char *name,
					void *arg),
			  void *arg)
{
	struct denied *d = mem_new(struct denied);

	*d = (struct denied){
		.tenants = tenants, .again = again, .arg = arg, .rows = map_new(row_free)};
	return d;
}

void denied_free(struct denied *d)
{
	if (!d)
		return;
	map_free(d->rows);
	free(d);
}
