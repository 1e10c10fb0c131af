/*
 * serving: decides whether the machine must leave its tenant. docs/drain.md describes the order.
 *
 *   serving --status.leave--> draining (steps/draining.c)
 *      '----without a drain: Node dead or missing, tenant asleep, claim gone--> stopping
 *
 * Tests: tests/world/test_drain.c, tests/world/test_hold.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/life/bmc.h"
#include "controller/life/consent.h"
#include "controller/life/journal.h"
#include "controller/life/paid.h"
#include "controller/rules/disruption_budget.h"
#include "controller/steps/adopt.h"
#include "controller/steps/hold.h"
#include "controller/steps/leave_reason.h"
#include "controller/steps/leave_words.h"
#include "controller/steps/steps.h"

static enum life_decision begin(struct life *l, const struct node_claim *n, const struct leave *lv)
{
	json_t *extra =
		json_pack("{s:o, s:{s:n}}", "leave", leave_json(lv), "operation", "deadline");
	char text[500];

	if (str_eq(lv->reason, LEAVE_INTERRUPTED))
		leave_report(l, n, "Warning", lv->reason,
			     "the cloud will end the instance soon; its pods are moved off now");
	leave_report(l, n, "Normal", "Draining", leave_why(l, lv, text, sizeof(text)));
	/* Reset the number of pods and the obstacle that an earlier drain may have left in
	 * status. */
	json_object_update_new(json_object_get(extra, "leave"),
			       json_pack("{s:i, s:n}", "podsLeft", 0, "blockedBy"));
	/* End a hold, because the deletion of the claim cannot be undone and the machine will
	 * stop. */
	if (n->meta.deletion_timestamp)
		json_object_set_new(extra, "hold", json_null());
	l->leave.giving_back = disruption_is_ours(lv->reason);
	return life_goto(l, MACHINE_DRAINING, extra, REASON_NONE, NULL);
}

/* Stops the machine without a drain, because its Node is dead (not Ready for too long): no kubelet
 * would carry out an eviction. */
static enum life_decision give_up(struct life *l, const struct node_claim *n,
				  const struct leave *lv)
{
	json_t *extra = json_pack("{s:o, s:n}", "leave", leave_json(lv), "hold");
	char text[200];

	str_format(text, sizeof(text), "Node %s was not Ready for longer than deadlines.notReady",
		   n->meta.name);
	return life_goto(l, MACHINE_STOPPING, extra, REASON_NodeDead, "%s", text);
}

/* Stops the machine without a drain, because its Node was deleted and everything on it is gone.
 * This is not recorded as a failure. */
static enum life_decision take_alone(struct life *l, const struct node_claim *n,
				     const struct leave *lv)
{
	json_t *extra = json_pack("{s:o, s:n}", "leave", leave_json(lv), "hold");
	char text[400];

	str_format(text, sizeof(text),
		   "Node %.253s did not exist for longer than deadlines.notReady; the machine is "
		   "released",
		   n->meta.name);
	leave_report(l, n, "Warning", lv->reason, text);
	return life_goto(l, MACHINE_STOPPING, extra, REASON_NONE, NULL);
}

/* Stops the machine without a drain, because its tenant sleeps: the tenant's API server does not
 * run, so no pod can be notified or evicted. Objects that remain in the tenant's cluster become a
 * pending cleanup (tenant/pending_cleanup.h). */
static enum life_decision take_back(struct life *l, const struct node_claim *n,
				    const struct leave *lv)
{
	const struct virtual_cluster *vc = CTX_GET(l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster,
						   n->spec.virtual_cluster_ref.name);
	json_t *extra = json_pack("{s:o, s:n}", "leave", leave_json(lv), "hold");
	char text[300], when[STR_TIME_SIZE];

	str_format(text, sizeof(text),
		   "VirtualCluster %.63s has been asleep since %s, longer than sleepGrace",
		   n->spec.virtual_cluster_ref.name,
		   str_time(when, vc ? vc->status.asleep_since : 0));
	leave_report(l, n, "Normal", lv->reason, text);
	l->leave.giving_back = true;
	return life_goto(l, MACHINE_STOPPING, extra, REASON_NONE, NULL);
}

enum life_decision step_serving(struct life *l)
{
	const struct node_claim *n = life_claim(l);
	enum life_decision d = LIFE_STAY;
	struct leave lv;

	l->leave.giving_back = false;
	if (!n) {
		if (adopt_unless_gone(l, &d) && life_ensure_unpaused(l))
			return life_goto(l, MACHINE_STOPPING,
					 json_pack("{s:n, s:n}", "leave", "hold"), REASON_NONE,
					 NULL);
		return d;
	}
	lv = leave_reason(l);
	/* A tenant that does not let drover mark its Node must delay neither a Drain nor the end of
	 * an instance that nobody pays for. So wait for the marks of a hold only in the other
	 * cases. */
	if (!str_eq(lv.reason, LEAVE_DRAIN) && !life_paid_over(l) &&
	    !life_ensure_hold_settled(l, n))
		return d;
	if (lv.reason) {
		if (!life_ensure_unpaused(l) ||
		    (n->meta.deletion_timestamp && !life_ensure_may_leave(l)))
			return d;
		if (str_eq(lv.reason, LEAVE_NODE_DEAD))
			return give_up(l, n, &lv);
		if (str_eq(lv.reason, LEAVE_NODE_GONE))
			return take_alone(l, n, &lv);
		if (!str_eq(lv.reason, LEAVE_ASLEEP))
			return begin(l, n, &lv);
		if (life_ensure_may_leave(l) && ctx_may_act(l->c))
			return take_back(l, n, &lv);
		loop_timer_start(&l->timer, l->c->o.poll_ms);
		return d;
	}
	if (!l->m->spec.elastic)
		(void)life_ensure_observed(l, l->c->o.idle_poll_ms);
	return d;
}
