/*
 * burst_approve: `drover approve burst/POLICY/WORK`: approves waiting work for a BurstPolicy of
 * mode Recommend, or whose trigger.guards.approval is Manual. The approval is stored in the
 * policy's BurstLedger, which only administrators may write.
 * Tests: tests/unit/cli/test_verbs.c
 */
#include <string.h>

#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/str.h"
#include "cli/caller.h"
#include "cli/verbs.h"

/* Finds the decision of the policy about `work`: WORK or TENANT/WORK of a row of status.decisions.
 * *n: number of rows found. Returns the first one; NULL: none. */
static const json_t *decision_about(const json_t *policy, const char *work, size_t *n)
{
	const json_t *found = NULL;
	OWN(arena) a = arena_new();
	json_t *r;
	size_t i;

	*n = 0;
	json_array_foreach (json_at(policy, "status", "decisions"), i, r) {
		const char *name = str_or(json_str_at(r, "work"), "");

		if (!str_eq(work, name) &&
		    !str_eq(work,
			    arena_printf(a, "%s/%s", str_or(json_str_at(r, "tenant"), ""), name)))
			continue;
		if (!(*n)++)
			found = r;
	}
	return found;
}

/* Returns the approvals of the ledger that still count, without those of this work, and `new`.
 * Takes ownership of new. */
static json_t *approvals_with(const json_t *ledger, json_t *new, int64_t now)
{
	json_t *list = json_array(), *x;
	int64_t at;
	size_t i;

	json_array_foreach (json_at(ledger, "spec", "approvals"), i, x) {
		const bool same = str_eq(json_str_at(x, "tenant"), json_str_at(new, "tenant")) &&
				  str_eq(json_str_at(x, "work"), json_str_at(new, "work"));

		if (!same && str_to_time(str_or(json_str_at(x, "at"), ""), &at) &&
		    now - at < BURST_APPROVAL_MS)
			json_array_append(list, x);
	}
	while (json_array_size(list) >= BURST_LEDGER_APPROVALS)
		json_array_remove(list, 0);
	json_array_append_new(list, new);
	return list;
}

/* Checks that the policy waits for an approval of the work. Returns the decision about the work;
 * NULL after printing why not. */
static const json_t *approvable(struct cli_client *c, const char *name, const json_t *policy,
				const char *work)
{
	size_t n;
	const json_t *d = decision_about(policy, work, &n);

	if (n == 1 && str_eq(json_str_at(d, "reason"), "ApprovalNeeded"))
		return d;
	if (!str_eq(json_str_at(policy, "spec", "trigger", "guards", "approval"), "Manual") &&
	    !str_eq(json_str_at(policy, "spec", "mode"), "Recommend") && n <= 1)
		(void)cli_failed(c,
				 "BurstPolicy %s asks for no approval: its spec.mode is not "
				 "Recommend, its spec.trigger.guards.approval is not Manual, and "
				 "no budget requires an approval of the work",
				 name);
	else if (!d)
		(void)cli_failed(c,
				 "BurstPolicy %s has decided on no work %s; the work on which it "
				 "decided: drover why burstpolicy/%s",
				 name, work, name);
	else if (n > 1)
		(void)cli_failed(
			c,
			"BurstPolicy %s decided on work %s of several tenants: name one of "
			"them, as burst/%s/TENANT/%s",
			name, work, name, work);
	else
		(void)cli_failed(c, "work %s does not wait for an approval: %s: %s", work,
				 str_or(json_str_at(d, "reason"), "?"),
				 str_or(json_str_at(d, "message"), ""));
	return NULL;
}

int cli_do_approve_burst(struct cli_client *c, const char *what, const char *reason)
{
	OWN(arena) a = arena_new();
	const char *slash = strchr(what, '/');
	const char *name = slash ? arena_strndup(a, what, (size_t)(slash - what)) : what;
	const int64_t now = loop_wall(c->loop);
	char at[STR_TIME_SIZE];
	struct err e, none;
	OWN_JSON p = NULL;
	OWN_JSON ledger = NULL;
	const json_t *d;
	const char *by, *text;
	json_t *list;

	if (!slash || !slash[1] || slash == what)
		return cli_failed(c, "want burst/POLICY/WORK, got burst/%s", what);
	p = cli_get(c, OBJECT_BURST_POLICY, name, &e);
	if (!p)
		return cli_report_unreadable(c, OBJECT_BURST_POLICY, name, &e);
	d = approvable(c, name, p, slash + 1);
	if (!d)
		return 1;
	ledger = cli_get(c, OBJECT_BURST_LEDGER, name, &none);
	if (!ledger && none.kind != ERR_NOT_FOUND)
		return cli_report_unreadable(c, OBJECT_BURST_LEDGER, name, &none);
	by = cli_caller(c, a, &e);
	if (!by)
		return cli_failed(
			c, "cannot read your user name, which the BurstLedger records: %s", e.text);
	list = approvals_with(ledger,
			      json_pack("{s:s, s:s, s:s, s:s, s:s*}", "tenant",
					str_or(json_str_at(d, "tenant"), ""), "work",
					str_or(json_str_at(d, "work"), ""), "by", by, "at",
					str_time(at, now), "reason", reason),
			      now);
	text = arena_printf(a,
			    "policy %s: work %s of tenant %s approved by %s for 24 hours, within "
			    "the limits of the policy",
			    name, str_or(json_str_at(d, "work"), ""),
			    str_or(json_str_at(d, "tenant"), ""), by);
	if (!ledger)
		return cli_make(c, OBJECT_BURST_LEDGER,
				json_pack("{s:s, s:s, s:{s:s}, s:{s:o}}", "apiVersion",
					  OBJECT_API_VERSION, "kind", "BurstLedger", "metadata",
					  "name", name, "spec", "approvals", list),
				text);
	return cli_write(c, OBJECT_BURST_LEDGER, name,
			 json_pack("{s:{s:s}, s:{s:o}}", "metadata", "resourceVersion",
				   str_or(json_str_at(ledger, "metadata", "resourceVersion"), ""),
				   "spec", "approvals", list),
			 text);
}
