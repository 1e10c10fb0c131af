/*
 * tenant: explains what a tenant or a pod of a tenant waits for.
 * Tests: tests/unit/cli/test_explain.c, tests/unit/cli/test_why.c
 */
#include <string.h>

#include "controller/explain/answer.h"
#include "controller/explain/explain.h"
#include "api/annotations.h"
#include "base/arena.h"
#include "base/str.h"
#include "controller/rules/claim.h"

/* Maximum number of Nodes that the explanation of a tenant names as not deleted yet */
#define OWED_NAMED 3
#define WAKE_HELPS                                                                                 \
	"to wake it: vcluster resume, or scale up the workload that spec.controlPlane of the "     \
	"VirtualCluster names"
static const char *const tenant_remedies[][2] = {
	{"KubeconfigRefused", "correct the Secret that spec.kubeconfigSecretRef names"},
	{"KubeconfigAbsent",
	 "create the Secret that spec.kubeconfigSecretRef names, and allow drover to read it"},
	{"NotPermitted", "apply deploy/tenant-rbac.yaml in the tenant's cluster"},
	{"Unreachable", "check that drover can reach spec.server of the tenant"},
	{"Asleep", WAKE_HELPS},
	{"NodesLost", "check whether the missing Nodes are really gone; if they are: drover resume "
		      "tenant/%s"},
	{"ClusterChanged",
	 "correct the kubeconfig in the Secret; if the other cluster is intended, delete the "
	 "VirtualCluster and create a new one"},
	{"NoPrivateNodes",
	 "enable private nodes in the virtual cluster, or create the VirtualCluster with "
	 "spec.nodes: Host"},
	{"NoJoinEndpoint", "set spec.joinEndpoint of the VirtualCluster"},
};

const char *explain_tenant_remedy(const char *reason)
{
	for (size_t i = 0; i < sizeof(tenant_remedies) / sizeof(tenant_remedies[0]); i++)
		if (str_eq(tenant_remedies[i][0], reason))
			return tenant_remedies[i][1];
	return NULL;
}

static void help_tenant(json_t *o, const struct virtual_cluster *vc, const char *reason)
{
	const char *helps = explain_tenant_remedy(reason);

	if (helps)
		answer_help(o, helps, vc->meta.name);
}

/* Adds what the conditions of the tenant report, which affects all its pods and machines. */
static void tell_tenant(json_t *o, const struct virtual_cluster *vc)
{
	const struct condition *ready = condition_get(&vc->status.conditions, "Ready");
	const struct condition *reachable = condition_get(&vc->status.conditions, "Reachable");
	const struct condition *takes =
		condition_get(&vc->status.conditions, TENANT_NODES_CONDITION);

	if (!reachable ||
	    /* Not shown for a reachable tenant: drover then updates the time only every few
	     * minutes, so it would look old. */
	    reachable->status != CONDITION_TRUE)
		answer_time(o, "lastContact", vc->status.last_contact_time);
	answer_time(o, "deletingSince", vc->meta.deletion_timestamp);
	answer_conditions(o, &vc->status.conditions);
	if (vc->spec.paused)
		answer_help_unpause(o, OBJECT_VIRTUAL_CLUSTER, vc->meta.name);
	if (ready && ready->status != CONDITION_TRUE) {
		answer_error(o, "lastError", ready->reason, ready->message,
			     ready->last_transition_time);
		help_tenant(o, vc, ready->reason);
	}
	if (takes && takes->status == CONDITION_FALSE)
		help_tenant(o, vc, takes->reason);
}

json_t *explain_pod(const struct virtual_cluster *vc, const char *ns, const char *pod)
{
	OWN(arena) a = arena_new();
	json_t *o = json_object();

	answer_put(o, "kind", "Pod");
	answer_put(o, "name", arena_printf(a, "%s/%s/%s", vc->meta.name, ns, pod));
	answer_put(o, "tenant", vc->meta.name);
	tell_tenant(o, vc);
	json_object_set_new(o, "claims", json_array());
	return o;
}

/* Returns which Nodes are not deleted yet in the tenant's cluster, in the arena. */
static const char *owed(const struct virtual_cluster_status *st, struct arena *a)
{
	const char *names = "";
	char since[STR_TIME_SIZE];

	for (size_t i = 0; i < st->debts.n && i < OWED_NAMED; i++)
		names = arena_printf(a, "%s%s%s (since %s)", names, i ? ", " : "",
				     str_or(st->debts.v[i].node_name, "-"),
				     str_time(since, st->debts.v[i].since));
	return arena_printf(a,
			    "%zu Node%s that drover must still delete in the tenant's cluster, "
			    "because the machines have left; drover tries for 24 h: %s%s",
			    st->debts.n, st->debts.n == 1 ? "" : "s", names,
			    st->debts.n > OWED_NAMED ? " and others" : "");
}

json_t *explain_virtual_cluster(const struct virtual_cluster *vc)
{
	OWN(arena) a = arena_new();
	const struct condition *ready = condition_get(&vc->status.conditions, "Ready");
	json_t *o = json_object();

	answer_put(o, "kind", "VirtualCluster");
	answer_put(o, "name", vc->meta.name);
	answer_put(o, "state",
		   vc->spec.paused	     ? "Paused"
		   : vc->status.asleep_since ? "Asleep"
					     : answer_ready(&vc->status.conditions));
	answer_time(o, "since", ready ? ready->last_transition_time : vc->meta.creation_timestamp);
	tell_tenant(o, vc);
	answer_help_valid(o, OBJECT_VIRTUAL_CLUSTER, &vc->status.conditions, vc->meta.name);
	if (vc->status.debts.n)
		answer_put(o, "owed", owed(&vc->status, a));
	if (vc->meta.deletion_timestamp)
		answer_help(o,
			    "wait: drover takes its machines back first; to list their claims: "
			    "drover get claims -l drover.dev/virtual-cluster=%s",
			    vc->meta.name);
	explain_tenant(o, vc, NULL);
	return o;
}

void explain_pod_waits(json_t *answer, const char *ns, const char *pod)
{
	OWN(arena) a = arena_new();

	answer_help(
		answer,
		arena_printf(
			a,
			"in the tenant's cluster: kubectl describe pod -n %s %s (drover's events "
			"show the place in the queue and the reason)",
			ns, pod),
		"");
}

void explain_pod_seen(json_t *answer, const json_t *pod)
{
	const json_t *conditions = json_at(pod, "status", "conditions");
	json_t *o = json_object(), *c;
	size_t i;

	answer_put(o, "phase", json_str_at(pod, "status", "phase"));
	answer_put(o, "node", json_str_at(pod, "spec", "nodeName"));
	answer_put(o, "deletingSince", json_str_at(pod, "metadata", "deletionTimestamp"));
	json_array_foreach (conditions, i, c)
		if (str_eq(json_str_at(c, "type"), "PodScheduled") &&
		    !str_eq(json_str_at(c, "status"), "True"))
			answer_put(o, "unscheduled", json_str_at(c, "message"));
	json_object_set_new(answer, "pod", o);
}

static const struct virtual_cluster_waiting *row_of(const struct virtual_cluster *vc,
						    const char *ns, const char *pod,
						    struct arena *a)
{
	const char *name = arena_printf(a, "%s/%s", ns, pod);

	for (size_t i = 0; i < vc->status.waiting.n; i++)
		if (str_eq(vc->status.waiting.v[i].pod, name))
			return &vc->status.waiting.v[i];
	return NULL;
}

/* Returns what a pod waits for if the pod is missing in status.waiting of its tenant. NULL: the pod
 * does not wait, or it was not read. */
static const char *not_listed(const json_t *answer, const struct virtual_cluster *vc,
			      struct arena *a)
{
	const json_t *pod = json_object_get(answer, "pod");

	if (!pod || json_str_at(pod, "deletingSince") ||
	    str_eq(json_str_at(pod, "phase"), "Succeeded") ||
	    str_eq(json_str_at(pod, "phase"), "Failed"))
		return NULL;
	if (!json_str_at(pod, "unscheduled"))
		return "kube-scheduler, which has not yet tried to place the pod";
	if (vc->status.waiting.n == VIRTUAL_CLUSTER_WAITING_MAX)
		return arena_printf(a,
				    "at least %d other pods of its tenant, which are before "
				    "this pod in the queue",
				    VIRTUAL_CLUSTER_WAITING_MAX);
	return "drover's next plan, visible here about 10 s after it is made";
}

void explain_pod_now(json_t *answer, const struct virtual_cluster *vc, const char *ns,
		     const char *pod)
{
	OWN(arena) a = arena_new();
	const struct virtual_cluster_waiting *row = row_of(vc, ns, pod, a);
	json_t *now;

	if (!row) {
		answer_put(answer, "waitingFor", not_listed(answer, vc, a));
		return;
	}
	now = json_object();
	if (row->place)
		json_object_set_new(now, "place", json_integer(row->place));
	answer_put(now, "reason", row->reason);
	answer_put(now, "message", row->message);
	answer_put(now, "claim", row->claim);
	answer_time(now, "since", row->since);
	json_object_set_new(answer, "now", now);
}

/* Returns the time of the last occurrence of an event. All such times have the same RFC 3339 form,
 * so that strcmp() orders them. */
static const char *event_time(const json_t *event)
{
	const char *again = json_str_at(event, "series", "lastObservedTime");

	return again ? again : str_or(json_str_at(event, "eventTime"), "");
}

void explain_pod_event(json_t *answer, const json_t *event)
{
	const char *at = event_time(event), *now = json_str_at(answer, "now", "reason"),
		   *reason = json_str_at(event, "reason");
	const char *key = now ? "history" : "told";
	json_t *told;

	if (!str_eq(json_str_at(event, "reportingComponent"), "drover.dev/controller") ||
	    (now && str_eq(reason, now)) ||
	    strcmp(at, str_or(json_str_at(answer, key, "time"), "")) < 0)
		return;
	told = json_object();
	answer_put(told, "reason", reason);
	answer_put(told, "message", json_str_at(event, "message"));
	answer_put(told, "time", at);
	json_object_set_new(answer, key, told);
}

bool explain_is_claim_of_pod(const json_t *answer, const struct node_claim *n, const char *uid,
			     const char *node)
{
	const char *seat = json_str_at(answer, "now", "claim");

	if (node)
		return str_eq(n->status.node_name, node);
	if (json_object_get(answer, "now"))
		return seat && str_eq(n->meta.name, seat);
	if (!uid || str_eq(n->status.phase, "Ended") || str_eq(n->status.phase, "Failed"))
		return false;
	for (size_t i = 0; i < n->spec.pods.n; i++)
		if (str_eq(n->spec.pods.v[i], uid))
			return true;
	return false;
}

void explain_pod_claim(json_t *answer, const struct node_claim *n, const struct machine *m,
		       int64_t now)
{
	OWN_JSON claim = explain_claim(n, m, NULL, now);
	const json_t *of = json_object_get(claim, m ? "machine" : "waitingFor");
	json_t *c = json_object(), *help;
	size_t i;

	answer_put(c, "name", n->meta.name);
	answer_put(c, "state", json_str_at(claim, "state"));
	answer_put(c, "since", json_str_at(m ? of : claim, "since"));
	answer_put(c, "machine", m ? m->meta.name : NULL);
	answer_put(c, "waitingFor", json_str_at(m ? of : claim, "waitingFor"));
	if (json_object_get(claim, "approval")) {
		json_object_set(c, "approval", json_object_get(claim, "approval"));
		json_array_foreach (json_object_get(claim, "helps"), i, help)
			answer_help(answer, "%s", json_string_value(help));
	}
	if (!claim_is_ready(n)) {
		answer_time(c, "p50", n->status.eta.p50);
		answer_time(c, "p90", n->status.eta.p90);
	}
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
	answer_time(o, "since", vc->status.asleep_since);
	answer_put(o, "message",
		   arena_printf(a, "%s%s", c ? str_or(c->message, "") : "",
				m && m->status.hold ? "; this machine is held, so it stays with "
						      "the tenant"
						    : ""));
	json_object_set_new(answer, "tenantAsleep", o);
	answer_help(answer, WAKE_HELPS, vc->meta.name);
}
