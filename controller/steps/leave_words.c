/* leave_words: the texts that report in status.leave, events and logs that a machine leaves its
 * tenant. A separate file, because two states use them: serving begins to leave, and draining
 * continues. */
#include "controller/steps/leave_words.h"

#include "api/annotations.h"
#include "api/kinds.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/core/context.h"
#include "controller/drain/leave.h"
#include "controller/life/life.h"

json_t *leave_json(const struct leave *lv)
{
	char when[STR_TIME_SIZE];

	return json_pack("{s:s, s:s?, s:s, s:s?, s:s?, s:s?}", "reason", lv->reason, "drain",
			 lv->drain, "then", drain_then_names[lv->then], "thenBy", lv->then_by,
			 "deadline", lv->deadline ? str_time(when, lv->deadline) : NULL,
			 "deadlineBy", lv->deadline_by);
}

void leave_report(struct life *l, const struct node_claim *n, const char *type, const char *reason,
		  const char *text)
{
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, type, reason, text);
	if (n)
		ctx_event(l->c, OBJECT_NODE_CLAIM, &n->meta, type, reason, text);
	log_info("machine leaves", LOG_S("machine", l->name), LOG_S("event", reason),
		 LOG_S("claim", n ? n->meta.name : ""), LOG_S("text", text));
}

/* Writes the first entry of the audit trail: who wants the machine to leave, why, by when, and what
 * follows. */
const char *leave_why(const struct life *l, const struct leave *lv, char *out, size_t size)
{
	const struct drain *d = lv->drain ? CTX_GET(l->c, OBJECT_DRAIN, drain, lv->drain) : NULL;
	char when[STR_TIME_SIZE];

	str_format(out, size, "%s%s%.60s%s%.120s; deadline %s%s%.60s%s; afterwards: %s%s%.60s",
		   lv->reason, lv->drain ? " " : "", str_or(lv->drain, ""), d ? ": " : "",
		   d ? str_or(d->spec.reason, "") : "",
		   lv->deadline ? str_time(when, lv->deadline) : "none",
		   lv->deadline_by ? " of Drain " : "", str_or(lv->deadline_by, ""),
		   !lv->deadline ? ""
		   : lv->stop	 ? ", then the machine stays in service"
				 : ", then pods are deleted",
		   drain_then_names[lv->then], lv->then_by ? ", for Drain " : "",
		   str_or(lv->then_by, ""));
	return out;
}

const char *leave_left(int64_t pods, const char *blocked, char *out, size_t size)
{
	str_format(out, size, "%lld %s left%s%s", (long long)pods,
		   pods == 1 ? "pod is" : "pods are", blocked ? "; blocked by " : "",
		   str_or(blocked, ""));
	return out;
}

static void drain_withdrew(const struct life *l, const struct machine_leave *was, char *out,
			   size_t size)
{
	const struct drain *d = CTX_GET(l->c, OBJECT_DRAIN, drain, was->drain);
	char left[350];

	if (!d || d->meta.deletion_timestamp)
		str_format(out, size, "Drain %.63s was deleted", was->drain);
	else if (d->spec.cancelled)
		str_format(out, size, "Drain %.63s was cancelled", was->drain);
	else if (d->spec.on_deadline == DRAIN_STOP && d->spec.deadline &&
		 loop_wall(l->c->loop) >= d->spec.deadline)
		str_format(out, size,
			   "the deadline of Drain %.63s has passed, and its onDeadline is Stop; %s",
			   was->drain,
			   leave_left(was->pods_left, was->blocked_by, left, sizeof(left)));
	else
		str_format(out, size, "Drain %.63s no longer selects this machine", was->drain);
}

const char *leave_withdrawn(const struct life *l, char *out, size_t size)
{
	const struct machine_leave *was = l->m->status.leave;
	char left[350];

	if (was && str_eq(was->reason, LEAVE_DRAIN) && was->drain)
		drain_withdrew(l, was, out, size);
	else if (was && str_eq(was->reason, LEAVE_EMPTY))
		str_copy(out, size, "the machine is no longer empty: a pod was placed on it");
	else if (was && str_eq(was->reason, LEAVE_UNDERUSED))
		str_format(
			out, size,
			"not all pods left within terminationGracePeriod, or the tenant needs the "
			"machine; %s",
			leave_left(was->pods_left, was->blocked_by, left, sizeof(left)));
	else if (was && str_eq(was->reason, LEAVE_DRIFTED))
		str_format(out, size,
			   "not all pods left within terminationGracePeriod, a pod must not be "
			   "evicted, or the machine matches the template of its pool again; %s",
			   leave_left(was->pods_left, was->blocked_by, left, sizeof(left)));
	else if (was && str_eq(was->reason, LEAVE_MOVED_HOME))
		str_format(out, size,
			   "not all pods saved their work and left in time, or the owned machine "
			   "is not ready for them any more; %s",
			   leave_left(was->pods_left, was->blocked_by, left, sizeof(left)));
	else if (was && str_eq(was->reason, LEAVE_AT_RISK))
		str_format(out, size, "not all pods saved their work and left in time; %s",
			   leave_left(was->pods_left, was->blocked_by, left, sizeof(left)));
	else if (was && str_eq(was->reason, LEAVE_ASLEEP))
		str_copy(out, size, "its tenant is no longer asleep");
	else
		str_copy(out, size, "the reason to leave no longer exists");
	return out;
}
