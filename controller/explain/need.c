#include "controller/explain/need.h"

#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/str.h"
#include "controller/explain/answer.h"
#include "controller/explain/explain.h"
#include "controller/explain/pod_remedy.h"
#include "controller/explain/waits.h"

#define DELETION_MS INT64_C(600000) /* time after which an unfinished deletion is listed */
/* time after which a pending claim is listed; usually, before this time, a claim gets a machine or
 * is deleted */
#define CLAIM_MS INT64_C(60000)

static bool is_older(const char *time, int64_t now, int64_t ms)
{
	int64_t t;

	return time && str_to_time(time, &t) && now - t > ms;
}

/* True if an operator caused the state on purpose. */
static bool is_wanted(const char *reason)
{
	return str_eq(reason, "NotApproved") || str_eq(reason, "Observed") ||
	       str_eq(reason, "Paused");
}

/* Returns what a machine needs, according to its explanation a. *why: the member of a that has
 * reason and message; NULL: the machine's state itself is the reason. */
static enum need machine_needs(const json_t *a, int64_t now, const json_t **why)
{
	const struct wait_info *wait = wait_find(json_str_at(a, "waitingFor"));
	const json_t *error = json_object_get(a, "lastError"), *c;

	*why = json_object_get(a, "quarantine");
	if (*why)
		return json_str_at(a, "nextTry") ? NEED_WAITS : NEED_OPERATOR;
	*why = error;
	if (wait && wait->needs_operator)
		return is_wanted(json_str_at(error, "reason")) ? NEED_HELD : NEED_OPERATOR;
	if (is_older(json_str_at(a, "deadline"), now, 0) ||
	    is_older(json_str_at(a, "deletingSince"), now, DELETION_MS))
		return NEED_LATE;
	if ((c = answer_false_condition(a, "Reachable")) ||
	    (c = answer_false_condition(a, "Healthy"))) {
		*why = error ? error : c;
		return NEED_LATE;
	}
	if (error && !is_wanted(json_str_at(error, "reason")))
		return json_true_at(a, "slow") ? NEED_LATE : NEED_WAITS;
	if (error)
		return NEED_HELD;
	*why = answer_false_condition(a, "Managed");
	if (*why || json_object_get(a, "hold"))
		return NEED_HELD;
	return json_true_at(a, "slow") ? NEED_SLOW : NEED_NONE;
}

static enum need claim_needs(const json_t *a, int64_t now, const json_t **why)
{
	*why = json_object_get(a, "approval");
	if (*why)
		return json_object_get(a, "waitingFor") ? NEED_OPERATOR : NEED_NONE;
	*why = json_object_get(a, "lastError");
	if (*why)
		return NEED_WAITS;
	if (is_older(json_str_at(a, "deletingSince"), now, DELETION_MS))
		return NEED_LATE;
	return str_eq(json_str_at(a, "state"), "Pending") &&
			       is_older(json_str_at(a, "since"), now, CLAIM_MS)
		       ? NEED_WAITS
		       : NEED_NONE;
}

static enum need other_needs(const json_t *a, int64_t now, const json_t **why)
{
	const char *state = json_str_at(a, "state");

	*why = json_object_get(a, "lineStopped");
	if (*why)
		return NEED_OPERATOR;
	*why = answer_false_condition(a, "Ready");
	if (str_eq(state, "Paused") || str_eq(state, "Asleep"))
		return NEED_HELD;
	if (str_eq(json_str_at(a, "kind"), "Drain"))
		return json_object_get(a, "waitingFor") && !json_object_get(a, "nextTry")
			       ? NEED_OPERATOR
			       : NEED_NONE;
	if (is_older(json_str_at(a, "deletingSince"), now, DELETION_MS))
		return NEED_LATE;
	return *why ? NEED_OPERATOR : NEED_NONE;
}

static enum need needs_of(const json_t *answer, int64_t now, const json_t **why)
{
	const char *kind = json_str_at(answer, "kind");

	*why = answer_false_condition(answer, "Valid");
	if (*why)
		return NEED_OPERATOR;
	return str_eq(kind, "Machine")	   ? machine_needs(answer, now, why)
	       : str_eq(kind, "NodeClaim") ? claim_needs(answer, now, why)
					   : other_needs(answer, now, why);
}

enum need need_of(const json_t *answer, int64_t now)
{
	const json_t *why;

	return needs_of(answer, now, &why);
}

enum need need_of_pod(const char *reason, const char *claim, int64_t since, int64_t p90,
		      int64_t now)
{
	const enum pod_helper helper = pod_helper(reason);
	const int64_t waited = now - since;

	if (p90 && now > p90)
		return NEED_SLOW;
	if (!str_empty(claim))
		return NEED_NONE;
	if (helper == POD_HELPER_NONE)
		return waited >= NEED_POD_QUEUE_MS ? NEED_WAITS : NEED_NONE;
	if (waited < NEED_POD_CHANGE_MS)
		return NEED_NONE;
	return helper == POD_HELPER_TENANT ? NEED_TENANT : NEED_OPERATOR;
}

static const char *const names[NEEDS] = {
	[NEED_OPERATOR] = "Person", [NEED_LATE] = "Late",   [NEED_SLOW] = "Slow",
	[NEED_TENANT] = "Tenant",   [NEED_WAITS] = "Waits", [NEED_HELD] = "Held"};

const char *need_name(enum need need)
{
	return names[need];
}

enum need need_find(const char *name)
{
	for (int i = 0; i < NEEDS; i++)
		if (str_eq(names[i], name))
			return (enum need)i;
	return NEED_NONE;
}

/* True for a claim that has a machine, or is about to: the machine is explained itself. False for a
 * claim that waits for its approval. */
static bool has_machine(const struct node_claim *n)
{
	const struct condition *c = condition_get(&n->status.conditions, APPROVED_CONDITION);

	if (c && c->status != CONDITION_TRUE && !n->status.machine_ref)
		return false;
	return (n->status.machine_ref || n->spec.machine_ref) && !str_eq(n->status.phase, "Failed");
}

json_t *need_explain(enum object_kind_id kind, const void *object, int64_t now, enum need *need,
		     const json_t **why)
{
	json_t *answer;

	*need = NEED_NONE;
	*why = NULL;
	if (kind == OBJECT_NODE_CLAIM && has_machine(object))
		return NULL;
	answer = explain_object(kind, object, now);
	if (!answer)
		return NULL;
	*need = needs_of(answer, now, why);
	if (*need != NEED_NONE)
		return answer;
	json_decref(answer);
	return NULL;
}

bool need_depends_on_time(enum object_kind_id kind, const void *object)
{
	const struct machine *m = object;
	enum machine_state s;

	if (object_meta_of(object)->deletion_timestamp)
		return true;
	if (kind == OBJECT_NODE_CLAIM)
		return !has_machine(object);
	if (kind != OBJECT_MACHINE)
		return false;
	s = machine_state_find(str_or(m->status.state, "known"));
	/* A machine is late or slow only in states with a time limit. */
	return s == MACHINE_STATE_NONE || machine_state_info[s].limit_s;
}
