/*
 * leave_reason: checks everything that may require a machine to leave its tenant (Drains, the
 * claim, a sleeping tenant, the cloud, drover itself) and returns the reason that takes precedence.
 * In this file, "a leave" is a struct leave: why, by when and how a machine leaves its tenant.
 * draining.c acts on it.
 */
#include "controller/steps/leave_reason.h"
#include "api/annotations.h"
#include "base/str.h"
#include "controller/burst/homeward.h"
#include "controller/claims/budget.h"
#include "controller/claims/drift.h"
#include "controller/claims/free_again.h"
#include "controller/claims/replacements.h"
#include "controller/claims/underused.h"
#include "controller/claims/reclaims.h"
#include "controller/core/claim_index.h"
#include "controller/core/clock_jumps.h"
#include "controller/core/counters.h"
#include "controller/hardware/fleet.h"
#include "controller/life/due.h"
#include "controller/life/paid.h"
#include "controller/drain/checkpoint.h"
#include "controller/drain/drains.h"
#include "controller/drain/targets.h"
#include "controller/rules/disruption_budget.h"
#include "controller/steps/lives.h"
#include "controller/tenant/sleep.h"
#include "controller/tenant/tenant.h"

static int64_t earlier(int64_t a, int64_t b)
{
	return !a ? b : !b ? a : a < b ? a : b;
}

/* True if the status of Drain *d shows this machine as done. If a machine that is done is no longer
 * held, a user ended the hold on purpose, so the Drain no longer applies to the machine. */
static bool done_with(const struct drain *d, const char *machine)
{
	for (size_t i = 0; i < d->status.targets.n; i++)
		if (str_eq(d->status.targets.v[i].machine, machine))
			return str_eq(d->status.targets.v[i].phase, "Done");
	return false;
}

static struct leave for_drain(const struct life *l)
{
	bool escalate = false;
	const struct drain *d = drains_wants(l->c, l->name, &escalate);
	struct drains_together all = drains_together(l->c, l->name);
	struct leave lv = {0};

	if (!d || drain_holds(d, l->m) || (d->spec.then == DRAIN_HOLD && done_with(d, l->name)))
		return lv;
	lv.reason = LEAVE_DRAIN;
	lv.drain = d->meta.name;
	lv.then = (enum drain_then)d->spec.then;
	if (d->spec.deadline)
		lv.deadline =
			d->spec.deadline + clock_jumps_since(l->c, d->meta.creation_timestamp);
	lv.stop = d->spec.on_deadline == DRAIN_STOP;
	lv.now = escalate;
	/* If another Drain of this machine has an earlier deadline, use that deadline. */
	if (all.deadline && (!lv.deadline || all.deadline < lv.deadline)) {
		lv.deadline = all.deadline;
		lv.deadline_by = all.hurried->meta.name;
		lv.stop = false;
	}
	if (lv.then != DRAIN_HOLD && all.after && all.after->spec.then > (int)lv.then) {
		lv.then = (enum drain_then)all.after->spec.then;
		lv.then_by = all.after->meta.name;
	}
	/* A Drain with onDeadline: Stop has no effect after its deadline. So the machine does not
	 * leave. */
	if (lv.stop && l->state == MACHINE_SERVING && lv.deadline &&
	    loop_wall(l->c->loop) >= lv.deadline)
		return (struct leave){0};
	return lv;
}

static bool slept_out(const struct life *l, const struct node_claim *n)
{
	struct tenant *t = tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name);

	return t && tenant_sleep_too_long(t);
}

/* Returns the leave (why, by when and how the machine leaves its tenant) of a machine whose claim
 * is deleted. The deletion cannot be undone, so a concurrent Drain can only make the machine leave
 * sooner. */
static struct leave for_deletion(const struct life *l, const struct node_claim *n,
				 const struct leave *drain)
{
	const struct machine_leave *was = l->state == MACHINE_DRAINING ? l->m->status.leave : NULL;
	int64_t now = loop_wall(l->c->loop), from = n->meta.deletion_timestamp;
	struct leave lv = {.reason = LEAVE_CLAIM_DELETED};

	if (from > now)
		from = now;
	if (from < l->m->status.state_since || l->state != MACHINE_DRAINING)
		from = l->state == MACHINE_DRAINING ? l->m->status.state_since : now;
	lv.deadline = from + n->spec.termination_grace_period + clock_jumps_since(l->c, from);
	/* The API server's clock is ahead of this process's clock. Keep the deadline that was
	 * written first, instead of postponing it in each turn. */
	if (n->meta.deletion_timestamp > now && was && was->deadline &&
	    str_eq(was->reason, LEAVE_CLAIM_DELETED))
		lv.deadline = earlier(was->deadline, now + n->spec.termination_grace_period);
	if (drain->reason) {
		lv.drain = drain->drain;
		lv.then = drain->then;
		lv.then_by = drain->then_by;
		lv.now = drain->now;
		if (!drain->stop && drain->deadline && drain->deadline < lv.deadline) {
			lv.deadline = drain->deadline;
			lv.deadline_by = str_or(drain->deadline_by, drain->drain);
		}
	} else if (was) {
		lv.drain = was->drain;
		lv.then = (enum drain_then)was->then;
		lv.then_by = was->then_by;
	}
	if (lv.then == DRAIN_HOLD) /* do not hold the machine: there is no claim left to serve */
		lv.then = DRAIN_RELEASE;
	/* do not wait for pods: the sleeping tenant has none to evict */
	if (l->state == MACHINE_DRAINING && slept_out(l, n))
		lv.now = true;
	return lv;
}

/* --- drover's own reasons --------------------------------------------------------------------- */

/* Time after a tenant became reachable from which the status of its Nodes counts. Before, the
 * tenant's API server may not have received the status of its Nodes yet. */
#define DEAD_SEEN_MS 60000

#define OUTAGE_NODES 3

/* Time before the end of a capacity reservation at which its machines begin to leave. Used for
 * Providers that cannot set this time themselves (type exec). */
#define RESERVED_LEAD_MS ((int64_t)15 * 60 * 1000)
/* Time from the deletion of an instance's pods to the moment at which the cloud ends the instance.
 * In this time the pods have their grace period. */
#define END_GRACE_MS ((int64_t)30 * 1000)
/* Time before the start of the next billing increment. An idle instance leaves only within this
 * time, which is long enough to terminate it. */
#define BILLING_LEAD_MS ((int64_t)5 * 60 * 1000)

/* Minimum time between two checks of the disruption budgets. Counting the machines of a pool scans
 * all machines. */
#define BUDGET_AGAIN_MS 10000

static bool budget_left(struct life *l, const struct node_claim *n, const char *reason)
{
	int64_t now = loop_now(l->c->loop);

	if (now >= l->leave.budget_after) {
		if (budget_allows(l->c, n, reason))
			return true;
		l->leave.budget_after = now + BUDGET_AGAIN_MS;
	}
	life_due_in(l, l->leave.budget_after - now);
	return false;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool is_expired(struct life *l, const struct node_claim *n)
{
	return n->spec.expire_after > 0 && life_is_due(l, life_began(l, n), n->spec.expire_after);
}

static const struct elastic_instance *instance_of(const struct life *l, const struct node_claim *n)
{
	return l->m->spec.elastic
		       ? fleet_find(l->parts->fleet, str_or(l->m->spec.provider_ref.name, ""),
				    n->meta.uid,
				    l->m->status.instance ? l->m->status.instance->id : NULL)
		       : NULL;
}

/* True if scaleBack of BurstPolicy *p (minimum lifetime, alignment to billing increments) allows
 * the instance to end now. The caller checks the idle time. */
static bool may_scale_back(struct life *l, const struct node_claim *n, const struct burst_policy *p)
{
	const struct burst_policy_scale_back *s = p ? p->spec.scale_back : NULL;
	const struct elastic_instance *x = s ? instance_of(l, n) : NULL;
	const int64_t step = s ? p->spec.cost.minimum_billing.increment : 0,
		      from = x && x->launched_at ? x->launched_at : n->meta.creation_timestamp,
		      at = loop_wall(l->c->loop) - from;

	if (!s)
		return true;
	if (s->min_node_lifetime &&
	    !life_is_due(l, n->meta.creation_timestamp, s->min_node_lifetime))
		return false;
	if (!s->align_to_billing || step <= 2 * BILLING_LEAD_MS || at < 0 ||
	    step - at % step <= BILLING_LEAD_MS)
		return true;
	life_due_in(l, step - at % step - BILLING_LEAD_MS);
	return false;
}

static bool is_empty(struct life *l, const struct tenant *t, const struct node_claim *n,
		     const struct node_pool *p)
{
	const struct burst_policy *b = n->spec.burst
					       ? CTX_GET(l->c, OBJECT_BURST_POLICY, burst_policy,
							 n->spec.burst->policy_ref.name)
					       : NULL;
	const bool own = b && b->spec.scale_back && b->spec.scale_back->idle_timeout;
	int64_t since;

	if (homeward_keeps_idle(b))
		return false;
	if (tenant_pods_on(t, n->meta.name, &since) ||
	    (replacements_is_one(l->c, n) &&
	     !life_is_due(l, l->m->status.state_since, STAND_IN_IDLE_MS)))
		return false;
	since = later(later(since, l->leave.quiet_since), l->m->status.state_since);
	return life_is_due(l, since,
			   own ? b->spec.scale_back->idle_timeout : free_again_quiet_ms(l->c, p)) &&
	       may_scale_back(l, n, b);
}

/* True if all pods of the Node could have been placed elsewhere for long enough. If another tenant
 * waits for a machine, the time needed is the pool's consolidateAfter; otherwise it is at least the
 * time that a wipe and a boot take. */
static bool is_underused(struct life *l, const struct node_claim *n, const struct node_pool *p)
{
	const struct underused *u = l->all->spec.underused;
	const int64_t ms = u ? underused_ms(u, n) : -1, set = p->spec.disruption.consolidate_after;
	int64_t after = set ? set : EMPTY_MIN_MS,
		quiet = later(l->leave.quiet_since, l->m->status.state_since);

	if (ms < 0 || set < 0 ||
	    p->spec.disruption.consolidation_policy != CONSOLIDATION_WHEN_UNDERUSED)
		return false;
	if (!underused_others_wait(u, n->spec.virtual_cluster_ref.name))
		after = later(free_again_quiet_ms(l->c, p), counters_recycle_ms(l->c->counters));
	if (ms < after)
		life_due_in(l, after - ms);
	return ms >= after && life_is_due(l, quiet, after);
}

/* Returns the leave of a machine that differs from its pool's template, if drover may replace the
 * machine now; otherwise .reason is NULL. */
static struct leave for_drift(struct life *l, const struct node_claim *n)
{
	struct drift *d = l->all->spec.drift;
	int64_t again = 0;
	const enum drift_action action =
		d ? drift_begins(d, n, later(l->leave.quiet_since, l->m->status.state_since),
				 &again)
		  : DRIFT_STAYS;

	if (again)
		life_due_in(l, again);
	if (action == DRIFT_STAYS)
		return (struct leave){0};
	if (!budget_left(l, n, LEAVE_DRIFTED)) {
		drift_waits(d, n, "the disruption budgets of its pool allow no more machines now");
		return (struct leave){0};
	}
	if (action == DRIFT_EVICTS && drift_awaits(d, n)) {
		life_due_in(l, DRIFT_AGAIN_MS);
		return (struct leave){0};
	}
	return action == DRIFT_QUIETLY
		       ? (struct leave){.reason = LEAVE_DRIFTED, .quietly = true}
		       : (struct leave){.reason = LEAVE_DRIFTED,
					.deadline = loop_wall(l->c->loop) +
						    n->spec.termination_grace_period,
					.stop = true};
}

/* Returns the leave of an instance whose pods move to an owned machine. since: wall ms of its
 * start. */
static struct leave home_leave(const struct homeward_drain *d, int64_t since)
{
	return (struct leave){.reason = LEAVE_MOVED_HOME,
			      .deadline = since + d->max_wait,
			      .stop = true,
			      .saves = d->saved ? LEAVE_SAVED : LEAVE_UNSAVED};
}

/* Returns the leave of an instance whose pods may move to an owned machine now; otherwise .reason
 * is NULL. */
static struct leave for_home(struct life *l, const struct node_claim *n)
{
	const struct homeward *h = l->all->spec.homeward;
	struct homeward_drain d;

	if (!h || !n->spec.burst || !homeward_begins(h, n, &d) ||
	    !budget_left(l, n, LEAVE_MOVED_HOME))
		return (struct leave){0};
	return home_leave(&d, loop_wall(l->c->loop));
}

static struct leave risk_leave(int64_t deadline)
{
	return (struct leave){
		.reason = LEAVE_AT_RISK, .deadline = deadline, .stop = true, .saves = LEAVE_SAVED};
}

/* Returns the leave of an instance that the cloud expects to interrupt, if its pods would save
 * their work; otherwise .reason is NULL. A recommendation that came before the machine began to
 * serve, or before a drain of it was withdrawn, has no effect. */
static struct leave for_risk(struct life *l, struct tenant *t, const struct node_claim *n)
{
	const struct elastic_instance *x = instance_of(l, n);
	const int64_t now = loop_wall(l->c->loop);

	if (!x || !x->at_risk_since || /* mutant: risk-of-the-future */ x->at_risk_since > now ||
	    /* mutant: ec2-risk-again */ x->at_risk_since < l->m->status.state_since ||
	    /* mutant: risk-without-checkpoint */ !checkpoint_needed(t, n) ||
	    !budget_left(l, n, LEAVE_AT_RISK))
		return (struct leave){0};
	return risk_leave(now + n->spec.termination_grace_period);
}

struct health {
	size_t nodes, ready;
};

static bool count_node(const struct kube_entry *en, void *arg)
{
	const struct tenant_node *node = en->object;
	struct health *h = arg;

	h->nodes++;
	h->ready += node->world.ready;
	return true;
}

/* True if the Node has not been Ready for deadlines.notReady. The time must have passed both by the
 * times in the tenant's cluster and since this process first saw the Node not Ready. With a wrong
 * clock, the times of the cluster alone would make the Node count as dead at once, or never. If
 * none of OUTAGE_NODES or more Nodes is Ready, returns false: then the tenant's control plane or
 * network is broken, and the workloads may run well. */
static bool is_dead(struct life *l, struct tenant *t, const struct node_claim *n,
		    const struct tenant_node *node)
{
	struct health h = {0};

	if (node->world.ready || !node->ready_since || n->spec.deadlines.not_ready < 0 ||
	    !life_is_due_seen(l, node->unready_seen, n->spec.deadlines.not_ready) ||
	    (node->ready_since < loop_wall(l->c->loop) &&
	     !life_is_due(l, node->ready_since, n->spec.deadlines.not_ready)) ||
	    !life_is_due(l, t->usable_since, DEAD_SEEN_MS))
		return false;
	kube_cache_each(t->nodes, count_node, &h);
	return h.ready || h.nodes < OUTAGE_NODES;
}

struct left_alone {
	const struct life *l;
	size_t without_node;
};

static bool count_alone(const struct node_claim *n, void *arg)
{
	struct left_alone *k = arg;

	k->without_node += n->status.node_uid && !tenant_node_now(k->l->parts->tenants, n);
	return true;
}

/* True if the Node has been missing for deadlines.notReady. Then a user deleted it in the tenant's
 * cluster, and nothing runs on it any more as far as that cluster can see. If OUTAGE_NODES or more
 * Nodes are missing and none is Ready, returns false: the tenant's control plane has lost them. */
static bool is_gone(struct life *l, struct tenant *t, const struct node_claim *n)
{
	struct left_alone k = {.l = l};
	bool gone = t && tenant_usable(t) && t->nodes && kube_cache_synced(t->nodes) &&
		    n->status.node_uid && !tenant_node_now(l->parts->tenants, n);
	struct health h = {0};

	if (gone == !l->leave.node_gone_at) {
		l->leave.node_gone_at = gone ? loop_now(l->c->loop) : 0;
		notify(l->c, NOTICE_CLAIM, n->meta.name);
	}
	if (!gone || n->spec.deadlines.not_ready < 0 ||
	    !life_is_due_seen(l, l->leave.node_gone_at, n->spec.deadlines.not_ready))
		return false;
	kube_cache_each(t->nodes, count_node, &h);
	claim_index_each(l->c, CLAIM_BY_TENANT, n->spec.virtual_cluster_ref.name, count_alone, &k);
	return h.ready || k.without_node < OUTAGE_NODES;
}

/* True if the machine is held: status.hold is set, or the Node has a cordon that drover did not
 * set. */
static bool is_held(const struct life *l, const struct node_claim *n)
{
	const struct tenant_node *node = tenant_node_of(l->parts->tenants, n);

	return l->m->status.hold || (node && node->world.unschedulable && !node->draining);
}

/* Returns the leave of a machine whose tenant has slept longer than sleepGrace; otherwise .reason
 * is NULL. With this leave, a machine that is already being drained no longer waits for an answer
 * of the tenant. A hold, a paused pool and a Drain with then: Hold prevent this leave; the
 * disruption budgets can postpone its start. */
static struct leave for_sleep(struct life *l, const struct node_claim *n, const struct leave *drain)
{
	const struct virtual_cluster *vc = CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
						   n->spec.virtual_cluster_ref.name);
	const struct node_pool *p =
		CTX_GET(l->c, OBJECT_NODE_POOL, node_pool, n->spec.node_pool_ref.name);
	struct leave lv = {.reason = LEAVE_ASLEEP, .now = true};

	if (!vc || !vc->status.asleep_since || !p || p->spec.paused || is_held(l, n) ||
	    (drain->reason && drain->then == DRAIN_HOLD) ||
	    !life_is_due(l, vc->status.asleep_since, vc->spec.sleep_grace))
		return (struct leave){0};
	if (l->state == MACHINE_SERVING && !budget_left(l, n, LEAVE_ASLEEP))
		return (struct leave){0};
	if (!slept_out(l, n))
		return (struct leave){0};
	lv.drain = drain->drain;
	lv.then = drain->then;
	lv.then_by = drain->then_by;
	return lv;
}

/* --- the cloud's reasons ---------------------------------------------------------------------- */

/* Returns how long before the end of a reservation its machines must begin to leave, in ms. */
static int64_t lead_of(const struct life *l)
{
	const struct provider_object *p = CTX_GET(l->c, OBJECT_PROVIDER, provider_object,
						  str_or(l->m->spec.provider_ref.name, ""));

	return p && p->spec.ec2 ? p->spec.ec2->drain_before_end : RESERVED_LEAD_MS;
}

/* Returns the leave of an instance that the cloud will end soon; otherwise .reason is NULL. No
 * disruption budget, pause of a pool or cordon postpones this leave. */
static struct leave for_interruption(struct life *l, const struct node_claim *n)
{
	const struct elastic_instance *x = instance_of(l, n);
	int64_t left;

	if (!x || !x->ends_at)
		return (struct leave){0};
	left = x->ends_at - loop_wall(l->c->loop);
	if (x->market == MARKET_RESERVED && left > lead_of(l)) {
		life_due_in(l, left - lead_of(l));
		return (struct leave){0};
	}
	return (struct leave){.reason = LEAVE_INTERRUPTED, .deadline = x->ends_at - END_GRACE_MS};
}

/* Returns the leave that drover begins for a reason of its own; .reason NULL: none. There is none
 * while the VirtualCluster is paused or the Node is held. While the pool is paused, there is one
 * only for a missing or dead Node. */
static struct leave for_ourselves(struct life *l, const struct node_claim *n)
{
	const struct node_pool *p =
		CTX_GET(l->c, OBJECT_NODE_POOL, node_pool, n->spec.node_pool_ref.name);
	const struct virtual_cluster *vc = CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
						   n->spec.virtual_cluster_ref.name);
	struct tenant *t = tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name);
	const struct tenant_node *node = tenant_node_now(l->parts->tenants, n);
	int64_t now = loop_wall(l->c->loop);
	struct leave lv;

	if (is_gone(l, t, n) && vc && !vc->spec.paused && !is_held(l, n))
		return (struct leave){.reason = LEAVE_NODE_GONE, .now = true};
	/* From here on the Node must be in the cache: a Node that is missing is handled above, and
	 * does not count as not Ready. */
	if (!node || node->world.unschedulable || !vc || vc->spec.paused)
		return (struct leave){0};
	if (is_dead(l, t, n, node))
		return (struct leave){.reason = LEAVE_NODE_DEAD, .now = true};
	if (!p || p->spec.paused || p->meta.deletion_timestamp)
		return (struct leave){0};
	if (is_expired(l, n) && budget_left(l, n, LEAVE_EXPIRED))
		return (struct leave){.reason = LEAVE_EXPIRED,
				      .deadline = now + n->spec.termination_grace_period};
	/* Do not check the disruption budget here: reclaims.c checked it when it chose the machines
	 * to reclaim. */
	if (reclaims_wants(l->all->spec.reclaims, n))
		return (struct leave){.reason = LEAVE_RECLAIMED,
				      .deadline = now + n->spec.termination_grace_period};
	if (is_empty(l, t, n, p) && budget_left(l, n, LEAVE_EMPTY))
		return (struct leave){.reason = LEAVE_EMPTY, .quietly = true};
	lv = for_home(l, n);
	if (!lv.reason)
		lv = for_risk(l, t, n);
	if (!lv.reason)
		lv = for_drift(l, n);
	if (lv.reason)
		return lv;
	if (is_underused(l, n, p) && budget_left(l, n, LEAVE_UNDERUSED))
		return (struct leave){.reason = LEAVE_UNDERUSED,
				      .deadline = now + n->spec.termination_grace_period,
				      .stop = true};
	return (struct leave){0};
}

/* Returns the leave that drover began for a reason of its own, if that leave continues; otherwise
 * .reason is NULL. A leave with reason Empty continues only while no pod is on the machine. */
static struct leave still_ourselves(const struct life *l, const struct node_claim *n)
{
	const struct machine_leave *was = l->m->status.leave;
	struct tenant *t = tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name);
	int64_t since, ends;

	if (was && str_eq(was->reason, LEAVE_INTERRUPTED))
		return (struct leave){.reason = LEAVE_INTERRUPTED, .deadline = was->deadline};
	if (!was || !disruption_is_ours(was->reason) || str_eq(was->reason, LEAVE_ASLEEP))
		return (struct leave){0};
	ends = l->m->status.state_since + n->spec.termination_grace_period +
	       clock_jumps_since(l->c, l->m->status.state_since);
	if (str_eq(was->reason, LEAVE_EXPIRED))
		return (struct leave){.reason = LEAVE_EXPIRED, .deadline = ends};
	if (str_eq(was->reason, LEAVE_RECLAIMED))
		return (struct leave){.reason = LEAVE_RECLAIMED, .deadline = ends};
	if (str_eq(was->reason, LEAVE_DRIFTED)) {
		switch (l->all->spec.drift ? drift_goes_on(l->all->spec.drift, n) : DRIFT_STAYS) {
		case DRIFT_STAYS:
			return (struct leave){0};
		case DRIFT_QUIETLY:
			return (struct leave){.reason = LEAVE_DRIFTED, .quietly = true};
		case DRIFT_EVICTS:
			return (struct leave){
				.reason = LEAVE_DRIFTED, .deadline = ends, .stop = true};
		}
	}
	if (str_eq(was->reason, LEAVE_AT_RISK))
		return risk_leave(ends);
	if (str_eq(was->reason, LEAVE_MOVED_HOME)) {
		struct homeward_drain d;

		if (!l->all->spec.homeward || !homeward_goes_on(l->all->spec.homeward, n, &d))
			return (struct leave){0};
		return home_leave(&d, l->m->status.state_since +
					      clock_jumps_since(l->c, l->m->status.state_since));
	}
	/* The leave ends if the tenant needs machines now: one of its pods waits for a machine, or
	 * a machine for it is in progress. */
	if (str_eq(was->reason, LEAVE_UNDERUSED)) {
		if (l->all->spec.underused &&
		    underused_needs(l->all->spec.underused, n->spec.virtual_cluster_ref.name))
			return (struct leave){0};
		return (struct leave){.reason = LEAVE_UNDERUSED, .deadline = ends, .stop = true};
	}
	if (t && tenant_usable(t) && tenant_pods_on(t, n->meta.name, &since))
		return (struct leave){0};
	return (struct leave){.reason = LEAVE_EMPTY, .quietly = true};
}

/* Returns *other while the BurstPolicy pays for the machine. Afterwards the machine must leave:
 * returns *other if that makes the machine leave at least as early, else a leave with reason
 * LEAVE_EXPIRED. */
static struct leave within_pay(struct life *l, const struct node_claim *n,
			       const struct leave *other)
{
	const struct machine_leave *was = l->state == MACHINE_DRAINING ? l->m->status.leave : NULL;
	const bool goes =
		other->reason && !other->stop && !other->quietly && other->then != DRAIN_HOLD;
	const int64_t set = n->spec.termination_grace_period;
	struct leave lv = {.reason = LEAVE_EXPIRED};

	/* mutant: burst-outlives */
	if (!life_paid_over(l))
		return *other;
	lv.deadline = was && was->deadline && str_eq(was->reason, LEAVE_EXPIRED)
			      ? was->deadline
			      : loop_wall(l->c->loop) + (set > PAID_GRACE_MS ? PAID_GRACE_MS : set);
	if (goes && (other->now || (other->deadline && other->deadline <= lv.deadline)))
		return *other;
	if (goes) {
		lv.drain = other->drain;
		lv.then = other->then;
		lv.then_by = other->then_by;
	}
	return lv;
}

static struct leave without_pay(struct life *l, const struct node_claim *n)
{
	struct leave lv = for_drain(l), asleep;

	if (n->meta.deletion_timestamp)
		return for_deletion(l, n, &lv);
	asleep = for_sleep(l, n, &lv);
	if (asleep.reason)
		return asleep;
	if (lv.reason)
		return lv;
	lv = for_interruption(l, n);
	if (lv.reason)
		return lv;
	return l->state == MACHINE_DRAINING ? still_ourselves(l, n) : for_ourselves(l, n);
}

struct leave leave_reason(struct life *l)
{
	const struct node_claim *n = life_claim(l);
	struct leave lv;

	if (!n)
		return for_drain(l);
	lv = without_pay(l, n);
	return within_pay(l, n, &lv);
}
