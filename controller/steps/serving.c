/*
 * life_drain: serving and draining: whether the machine has to leave its tenant,
 * and how its pods go.  docs/drain.md has the order.
 *
 *	serving --status.leave--> draining: mark the Node, checkpoint, evict
 *	   ^                          |          |
 *	   '--withdrawn, Stop, Hold---'          '--deadline: escalate--> stopping
 * Tests: tests/world/test_drain.c, tests/world/test_hold.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/core/clock_jumps.h"
#include "controller/drain/checkpoint.h"
#include "controller/drain/evict.h"
#include "controller/steps/hold.h"
#include "controller/steps/leave_reason.h"
#include "controller/steps/stopping.h"

#define TELL_MS 5000 /* status.leave is written at most so often */
/* Volumes of the pods that went are taken down in seconds; those of DaemonSets never are. */
#define VOLUMES_MS (2 * 60 * 1000)
#define ESCALATE_MS 30000 /* for pods that were deleted, before the power goes */

void life_drain_forget(struct life *l)
{
	evict_free(l->evict);
	l->evict = NULL;
	checkpoint_free(l->checkpoint);
	l->checkpoint = NULL;
	l->told_at = l->emptied_at = 0;
}

/* --- status.leave ----------------------------------------------------------------------------------- */

static json_t *leave_json(const struct leave *lv)
{
	char when[STR_TIME_SIZE];

	return json_pack("{s:s, s:s?, s:s, s:s?}", "reason", lv->reason, "drain", lv->drain, "then",
			 drain_then_names[lv->then], "deadline",
			 lv->deadline ? str_time(when, lv->deadline) : NULL);
}

/* Times are written in seconds. */
static bool same_leave(const struct machine_leave *was, const struct leave *lv)
{
	return was && str_eq(was->reason, lv->reason) && str_eq(was->drain, lv->drain) &&
	       was->then == (int)lv->then && was->deadline / 1000 == lv->deadline / 1000;
}

static void tell(struct life *l, const struct node_claim *n, const char *type, const char *reason,
		 const char *text)
{
	controller_event(l->c, OBJECT_MACHINE, &l->m->meta, type, reason, text);
	if (n)
		controller_event(l->c, OBJECT_NODE_CLAIM, &n->meta, type, reason, text);
	log_info("machine leaves", LOG_S("machine", l->name), LOG_S("event", reason),
		 LOG_S("claim", n ? n->meta.name : ""), LOG_S("text", text));
}

/* The audit trail begins: who wants it, why, by when, and what then. */
static const char *why(const struct life *l, const struct leave *lv, char *out, size_t size)
{
	const struct drain *d =
		lv->drain ? CONTROLLER_GET(l->c, OBJECT_DRAIN, drain, lv->drain) : NULL;
	char when[STR_TIME_SIZE];

	str_format(out, size, "%s%s%.60s%s%.200s; deadline %s%s", lv->reason, lv->drain ? " " : "",
		   str_or(lv->drain, ""), d ? ": " : "", d ? str_or(d->spec.reason, "") : "",
		   lv->deadline ? str_time(when, lv->deadline) : "none",
		   !lv->deadline ? ""
		   : lv->stop	 ? ", then it serves on"
				 : ", then pods are deleted");
	return out;
}

/* Progress, now and then; a pod that is in the way is a thing to wait for, and said so. */
static void report(struct life *l, size_t left, const char *reason, const char *blocked)
{
	const struct machine_leave *was = l->m->status.leave;
	int64_t now = loop_now(l->c->loop);

	if (l->write || !was || (l->told_at && now - l->told_at < TELL_MS))
		return;
	if (was->pods_left != (int64_t)left || !str_eq(was->blocked_by, blocked)) {
		l->told_at = now;
		life_write(l,
			   json_pack("{s:{s:I, s:s?}}", "leave", "podsLeft", (json_int_t)left,
				     "blockedBy", blocked),
			   NULL);
	} else if (blocked) {
		life_wait(l, WAITING_DEVICE, reason, "%s", blocked);
	}
}

/* --- serving ---------------------------------------------------------------------------------------- */

static void begin(struct life *l, const struct node_claim *n, const struct leave *lv)
{
	json_t *extra =
		json_pack("{s:o, s:{s:n}}", "leave", leave_json(lv), "operation", "deadline");
	char text[400];

	tell(l, n, "Normal", "Draining", why(l, lv, text, sizeof(text)));
	/* Numbers of an earlier leave are not this one's. */
	json_object_update_new(json_object_get(extra, "leave"),
			       json_pack("{s:i, s:n}", "podsLeft", 0, "blockedBy"));
	if (n->meta.deletion_timestamp) /* that cannot be called back, so there is nothing to hold */
		json_object_set_new(extra, "hold", json_null());
	l->giving_back = str_eq(lv->reason, LEAVE_EMPTY) || str_eq(lv->reason, LEAVE_EXPIRED);
	life_goto(l, MACHINE_DRAINING, extra, NULL, NULL);
}

/* Nobody answers there, so nobody is asked: what runs on it, runs on nothing that its tenant can see. */
static void give_up(struct life *l, const struct node_claim *n, const struct leave *lv)
{
	json_t *extra = json_pack("{s:o, s:n}", "leave", leave_json(lv), "hold");
	char text[200];

	str_format(text, sizeof(text), "Node %s was not Ready for longer than deadlines.notReady",
		   n->meta.name);
	life_goto(l, MACHINE_STOPPING, extra, "NodeDead", "%s", text);
}

/* Its tenant sleeps: nobody there can be asked, told, or evicted from.  What is left there is owed (tenant/debts.h). */
static void take_back(struct life *l, const struct node_claim *n, const struct leave *lv)
{
	const struct virtual_cluster *vc = CONTROLLER_GET(
		l->c, OBJECT_VIRTUAL_CLUSTER, virtual_cluster, n->spec.virtual_cluster_ref.name);
	json_t *extra = json_pack("{s:o, s:n}", "leave", leave_json(lv), "hold");
	char text[300], when[STR_TIME_SIZE];

	str_format(
		text, sizeof(text), "VirtualCluster %.63s sleeps since %s, longer than sleepGrace",
		n->spec.virtual_cluster_ref.name, str_time(when, vc ? vc->status.asleep_since : 0));
	tell(l, n, "Normal", lv->reason, text);
	l->giving_back = true;
	life_goto(l, MACHINE_STOPPING, extra, NULL, NULL);
}

void step_serving(struct life *l)
{
	const struct node_claim *n = life_claim(l);
	struct leave lv;

	l->giving_back = false;
	if (!n) {
		if (life_claim_gone(l) && !life_paused(l))
			life_goto(l, MACHINE_STOPPING, json_pack("{s:n, s:n}", "leave", "hold"),
				  NULL, NULL);
		return;
	}
	lv = leave_reason(l);
	/* What a Drain wants does not wait for a tenant that lets its Node not be marked. */
	if (!str_eq(lv.reason, LEAVE_DRAIN) && life_hold(l, n))
		return;
	if (lv.reason) {
		if (life_paused(l) || (n->meta.deletion_timestamp && !life_may_leave(l)))
			return;
		if (str_eq(lv.reason, LEAVE_NODE_DEAD))
			give_up(l, n, &lv);
		else if (str_eq(lv.reason, LEAVE_ASLEEP) && life_may_leave(l) &&
			 controller_may_destroy(l->c))
			take_back(l, n, &lv);
		else if (str_eq(lv.reason, LEAVE_ASLEEP))
			loop_timer_start(&l->timer, l->c->o.poll_ms);
		else
			begin(l, n, &lv);
		return;
	}
	(void)life_seen(l, l->c->o.idle_poll_ms);
}

/* --- draining --------------------------------------------------------------------------------------- */

/* It is written down which part has begun, and when: true once it is. */
static bool at_step(struct life *l, const char *step)
{
	const struct machine_operation *op = l->m->status.operation;
	char when[STR_TIME_SIZE];

	if (op && str_eq(op->step, step))
		return true;
	life_write(l,
		   json_pack("{s:{s:s, s:s, s:i, s:s, s:n, s:n, s:n}}", "operation", "step", step,
			     "class", "idempotent", "attempt", 1, "started",
			     str_time(when, loop_wall(l->c->loop)), "waitingFor", "nextAttempt",
			     "lastError"),
		   NULL);
	return false;
}

/* It serves on; what stands on the Node is taken away by life_hold(), as soon as the tenant answers. */
static void serve_on(struct life *l, const struct node_claim *n, const char *text)
{
	tell(l, n, "Normal", "DrainWithdrawn", text);
	life_goto(l, MACHINE_SERVING, json_pack("{s:n}", "leave"), NULL, NULL);
}

/* Its pods have gone, or are not waited for any more. */
static void finish(struct life *l, const struct node_claim *n, const struct leave *lv, size_t left)
{
	char when[STR_TIME_SIZE], text[200];
	json_t *extra;

	str_format(text, sizeof(text), "%zu pods are left", left);
	if (lv->then == DRAIN_HOLD) {
		tell(l, n, left ? "Warning" : "Normal", "Drained", text);
		extra = json_pack("{s:n, s:{s:s?, s:s}}", "leave", "hold", "drain", lv->drain,
				  "since", str_time(when, loop_wall(l->c->loop)));
		life_goto(l, MACHINE_SERVING, extra, NULL, NULL);
		return;
	}
	tell(l, n, left ? "Warning" : "Normal", left ? "DeadlinePassed" : "Drained", text);
	extra = json_pack("{s:n, s:{s:I, s:n}}", "hold", "leave", "podsLeft", (json_int_t)left,
			  "blockedBy");
	life_goto(l, MACHINE_STOPPING, extra, NULL, NULL);
}

static struct evict *evict_of(struct life *l, struct tenant *t, const struct node_claim *n)
{
	if (!l->evict)
		l->evict = evict_new(l, t, n->meta.name);
	return l->evict;
}

static void escalate(struct life *l, struct tenant *t, const struct node_claim *n,
		     const struct leave *lv)
{
	const struct tenant_node *node = tenant_node_get(t, n->meta.name);
	struct evict_look look;
	int64_t since, now = loop_wall(l->c->loop);
	char policy[400];
	bool patient;

	if (!tenant_usable(t)) { /* there is nobody to be asked */
		finish(l, n, lv, (size_t)(l->m->status.leave ? l->m->status.leave->pods_left : 0));
		return;
	}
	if (!at_step(l, "escalate"))
		return;
	since = l->m->status.operation->started;
	patient = now - clock_jumps_since(l->c, since) - since < ESCALATE_MS && now >= since;
	/* It may have begun too late to be marked before: else pods come as fast as they go. */
	if (patient && node && !life_hold_mark(l, t, node, lv->reason))
		return;
	look = evict_turn(evict_of(l, t, n), why(l, lv, policy, sizeof(policy)));
	if (!look.left || !patient)
		finish(l, n, lv, look.left);
	else
		report(l, look.left, "EvictionBlocked", look.blocked_by);
}

/* Whoever wants to save its work is told, once: before the first eviction. */
static bool checkpointed(struct life *l, struct tenant *t, const struct node_claim *n,
			 const struct leave *lv)
{
	const struct machine_operation *op = l->m->status.operation;
	const char *who;
	int64_t since;

	if (op && (str_eq(op->step, "evict") || str_eq(op->step, "escalate")))
		return true;
	if (!(op && str_eq(op->step, "checkpoint")) && !checkpoint_needed(t, n))
		return true;
	if (!at_step(l, "checkpoint"))
		return false;
	if (!l->checkpoint)
		l->checkpoint = checkpoint_new(l, t);
	who = checkpoint_look(l->checkpoint, n, lv, op->started);
	if (who)
		report(l, tenant_pods_on(t, n->meta.name, &since), "CheckpointPending", who);
	return !who;
}

/* Pods are gone before their volumes are taken down, and what they wrote may be on its way to them.  Not waited for
 * longer than makes sense, nor where drover may not look. */
static bool volumes_gone(struct life *l, struct tenant *t)
{
	char text[64];

	if (loop_now(l->c->loop) - l->emptied_at >= VOLUMES_MS)
		return true;
	switch (life_asked(l, "volumes")) {
	case ASK_NONE:
		life_ask_volumes(l, t);
		return false;
	case ASK_OK:
		if (!l->volumes)
			return true;
		str_format(text, sizeof(text), "%d volumes attached", l->volumes);
		report(l, 0, "VolumesAttached", text);
		break;
	case ASK_FAILED:
		if (l->answer.err.kind == ERR_DENIED || l->answer.err.kind == ERR_NOT_FOUND)
			return true;
		break;
	}
	life_ask_again(l);
	return false;
}

/* Marked, told, and asked; true: nothing of the tenant's is left that counts. */
static bool pods_gone(struct life *l, struct tenant *t, const struct node_claim *n,
		      const struct leave *lv)
{
	const struct tenant_node *node = tenant_node_get(t, n->meta.name);
	struct evict_look look;

	if (node && !life_hold_mark(l, t, node, lv->reason))
		return false;
	if (!checkpointed(l, t, n, lv) || !at_step(l, "evict"))
		return false;
	look = evict_turn(evict_of(l, t, n), NULL);
	if (look.left)
		l->emptied_at = 0;
	else if (!l->emptied_at)
		l->emptied_at = loop_now(l->c->loop);
	/* A pod may have been bound a moment before the Node was marked. */
	if (look.left || evict_age(l->evict) < l->c->o.settle_ms) {
		report(l, look.left, "EvictionBlocked", look.blocked_by);
		return false;
	}
	return !l->write && (lv->then == DRAIN_HOLD || volumes_gone(l, t));
}

void step_draining(struct life *l)
{
	const struct node_claim *n = life_claim(l);
	struct tenant *t = n ? tenant_get(l->c, n->spec.virtual_cluster_ref.name) : NULL;
	int64_t now = loop_wall(l->c->loop);
	struct leave lv;
	bool late;

	if (!n) {
		if (!life_paused(l) && life_claim_gone(l)) /* nobody's any more */
			life_goto(l, MACHINE_STOPPING, json_pack("{s:n}", "hold"), NULL, NULL);
		return;
	}
	lv = leave_reason(l);
	if (!lv.reason) {
		serve_on(l, n, "nothing wants it to leave any more");
		return;
	}
	if (life_paused(l) || (n->meta.deletion_timestamp && !life_may_leave(l)) ||
	    !controller_may_destroy(l->c))
		return;
	late = lv.now || (lv.deadline && now >= lv.deadline);
	if (late && lv.stop) {
		serve_on(l, n, "the deadline has passed, and onDeadline is Stop");
		return;
	}
	if (!same_leave(l->m->status.leave, &lv)) {
		life_write(l, json_pack("{s:o}", "leave", leave_json(&lv)), NULL);
		return;
	}
	if (lv.deadline > now)
		loop_timer_start(&l->timer, lv.deadline - now < l->c->o.poll_ms ? lv.deadline - now
										: l->c->o.poll_ms);
	if (!t) {
		life_wait(l, WAITING_DEVICE, "TenantGone", "VirtualCluster %s is not there",
			  n->spec.virtual_cluster_ref.name);
		if (late)
			finish(l, n, &lv, 0);
	} else if (late) {
		escalate(l, t, n, &lv);
	} else if (!tenant_usable(t)) { /* unreachable is not gone: the deadline decides */
		life_wait(l, WAITING_DEVICE, "TenantUnreachable", "%s", t->message);
	} else if (pods_gone(l, t, n, &lv)) {
		finish(l, n, &lv, 0);
	}
}
