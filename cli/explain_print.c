/*
 * explain_print: prints the explanations of explain.h as lines of text for the operator.
 * Tests: tests/unit/cli/test_explain.c
 */
#include "cli/explain_print.h"

#include <stdlib.h>
#include <string.h>

#include "api/machine_states.h"
#include "base/arena.h"
#include "base/data/age.h"
#include "base/mem.h"
#include "base/str.h"

/* Appends s with spaces instead of line ends and '?' instead of other control characters: anyone
 * who may write an object determines its texts, and they must not control the operator's
 * terminal. */
static void print_text(struct buf *out, const char *s)
{
	char *copy = mem_strdup(s);

	for (char *p = copy; (p = strpbrk(p, "\n\r\t")); p++)
		*p = ' ';
	str_printable(copy);
	buf_puts(out, copy);
	free(copy);
}

static void row(struct buf *out, const char *label, const char *text)
{
	if (str_empty(text))
		return;
	buf_printf(out, "  %-13s ", label);
	print_text(out, text);
	buf_puts(out, "\n");
}

/* Returns the age of an RFC 3339 time, such as "2m3s"; "" if time is NULL, invalid or in the
 * future. */
static const char *age(const char *time, int64_t now, struct arena *a)
{
	char d[STR_TIME_SIZE];
	int64_t t;

	if (!time || !str_to_time(time, &t) || t > now)
		return "";
	return arena_printf(a, "%s", str_duration(d, (now - t) / 1000 * 1000));
}

static void print_error(struct buf *out, const char *label, const json_t *error, int64_t now,
			struct arena *a)
{
	const char *when = age_span(json_str_at(error, "time"), now, a);

	if (error)
		row(out, label,
		    arena_printf(a, "%s: %s%s%s", json_str_at(error, "reason"),
				 str_or(json_str_at(error, "message"), "-"), *when ? ", " : "",
				 when));
}

static void print_progress(struct buf *out, const json_t *p, int64_t now, struct arena *a)
{
	int64_t done = json_int_at(p, "doneBytes"), total = json_int_at(p, "totalBytes");
	const char *end = age_span(json_str_at(p, "expectedEnd"), now, a);

	if (p)
		row(out, "progress",
		    arena_printf(a, "%s, %.1f of %.1f GB%s%s", json_str_at(p, "phase"),
				 (double)done / 1e9, (double)total / 1e9, *end ? ", done " : "",
				 str_ends(end, " ago") ? "any moment" : end));
}

/* Returns what follows after the Drain or reason of a leave: what happens to the machine, and
 * until when it waits for its pods. state: of the machine. */
static const char *leave_end(const json_t *lv, enum machine_state state, int64_t now,
			     struct arena *a)
{
	const char *at = json_str_at(lv, "deadline"), *then_by = json_str_at(lv, "thenBy"),
		   *at_by = json_str_at(lv, "deadlineBy"),
		   *then = arena_printf(a, "then %s%s", str_or(json_str_at(lv, "then"), "Release"),
					then_by ? arena_printf(a, " (set by Drain %s)", then_by)
						: "");

	if (json_object_get(lv, "cancelled"))
		return state == MACHINE_DRAINING
			       ? "cancelled: the machine returns to service"
			       : arena_printf(a, "cancelled after the machine had left, %s", then);
	if (!at && state != MACHINE_DRAINING && state != MACHINE_SERVING)
		return then;
	return arena_printf(a, "%s; %s%s%s", then, at ? "deadline " : "no deadline",
			    at ? age_span(at, now, a) : "",
			    at_by ? arena_printf(a, " (set by Drain %s)", at_by) : "");
}

static void print_leave(struct buf *out, const json_t *o, int64_t now, struct arena *a)
{
	const json_t *lv = json_object_get(o, "leave");
	const char *drain = json_str_at(lv, "drain"), *blocked = json_str_at(lv, "blockedBy"),
		   *why = json_str_at(lv, "drainReason");
	int64_t left = json_int_at(lv, "podsLeft");

	if (!lv)
		return;
	row(out, "leaving",
	    arena_printf(a, "%s%s%s%s%s%s, %s", str_or(json_str_at(lv, "reason"), "-"),
			 drain ? " " : "", str_or(drain, ""), why ? " (" : "", str_or(why, ""),
			 why ? ")" : "",
			 leave_end(lv, machine_state_find(json_str_at(o, "state")), now, a)));
	if (left)
		row(out, "pods left",
		    arena_printf(a, "%lld%s%s", (long long)left, blocked ? ", blocked by " : "",
				 str_or(blocked, "")));
}

static void print_hold(struct buf *out, const json_t *h, int64_t now, struct arena *a)
{
	const char *since = age(json_str_at(h, "since"), now, a), *by = json_str_at(h, "drain"),
		   *blocked = json_str_at(h, "blockedBy");
	int64_t left = json_int_at(h, "podsLeft");

	if (h)
		row(out, "held",
		    arena_printf(a, "%s%s%s%s", *since ? "for " : "", since,
				 by ? " by Drain " : ", because an operator cordoned its Node",
				 str_or(by, "")));
	if (left)
		row(out, "pods left",
		    arena_printf(a, "%lld when the hold began%s%s", (long long)left,
				 blocked ? ", blocked by " : "", str_or(blocked, "")));
}

static void print_pod(struct buf *out, const json_t *pod, int64_t now, struct arena *a)
{
	const char *node = json_str_at(pod, "node"), *gone = json_str_at(pod, "deletingSince");

	if (pod)
		row(out, "state",
		    arena_printf(a, "%s%s%s%s%s", str_or(json_str_at(pod, "phase"), "-"),
				 node ? " on " : "", str_or(node, ""),
				 gone ? ", deletion requested " : "",
				 gone ? age_span(gone, now, a) : ""));
	row(out, "unscheduled", json_str_at(pod, "unscheduled"));
}

/* Prints the current reason and queue position of a waiting pod, and the last events on it. */
static void print_waiting(struct buf *out, const json_t *o, int64_t now, struct arena *a)
{
	const json_t *is = json_object_get(o, "now"), *was = json_object_get(o, "history"),
		     *told = json_object_get(o, "told");
	const char *since = age(json_str_at(is, "since"), now, a);
	const int64_t place = json_int_at(is, "place");

	if (is)
		row(out, "reason",
		    arena_printf(a, "%s%s%s: %s", str_or(json_str_at(is, "reason"), "-"),
				 *since ? ", for " : "", since,
				 str_or(json_str_at(is, "message"), "-")));
	if (place)
		row(out, "place",
		    arena_printf(a, "%lld in the queue of all tenants", (long long)place));
	print_error(out, "last event", told, now, a);
	print_error(out, "earlier event", was, now, a);
}

enum { TARGETS_MAX = 12 };

static void print_targets(struct buf *out, const json_t *targets, struct arena *a)
{
	size_t n = json_array_size(targets);
	long long pods;
	const json_t *t;

	for (size_t i = 0; i < n && i < TARGETS_MAX; i++) {
		t = json_array_get(targets, i);
		pods = json_int_at(t, "podsLeft");
		row(out, "not done",
		    arena_printf(a, "%s %s%s%s%s", str_or(json_str_at(t, "machine"), "-"),
				 str_or(json_str_at(t, "phase"), "Pending"),
				 pods ? arena_printf(a, ", pods left: %lld", pods) : "",
				 json_str_at(t, "blockedBy") ? ", blocked by " : "",
				 str_or(json_str_at(t, "blockedBy"), "")));
	}
	if (n > TARGETS_MAX)
		row(out, "not done", arena_printf(a, "and %zu more", n - TARGETS_MAX));
}

/* Prints a claim in one line, such as "h100-x7k2p: booting, for 12s, machine gpu-1, waits for the
 * device". */
static void print_claim(struct buf *out, const json_t *x, int64_t now, struct arena *a)
{
	const char *since = age(json_str_at(x, "since"), now, a), *m = json_str_at(x, "machine"),
		   *waits = json_str_at(x, "waitingFor"), *p50 = json_str_at(x, "p50"),
		   *p90 = json_str_at(x, "p90");

	row(out, "claim",
	    arena_printf(a, "%s: %s%s%s%s%s%s%s%s%s%s%s", json_str_at(x, "name"),
			 str_or(json_str_at(x, "state"), "-"), *since ? ", for " : "", since,
			 m ? ", machine " : "", str_or(m, ""), waits ? ", waits for " : "",
			 str_or(waits, ""), p50 ? ", expected " : "", str_or(p50, ""),
			 p90 ? " to " : "", str_or(p90, "")));
}

/* True if a condition before number n of the list is printed with the same message. */
static bool is_repeated(const json_t *conditions, size_t n)
{
	const char *message = json_str_at(json_array_get(conditions, n), "message");

	for (size_t i = 0; i < n; i++) {
		const json_t *x = json_array_get(conditions, i);

		if (!str_eq(json_str_at(x, "status"), "True") &&
		    str_eq(json_str_at(x, "message"), message))
			return true;
	}
	return false;
}

/* Prints one object of the chain, such as "VirtualCluster team-a: NotReady, for 2m5s: Unreachable:
 * connection refused". */
static void print_link(struct buf *out, const json_t *x, int64_t now, struct arena *a)
{
	const char *since = age(json_str_at(x, "since"), now, a),
		   *seen = age_span(json_str_at(x, "lastContact"), now, a),
		   *reason = json_str_at(x, "reason"), *message = json_str_at(x, "message"),
		   *waits = json_str_at(x, "waitingFor"), *state = json_str_at(x, "state"),
		   *next = age_span(json_str_at(x, "nextTry"), now, a);
	const bool says_next = *next && !str_ends(next, " ago");

	row(out, "chain",
	    arena_printf(a, "%s %s: %s%s%s%s%s%s%s%s%s%s%s%s%s", json_str_at(x, "kind"),
			 str_or(json_str_at(x, "name"), "-"), str_or(state, "-"),
			 *since ? ", for " : "", since, *seen ? ", last answer " : "", seen,
			 waits && !reason ? ", waits for " : "", waits && !reason ? waits : "",
			 reason ? ": " : "", str_or(reason, ""), reason && message ? ": " : "",
			 reason ? str_or(message, "") : "", says_next ? ", next try " : "",
			 says_next ? next : ""));
}

/* Prints one decision of a BurstPolicy, and below it each offer with its cost and reason. */
static void print_decision(struct buf *out, const json_t *x, int64_t now, struct arena *a)
{
	const char *when = age_span(json_str_at(x, "time"), now, a),
		   *currency = str_or(json_str_at(x, "currency"), "");
	const json_t *j;
	size_t i;

	row(out, "burst",
	    arena_printf(a, "%s: %s of %s: %s: %s%s%s", str_or(json_str_at(x, "policy"), "-"),
			 str_or(json_str_at(x, "work"), "-"), str_or(json_str_at(x, "tenant"), "-"),
			 str_or(json_str_at(x, "reason"), "-"),
			 str_or(json_str_at(x, "message"), "-"), *when ? ", " : "", when));
	json_array_foreach (json_object_get(x, "offers"), i, j) {
		const char *cost = json_str_at(j, "cost");

		row(out, "offer",
		    arena_printf(
			    a, "%s %s %s in %s, %s%s%s: %s: %s",
			    str_or(json_str_at(j, "provider"), "-"),
			    str_or(json_str_at(j, "instanceType"), "-"),
			    str_or(json_str_at(j, "market"), "-"),
			    str_or(json_str_at(j, "zone"), str_or(json_str_at(j, "region"), "-")),
			    str_or(cost, "cost not known"), cost ? " " : "", cost ? currency : "",
			    str_or(json_str_at(j, "reason"), "-"),
			    str_or(json_str_at(j, "message"), "-")));
	}
}

static void print_spend(struct buf *out, const json_t *x, struct arena *a)
{
	const char *of = json_str_at(x, "of"), *forecast = json_str_at(x, "forecast"),
		   *alert = json_str_at(x, "alert");

	row(out, "budget",
	    arena_printf(a, "%s of %s %s spent%s%s%s%s, %s per %s%s%s",
			 str_or(json_str_at(x, "spent"), "0"),
			 str_or(json_str_at(x, "amount"), "-"),
			 str_or(json_str_at(x, "currency"), ""), forecast ? ", forecast " : "",
			 str_or(forecast, ""), alert ? ", beyond the alert at " : "",
			 str_or(alert, ""), str_or(json_str_at(x, "scope"), "-"),
			 str_or(json_str_at(x, "per"), "-"), of ? ": " : "", str_or(of, "")));
}

/* Prints whose problem it is, and the command that helps. */
static void print_owner(struct buf *out, const json_t *o, struct arena *a)
{
	static const char *const owners[][2] = {
		{"drover", "drover: it continues by itself"},
		{"device", "the device: the machine, its BMC or its drives"},
		{"network", "the network"},
		{"provider", "the provider: the manager or cloud of the machine"},
		{"tenant", "the tenant: its cluster, pods or users"},
		{"operator", "an operator of drover"},
	};
	const char *owner = json_str_at(o, "owner"), *cause = json_str_at(o, "cause"),
		   *words = NULL;

	for (size_t i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (str_eq(owners[i][0], owner))
			words = owners[i][1];
	if (words)
		row(out, "whose problem",
		    arena_printf(a, "%s%s%s", words, cause ? "; cause: " : "", str_or(cause, "")));
}

static void print_lists(const json_t *o, int64_t now, struct buf *out, struct arena *a)
{
	json_t *x;
	size_t i;

	json_array_foreach (json_object_get(o, "conditions"), i, x)
		if (!str_eq(json_str_at(x, "status"), "True") &&
		    !str_empty(json_str_at(x, "message")) &&
		    !is_repeated(json_object_get(o, "conditions"), i))
			row(out, json_str_at(x, "type"),
			    arena_printf(a, "%s: %s: %s", json_str_at(x, "status"),
					 str_or(json_str_at(x, "reason"), "-"),
					 json_str_at(x, "message")));
	json_array_foreach (json_object_get(o, "claims"), i, x)
		print_claim(out, x, now, a);
	json_array_foreach (json_object_get(o, "decisions"), i, x)
		print_decision(out, x, now, a);
	json_array_foreach (json_object_get(o, "spend"), i, x)
		print_spend(out, x, a);
	json_array_foreach (json_object_get(o, "chain"), i, x)
		print_link(out, x, now, a);
	print_owner(out, o, a);
	json_array_foreach (json_object_get(o, "helps"), i, x)
		row(out, "what helps", json_string_value(x));
	row(out, "then run", json_str_at(o, "command"));
}

void explain_print(const json_t *o, int64_t now, struct buf *out)
{
	OWN(arena) a = arena_new();
	const char *since = age(json_str_at(o, "since"), now, a), *next = json_str_at(o, "nextTry");
	int64_t attempt = json_int_at(o, "attempt");
	const json_t *machine = json_object_get(o, "machine");

	print_text(out, arena_printf(a, "%s %s", str_or(json_str_at(o, "kind"), ""),
				     str_or(json_str_at(o, "name"), "")));
	buf_puts(out, "\n");
	if (json_str_at(o, "state"))
		row(out, "state",
		    arena_printf(a, "%s%s%s", json_str_at(o, "state"), *since ? ", for " : "",
				 since));
	row(out, "meaning", json_str_at(o, "doing"));
	print_pod(out, json_object_get(o, "pod"), now, a);
	if (json_str_at(o, "podUnknown"))
		row(out, "pod", arena_printf(a, "not read: %s", json_str_at(o, "podUnknown")));
	print_waiting(out, o, now, a);
	row(out, "gang", json_str_at(o, "gang"));
	if (json_object_get(o, "members"))
		row(out, "pods",
		    arena_printf(a, "%lld, without a Node: %lld; explained here: %s",
				 (long long)json_int_at(o, "members", "pods"),
				 (long long)json_int_at(o, "members", "waiting"),
				 str_or(json_str_at(o, "members", "explained"), "-")));
	row(out, "claim", json_str_at(o, "claim"));
	row(out, "warm for", json_str_at(o, "warmFor"));
	row(out, "tenant", json_str_at(o, "tenant"));
	if (json_object_get(o, "tenantAsleep"))
		row(out, "tenant sleeps",
		    arena_printf(a, "for %s: %s",
				 age(json_str_at(o, "tenantAsleep", "since"), now, a),
				 str_or(json_str_at(o, "tenantAsleep", "message"), "")));
	row(out, "pool", json_str_at(o, "pool"));
	row(out, "reason", json_str_at(o, "asked"));
	row(out, "cleanup", json_str_at(o, "owed"));
	if (json_str_at(o, "deletingSince"))
		row(out, "deletion",
		    arena_printf(a, "requested %s",
				 age_span(json_str_at(o, "deletingSince"), now, a)));
	print_leave(out, o, now, a);
	print_hold(out, json_object_get(o, "hold"), now, a);
	row(out, "last contact", age_span(json_str_at(o, "lastContact"), now, a));
	row(out, "step",
	    attempt ? arena_printf(a, "%s, attempt %lld", str_or(json_str_at(o, "step"), "-"),
				   (long long)attempt)
		    : json_str_at(o, "step"));
	row(out, "waits for", json_str_at(o, "waitingFor"));
	row(out, "node", json_str_at(o, "node"));
	row(out, "budget", json_str_at(o, "budget"));
	print_progress(out, json_object_get(o, "progress"), now, a);
	row(out, "next try",
	    str_ends(age_span(next, now, a), " ago") ? "now" : age_span(next, now, a));
	if (json_str_at(o, "deadline"))
		row(out, "deadline",
		    arena_printf(a, "%s, then %s", age_span(json_str_at(o, "deadline"), now, a),
				 json_str_at(o, "then")));
	print_error(out, "stopped by", json_object_get(o, "lineStopped"), now, a);
	print_targets(out, json_object_get(o, "targets"), a);
	print_error(out, "approval", json_object_get(o, "approval"), now, a);
	print_error(out, "quarantine", json_object_get(o, "quarantine"), now, a);
	print_error(out, "last error", json_object_get(o, "lastError"), now, a);
	print_error(out, "last failure", json_object_get(o, "lastFailure"), now, a);
	if (json_str_at(o, "power"))
		row(out, "power",
		    arena_printf(a, "%s, read %s", json_str_at(o, "power"),
				 str_or(age_span(json_str_at(o, "powerSeen"), now, a), "never")));
	row(out, "network", json_str_at(o, "network"));
	print_lists(o, now, out, a);
	if (machine)
		explain_print(machine, now, out);
}
