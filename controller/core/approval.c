/* approval: reads the decisions from the objects in the caches. */
#include "controller/core/approval.h"

#include "base/str.h"
#include "controller/core/claim_index.h"
#include "controller/core/lookup.h"

#define SECOND_MS 1000

int64_t approval_denied_until(const struct node_claim_approval *a)
{
	const int64_t end = a->hold_until ? a->hold_until : a->time + CLAIM_DENIED_MS;

	return end - a->time > CLAIM_DENIED_MAX_MS ? a->time + CLAIM_DENIED_MAX_MS : end;
}

const struct node_claim_approval *approval_own(const struct virtual_cluster *vc,
					       const struct node_claim *n)
{
	if (n->spec.approval)
		return n->spec.approval;
	return vc && vc->spec.approval.claims == APPROVAL_WEBHOOK ? n->status.approval : NULL;
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

struct search {
	const struct virtual_cluster *vc;
	const struct node_claim *of;
	struct approval best;
};

/* True if decision a counts instead of b: the earlier one; at the same time, the denial. */
static bool counts_before(const struct node_claim_approval *a, const struct node_claim_approval *b)
{
	return !b || a->time < b->time || (a->time == b->time && a->decision == CLAIM_DENIED);
}

/* Considers the decision on claim n for the claim s->of. A decision covers claims of the gang that
 * were created before; creation times have a resolution of one second. */
static bool consider(const struct node_claim *n, void *arg)
{
	struct search *s = arg;
	const struct node_claim_approval *d = approval_own(s->vc, n);
	const bool self = str_eq(n->meta.uid, s->of->meta.uid);

	if (d &&
	    (self || (approval_same_gang(n, s->of) &&
		      /* mutant: approval-of-later-claims */
		      d->time / SECOND_MS >= s->of->meta.creation_timestamp / SECOND_MS)) &&
	    counts_before(d, s->best.decision)) {
		s->best.decision = d;
		s->best.on = n;
	}
	return true;
}

struct approval approval_of(const struct context *c, const struct node_claim *n)
{
	struct search s = {.vc = CTX_GET(c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
					 str_or(n->spec.virtual_cluster_ref.name, "")),
			   .of = n};
	const struct machine *named;

	if ((s.vc && s.vc->spec.approval.claims == APPROVAL_NONE) || has_machine(c, n))
		return (struct approval){.state = APPROVAL_NOT_NEEDED};
	(void)consider(n, &s);
	if (n->spec.gang)
		claim_index_each(c, CLAIM_BY_GANG, n->spec.gang->uid, consider, &s);
	named = machine_named_by(c, n);
	/* An operator says that the machine runs for the claim already. Only a denial of the claim
	 * counts then (steps/adopt.c). */
	if (!s.best.decision && named && approval_is_adopted(named, n))
		return (struct approval){.state = APPROVAL_NOT_NEEDED};
	s.best.state = !s.best.decision				     ? APPROVAL_WAITING
		       : s.best.decision->decision == CLAIM_APPROVED ? APPROVAL_GIVEN
								     : APPROVAL_REFUSED;
	return s.best;
}

bool approval_admits(const struct context *c, const struct node_claim *n)
{
	const enum approval_state s = approval_of(c, n).state;

	return s == APPROVAL_NOT_NEEDED || s == APPROVAL_GIVEN;
}
