/*
 * decide: `drover approve claim/NAME` and `drover deny claim/NAME`: writes the decision of an
 * administrator on a NodeClaim that waits for its approval (docs/approval.md), with the name of the
 * user as the API server knows it.
 * Tests: tests/unit/cli/test_verbs.c
 */
#include <string.h>

#include "api/annotations.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/str.h"
#include "cli/caller.h"
#include "cli/verbs.h"

static const json_t *condition_of(const json_t *claim)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_at(claim, "status", "conditions"), i, v)
		if (str_eq(json_str_at(v, "type"), APPROVED_CONDITION))
			return v;
	return NULL;
}

/* Checks that the claim can still be decided. Returns 0, or 1 after printing why not. */
static int check(struct cli_client *c, const char *claim, const json_t *n)
{
	const json_t *own = json_at(n, "spec", "approval"),
		     *was = own ? own : json_at(n, "status", "approval"), *now = condition_of(n);
	const char *on = str_or(json_str_at(was, "claim"), claim);
	const bool sibling = !str_eq(on, claim);

	if (was)
		return cli_failed(
			c,
			"NodeClaim %s: %s decided already at %s%s%s%s: %s. A decision "
			"cannot be changed; to have its pods planned anew: kubectl delete "
			"nodeclaim %s",
			claim, str_or(json_str_at(was, "by"), "somebody"),
			str_or(json_str_at(was, "at"), "?"), sibling ? " on claim " : "",
			sibling ? on : "", sibling ? " of the same gang" : "",
			str_or(json_str_at(was, "decision"), "?"), claim);
	if (json_at(n, "metadata", "deletionTimestamp"))
		return cli_failed(c, "NodeClaim %s is being deleted; nothing was changed", claim);
	if (json_at(n, "status", "machineRef"))
		return cli_failed(
			c,
			"NodeClaim %s has machine %s already, so there is nothing to "
			"decide; to take the machine back: drover drain %s",
			claim, str_or(json_str_at(n, "status", "machineRef", "name"), "?"), claim);
	if (!now || str_eq(json_str_at(now, "status"), "True"))
		return cli_failed(
			c,
			"NodeClaim %s does not wait for an approval. If its tenant's claims need "
			"one: spec.approval.claims of VirtualCluster %s",
			claim, str_or(json_str_at(n, "spec", "virtualClusterRef", "name"), "?"));
	return 0;
}

int cli_do_decide(struct cli_client *c, const struct cli_decision *d)
{
	OWN(arena) a = arena_new();
	char at[STR_TIME_SIZE], until[STR_TIME_SIZE];
	const int64_t now = loop_wall(c->loop);
	struct err e;
	OWN_JSON n = cli_get(c, OBJECT_NODE_CLAIM, d->claim, &e);
	const char *by;
	json_t *o;

	if (!n)
		return cli_report_unreadable(c, OBJECT_NODE_CLAIM, d->claim, &e);
	if (check(c, d->claim, n))
		return 1;
	by = cli_caller(c, a, &e);
	if (!by)
		return cli_failed(c, "cannot read your user name, which the NodeClaim records: %s",
				  e.text);
	o = json_pack("{s:s, s:s, s:s, s:s*, s:s*}", "decision",
		      node_claim_decision_names[d->deny ? CLAIM_DENIED : CLAIM_APPROVED], "by", by,
		      "at", str_time(at, now), "reason", d->reason, "holdUntil",
		      d->hold_ms ? str_time(until, now + d->hold_ms) : NULL);
	return cli_write(
		c, OBJECT_NODE_CLAIM, d->claim,
		json_pack("{s:{s:s}, s:{s:o}}", "metadata", "resourceVersion",
			  str_or(json_str_at(n, "metadata", "resourceVersion"), ""), "spec",
			  "approval", o),
		arena_printf(
			a, "claim %s: %s by %s%s%s", d->claim, d->deny ? "denied" : "approved", by,
			json_at(n, "spec", "gang") ? ", with all claims of its gang that exist now"
						   : "",
			d->deny ? arena_printf(
					  a, "; its pods get no new claim before %s",
					  str_time(until, now + (d->hold_ms ? d->hold_ms
									    : CLAIM_DENIED_MS)))
				: ""));
}
