#include "cli/network_waits.h"

#include "api/machine_states.h"
#include "base/arena.h"
#include "base/data/json.h"
#include "base/str.h"

/* Maximum number of machines that the verdict names */
#define NAMED 5

/* True if the machine is in a state in which drover moves no port. */
static bool is_settled(enum machine_state state)
{
	return state == MACHINE_KNOWN || state == MACHINE_FREE || state == MACHINE_SERVING ||
	       state == MACHINE_RETIRED;
}

static const char *clean(const char *s, struct arena *a)
{
	char *text = arena_strdup(a, str_or(s, ""));

	str_printable(text);
	return text;
}

json_t *network_waits_finding(const json_t *machine)
{
	OWN(arena) a = arena_new();
	const char *name = clean(json_str_at(machine, "metadata", "name"), a),
		   *state = str_or(json_str_at(machine, "status", "state"), "known");
	const bool quarantined = machine_state_find(state) == MACHINE_QUARANTINED;
	const json_t *op = json_at(machine, "status", "operation"),
		     *error = quarantined ? json_at(machine, "status", "quarantine")
					  : json_at(op, "lastError");
	const char *step = str_or(json_str_at(op, "step"), ""),
		   *reason = clean(json_str_at(error, "reason"), a), *at;
	const json_int_t attempt = json_int_at(op, "attempt");
	const bool refused = str_starts(reason, "Network"), moves = str_starts(step, "place ");

	if (is_settled(machine_state_find(state)) ||
	    !(refused || (moves && attempt > 1 && !quarantined)))
		return NULL;
	at = moves && !quarantined
		     ? arena_printf(a, "%s, attempt %lld", clean(step, a), (long long)attempt)
		     : arena_printf(a, "%s, %s", clean(state, a), reason);
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s}", "of", arena_printf(a, "machine %s", name),
		"result", NETWORK_WAITS, "machine", name, "at", at, "says",
		arena_printf(a, "its port does not move (%s)%s%s%s%s", at, *reason ? ": " : "",
			     reason, *reason ? ": " : "",
			     *reason ? clean(json_str_at(error, "message"), a) : ""),
		"mend",
		arena_printf(a, "drover why %s shows more; to try again now: drover retry %s", name,
			     name));
}

static const char *joined(const char *list, const char *more, struct arena *a)
{
	return arena_printf(a, "%s%s%s", list, *list ? ", " : "", more);
}

void network_waits_verdict(const json_t *all, unsigned wrong, FILE *out)
{
	OWN(arena) a = arena_new();
	const char *provider, *skipped = "", *waiting = "";
	json_t *findings, *f;
	size_t i, n = 0;

	json_object_foreach ((json_t *)all, provider, findings)
		json_array_foreach (findings, i, f) {
			const char *result = json_str_at(f, "result");

			if (str_eq(result, "note") && str_eq(json_str_at(f, "of"), "Provider"))
				skipped = joined(skipped, clean(provider, a), a);
			if (str_eq(result, NETWORK_WAITS) && n++ < NAMED)
				waiting =
					joined(waiting,
					       arena_printf(a, "%s (%s)", json_str_at(f, "machine"),
							    json_str_at(f, "at")),
					       a);
		}
	if (n > NAMED)
		waiting = arena_printf(a, "%s and %zu more", waiting, n - NAMED);
	if (wrong)
		fprintf(out, "%u wrong", wrong);
	else
		fputs(*skipped || n ? "nothing wrong in what was checked" : "nothing wrong", out);
	if (*skipped)
		fprintf(out, "; not checked: Provider %s", skipped);
	if (n)
		fprintf(out, "; now waiting: %s", waiting);
	fputc('\n', out);
}
