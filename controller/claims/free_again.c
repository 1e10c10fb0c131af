/*
 * free_again: estimates when a machine that is leaving, or that will leave later, becomes free.
 */
#include "controller/claims/free_again.h"

#include "base/str.h"
#include "controller/core/counters.h"
#include "controller/drain/drains.h"
#include "controller/rules/claim.h"
#include "controller/rules/machine.h"
#include "controller/tenant/tenant.h"

static bool from(const struct eta *e, const struct machine *m, enum machine_state s, int64_t at,
		 int64_t been_ms, struct eta_span *out)
{
	struct eta_span span;

	if (!eta_from(e, m->spec.provider_ref.name, m->spec.instance_type, s, been_ms, &span))
		return false;
	*out = (struct eta_span){at + span.p50, at + span.p90};
	return true;
}

/* Estimates when a draining machine will be free. The drain ends at its deadline at the latest,
 * because drover does not wait for pods beyond the deadline. */
static bool of_draining(const struct eta *e, const struct machine *m, int64_t now,
			struct eta_span *out)
{
	const int64_t since = m->status.state_since,
		      deadline = m->status.leave ? m->status.leave->deadline : 0;
	const bool measured = from(e, m, MACHINE_DRAINING, since, now - since, out);
	struct eta_span latest;

	if (deadline <= now || !from(e, m, MACHINE_STOPPING, deadline, 0, &latest))
		return measured;
	if (!measured || latest.p50 < out->p50)
		out->p50 = latest.p50;
	if (!measured || latest.p90 < out->p90)
		out->p90 = latest.p90;
	return true;
}

int64_t free_again_quiet_ms(const struct context *c, const struct node_pool *p)
{
	const int64_t set = p->spec.disruption.consolidate_after,
		      twice = 2 * counters_recycle_ms(c->counters);

	return set ? set : twice > EMPTY_MIN_MS ? twice : EMPTY_MIN_MS;
}

/* Returns the wall ms at which the machine is released because its Node was empty for long enough;
 * 0: not known, or never. */
static int64_t empty_at(const struct context *c, const struct tenants *ts, const struct machine *m,
			const struct node_claim *n, int64_t now)
{
	const struct node_pool *p =
		CTX_GET(c, OBJECT_NODE_POOL, node_pool, n->spec.node_pool_ref.name);
	const struct tenant *t = tenant_get(ts, n->spec.virtual_cluster_ref.name);
	const int64_t quiet = p && !n->spec.burst ? free_again_quiet_ms(c, p) : -1;
	int64_t at;

	if (quiet < 0 || !t || !tenant_usable(t) || !tenant_pods_end(t, n->meta.name, &at))
		return 0;
	if (at < m->status.state_since)
		at = m->status.state_since;
	return at + quiet > now ? at + quiet : 0;
}

static bool of_serving(const struct context *c, const struct tenants *ts, const struct eta *e,
		       const struct machine *m, int64_t now, struct eta_span *out)
{
	const struct node_claim *n = m->status.claim_ref ? CTX_GET(c, OBJECT_NODE_CLAIM, node_claim,
								   m->status.claim_ref->name)
							 : NULL;
	const int64_t empty = n ? empty_at(c, ts, m, n, now) : 0;
	int64_t at = n && n->spec.expire_after > 0
			     ? n->meta.creation_timestamp + claim_waited_ms(n, now) +
				       n->spec.expire_after
			     : 0;

	/* An expiry that is overdue waits for a budget, so its time is not known: use the time at
	 * which the Node was empty for long enough, if that is known. */
	if (empty && (at <= now || empty < at))
		at = empty;
	return at > now && !m->status.hold && from(e, m, MACHINE_DRAINING, at, 0, out);
}

static bool has_time(const struct context *c, const struct tenants *ts, const struct eta *e,
		     const struct machine *m, struct eta_span *out)
{
	const enum machine_state s = machine_state_find(str_or(m->status.state, ""));
	const int64_t now = loop_wall(c->loop), since = m->status.state_since;

	if (s == MACHINE_SERVING)
		return of_serving(c, ts, e, m, now, out);
	if (s == MACHINE_DRAINING)
		return of_draining(e, m, now, out);
	return s > MACHINE_DRAINING && s <= MACHINE_QUARANTINED &&
	       (s != MACHINE_QUARANTINED || quarantine_due(m)) &&
	       from(e, m, s, since, now - since, out);
}

static bool goes_by_itself(const struct machine *m)
{
	const enum machine_state s = machine_state_find(str_or(m->status.state, ""));

	if (s == MACHINE_FREE)
		return m->status.claim_ref || warm_is_ending(m);
	if (s == MACHINE_SERVING)
		return !m->status.hold;
	return s == MACHINE_QUARANTINED ? quarantine_due(m)
					: s >= MACHINE_CLAIMED && s <= MACHINE_VERIFYING;
}

bool free_again_ever(const struct context *c, const struct machine *m)
{
	return !m->meta.deletion_timestamp && m->spec.management_policy == MACHINE_MANAGE &&
	       leave_then(m) == DRAIN_RELEASE && goes_by_itself(m) && !drains_take_out(c, m);
}

/* Calls drains_take_out() last, because it scans all Drains. */
bool free_again(const struct context *c, const struct tenants *ts, const struct eta *e,
		const struct machine *m, struct eta_span *out)
{
	return !m->meta.deletion_timestamp && m->spec.management_policy == MACHINE_MANAGE &&
	       leave_then(m) == DRAIN_RELEASE && has_time(c, ts, e, m, out) &&
	       !drains_take_out(c, m);
}
