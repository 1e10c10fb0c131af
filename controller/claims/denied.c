/* denied: one row for each NodeClaim in phase Denied; by_uid finds the rows of a pod. */
#include "controller/claims/denied.h"

#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/rules/claim.h"

struct denied {
	void (*again)(const char *tenant, const char *const *uids, size_t n, void *arg);
	void *arg;
	/* Key: name of a denied NodeClaim; value: struct denied_claim */
	struct map *rows;
	/* Key: "TENANT/UID" of a pod; value: struct hit, the claims that were denied for the pod */
	struct map *by_uid;
};

struct denied_claim {
	/* Contains all members */
	struct arena *arena;
	const char *tenant, *text;
	/* UIDs of the pods of the claim */
	const char **pods;
	size_t npods;
};

/* One denied claim of a pod; a pod may have several. */
struct hit {
	const struct denied_claim *row;
	struct hit *next;
};

static void row_free(void *p)
{
	struct denied_claim *r = p;

	arena_free(r->arena);
	free(r);
}

static void hits_free(void *p)
{
	struct hit *next;

	for (struct hit *h = p; h; h = next) {
		next = h->next;
		free(h);
	}
}

static const char *key_of(const char *tenant, const char *uid, struct arena *a)
{
	return arena_printf(a, "%s/%s", tenant, uid);
}

static void link_pod(struct denied *d, const struct denied_claim *r, const char *uid,
		     struct arena *a)
{
	void **slot = map_slot(d->by_uid, key_of(r->tenant, uid, a));
	struct hit *h = mem_new(struct hit);

	*h = (struct hit){r, *slot};
	*slot = h;
}

static void unlink_pod(struct denied *d, const struct denied_claim *r, const char *uid,
		       struct arena *a)
{
	const char *key = key_of(r->tenant, uid, a);
	struct hit *first = map_take(d->by_uid, key), **at = &first, *h;

	while (*at && (*at)->row != r)
		at = &(*at)->next;
	h = *at;
	if (h) {
		*at = h->next;
		free(h);
	}
	if (first)
		map_put(d->by_uid, key, first);
}

static struct denied_claim *row_new(const struct node_claim *n)
{
	const struct condition *c = condition_get(&n->status.conditions, APPROVED_CONDITION);
	struct denied_claim *r = mem_new(struct denied_claim);

	r->arena = arena_new();
	r->tenant = arena_strdup(r->arena, str_or(n->spec.virtual_cluster_ref.name, ""));
	r->text = arena_printf(r->arena, "claim %s was %.400s", n->meta.name,
			       str_or(c ? c->message : NULL, "denied"));
	r->pods = arena_calloc(r->arena, n->spec.pods.n + 1, sizeof(*r->pods));
	for (size_t i = 0; i < n->spec.pods.n; i++)
		r->pods[r->npods++] = arena_strdup(r->arena, n->spec.pods.v[i]);
	return r;
}

static void each_pod(struct denied *d, const struct denied_claim *r,
		     void (*fn)(struct denied *d, const struct denied_claim *r, const char *uid,
				struct arena *a))
{
	OWN(arena) a = arena_new();

	for (size_t i = 0; i < r->npods; i++)
		fn(d, r, r->pods[i], a);
}

void denied_claim(struct denied *d, const char *name, const struct node_claim *n)
{
	struct denied_claim *was = map_take(d->rows, name),
			    *now = n && str_eq(n->status.phase, CLAIM_PHASE_DENIED) &&
						   !n->meta.deletion_timestamp
					   ? row_new(n)
					   : NULL;

	if (was)
		each_pod(d, was, unlink_pod);
	if (now) {
		map_put(d->rows, name, now);
		each_pod(d, now, link_pod);
	}
	if (was && (!now || !str_eq(was->text, now->text)))
		d->again(was->tenant, was->pods, was->npods, d->arg);
	else if (now && !was)
		d->again(now->tenant, now->pods, now->npods, d->arg);
	if (was)
		row_free(was);
}

const char *denied_text(const struct denied *d, const char *tenant, const char *uid)
{
	OWN(arena) a = arena_new();
	const struct hit *h;

	if (!map_size(d->by_uid) || str_empty(uid))
		return NULL;
	h = map_get(d->by_uid, key_of(tenant, uid, a));
	return h ? h->row->text : NULL;
}

struct denied *denied_new(void (*again)(const char *tenant, const char *const *uids, size_t n,
					void *arg),
			  void *arg)
{
	struct denied *d = mem_new(struct denied);

	*d = (struct denied){.again = again,
			     .arg = arg,
			     .rows = map_new(row_free),
			     .by_uid = map_new(hits_free)};
	return d;
}

void denied_free(struct denied *d)
{
	if (!d)
		return;
	map_free(d->by_uid);
	map_free(d->rows);
	free(d);
}
