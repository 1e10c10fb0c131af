#include "providers/ec2/warned.h"

#include <stdlib.h>
#include "base/map.h"
#include "base/mem.h"

struct instance_warning {
	/* As in struct ec2_event; one of them may be 0. */
	int64_t ends_at, at_risk_since;
};
struct ec2_warned {
	/* Instance id -> struct instance_warning */
	struct map *of;
};

struct ec2_warned *ec2_warned_new(void)
{
	struct ec2_warned *w = mem_new(struct ec2_warned);

	w->of = map_new(free);
	return w;
}

void ec2_warned_free(struct ec2_warned *w)
{
	if (!w)
		return;
	map_free(w->of);
	free(w);
}

static bool is_past(const struct instance_warning *x, int64_t now)
{
	const int64_t last = x->ends_at > x->at_risk_since ? x->ends_at : x->at_risk_since;

	return last < now - EC2_WARNED_MS;
}

static void forget_past(struct ec2_warned *w, int64_t now)
{
	struct map_iter it;

	map_for_each (it, w->of) {
		if (is_past(it.value, now))
			map_del(w->of, it.key);
	}
}

void ec2_warned_put(struct ec2_warned *w, const struct ec2_event *e, int64_t now)
{
	struct instance_warning *x = map_get(w->of, e->id);

	if (!x && map_size(w->of) >= EC2_WARNED_MAX)
		forget_past(w, now);
	if (!x && map_size(w->of) >= EC2_WARNED_MAX)
		return;
	if (!x) {
		x = mem_new(struct instance_warning);
		map_put(w->of, e->id, x);
	}
	if (e->ends_at && (!x->ends_at || e->ends_at < x->ends_at))
		x->ends_at = e->ends_at;
	if (e->at_risk_since > x->at_risk_since)
		x->at_risk_since = e->at_risk_since;
}

void ec2_warned_apply(const struct ec2_warned *w, struct elastic_instance *i, int64_t now)
{
	const struct instance_warning *x = map_get(w->of, i->id);

	if (!x || is_past(x, now) || (i->state != ELASTIC_PENDING && i->state != ELASTIC_RUNNING))
		return;
	if (x->ends_at && (!i->ends_at || x->ends_at < i->ends_at))
		i->ends_at = x->ends_at;
	i->at_risk_since = x->at_risk_since;
}
