/* approval_status: puts the decision on a claim into words. */
#include "controller/claims/approval_status.h"

#include "api/annotations.h"
#include "api/reasons.h"
#include "base/str.h"

/* Returns "by alice at 2026-12-01T10:00:00Z (on claim b of the same gang): too expensive". */
static const char *words_of(const struct node_claim *n, const struct approval *is, struct arena *a)
{
	const struct node_claim_approval *d = is->decision;
	const bool self = str_eq(is->on, n->meta.name);
	char at[STR_TIME_SIZE];

	return arena_printf(a, "by %.200s at %s%s%s%s%s%.600s", str_or(d->by, "unknown"),
			    str_time(at, is->time), self ? "" : " (on claim ", self ? "" : is->on,
			    self ? "" : " of the same gang)", str_empty(d->reason) ? "" : ": ",
			    str_or(d->reason, ""));
}

static const char *waiting_words(const struct context *c, const struct node_claim *n,
				 const char *trouble, struct arena *a)
{
	const struct virtual_cluster *vc = CTX_GET(c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
						   str_or(n->spec.virtual_cluster_ref.name, ""));

	if (!vc)
		return "its VirtualCluster does not exist";
	if (trouble)
		return arena_printf(a,
				    "%.500s; drover asks again; an administrator can decide: "
				    "drover approve claim/%s",
				    trouble, n->meta.name);
	if (vc->spec.approval.claims == APPROVAL_WEBHOOK)
		return "waits for the answer of the tenant's webhook";
	return arena_printf(a,
			    "waits for an administrator: drover approve claim/%s, or drover deny "
			    "claim/%s",
			    n->meta.name, n->meta.name);
}

bool approval_condition(const struct context *c, const struct node_claim *n,
			const struct approval *is, const char *trouble, struct arena *a,
			struct condition *out)
{
	const struct condition *was = condition_get(&n->status.conditions, APPROVED_CONDITION);
	char until[STR_TIME_SIZE];

	*out = (struct condition){.type = APPROVED_CONDITION,
				  .status = CONDITION_TRUE,
				  .message = "",
				  .observed_generation = n->meta.generation};
	switch (is->state) {
	case APPROVAL_NOT_NEEDED:
		out->reason = "ApprovalNotNeeded";
		return was && was->status != CONDITION_TRUE;
	case APPROVAL_GIVEN:
		out->reason = "Approved";
		out->message = words_of(n, is, a);
		return true;
	case APPROVAL_WAITING:
		out->status = CONDITION_UNKNOWN;
		out->reason = reason_name(trouble ? REASON_WebhookFailed : REASON_ApprovalPending);
		out->message = waiting_words(c, n, trouble, a);
		return true;
	case APPROVAL_REFUSED:
		out->status = CONDITION_FALSE;
		out->reason = reason_name(REASON_ClaimDenied);
		out->message = arena_printf(
			a, "denied %s; drover makes no new claim for its pods before %s",
			words_of(n, is, a), str_time(until, approval_denied_until(is)));
		return true;
	}
	return false;
}

void approval_tell(const struct context *c, const struct node_claim *n, const struct condition *now)
{
	const struct condition *was = condition_get(&n->status.conditions, APPROVED_CONDITION);

	if (!was || !str_eq(was->reason, now->reason))
		ctx_event(c, OBJECT_NODE_CLAIM, &n->meta,
			  now->status == CONDITION_TRUE ? "Normal" : "Warning", now->reason,
			  str_empty(now->message) ? "no approval is needed" : now->message);
}
