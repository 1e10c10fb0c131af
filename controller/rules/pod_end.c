#include "controller/rules/pod_end.h"

#include "api/annotations.h"
#include "api/machine_states.h"
#include "api/reasons.h"
#include "base/str.h"

const char *const pod_end_names[] = {"succeeded", "failed",    "evicted_by_drover",
				     "evicted",	  "preempted", "node_lost",
				     "deleted",	  "unknown",   NULL};

enum pod_disruption pod_disruption_of(const char *reason)
{
	static const struct {
		const char *reason;
		enum pod_disruption is;
	} known[] = {
		{"EvictionByEvictionAPI", POD_EVICTED_BY_API},
		{"DeletionByTaintManager", POD_DELETED_BY_TAINT},
		{"DeletionByPodGC", POD_DELETED_BY_GC},
		{"PreemptionByScheduler", POD_PREEMPTED},
		{"TerminationByKubelet", POD_ENDED_BY_KUBELET},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (str_eq(reason, known[i].reason))
			return known[i].is;
	return POD_DISRUPTED;
}

/* True if the machine leaves because the claim's Node or instance was lost. */
static bool is_lost(const struct machine *m, const char *node)
{
	const struct machine_leave *lv = m->status.leave;
	const size_t n = m->status.failures.n;

	if (lv && (str_eq(lv->reason, LEAVE_NODE_DEAD) || str_eq(lv->reason, LEAVE_NODE_GONE)))
		return true;
	return n && str_eq(m->status.failures.v[n - 1].claim, node) &&
	       reason_find(m->status.failures.v[n - 1].reason) == REASON_InstanceGone;
}

enum pod_machine pod_machine_of(const struct machine *m, const char *node)
{
	const struct object_ref *r = m ? m->status.claim_ref : NULL;
	enum machine_state s;

	if (!m || (r && !str_eq(r->name, node)))
		return POD_MACHINE_UNKNOWN;
	s = machine_state_find(str_or(m->status.state, ""));
	if (s >= MACHINE_CLAIMED && s <= MACHINE_SERVING)
		return r ? POD_MACHINE_STAYS : POD_MACHINE_UNKNOWN;
	if (s < MACHINE_DRAINING || s > MACHINE_VERIFYING)
		return POD_MACHINE_UNKNOWN;
	if (is_lost(m, node))
		return POD_MACHINE_LOST;
	return s == MACHINE_DRAINING ? POD_MACHINE_DRAINS : POD_MACHINE_STOPS;
}

static bool drover_moves(const struct pod_end_facts *f)
{
	return f->machine == POD_MACHINE_DRAINS || f->machine == POD_MACHINE_STOPS;
}

/* Returns the end of a pod whose Node was lost or tainted. */
static enum pod_end without_node(const struct pod_end_facts *f)
{
	if (drover_moves(f))
		return POD_END_BY_DROVER;
	if (f->machine == POD_MACHINE_LOST || !f->node_ready)
		return POD_END_NODE_LOST;
	return f->disruption == POD_DELETED_BY_TAINT ? POD_END_EVICTED : POD_END_UNKNOWN;
}

/* Returns the end of a pod that was deleted, or is gone, without a reason. */
static enum pod_end without_reason(const struct pod_end_facts *f)
{
	if (f->machine == POD_MACHINE_STOPS)
		return POD_END_BY_DROVER;
	if (f->machine == POD_MACHINE_LOST ||
	    (!f->deleted && f->machine == POD_MACHINE_STAYS && !f->node_ready))
		return POD_END_NODE_LOST;
	return f->deleted && f->first && f->known_before ? POD_END_DELETED : POD_END_UNKNOWN;
}

/* Returns the end of a pod whose phase became final although nothing disrupted the pod. */
static enum pod_end by_itself(const struct pod_end_facts *f)
{
	if (f->succeeded)
		return POD_END_SUCCEEDED;
	return f->machine == POD_MACHINE_STOPS ? POD_END_BY_DROVER : POD_END_FAILED;
}

enum pod_end pod_end_of(const struct pod_end_facts *f)
{
	if (f->ended && !f->deleted && f->disruption == POD_NOT_DISRUPTED)
		return by_itself(f);
	if (f->by_drover)
		return POD_END_BY_DROVER;
	switch (f->disruption) {
	case POD_PREEMPTED:
		return POD_END_PREEMPTED;
	case POD_EVICTED_BY_API:
		return drover_moves(f)			   ? POD_END_BY_DROVER
		       : f->machine == POD_MACHINE_UNKNOWN ? POD_END_UNKNOWN
							   : POD_END_EVICTED;
	case POD_DELETED_BY_TAINT:
	case POD_DELETED_BY_GC:
		return without_node(f);
	case POD_ENDED_BY_KUBELET:
		return f->machine == POD_MACHINE_STOPS ? POD_END_BY_DROVER : POD_END_EVICTED;
	case POD_DISRUPTED:
		return POD_END_UNKNOWN;
	case POD_NOT_DISRUPTED:
		break;
	}
	return without_reason(f);
}
