/*
 * draining: empties a machine that leaves its tenant. docs/drain.md describes the order.
 *
 * 	draining: mark the Node --> checkpoint --> evict --> volumes --> stopping
 * 	   |                                         |
 * 	   '--withdrawn, Stop, Hold--> serving       '--deadline: escalate--> stopping
 *
 * Tests: tests/world/test_drain.c, tests/world/test_hold.c
 */
#include <stdlib.h>
#include <string.h>

#include "api/annotations.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/burst/homeward.h"
#include "controller/claims/drift.h"
#include "controller/claims/underused.h"
#include "controller/core/clock_jumps.h"
#include "controller/drain/checkpoint.h"
#include "controller/drain/evict.h"
#include "controller/life/ask.h"
#include "controller/life/consent.h"
#include "controller/life/journal.h"
#include "controller/life/node.h"
#include "controller/steps/adopt.h"
#include "controller/steps/hold.h"
#include "controller/steps/leave_reason.h"
#include "controller/steps/leave_words.h"
#include "controller/steps/lives.h"
#include "controller/steps/steps.h"
#include "controller/steps/stopping.h"

#define TELL_MS 5000 /* minimum time between two writes of status.leave */
/* Longest wait for volumes to be detached. Volumes of evicted pods are detached within seconds;
 * volumes of DaemonSet pods are never detached. */
#define VOLUMES_MS (2 * 60 * 1000)
#define ESCALATE_MS 30000 /* time that deleted pods get before the power-off */

/* What this process has begun for the drain; stored in l->work.of. */
struct work {
	struct evict *evict;
	struct checkpoint *checkpoint;
	/* loop_now() when the last pod that must be evicted was gone; 0: such pods are left */
	int64_t emptied_at;
	/* loop_now() when progress was last written to status.leave; 0: never */
	int64_t told_at;
	/* True: the drain ends, because a pod did not report its checkpoint as done */
	bool unsaved;
};

static void work_free(void *of)
{
	struct work *w = of;

	evict_free(w->evict);
	checkpoint_free(w->checkpoint);
	free(w);
}

static bool work_uses(const void *of, const struct tenant *t)
{
	const struct work *w = of;

	return (w->evict && evict_tenant(w->evict) == t) ||
	       (w->checkpoint && checkpoint_tenant(w->checkpoint) == t);
}

static struct work *work_of(struct life *l)
{
	if (!l->work.of) {
		l->work.of = mem_new(struct work);
		l->work.free = work_free;
		l->work.uses = work_uses;
	}
	return l->work.of;
}

static void on_answer(void *life)
{
	life_kick(life);
}

static bool same_wish(const struct machine_leave *was, const struct leave *lv)
{
	return str_eq(was->reason, lv->reason) && str_eq(was->drain, lv->drain) &&
	       was->then == (int)lv->then && str_eq(was->then_by, lv->then_by) &&
	       str_eq(was->deadline_by, lv->deadline_by);
}

/* True if status.leave shows *lv. Compares deadlines in whole seconds, as status stores them. */
static bool same_leave(const struct machine_leave *was, const struct leave *lv)
{
	return was && same_wish(was, lv) && was->deadline / 1000 == lv->deadline / 1000;
}

/* Sends an event if *lv differs from status.leave in reason, drain, then, thenBy or deadlineBy. A
 * change of the deadline alone is reported only for a Drain, because other deadlines are computed
 * from the clock and change without an operator. */
static void tell_changed(struct life *l, const struct node_claim *n, const struct leave *lv)
{
	const struct machine_leave *was = l->m->status.leave;
	char text[500];

	if (!was || (same_wish(was, lv) && !str_eq(lv->reason, LEAVE_DRAIN)))
		return;
	leave_report(l, n, "Normal", "Draining", leave_why(l, lv, text, sizeof(text)));
}

/* Writes the progress to status.leave, at intervals. If the progress has not changed, reports what
 * blocks the drain with life_wait(). */
static void report(struct life *l, size_t left, enum reason reason, const char *blocked)
{
	const struct machine_leave *was = l->m->status.leave;
	int64_t now = loop_now(l->c->loop);
	struct work *w = work_of(l);

	if (writer_busy(&l->journal.write) || !was || (w->told_at && now - w->told_at < TELL_MS))
		return;
	if (was->pods_left != (int64_t)left || !str_eq(was->blocked_by, blocked)) {
		w->told_at = now;
		life_write(l,
			   json_pack("{s:{s:I, s:s?}}", "leave", "podsLeft", (json_int_t)left,
				     "blockedBy", blocked),
			   NULL);
	} else if (blocked) {
		life_wait(l, str_starts(blocked, "pdb ") ? WAITING_BUDGET : WAITING_DEVICE, reason,
			  "%s", blocked);
	}
}

/* True if the journal names `step` as the present part of the drain. Otherwise writes its name and
 * start to the journal, and returns false. */
static bool ensure_at_step(struct life *l, const char *step)
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

/* Withdraws the drain: the machine serves again. life_ensure_hold_settled() removes drover's taint
 * and cordon from the Node as soon as the tenant's API server answers. */
static enum life_decision serve_on(struct life *l, const struct node_claim *n)
{
	char text[600];

	if (l->m->status.leave && str_eq(l->m->status.leave->reason, LEAVE_UNDERUSED) &&
	    l->all->spec.underused)
		underused_withdrawn(l->all->spec.underused, n);
	if (l->m->status.leave && str_eq(l->m->status.leave->reason, LEAVE_DRIFTED) &&
	    l->all->spec.drift)
		drift_withdrawn(l->all->spec.drift, n);
	if (l->m->status.leave && str_eq(l->m->status.leave->reason, LEAVE_MOVED_HOME) &&
	    l->all->spec.homeward)
		homeward_withdrawn(l->all->spec.homeward, n);
	leave_report(l, n, "Normal", "DrainWithdrawn", leave_withdrawn(l, text, sizeof(text)));
	return life_goto(l, MACHINE_SERVING, json_pack("{s:n}", "leave"), REASON_NONE, NULL);
}

/* Ends the drain, because the pods are gone or drover no longer waits for them. Returns the change
 * of state: to serving with a hold (then: Hold), or to stopping. */
static enum life_decision finish(struct life *l, const struct node_claim *n, const struct leave *lv,
				 size_t left, const char *blocked)
{
	const struct drain *d = lv->drain ? CTX_GET(l->c, OBJECT_DRAIN, drain, lv->drain) : NULL;
	char when[STR_TIME_SIZE], text[400], by[300];
	json_t *extra;

	leave_left((int64_t)left, left ? blocked : NULL, text, sizeof(text));
	if (lv->then == DRAIN_HOLD) {
		leave_report(l, n, left ? "Warning" : "Normal", "Drained", text);
		str_format(by, sizeof(by), "by Drain %.63s: %.200s", str_or(lv->drain, ""),
			   d ? str_or(d->spec.reason, "") : "");
		hold_report(l, true, by);
		extra = json_pack("{s:n, s:{s:s?, s:s, s:I, s:s?}}", "leave", "hold", "drain",
				  lv->drain, "since", str_time(when, loop_wall(l->c->loop)),
				  "podsLeft", (json_int_t)left, "blockedBy", left ? blocked : NULL);
		return life_goto(l, MACHINE_SERVING, extra, REASON_NONE, NULL);
	}
	leave_report(l, n, left ? "Warning" : "Normal", left ? "DeadlinePassed" : "Drained", text);
	extra = json_pack("{s:n, s:{s:I, s:n}}", "hold", "leave", "podsLeft", (json_int_t)left,
			  "blockedBy");
	return life_goto(l, MACHINE_STOPPING, extra, REASON_NONE, NULL);
}

static struct evict *evict_of(struct life *l, struct tenant *t, const struct node_claim *n)
{
	struct work *w = work_of(l);

	if (!w->evict)
		w->evict =
			evict_new(&(struct leave_of){l->c, t, n->meta.name, l->name, on_answer, l});
	return w->evict;
}

static enum life_decision escalate(struct life *l, struct tenant *t, const struct node_claim *n,
				   const struct leave *lv)
{
	const struct tenant_node *node = tenant_node_get(t, n->meta.name);
	struct evict_look look;
	int64_t since, now = loop_wall(l->c->loop);
	char policy[500];
	bool patient;

	/* there is no API server to ask how many pods are left: use the number in status */
	if (!tenant_usable(t))
		return finish(l, n, lv,
			      (size_t)(l->m->status.leave ? l->m->status.leave->pods_left : 0),
			      l->m->status.leave ? l->m->status.leave->blocked_by : NULL);
	if (!ensure_at_step(l, "escalate"))
		return LIFE_STAY;
	since = l->m->status.operation->started;
	patient = now - clock_jumps_since(l->c, since) - since < ESCALATE_MS && now >= since;
	/* If the drain began late, the Node may not be marked (cordon, taint) yet. Mark it first,
	 * because without the marks new pods are placed as fast as others leave. */
	if (patient && node && !life_ensure_node_marked(l, t, node, lv->reason))
		return LIFE_STAY;
	life_beat_listen(l);
	look = evict_turn(evict_of(l, t, n), leave_why(l, lv, policy, sizeof(policy)));
	if (!look.left || !patient)
		return finish(l, n, lv, look.left, look.blocked_by);
	report(l, look.left, REASON_EvictionBlocked, look.blocked_by);
	return LIFE_STAY;
}

/* True once no workload has to save its work any more: each workload that asked for a checkpoint
 * was notified and has finished or run out of time. Also true if no workload asked. Workloads are
 * notified once, before the first eviction. With LEAVE_SAVED a workload that did not finish sets
 * work.unsaved instead. */
static bool ensure_checkpointed(struct life *l, struct tenant *t, const struct node_claim *n,
				const struct leave *lv)
{
	const struct machine_operation *op = l->m->status.operation;
	struct work *w = work_of(l);
	const char *who;
	int64_t since;

	if (op && (str_eq(op->step, "evict") || str_eq(op->step, "escalate")))
		return true;
	if (lv->saves == LEAVE_UNSAVED)
		return true;
	if (!(op && str_eq(op->step, "checkpoint")) && !checkpoint_needed(t, n)) {
		w->unsaved = lv->saves == LEAVE_SAVED && !checkpoint_saved(t, n, 0);
		return !w->unsaved;
	}
	if (!ensure_at_step(l, "checkpoint"))
		return false;
	if (!w->checkpoint)
		w->checkpoint = checkpoint_new(
			&(struct leave_of){l->c, t, n->meta.name, l->name, on_answer, l});
	who = checkpoint_look(w->checkpoint, n, lv, op->started);
	if (who)
		report(l, tenant_pods_on(t, n->meta.name, &since), REASON_CheckpointPending, who);
	w->unsaved = !who && lv->saves == LEAVE_SAVED && !checkpoint_saved(t, n, op->started);
	return !who && !w->unsaved;
}

/* True if no volume is attached to the Node any more. This is checked because volumes are detached
 * after their pods are gone, and data may still be on its way to them. Also true after VOLUMES_MS,
 * and if drover may not list the attachments. */
static bool ensure_volumes_gone(struct life *l, struct tenant *t)
{
	char text[64];

	if (loop_now(l->c->loop) - work_of(l)->emptied_at >= VOLUMES_MS)
		return true;
	switch (life_asked(l, "volumes")) {
	case ASK_NONE:
		life_ask_volumes(l, t);
		return false;
	case ASK_OK:
		if (!l->volumes)
			return true;
		str_format(text, sizeof(text), "%d volume%s attached", l->volumes,
			   l->volumes == 1 ? "" : "s");
		report(l, 0, REASON_VolumesAttached, text);
		break;
	case ASK_FAILED:
		if (life_answer_error(l)->kind == ERR_DENIED ||
		    life_answer_error(l)->kind == ERR_NOT_FOUND)
			return true;
		break;
	}
	life_ask_again(l);
	return false;
}

/* Marks the Node, notifies workloads and evicts pods. True if no pod that must be evicted is left,
 * and no volume is attached either (the volumes are not checked for then: Hold). */
static bool ensure_pods_gone(struct life *l, struct tenant *t, const struct node_claim *n,
			     const struct leave *lv)
{
	const struct tenant_node *node = tenant_node_get(t, n->meta.name);
	struct work *w = work_of(l);
	struct evict_look look;

	if (node && !life_ensure_node_marked(l, t, node, lv->reason))
		return false;
	if (!ensure_checkpointed(l, t, n, lv) || !ensure_at_step(l, "evict"))
		return false;
	look = evict_turn(evict_of(l, t, n), NULL);
	if (look.left) {
		w->emptied_at = 0;
	} else {
		life_beat_listen(l);
		if (!w->emptied_at)
			w->emptied_at = loop_now(l->c->loop);
	}
	/* Wait a little even without pods: a pod may have been bound just before the Node was
	 * marked. */
	if (look.left || evict_age(w->evict) < l->c->o.settle_ms) {
		report(l, look.left, REASON_EvictionBlocked, look.blocked_by);
		return false;
	}
	return !writer_busy(&l->journal.write) &&
	       (lv->then == DRAIN_HOLD || ensure_volumes_gone(l, t));
}

enum life_decision step_draining(struct life *l)
{
	const struct node_claim *n = life_claim(l);
	struct tenant *t =
		n ? tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name) : NULL;
	int64_t now = loop_wall(l->c->loop);
	enum life_decision d = LIFE_STAY;
	struct leave lv;
	bool late;

	if (!n) {
		/* nobody uses a machine whose claim is deleted: stop it without a drain */
		if (life_ensure_unpaused(l) && adopt_unless_gone(l, &d))
			return life_goto(l, MACHINE_STOPPING, json_pack("{s:n}", "hold"),
					 REASON_NONE, NULL);
		return d;
	}
	lv = leave_reason(l);
	if (!lv.reason)
		return serve_on(l, n);
	if (!life_ensure_unpaused(l) || (n->meta.deletion_timestamp && !life_ensure_may_leave(l)) ||
	    !ctx_may_act(l->c))
		return d;
	late = lv.now || (lv.deadline && now >= lv.deadline);
	if (late && lv.stop)
		return serve_on(l, n);
	if (!same_leave(l->m->status.leave, &lv)) {
		tell_changed(l, n, &lv);
		life_write(l, json_pack("{s:o}", "leave", leave_json(&lv)), NULL);
		return d;
	}
	if (lv.deadline > now)
		loop_timer_start(&l->timer, lv.deadline - now < l->c->o.poll_ms ? lv.deadline - now
										: l->c->o.poll_ms);
	if (!t) {
		d = life_wait(l, WAITING_DEVICE, REASON_TenantGone,
			      "VirtualCluster %s does not exist", n->spec.virtual_cluster_ref.name);
		return late ? finish(l, n, &lv, 0, NULL) : d;
	}
	if (late)
		return escalate(l, t, n, &lv);
	/* an unreachable tenant may still use the Node, so only the deadline ends the wait */
	if (!tenant_usable(t))
		return life_wait(l, WAITING_DEVICE, REASON_TenantUnreachable, "%s", t->message);
	if (ensure_pods_gone(l, t, n, &lv))
		return finish(l, n, &lv, 0, NULL);
	return work_of(l)->unsaved ? serve_on(l, n) : d;
}
