#include "planner/supply/stops.h"

#include "base/str.h"

static bool covers(const char *stopped, const char *is)
{
	return !stopped || str_eq(stopped, is);
}

const struct world_stop *stops_of(const struct planning *p, const struct world_tenant *t,
				  const struct fit_pool *fp, const struct supply_type_offer *l,
				  const struct supply_option *o)
{
	for (size_t i = 0; i < p->w->nstops; i++) {
		const struct world_stop *s = &p->w->stops[i];

		if (covers(s->tenant, t->name) != s->others &&
		    covers(s->pool, fp->pool->it->name) && covers(s->version, fp->version) &&
		    covers(s->provider, l->provider->name) &&
		    covers(s->instance_type, l->type->name) && covers(s->domain, o->domain) &&
		    !(s->why == WORLD_STOP_OFFER && o->permit))
			return s;
	}
	return NULL;
}

enum plan_reason_code stops_code(const struct world_stop *s)
{
	static const enum plan_reason_code codes[] = {[WORLD_STOP_BREAKER] = PLAN_STOPPED,
						      [WORLD_STOP_BACK_OFF] = PLAN_BACK_OFF,
						      [WORLD_STOP_PROVIDER] = PLAN_PROVIDER,
						      [WORLD_STOP_OFFER] = PLAN_NO_OFFER};

	return codes[s->why];
}
