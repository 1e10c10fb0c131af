/*
 * explain: `drover why` as a function of objects: first the answer as JSON; explain_print.c makes its text.  It asks
 * nobody: cli/why.c does.
 */
#include <stdio.h>
#include <string.h>

#include "cli/explain.h"
#include "api/annotations.h"
#include "api/machine_states.h"
#include "base/arena.h"
#include "api/reasons.h"
#include "base/str.h"
#include "controller/rules/machine.h"

#define WAKE_HELPS                                                                                 \
	"wake it: vcluster resume, or scale up what spec.controlPlane of the VirtualCluster names"
static const char *const tenant_remedies[][2] = {
	{"KubeconfigRefused", "correct the Secret that spec.kubeconfigSecretRef names"},
	{"KubeconfigAbsent",
	 "create the Secret that spec.kubeconfigSecretRef names, and let drover read it"},
	{"NotPermitted",
	 "apply the tenant's Role and binding, deploy/tenant-rbac.yaml, in its cluster"},
	{"Unreachable", "see that drover reaches spec.server of the tenant"},
	{"Asleep", WAKE_HELPS},
	{"NodesLost", "see where they went; if they are gone: drover resume virtualcluster/NAME"},
	{"ClusterChanged",
	 "delete the VirtualCluster and make a new one, if another cluster is meant"},
	{"NoPrivateNodes",
	 "switch private nodes on in it, or make the VirtualCluster with spec.nodes: Host"},
	{"NoJoinEndpoint", "write spec.joinEndpoint of the VirtualCluster"},
};

/* --- members ------------------------------------------------------------------------------------ */

static void put(json_t *o, const char *key, const char *text)
{
	if (!str_empty(text))
		json_object_set_new(o, key, json_string(text));
}

static void put_time(json_t *o, const char *key, int64_t ms)
{
	char t[STR_TIME_SIZE];

	if (ms)
		put(o, key, str_time(t, ms));
}

static json_t *error_of(const char *reason, const char *message, int64_t time)
{
	json_t *o;

	if (str_empty(reason))
		return NULL;
	o = json_object();
	put(o, "reason", reason);
	put(o, "message", message);
	put_time(o, "time", time);
	return o;
}

static void put_error(json_t *o, const char *key, json_t *error)
{
	if (error)
		json_object_set_new(o, key, error);
}

static void put_conditions(json_t *o, const struct conditions *cs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < cs->n; i++)
		json_array_append_new(list, fields_encode(condition_fields, &cs->v[i]));
	json_object_set_new(o, "conditions", list);
}

/* Each remedy once; format: from the tables above, with at most two %s. */
static void help(json_t *o, const char *format, const char *name)
{
	json_t *list = json_object_get(o, "helps"), *x;
	OWN(arena) a = arena_new();
	const char *text = "", *at;
	size_t i;

	if (!list)
		json_object_set_new(o, "helps", list = json_array());
	for (; (at = strstr(format, "%s")); format = at + 2)
		text = arena_printf(a, "%s%.*s%s", text, (int)(at - format), format, name);
	text = arena_printf(a, "%s%s", text, format);
	json_array_foreach (list, i, x)
		if (str_eq(json_string_value(x), text))
			return;
	json_array_append_new(list, json_string(text));
}

static void help_with(json_t *o, const char *reason, const char *name)
{
	enum reason r = reason_find(reason);

	if (r != REASON_NONE)
		help(o, reason_info[r].helps, name);
}

/* --- machines ----------------------------------------------------------------------------------- */

/* What is waited for, where the reason says it better than the kind of the wait. */
static const struct {
	enum reason reason;
	const char *waits;
} waits[] = {
	{REASON_BmcAuthFailed, "a Secret that is right"},
	{REASON_SecretNotFound, "a Secret that is right"},
	{REASON_NotApproved, "approval"},
	{REASON_BmcNotTrusted, "approval"},
	{REASON_EvictionBlocked, "its pods"},
	{REASON_CheckpointPending, "its pods"},
	{REASON_TenantUnreachable, "its tenant"},
};

/* NULL: for nothing. */
static const char *waits_for(const struct machine_operation *op)
{
	static const char *const of_kind[] = {"the device", "drover's own rate limit", "a budget",
					      "an operator"};
	enum reason reason = reason_find(op->last_error.reason);

	if (op->waiting_for < WAITING_DEVICE || op->waiting_for > WAITING_APPROVAL)
		return NULL;
	if (op->waiting_for == WAITING_DEVICE || op->waiting_for == WAITING_APPROVAL)
		for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
			if (waits[i].reason == reason)
				return waits[i].waits;
	return of_kind[op->waiting_for];
}

static void operation(json_t *o, const struct machine *m)
{
	const struct machine_operation *op = m->status.operation;
	enum machine_state s = machine_state_find(str_or(m->status.state, "known"));
	const struct machine_state_info *info =
		s == MACHINE_STATE_NONE ? NULL : &machine_state_info[s];

	bool quarantined = s == MACHINE_QUARANTINED && m->status.quarantine;

	/* At rest the journal tells of what is long done. */
	if (!op || !info || (!info->limit_s && str_empty(op->last_error.reason)))
		return;
	put(o, "step", op->step);
	if (op->attempt > 1)
		json_object_set_new(o, "attempt", json_integer(op->attempt));
	put(o, "waitingFor", waits_for(op));
	if (op->progress) {
		json_object_set_new(o, "progress",
				    json_pack("{s:s, s:I, s:I}", "phase",
					      str_or(op->progress->phase, "busy"), "doneBytes",
					      (json_int_t)op->progress->done_bytes, "totalBytes",
					      (json_int_t)op->progress->total_bytes));
		put_time(json_object_get(o, "progress"), "expectedEnd", op->progress->expected_end);
	}
	put_time(o, "nextTry", op->next_attempt);
	if (!quarantined || !str_eq(op->last_error.reason, m->status.quarantine->reason))
		put_error(
			o, "lastError",
			error_of(op->last_error.reason, op->last_error.message,
				 op->last_error.time)); /* else it says that it is in quarantine */
	if (op->deadline && info->limit_s) {
		put_time(o, "deadline", op->deadline);
		put(o, "then", machine_state_info[info->on_limit].name);
	}
}

/* Whether what the reason has to say ends with `drover approve --wipe` already. */
static bool wipe_is_told(const json_t *o, const char *name)
{
	OWN(arena) a = arena_new();
	const char *wanted = arena_printf(a, "drover approve %s --wipe", name);
	json_t *x;
	size_t i;

	json_array_foreach (json_object_get(o, "helps"), i, x)
		if (strstr(json_string_value(x), wanted))
			return true;
	return false;
}

static void quarantine(json_t *o, const struct machine *m)
{
	const struct machine_quarantine *q = m->status.quarantine;
	int64_t due = quarantine_due(m);

	if (!str_eq(m->status.state, "quarantined") || !q)
		return;
	put_error(o, "quarantine", error_of(str_or(q->reason, "Unknown"), q->message, q->since));
	json_object_del(o, "nextTry");
	put(o, "waitingFor", due ? "the device" : "an operator");
	put_time(o, "nextTry", due);
	help_with(o, q->reason, m->meta.name);
	if (!str_eq(q->reason, "QuarantinedByOperator") && (due || !wipe_is_told(o, m->meta.name)))
		help(o,
		     due ? "drover retry %s (to try at once)"
			 : "drover approve %s --wipe (if it holds nothing of worth)",
		     m->meta.name);
}

/* What the wait for its pods comes to, by the drain under way: never by what a drain could have. */
static void help_draining(json_t *o, const struct machine *m, const struct machine_leave *lv,
			  const struct drain *d)
{
	OWN(arena) a = arena_new();
	char t[STR_TIME_SIZE];
	bool asked = str_eq(lv->reason, LEAVE_DRAIN);
	const char *end = !asked || lv->deadline_by ? "the pods that are left are deleted"
			  : !d			    ? "what onDeadline of its Drain says is done"
			  : d->spec.on_deadline == DRAIN_STOP
				  ? "what has not left serves on"
				  : "the pods that are left are deleted";

	if (m->status.operation && str_eq(m->status.operation->step, "escalate"))
		help(o,
		     lv->then == DRAIN_HOLD
			     ? "waiting: its deadline has passed, and its pods are deleted; 30 s after that it is held, "
			       "whatever is left"
			     : "waiting: its deadline has passed, and its pods are deleted; 30 s after that it is "
			       "switched off, whatever is left",
		     "");
	else if (lv->deadline)
		help(o,
		     arena_printf(a, "waiting: at its deadline, %s, %s", str_time(t, lv->deadline),
				  end),
		     "");
	else if (!str_starts(str_or(lv->blocked_by, ""), "checkpoint ")) /* that has a timeout */
		help(o,
		     arena_printf(
			     a,
			     "this drain has no deadline: it waits as long as that lasts, or until drover drain %s --reason WHY "
			     "--deadline 10m --on-deadline Escalate%s%s",
			     m->meta.name, lv->drain ? ", or drover cancel " : "",
			     str_or(lv->drain, "")),
		     "");
}

/* As the reason says, or better: by what is in the way. */
static void help_operation(json_t *o, const struct machine *m)
{
	const char *reason = m->status.operation->last_error.reason,
		   *blocked = m->status.leave ? str_or(m->status.leave->blocked_by, "") : "";

	if (reason_find(reason) != REASON_EvictionBlocked || !str_starts(blocked, "pod "))
		help_with(o, reason, m->meta.name);
	else if (str_ends(blocked, ": deleted, and does not end"))
		help(o, "see its finalizers, and the kubelet of its Node: no budget keeps it", "");
	else
		help(o, "see who refuses the eviction, in the tenant", "");
}

static void leave(json_t *o, const struct machine *m, const struct drain *d)
{
	const struct machine_leave *lv = m->status.leave;
	json_t *j;

	if (!lv || str_eq(m->status.state, "free"))
		return;
	j = json_object();
	put(j, "reason", lv->reason);
	put(j, "drain", lv->drain);
	if (d)
		put(j, "drainReason", d->spec.reason);
	put_time(j, "deadline", lv->deadline);
	put(j, "deadlineBy", lv->deadline_by);
	put(j, "then", drain_then_names[lv->then]);
	put(j, "thenBy", lv->then_by);
	if (lv->pods_left)
		json_object_set_new(j, "podsLeft", json_integer(lv->pods_left));
	put(j, "blockedBy", lv->blocked_by);
	json_object_set_new(o, "leave", j);
	if (str_eq(m->status.state, "draining") && lv->pods_left)
		help_draining(o, m, lv, d);
}

static void hold(json_t *o, const struct machine *m)
{
	const struct machine_hold *h = m->status.hold;
	json_t *j;

	if (!h)
		return;
	j = json_object();
	put_time(j, "since", h->since);
	put(j, "drain", h->drain);
	if (h->pods_left)
		json_object_set_new(j, "podsLeft", json_integer(h->pods_left));
	put(j, "blockedBy", h->blocked_by);
	json_object_set_new(o, "hold", j);
	help(o,
	     h->drain ? "drover release %s, when the Drain has done what it was for"
		      : "drover release %s, or uncordon its Node",
	     m->meta.name);
}

json_t *explain_machine(const struct machine *m, const struct drain *d, int64_t now)
{
	const struct machine_operation *op = m->status.operation;
	json_t *o = json_object();

	put(o, "kind", "Machine");
	put(o, "name", m->meta.name);
	put(o, "state", str_or(m->status.state, "known"));
	put_time(o, "since", m->status.state_since);
	if (m->status.claim_ref)
		put(o, "claim", m->status.claim_ref->name);
	if (m->status.warm_for)
		put(o, "warmFor", m->status.warm_for->name);
	put(o, "tenant", m->status.tenant.name);
	put(o, "power", m->status.power.state);
	put_time(o, "powerSeen", m->status.power.observed_time);
	put(o, "network", m->status.network.segment);
	put_time(o, "deletingSince", m->meta.deletion_timestamp);
	leave(o, m, d);
	hold(o, m);
	operation(o, m);
	explain_doing(o, m);
	put_conditions(o, &m->status.conditions);
	quarantine(o, m);
	if (op)
		help_operation(o, m);
	for (size_t i = 0; i < m->status.conditions.n; i++)
		if (m->status.conditions.v[i].status == CONDITION_FALSE)
			help_with(o, m->status.conditions.v[i].reason, m->meta.name);
	if (str_eq(m->status.state, "retired"))
		help(o, "drover approve %s, to have it managed again", m->meta.name);
	if (m->status.failures.n) {
		const struct machine_failure *f = &m->status.failures.v[m->status.failures.n - 1];

		put_error(o, "lastFailure", error_of(f->reason, f->message, f->time));
	}
	if (op && op->deadline && now > op->deadline && !json_object_get(o, "helps"))
		help(o,
		     "see that a controller leads: kubectl get lease drover-controller -n drover-system",
		     m->meta.name);
	return o;
}

/* --- claims and pods ---------------------------------------------------------------------------- */

json_t *explain_claim(const struct node_claim *n, const struct machine *m, const struct drain *d,
		      int64_t now)
{
	const struct condition *ready = condition_get(&n->status.conditions, "Ready");
	json_t *o = json_object();
	bool failed = str_eq(n->status.phase, "Failed");

	put(o, "kind", "NodeClaim");
	put(o, "name", n->meta.name);
	put(o, "state", str_or(n->status.phase, "Pending"));
	put_time(o, "since", ready ? ready->last_transition_time : n->meta.creation_timestamp);
	put(o, "tenant", n->spec.virtual_cluster_ref.name);
	put(o, "pool", n->spec.node_pool_ref.name);
	put_time(o, "deletingSince", n->meta.deletion_timestamp);
	if (failed && ready)
		put_error(o, "lastError",
			  error_of(ready->reason, ready->message, ready->last_transition_time));
	put_conditions(o, &n->status.conditions);
	if (m)
		json_object_set_new(o, "machine", explain_machine(m, d, now));
	else if (!failed)
		put(o, "waitingFor",
		    "its machine to take it; a claim that none took in 30 s is withdrawn and planned again");
	if (failed)
		help(o,
		     "nothing: drover makes another claim, three for one demand, then it waits 10 min and longer",
		     "");
	return o;
}

static void help_tenant(json_t *o, const struct virtual_cluster *vc, const char *reason)
{
	for (size_t i = 0; i < sizeof(tenant_remedies) / sizeof(tenant_remedies[0]); i++)
		if (str_eq(tenant_remedies[i][0], reason))
			help(o, tenant_remedies[i][1], vc->meta.name);
}

json_t *explain_pod(const struct virtual_cluster *vc, const char *ns, const char *pod)
{
	OWN(arena) a = arena_new();
	const struct condition *ready = condition_get(&vc->status.conditions, "Ready");
	const struct condition *reachable = condition_get(&vc->status.conditions, "Reachable");
	const struct condition *takes =
		condition_get(&vc->status.conditions, TENANT_NODES_CONDITION);
	json_t *o = json_object();

	put(o, "kind", "Pod");
	put(o, "name", arena_printf(a, "%s/%s/%s", vc->meta.name, ns, pod));
	put(o, "tenant", vc->meta.name);
	if (!reachable ||
	    reachable->status != CONDITION_TRUE) /* else it is now, and written now and then */
		put_time(o, "lastContact", vc->status.last_contact_time);
	put_time(o, "deletingSince", vc->meta.deletion_timestamp);
	put_conditions(o, &vc->status.conditions);
	if (vc->spec.paused)
		help(o,
		     "kubectl patch virtualcluster %s --type merge -p '{\"spec\":{\"paused\":false}}'",
		     vc->meta.name);
	if (ready && ready->status != CONDITION_TRUE) {
		put_error(o, "lastError",
			  error_of(ready->reason, ready->message, ready->last_transition_time));
		help_tenant(o, vc, ready->reason);
	}
	if (takes && takes->status == CONDITION_FALSE)
		help_tenant(o, vc, takes->reason);
	json_object_set_new(o, "claims", json_array());
	return o;
}

void explain_pod_waits(json_t *answer, const char *ns, const char *pod)
{
	OWN(arena) a = arena_new();

	help(answer,
	     arena_printf(
		     a,
		     "kubectl describe pod -n %s %s in the tenant: drover's event there has place and reason",
		     ns, pod),
	     "");
}

void explain_pod_seen(json_t *answer, const json_t *pod)
{
	const json_t *conditions = json_at(pod, "status", "conditions");
	json_t *o = json_object(), *c;
	size_t i;

	put(o, "phase", json_str_at(pod, "status", "phase"));
	put(o, "node", json_str_at(pod, "spec", "nodeName"));
	put(o, "deletingSince", json_str_at(pod, "metadata", "deletionTimestamp"));
	json_array_foreach (conditions, i, c)
		if (str_eq(json_str_at(c, "type"), "PodScheduled") &&
		    !str_eq(json_str_at(c, "status"), "True"))
			put(o, "unscheduled", json_str_at(c, "message"));
	json_object_set_new(answer, "pod", o);
}

/* Times are texts of one form: the later is the greater. */
static const char *event_time(const json_t *event)
{
	const char *again = json_str_at(event, "series", "lastObservedTime");

	return again ? again : str_or(json_str_at(event, "eventTime"), "");
}

void explain_pod_event(json_t *answer, const json_t *event)
{
	const char *at = event_time(event);
	json_t *told;

	if (!str_eq(json_str_at(event, "reportingComponent"), "drover.dev/controller") ||
	    strcmp(at, str_or(json_str_at(answer, "told", "time"), "")) < 0)
		return;
	told = json_object();
	put(told, "reason", json_str_at(event, "reason"));
	put(told, "message", json_str_at(event, "message"));
	put(told, "time", at);
	json_object_set_new(answer, "told", told);
}

void explain_pod_claim(json_t *answer, const struct node_claim *n)
{
	json_t *c = json_object();

	put(c, "name", n->meta.name);
	put(c, "state", str_or(n->status.phase, "Pending"));
	if (n->status.machine_ref)
		put(c, "machine", n->status.machine_ref->name);
	put_time(c, "p50", n->status.eta.p50);
	put_time(c, "p90", n->status.eta.p90);
	json_array_append_new(json_object_get(answer, "claims"), c);
}

void explain_tenant(json_t *answer, const struct virtual_cluster *vc, const struct machine *m)
{
	const struct condition *c = condition_get(&vc->status.conditions, TENANT_SLEEP_CONDITION);
	OWN(arena) a = arena_new();
	json_t *o;

	if (!vc->status.asleep_since)
		return;
	o = json_object();
	put_time(o, "since", vc->status.asleep_since);
	put(o, "message",
	    arena_printf(a, "%s%s", c ? str_or(c->message, "") : "",
			 m && m->status.hold ? "; but this one is held, and stays" : ""));
	json_object_set_new(answer, "tenantAsleep", o);
	help(answer, WAKE_HELPS, vc->meta.name);
}
