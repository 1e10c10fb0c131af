/* gangs: looks for the other claims of a claim's gang by a scan of all claims. */
#include "controller/burst/gangs.h"

#include "api/kinds.h"
#include "base/str.h"
#include "controller/core/lookup.h"
#include "controller/rules/claim.h"
#include "controller/tenant/tenant.h"

#define LOOK_MS 5000
/* Time after its creation for which a claim waits for the other claims of its gang: they are sent
 * together, but each reaches the cache when it may. */
#define GATHER_MS 15000

struct others {
	const struct context *c;
	const char *gang, *self;
	int64_t there, ready;
	/* True: another claim failed, was refused or is being deleted */
	bool broken;
	/* Buffer of 160 bytes for the result text */
	char *why;
};

static bool look_at(const struct kube_entry *en, void *arg)
{
	const struct node_claim *n = en->object;
	struct others *o = arg;
	const struct machine *m;

	if (!n->spec.gang || !str_eq(n->spec.gang->uid, o->gang))
		return true;
	m = machine_of_claim(o->c, n);
	if (str_eq(en->name, o->self)) {
		o->there++;
		o->ready += claim_is_ready(n);
	} else if (n->meta.deletion_timestamp || str_eq(n->status.phase, "Failed")) {
		o->broken = true;
		str_format(o->why, 160, "claim %s of the same gang failed or is being deleted",
			   n->meta.name);
	} else if (m && m->status.instance && m->status.instance->refused_time) {
		o->broken = true;
		str_format(o->why, 160, "launch for claim %s of the same gang was refused: %.60s",
			   n->meta.name, str_or(m->status.instance->refusal, ""));
	} else {
		o->there++;
		o->ready += claim_is_ready(n);
	}
	return true;
}

bool burst_gang_broken(const struct context *c, const struct tenants *ts,
		       const struct node_claim *n, int64_t *next_ms, char why[static 160])
{
	const int64_t now = loop_wall(c->loop),
		      left = n->spec.gang ? n->spec.gang->hold_until + claim_waited_ms(n, now) - now
					  : 0;
	struct tenant *t = tenant_get(ts, str_or(n->spec.virtual_cluster_ref.name, ""));
	struct others o = {.c = c, .self = n->meta.name, .why = why};
	int64_t since;

	*next_ms = 0;
	if (!n->spec.burst || !n->spec.gang || !n->spec.gang->hold_until)
		return false;
	o.gang = n->spec.gang->uid;
	str_copy(why, 160, "another claim of the same gang was deleted");
	kube_cache_each(c->cache[OBJECT_NODE_CLAIM], look_at, &o);
	if (left > 0) {
		*next_ms = left < LOOK_MS ? left : LOOK_MS;
		/* mutant: gang-bought-in-part */
		return o.broken || (o.there < n->spec.gang->size &&
				    now - n->meta.creation_timestamp >= GATHER_MS);
	}
	if (o.there == n->spec.gang->size)
		str_copy(why, 160, "not all claims of the same gang became Ready in time");
	return o.ready < n->spec.gang->size && t && tenant_usable(t) &&
	       !tenant_pods_on(t, n->meta.name, &since);
}
