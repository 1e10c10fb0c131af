/*
 * burst_reset: `drover burst reset`: requests that the cost of ended launches of a policy no longer
 * counts against the policy's budgets.
 * Tests: tests/unit/cli/test_verbs.c
 */
#include "cli/verbs.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/loop/loop.h"
#include "base/str.h"
#include "cli/caller.h"

/* Returns the amounts of all rows of the ledger as one text, such as "12.50 USD, 3.00 EUR", in the
 * arena. */
static const char *rows_of(const json_t *ledger, struct arena *a)
{
	const char *text = "";
	json_t *r;
	size_t i;

	json_array_foreach (json_at(ledger, "status", "rows"), i, r)
		text = arena_printf(a, "%s%s%s %s", text, *text ? ", " : "",
				    str_or(json_str_at(r, "amount"), "?"),
				    str_or(json_str_at(r, "currency"), "?"));
	return *text ? text : "nothing";
}

int cli_do_burst_reset(struct cli_client *c, const char *policy, const char *reason)
{
	OWN(arena) a = arena_new();
	struct err e;
	OWN_JSON o = cli_get(c, OBJECT_BURST_LEDGER, policy, &e);
	const char *by = o ? cli_caller(c, a, &e) : NULL;

	if (!o && e.kind == ERR_NOT_FOUND)
		return cli_failed(
			c,
			"there is no BurstLedger %s: no launch of this policy has ended yet, so "
			"there is no cost to clear. If the name is wrong: `drover get "
			"burstpolicies` lists the policies",
			policy);
	if (!o)
		return cli_report_unreadable(c, OBJECT_BURST_LEDGER, policy, &e);
	if (!by)
		return cli_failed(
			c, "cannot read your user name, which the BurstLedger records: %s", e.text);
	return cli_write(
		c, OBJECT_BURST_LEDGER, policy,
		json_pack("{s:{s:s}, s:{s:{s:s, s:s, s:s}}}", "metadata", "resourceVersion",
			  str_or(json_str_at(o, "metadata", "resourceVersion"), ""), "spec",
			  "reset", "id", arena_printf(a, "%lld", (long long)loop_wall(c->loop)),
			  "by", by, "reason", reason),
		arena_printf(
			a,
			"policy %s: the cost of ended launches (%s) no longer counts against its "
			"budgets; running launches still count. status.resets of the "
			"BurstLedger records this reset",
			policy, rows_of(o, a)));
}
