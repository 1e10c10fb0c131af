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

static const struct kube_resource who_am_i = {"authentication.k8s.io", "v1", "selfsubjectreviews",
					      "SelfSubjectReview", false};

/* Returns the user name of the caller, as the API server reports it, in the arena; NULL with *e. */
static const char *caller(struct cli_client *c, struct arena *a, struct err *e)
{
	OWN_JSON ask = json_pack("{s:s, s:s}", "apiVersion", "authentication.k8s.io/v1", "kind",
				 "SelfSubjectReview");
	OWN_JSON o = cli_review(c, &who_am_i, ask, e);
	const char *name = json_str_at(o, "status", "userInfo", "username");

	if (o && str_empty(name))
		(void)!err_set(e, ERR_PROTOCOL, 0, "the API server reports no user name");
	return str_empty(name) ? NULL : arena_strdup(a, name);
}

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
	const char *by = o ? caller(c, a, &e) : NULL;

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
