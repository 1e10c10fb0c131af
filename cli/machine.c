/*
 * machine: commands on one machine. Each command writes an annotation or a spec field, which
 * kubectl can write as well, and prints what it wrote.
 * Tests: tests/unit/cli/test_verbs.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "base/loop/loop.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "cli/waive.h"

static const char *name_of(const json_t *o)
{
	return str_or(json_str_at(o, "metadata", "name"), "");
}

static const char *state_of(const json_t *m)
{
	return str_or(json_str_at(m, "status", "state"), "known");
}

/* m NULL: false */
static bool is_in(const json_t *m, enum machine_state s)
{
	return m && machine_state_find(state_of(m)) == s;
}

/* True if the machine serves a claim or is being provisioned for one. */
static bool occupied(const json_t *m)
{
	return json_at(m, "status", "claimRef", "name") != NULL && !is_in(m, MACHINE_QUARANTINED);
}

/* --- release, retry --------------------------------------------------------------------------- */

int cli_do_release(struct cli_client *c, const char *name)
{
	struct err e;
	OWN(arena) a = arena_new();
	OWN_JSON m = cli_machine(c, name, &e);
	const char *reason = json_str_at(m, "status", "quarantine", "reason"), *drain;
	bool quarantined = is_in(m, MACHINE_QUARANTINED), held, marked;
	const char *said = NULL;
	json_t *patch;

	if (!m)
		return cli_failed_read(c, &e);
	held = json_at(m, "status", "hold") != NULL;
	drain = json_str_at(m, "status", "hold", "drain");
	marked = json_at(m, "metadata", "annotations", REQUEST_QUARANTINE) != NULL;
	if (quarantined && !marked && !str_eq(reason, "QuarantinedByOperator"))
		return cli_failed(
			c,
			"machine %s is in quarantine for %s, which `drover release` cannot end; "
			"`drover why %s` shows what helps",
			name_of(m), str_or(reason, "an unknown reason"), name_of(m));
	if (!held && !marked && !quarantined)
		return cli_failed(c,
				  "machine %s is %s: it is neither held nor quarantined, so "
				  "there is nothing to release",
				  name_of(m), state_of(m));
	patch = cli_annotation(c, REQUEST_RELEASE, NULL);
	if (marked)
		json_object_set_new(json_at(patch, "metadata", "annotations"), REQUEST_QUARANTINE,
				    json_null());
	if (held && !drain &&
	    /* Add that, while the machine drains, uncordoning has no effect before the drain is
	     * cancelled. */
	    is_in(m, MACHINE_DRAINING))
		said = arena_printf(
			a,
			"drover still drains it, and its Node stays cordoned. To put the machine "
			"back into service, cancel the drain, then run `kubectl uncordon %s` in "
			"the tenant's cluster",
			str_or(json_str_at(m, "status", "claimRef", "name"), "NODE"));
	return cli_write(
		c, OBJECT_MACHINE, name_of(m), patch,
		arena_printf(
			a, "machine %s: %s", name_of(m),
			said	      ? said
			: quarantined ? "released; drover wipes it again and then offers it to any "
					"tenant"
			: drain ? arena_printf(a, "released; drain %s no longer holds it", drain)
				: "released"));
}

/* True for a reason that only an operator ends, so that a retry changes nothing. */
static bool is_operators(const char *reason)
{
	static const char *const reasons[] = {"NotApproved",
					      "Observed",
					      "Paused",
					      "BmcNotTrusted",
					      "PowerStateUnexpected",
					      "DuplicateIdentity",
					      "ClaimNotFound",
					      "ClaimReplaced",
					      "InstallHeld",
					      NULL};

	return str_among(reason, reasons);
}

/* Returns what a retry does for machine m, for the user. */
static const char *retry_does(const json_t *m, struct arena *a)
{
	const json_t *op = json_at(m, "status", "operation");
	const char *step = json_str_at(op, "step"), *waits = json_str_at(op, "waitingFor"),
		   *reason = str_or(json_str_at(op, "lastError", "reason"), "");

	if (is_in(m, MACHINE_QUARANTINED))
		return "drover ends the quarantine now: it switches the machine off, isolates it "
		       "and wipes it again";
	if (json_at(m, "status", "bmc", "refusedSecretVersion"))
		return "drover now tries the login that its BMC refused once more";
	if (str_eq(reason, "AgentVersionMismatch"))
		return "drover boots the machine again now, from the current boot image";
	if (str_eq(waits, "Approval") && is_operators(reason))
		return arena_printf(
			a,
			"it waits for an operator because of %s, which a retry does not "
			"change; `drover why %s` shows what helps",
			reason, name_of(m));
	if (str_eq(waits, "Budget") || str_eq(waits, "Rate"))
		return arena_printf(a,
				    "it waits for %s, which a retry does not skip; `drover why %s` "
				    "shows more",
				    *waits == 'B' ? "a disruption budget of its tenant"
						  : "its turn among other machines",
				    name_of(m));
	if (str_empty(step) || str_empty(waits))
		return "nothing waits for a retry; drover only reads its BMC now";
	return arena_printf(a,
			    "drover reads its BMC and tries step %s again now, after attempt %lld",
			    step, (long long)json_int_at(op, "attempt"));
}

int cli_do_retry(struct cli_client *c, const char *name)
{
	struct err e;
	OWN(arena) a = arena_new();
	OWN_JSON m = cli_machine(c, name, &e);
	const char *reason = json_str_at(m, "status", "quarantine", "reason");

	if (!m)
		return cli_failed_read(c, &e);
	if (is_in(m, MACHINE_QUARANTINED) &&
	    str_eq(json_str_at(m, "status", "quarantine", "exit"), "operator"))
		return cli_failed(
			c,
			"machine %s is quarantined because of %s, which a retry does not cure; "
			"`drover why %s` shows what helps",
			name_of(m), str_or(reason, "an unknown reason"), name_of(m));
	return cli_write(
		c, OBJECT_MACHINE, name_of(m), cli_annotation(c, REQUEST_RETRY, NULL),
		arena_printf(a, "machine %s (%s): %s", name_of(m), state_of(m), retry_does(m, a)));
}

/* --- quarantine, retire ----------------------------------------------------------------------- */

/* Creates a Drain for a machine that has a tenant: the machine first leaves its tenant, and then
 * `then` (Quarantine or Retire) applies. Returns the exit status. */
static int drain_first(struct cli_client *c, const json_t *m, const char *reason, const char *then)
{
	const char *names[] = {name_of(m)};
	struct cli_drain d = {
		.names = names, .nnames = 1, .reason = reason, .then = then, .concurrent = 1};

	return cli_do_drain(c, &d);
}

int cli_do_quarantine(struct cli_client *c, const char *name, const char *reason)
{
	struct err e;
	OWN(arena) a = arena_new();
	OWN_JSON m = cli_machine(c, name, &e);

	if (!m)
		return cli_failed_read(c, &e);
	if (occupied(m))
		return drain_first(c, m, reason, "Quarantine");
	return cli_write(c, OBJECT_MACHINE, name_of(m),
			 cli_annotation(c, REQUEST_QUARANTINE, reason),
			 arena_printf(a, "machine %s (%s): out of use until `drover release %s`",
				      name_of(m), state_of(m), name_of(m)));
}

/* True if the machine is out of use, and drover would not let it retire without a waiver. */
static bool is_unwiped(const json_t *m, struct arena *a)
{
	struct err e;
	void *object;

	return (is_in(m, MACHINE_QUARANTINED) || is_in(m, MACHINE_KNOWN)) &&
	       object_decode(&object_kinds[OBJECT_MACHINE], m, a, &object, &e) == 0 &&
	       machine_is_unwiped(object);
}

int cli_do_retire(struct cli_client *c, const char *name, const char *reason)
{
	struct err e;
	OWN(arena) a = arena_new();
	OWN_JSON m = cli_machine(c, name, &e);
	struct waive w = {.c = c,
			  .a = a,
			  .machine = m,
			  .reason = reason,
			  .tenancy = json_int_at(m, "status", "tenancy")};
	json_t *spec;
	bool unwiped;

	if (!m)
		return cli_failed_read(c, &e);
	if (occupied(m))
		return drain_first(c, m, reason, "Retire");
	unwiped = is_unwiped(m, a);
	if (unwiped && waive_all(&w, WAIVED_RETIREMENT)) {
		json_decref(w.list);
		return 1;
	}
	spec = json_pack("{s:s}", "managementPolicy", "Retire");
	waive_put(&w, spec);
	return cli_write(c, OBJECT_MACHINE, name_of(m),
			 json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion",
				   str_or(json_str_at(m, "metadata", "resourceVersion"), ""),
				   "spec", spec),
			 arena_printf(a, "machine %s (%s): drover no longer manages it%s",
				      name_of(m), state_of(m),
				      unwiped ? "; it was not wiped after its last tenant" : ""));
}

/* --- confirm-off ------------------------------------------------------------------------------ */

/* True if the BMC answers drover and reports On. The controller then voids a confirmation that the
 * machine is off (controller/life/power.c). */
static bool answers_on(const json_t *m)
{
	const char *reason =
		str_or(json_str_at(m, "status", "operation", "lastError", "reason"), "");
	json_t *condition;
	size_t i;

	if (!str_eq(json_str_at(m, "status", "power", "state"), "On") ||
	    /* a BMC to which drover does not log in is not read */
	    str_starts(reason, "Bmc") || str_eq(reason, "SecretNotFound"))
		return false;
	json_array_foreach (json_at(m, "status", "conditions"), i, condition)
		if (str_eq(json_str_at(condition, "type"), "Reachable"))
			return str_eq(json_str_at(condition, "status"), "True");
	return false;
}

int cli_do_confirm_off(struct cli_client *c, const char *name, bool yes)
{
	struct err e;
	OWN(arena) a = arena_new();
	OWN_JSON m = cli_machine(c, name, &e);
	const char *id = json_str_at(m, "status", "operation", "id");

	if (!m)
		return cli_failed_read(c, &e);
	if (!id || (!is_in(m, MACHINE_STOPPING) && !is_in(m, MACHINE_ISOLATING) &&
		    !is_in(m, MACHINE_LEAVING) && !is_in(m, MACHINE_QUARANTINED)))
		return cli_failed(
			c,
			"machine %s is %s: no operation waits for proof that it is off; to take "
			"the machine out of use: drover quarantine %s --reason TEXT",
			name_of(m), state_of(m), name_of(m));
	if (answers_on(m))
		return cli_failed(
			c,
			"machine %s is not confirmed off: its BMC answers and reports On; switch "
			"the machine off; drover notices that by itself",
			name_of(m));
	fprintf(stderr,
		"You confirm that you saw machine %s (serial number %s) without power, because "
		"its BMC does\n"
		"not answer. drover then deletes its Node and ends its claim. If the machine "
		"still runs, a job\ncan run twice, and two machines can write to one volume.\n",
		name_of(m), str_or(json_str_at(m, "spec", "identity", "serialNumber"), "unknown"));
	if (!yes && cli_confirm(c))
		return 1;
	return cli_write(c, OBJECT_MACHINE, name_of(m), cli_annotation(c, REQUEST_CONFIRM_OFF, id),
			 arena_printf(a,
				      "machine %s: drover treats it as off in this operation (%s)",
				      name_of(m), id));
}
