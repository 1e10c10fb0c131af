/* offer_refusals: offers that clouds refused, in memory and in Provider.status. */
#include "controller/hardware/offer_refusals.h"

#include <stdlib.h>
#include <string.h>

#include "api/resources.h"
#include "base/log.h"
#include "base/map.h"
#include "base/market.h"
#include "base/mem.h"
#include "base/str.h"

#define KEPT 64
#define COOL_MS (3 * 60 * 1000)
#define TEXT_BYTES 160

struct refusals {
	/* Strings are owned. */
	struct provider_object_refusal v[KEPT];
	size_t n;
	/* True: Provider.status.refusals has been read. */
	bool read;
};
struct offer_refusals {
	struct context *c;
	/* Provider -> struct refusals */
	struct map *by_provider;
};

static void clear(struct provider_object_refusal *x)
{
	free((char *)x->region);
	free((char *)x->zone);
	free((char *)x->instance_type);
	free((char *)x->message);
	*x = (struct provider_object_refusal){0};
}

static void refusals_free(void *v)
{
	struct refusals *l = v;

	for (size_t i = 0; i < l->n; i++)
		clear(&l->v[i]);
	free(l);
}

static bool same_scope(const struct provider_object_refusal *a,
		       const struct provider_object_refusal *b)
{
	return str_eq(a->region, b->region) && str_eq(a->zone, b->zone) &&
	       str_eq(a->instance_type, b->instance_type);
}

static char *copy_of(const char *s)
{
	return s ? mem_strdup(s) : NULL;
}

/* Returns the place for a refusal of the scope of x: that of the last one of this scope, else a
 * free one, else that of the oldest. */
static struct provider_object_refusal *place_for(struct refusals *l,
						 const struct provider_object_refusal *x)
{
	struct provider_object_refusal *oldest = &l->v[0];

	for (size_t i = 0; i < l->n; i++)
		if (same_scope(&l->v[i], x))
			return &l->v[i];
	if (l->n < KEPT)
		return &l->v[l->n++];
	for (size_t i = 1; i < l->n; i++)
		if (l->v[i].at < oldest->at)
			oldest = &l->v[i];
	return oldest;
}

static void put(struct refusals *l, const struct provider_object_refusal *x)
{
	struct provider_object_refusal *to = place_for(l, x);

	clear(to);
	*to = *x;
	to->region = copy_of(x->region);
	to->zone = copy_of(x->zone);
	to->instance_type = copy_of(x->instance_type);
	to->message = copy_of(x->message);
}

/* Stores a refusal that another replica wrote. If that replica's clock was ahead, it counts as
 * refused now. */
static void put_back(struct refusals *l, const struct provider_object_refusal *x, int64_t now)
{
	struct provider_object_refusal y = *x;
	const int64_t ahead = x->at > now ? x->at - now : 0;

	y.at -= ahead;
	y.until -= ahead;
	put(l, &y);
}

static struct refusals *refusals_of(struct offer_refusals *r, const char *provider)
{
	struct refusals *l = map_get(r->by_provider, provider);
	const struct provider_object *p;

	if (!l) {
		l = mem_new(struct refusals);
		map_put(r->by_provider, provider, l);
	}
	/* Until it leads, another replica may still add to the status. */
	p = l->read || !r->c->leading ? NULL
				      : CTX_GET(r->c, OBJECT_PROVIDER, provider_object, provider);
	if (p) {
		l->read = true;
		for (size_t i = 0; i < p->status.refusals.n; i++)
			put_back(l, &p->status.refusals.v[i], loop_wall(r->c->loop));
	}
	return l;
}

void offer_refusals_add(struct offer_refusals *r, const char *provider, const struct offer *o,
			const struct err *e)
{
	int64_t now = loop_wall(r->c->loop), ms = COOL_MS;
	char text[TEXT_BYTES];
	/* A refusal for the whole account, such as a quota, covers all regions and zones.
	 * ERR_DENIED covers all types. Any other refusal, such as lack of capacity in one zone,
	 * covers this region, zone and type only. */
	struct provider_object_refusal x = {.region = e->scope == ERR_ACCOUNT ? NULL : o->region,
					    .zone = e->scope == ERR_ACCOUNT ? NULL : o->zone,
					    .instance_type = e->kind == ERR_DENIED ? NULL : o->type,
					    .quota = e->kind == ERR_QUOTA,
					    .message = text,
					    .at = now};

	if (ms < (int64_t)e->retry_after_ms)
		ms = e->retry_after_ms;
	x.until = now + ms;
	str_copy(text, sizeof(text), e->text);
	put(refusals_of(r, provider), &x);
	log_warn("offer refused: not tried again for a while", LOG_S("provider", provider),
		 LOG_S("region", o->region), LOG_S("zone", str_or(o->zone, "")),
		 LOG_S("type", o->type), LOG_I("ms", ms), LOG_E(e));
}

static bool may_be(const char *want, const char *is)
{
	return !want || str_eq(want, is);
}

const struct provider_object_refusal *offer_refusals_find(struct offer_refusals *r,
							  const char *provider,
							  const struct offer *o)
{
	const struct refusals *l = refusals_of(r, provider);
	int64_t now = loop_wall(r->c->loop);

	for (size_t i = 0; i < l->n; i++) {
		const struct provider_object_refusal *x = &l->v[i];

		if (x->until > now && may_be(x->region, o->region) && may_be(x->zone, o->zone) &&
		    may_be(x->instance_type, o->type))
			return x;
	}
	return NULL;
}

void offer_refusals_each(struct offer_refusals *r, const char *provider,
			 void (*fn)(const char *provider, const struct provider_object_refusal *x,
				    void *arg),
			 void *arg)
{
	const struct refusals *l = refusals_of(r, provider);

	for (size_t i = 0; i < l->n; i++)
		fn(provider, &l->v[i], arg);
}

void offer_refusals_new_login(struct offer_refusals *r, const char *provider)
{
	struct refusals *l = refusals_of(r, provider);
	int64_t now = loop_wall(r->c->loop);

	for (size_t i = 0; i < l->n; i++)
		if (!l->v[i].instance_type && l->v[i].until > now)
			l->v[i].until = now;
}

void offer_refusals_status(struct offer_refusals *r, const struct provider_object *p,
			   struct arena *a, struct provider_object_status *out)
{
	const struct refusals *l = refusals_of(r, p->meta.name);

	out->refusals.n = l->n;
	out->refusals.v = arena_calloc(a, l->n + 1, sizeof(*out->refusals.v));
	for (size_t i = 0; i < l->n; i++) {
		struct provider_object_refusal *x = &out->refusals.v[i];

		*x = l->v[i];
		x->region = arena_strdup(a, x->region);
		x->zone = arena_strdup(a, x->zone);
		x->instance_type = arena_strdup(a, x->instance_type);
		x->message = arena_strdup(a, x->message);
	}
}

struct offer_refusals *offer_refusals_new(struct context *c)
{
	struct offer_refusals *r = mem_new(struct offer_refusals);

	r->c = c;
	r->by_provider = map_new(refusals_free);
	return r;
}

void offer_refusals_free(struct offer_refusals *r)
{
	if (!r)
		return;
	map_free(r->by_provider);
	free(r);
}
