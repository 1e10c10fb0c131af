#include "controller/claims/stops.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/breaker.h"
#include "controller/claims/failing.h"
#include "controller/claims/usable.h"
#include "controller/hardware/fleet.h"
#include "controller/rules/claim.h"
#include "controller/rules/provider.h"

/* Delay until the stops are computed again, for a stop (something that the planner may not use now,
 * see stops.h) whose end is not known. */
#define AGAIN_MS 30000

struct stop_list {
	const struct stops_from *from;
	struct arena *a;
	struct world_stop *v;
	size_t n, cap;
	struct breaker *breaker;
	int64_t now, due;
};

static void add(struct stop_list *l, const struct world_stop *s, int64_t until)
{
	const int64_t due = until ? until : l->now + AGAIN_MS;

	mem_grow(l->v, l->n, l->cap);
	l->v[l->n++] = *s;
	l->due = !l->due || due < l->due ? due : l->due;
}

static const char *when(struct stop_list *l, const char *what, int64_t at)
{
	char t[STR_TIME_SIZE];

	return at ? arena_printf(l->a, "; %s %s", what, str_time(t, at)) : "";
}

/* --- circuit breaker -------------------------------------------------------------------------- */

static const char *text_of(struct stop_list *l, const struct breaker_cause *s)
{
	return arena_printf(l->a, "new claims for %s %s are paused after %s on %lld machine%s%s",
			    s->scope, s->name, s->reason, (long long)s->machines,
			    s->machines == 1 ? "" : "s",
			    s->next    ? when(l, "next trial claim at", s->next)
			    : s->waits ? "; a trial claim waits for its approval"
				       : "; a trial claim is in progress");
}

/* Adds stops for an image. An image has no object of its own, so each version of the pool that uses
 * the image is stopped. */
static void add_image(struct stop_list *l, struct world_stop *s, const struct breaker_paused *h)
{
	const struct node_pool *p = CTX_GET(l->from->c, OBJECT_NODE_POOL, node_pool, h->at.pool);

	for (size_t i = 0; p && i < p->spec.template_.spec.images.n; i++) {
		const struct object_image *image = &p->spec.template_.spec.images.v[i];

		if (!str_eq(claim_image_id(image), h->at.image))
			continue;
		s->version = image->kubernetes_version;
		add(l, s, h->why.next);
	}
}

static void add_lines(struct stop_list *l)
{
	struct breaker_paused *v;
	const size_t n = breaker_list(l->breaker, &v);

	for (size_t i = 0; i < n; i++) {
		struct world_stop s = {.why = WORLD_STOP_BREAKER,
				       .tenant = v[i].tenant,
				       .others = v[i].others,
				       .pool = v[i].at.pool,
				       .provider = v[i].at.provider,
				       .domain = v[i].at.rack,
				       .text = text_of(l, &v[i].why)};

		if (v[i].at.image)
			add_image(l, &s, &v[i]);
		else
			add(l, &s, v[i].why.next);
	}
}

/* --- claims that fail in a row --------------------------------------------------------------- */

static void add_failing(const char *tenant, const char *pool, const struct failing_row *row,
			void *arg)
{
	struct stop_list *l = arg;
	struct world_stop s = {.why = WORLD_STOP_BACK_OFF};

	if (!failing_row_holds(row, l->now, breaker_since(l->breaker, pool, NULL)))
		return;
	s.tenant = arena_strdup(l->a, tenant);
	s.pool = arena_strdup(l->a, pool);
	s.text = arena_printf(l->a,
			      "claims of pool %s failed %u times in a row%s, the last with %s%s",
			      pool, row->n, tenant ? "" : " for several tenants", row->why,
			      when(l, "next claim at", row->until));
	add(l, &s, row->until);
}

/* --- Providers ------------------------------------------------------------------------------- */

static void add_type(struct stop_list *l, const char *provider, const char *type)
{
	struct world_stop s = {
		.why = WORLD_STOP_OFFER, .provider = provider, .instance_type = type};
	int64_t until;
	const char *why = fleet_no_offer(l->from->fleet, provider, type, &until);

	if (!why)
		return;
	s.text = arena_printf(l->a, "provider %s has no instance of type %s to offer now: %s%s",
			      provider, type, why, when(l, "next attempt at", until));
	add(l, &s, until);
}

static bool add_provider(const struct kube_entry *en, void *arg)
{
	const struct provider_object *p = en->object;
	struct stop_list *l = arg;
	struct world_stop s = {.why = WORLD_STOP_PROVIDER, .provider = p->meta.name};
	const char *message, *why = usable_not(l->from->c, l->from->drivers, l->from->fleet,
					       p->meta.name, &message);

	if (why && !str_eq(why, USABLE_STARTING)) {
		s.text = arena_printf(l->a, "provider %s: %s%s%s", p->meta.name, why,
				      str_empty(message) ? "" : ": ", str_or(message, ""));
		add(l, &s, 0);
	} else if (provider_is_elastic(p)) {
		for (size_t i = 0; i < p->spec.instance_types.n; i++)
			add_type(l, p->meta.name, p->spec.instance_types.v[i].name);
	}
	return true;
}

int64_t stops_put(const struct stops_from *from, struct breaker *breaker, struct world *w)
{
	OWN(arena) a = arena_new();
	struct stop_list l = {
		.from = from, .a = a, .breaker = breaker, .now = loop_wall(from->c->loop)};

	add_lines(&l);
	failing_each(from->failing, add_failing, &l);
	if (from->drivers)
		kube_cache_each(from->c->cache[OBJECT_PROVIDER], add_provider, &l);
	world_put_stops(w, l.v, l.n);
	free(l.v);
	return l.due;
}
