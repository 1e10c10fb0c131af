/* approval: reads the decisions from the objects in the caches. */
#include "controller/core/approval.h"

#include <string.h>

#include "api/machine_states.h"
#include "base/str.h"
#include "controller/core/claim_index.h"
#include "controller/core/lookup.h"

#define SECOND_MS 1000

int64_t approval_denied_until(const struct approval *a)
{
	const int64_t until = a->decision->hold_until;
	const int64_t end = until ? until : a->time + CLAIM_DENIED_MS;

	return end - a->time > CLAIM_DENIED_MAX_MS ? a->time + CLAIM_DENIED_MAX_MS : end;
}

bool approval_same_gang(const struct node_claim *a, const struct node_claim *b)
{
	return a->spec.gang && b->spec.gang && str_eq(a->spec.gang->uid, b->spec.gang->uid) &&
	       str_eq(a->spec.virtual_cluster_ref.name, b->spec.virtual_cluster_ref.name);
}

bool approval_is_adopted(const struct machine *m, const struct node_claim *n)
{
	const struct machine_approval *a = m->spec.approval;

	return a && a->action == APPROVE_ADOPT && str_eq(a->claim, n->meta.name) &&
	       !str_eq(a->id, m->status.approval_id);
}

/* True if the claim has a machine: one has accepted it, its cloud instance has a Machine, or the
 * machine that it names serves the claim of this name. After a restore of the claim that machine
 * still names the UID of the earlier claim (reason ClaimReplaced). */
static bool has_machine(const struct context *c, const struct node_claim *n)
{
	const struct machine *m = CTX_GET(c, OBJECT_MACHINE, machine, n->meta.name),
			     *named = machine_named_by(c, n);

	return n->status.machine_ref ||
	       (named && named->status.claim_ref &&
		str_eq(named->status.claim_ref->name, n->meta.name)) ||
	       (m && m->spec.elastic && str_eq(m->spec.elastic->claim.uid, n->meta.uid));
}

bool approval_can_bind(const struct context *c, const struct node_claim *n)
{
	const struct object_ref *r = n->spec.machine_ref;
	const struct machine *m = machine_named_by(c, n);

	if (!r || !m)
		return !r || n->spec.provider_ref;
	return str_eq(m->status.state, machine_state_info[MACHINE_FREE].name) &&
	       !m->status.claim_ref && !m->meta.deletion_timestamp &&
	       (!r->uid || str_eq(r->uid, m->meta.uid));
}

struct approval_search {
	const struct node_claim *of;
	const struct node_claim_approval *best;
	/* claim that contains `best` */
	const struct node_claim *on;
};

/* True if decision a on claim n counts instead of the best one so far: a recorded decision before
 * one that is not, then the earlier one, then the denial, then the claim's name. */
static bool counts_before(const struct approval_search *s, const struct node_claim *n,
			  const struct node_claim_approval *a)
{
	const bool recorded = a == n->status.approval, was = s->best && s->on->status.approval;

	if (!s->best || recorded != was)
		return !s->best || recorded;
	if (recorded && a->time != s->best->time)
		return a->time < s->best->time;
	if (a->decision != s->best->decision)
		return a->decision == CLAIM_DENIED;
	return strcmp(n->meta.name, s->on->meta.name) < 0;
}

/* Considers the decision on claim n for the claim s->of. A recorded decision covers claims of the
 * gang that existed when drover saw it; creation times have a resolution of one second. One that is
 * not recorded yet covers all present claims. */
static bool consider(const struct node_claim *n, void *arg)
{
	struct approval_search *s = arg;
	const struct node_claim_approval *seen = n->status.approval,
					 *d = seen ? seen : n->spec.approval;

	if (d && (n == s->of || approval_same_gang(n, s->of)) &&
	    /* mutant: approval-of-later-claims */
	    (!seen || seen->time / SECOND_MS >= s->of->meta.creation_timestamp / SECOND_MS) &&
	    counts_before(s, n, d)) {
		s->best = d;
		s->on = n;
	}
	return true;
}

struct approval approval_decision(const struct context *c, const struct node_claim *n)
{
	struct approval_search s = {.of = n, .best = n->status.approval, .on = n};

	if (!s.best) {
		(void)consider(n, &s);
		if (n->spec.gang)
			claim_index_each(c, CLAIM_DECIDED_BY_GANG, n->spec.gang->uid, consider, &s);
	}
	if (!s.best)
		return (struct approval){.state = APPROVAL_WAITING};
	return (struct approval){
		.state = s.best->decision == CLAIM_APPROVED ? APPROVAL_GIVEN : APPROVAL_REFUSED,
		.decision = s.best,
		.on = s.best->claim ? s.best->claim : s.on->meta.name,
		.time = s.on->status.approval ? s.best->time : loop_wall(c->loop),
		.recorded = s.best == n->status.approval,
	};
}

static const struct virtual_cluster *tenant_of(const struct context *c, const struct node_claim *n)
{
	return CTX_GET(c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
		       str_or(n->spec.virtual_cluster_ref.name, ""));
}

bool approval_asked(const struct context *c, const struct node_claim *n)
{
	const struct virtual_cluster *vc = tenant_of(c, n);

	return vc && vc->spec.approval.claims != APPROVAL_NONE;
}

struct approval approval_of(const struct context *c, const struct node_claim *n)
{
	const struct machine *m = machine_named_by(c, n);
	struct approval a;

	if ((tenant_of(c, n) && !approval_asked(c, n)) || has_machine(c, n))
		return (struct approval){.state = APPROVAL_NOT_NEEDED};
	a = approval_decision(c, n);
	/* An operator says that the machine runs for the claim already. Only a denial of the claim
	 * counts then (steps/adopt.c). */
	if (a.state == APPROVAL_WAITING && m && approval_is_adopted(m, n))
		a.state = APPROVAL_NOT_NEEDED;
	return a;
}

bool approval_admits(const struct context *c, const struct node_claim *n)
{
	const enum approval_state s = approval_of(c, n).state;

	return s == APPROVAL_NOT_NEEDED || s == APPROVAL_GIVEN;
}
