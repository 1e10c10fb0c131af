/* paid: compares the age of a claim with its expireAfter, and looks up the BurstPolicy of the
 * claim. */
#include "controller/life/paid.h"

#include "controller/core/clock_jumps.h"
#include "controller/life/due.h"

/* True if the BurstPolicy of the claim has been missing for PAID_GONE_MS, counted from when this
 * process first found it missing. An unsynced cache, or a CustomResourceDefinition that is being
 * deleted, does not prove that the policy is missing. */
static bool is_policy_gone(struct life *l, const struct node_claim *n)
{
	const struct kube_cache *policies = l->c->cache[OBJECT_BURST_POLICY];
	const bool gone =
		policies && kube_cache_synced(policies) && !ctx_crds_terminating(l->c) &&
		!CTX_GET(l->c, OBJECT_BURST_POLICY, burst_policy, n->spec.burst->policy_ref.name);

	if (gone == !l->leave.policy_gone_at)
		l->leave.policy_gone_at = gone ? loop_now(l->c->loop) : 0;
	return gone && life_is_due_seen(l, l->leave.policy_gone_at, PAID_GONE_MS);
}

bool life_paid_over(struct life *l)
{
	const struct node_claim *n = l->m->spec.elastic ? life_claim(l) : NULL;

	if (!n || !n->spec.burst)
		return false;
	return /* mutant: burst-outlives-policy */ is_policy_gone(l, n) ||
	       (n->spec.expire_after > 0 && life_is_due(l, life_began(l, n), n->spec.expire_after));
}
