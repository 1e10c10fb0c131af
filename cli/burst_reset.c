/*
 * burst_reset: `drover burst reset`: what was spent under a policy's name does not count against
 * its budgets any more.
 * Tests: tests/unit/cli/test_verbs.c
 */
#include "cli/verbs.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/loop/loop.h"
#include "base/str.h"

static const struct kube_resource who_am_i = {"authentication.k8s.io", "v1", "selfsubjectreviews",
					      "SelfSubjectReview", false};

/* Returns the caller's user name as the API server reports it, in the arena; NULL with e. */
static const char *caller(struct cli_client *c, struct arena *a, struct err *e)
{
	OWN_JSON ask = json_pack("{s:s, s:s}", "apiVersion", "authentication.k8s.io/v1", "kind",
				 "SelfSubjectReview");
	OWN_JSON o = cli_review(c, &who_am_i, ask, e);
	const char *name = json_str_at(o, "status", "userInfo", "username");

	if (o && str_empty(name))
		(void)!err_set(e, ERR_PROTOCOL, 0, "the server names nobody");
	return str_empty(name) ? NULL : arena_strdup(a, name);
}

/* Returns the amounts of all rows as one text, in the arena. */
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
		return cli_failed(c, "no BurstLedger %s: nothing that ended was ever charged to it",
				  policy);
	if (!o)
		return cli_unread(c, OBJECT_BURST_LEDGER, policy, &e);
	if (!by)
		return cli_failed(c, "who asks is not known, and it is to be written down: %s",
				  e.text);
	return cli_write(
		c, OBJECT_BURST_LEDGER, policy,
		json_pack("{s:{s:s}, s:{s:{s:s, s:s, s:s}}}", "metadata", "resourceVersion",
			  str_or(json_str_at(o, "metadata", "resourceVersion"), ""), "spec",
			  "reset", "id", arena_printf(a, "%lld", (long long)loop_wall(c->loop)),
			  "by", by, "reason", reason),
		arena_printf(
			a,
			"what launches by %s have cost that ended by now (%s) counts against no budget any more; what still runs does. status.resets keeps it",
			policy, rows_of(o, a)));
}
