/*
 * enter: writes a decided change of state to status, and forgets what this process knows of the
 * previous state.
 * Tests: tests/unit/controller/steps/test_enter.c, tests/world/test_crash.c,
 * tests/world/test_restore.c
 */
#include <assert.h>
#include <stdlib.h>

#include "controller/steps/enter.h"
#include "api/annotations.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/life/act.h"
#include "controller/life/ask.h"
#include "controller/life/bmc.h"
#include "controller/life/bmc_facts.h"
#include "controller/life/consent.h"
#include "controller/life/journal.h"
#include "controller/life/port.h"
#include "controller/life/stale_reason.h"
#include "controller/life/tenancy.h"
#include "controller/rules/claim.h"
#include "controller/rules/promise.h"
#include "controller/tenant/tenant.h"

#define FAILURES_KEPT 20

static json_t *failures_with(const struct life *l, enum reason reason, const char *message)
{
	json_t *list = json_array(), *f = json_object();
	size_t n = l->m->status.failures.n;
	const struct object_ref *r = l->m->status.claim_ref;
	const struct node_claim *n_claim = life_claim(l);
	char name[PROMISE_NAME_SIZE];

	for (size_t i = n >= FAILURES_KEPT ? n - FAILURES_KEPT + 1 : 0; i < n; i++) {
		const struct machine_failure *old = &l->m->status.failures.v[i];
		json_t *o = json_pack("{s:s, s:s, s:s}", "step", str_or(old->step, "unknown"),
				      "reason", str_or(old->reason, "Unknown"), "message",
				      str_or(old->message, ""));

		life_set_time(o, "time", old->time);
		if (old->claim)
			json_object_set_new(o, "claim", json_string(old->claim));
		if (old->pool)
			json_object_set_new(o, "pool", json_string(old->pool));
		if (old->image)
			json_object_set_new(o, "image", json_string(old->image));
		if (old->tenant)
			json_object_set_new(o, "tenant", json_string(old->tenant));
		if (old->template_)
			json_object_set_new(o, "template", json_string(old->template_));
		json_array_append_new(list, o);
	}
	life_set_time(f, "time", loop_wall(l->c->loop));
	json_object_set_new(f, "step", json_string(machine_state_info[l->state].name));
	json_object_set_new(f, "reason", json_string(reason_name(reason)));
	json_object_set_new(f, "message", json_string(message));
	if (r)
		json_object_set_new(f, "claim", json_string(r->name));
	if (n_claim) {
		json_object_set_new(f, "pool", json_string(n_claim->spec.node_pool_ref.name));
		json_object_set_new(f, "image", json_string(claim_image_id(&n_claim->spec.image)));
		json_object_set_new(f, "tenant",
				    json_string(n_claim->spec.virtual_cluster_ref.name));
		json_object_set_new(f, "template", json_string(promise_name(&n_claim->spec, name)));
	}
	json_array_append_new(list, f);
	return list;
}

/* Adds to status whether a cloud instance that a BurstPolicy decided on leaves its tenant while
 * pods are on its Node, or because its pods are moved. A drain that was withdrawn interrupts and
 * moves nothing. */
static void note_interruption(const struct life *l, enum machine_state to, json_t *status)
{
	const struct machine_instance *i = l->m->status.instance;
	const struct node_claim *n = life_claim(l);
	const struct tenant *t =
		n ? tenant_get(l->parts->tenants, n->spec.virtual_cluster_ref.name) : NULL;
	int64_t since;
	bool is = i && i->interrupted, moved = i && i->moved;

	if (!i || !n || !n->spec.burst)
		return;
	if (to == MACHINE_SERVING) {
		is = moved = false;
	} else if (l->state == MACHINE_SERVING) {
		moved = str_eq(json_str_at(status, "leave", "reason"), LEAVE_MOVED_HOME);
		is = !moved && t && tenant_pods_on(t, n->meta.name, &since);
	}
	if (is != i->interrupted || moved != i->moved)
		json_object_set_new(status, "instance",
				    json_pack("{s:b, s:b}", "interrupted", is, "moved", moved));
}

static void enter(struct life *l, const struct life_decided *d)
{
	static const char *const act[] = {"step", "class", "attempt", "started"};
	json_t *status = d->extra ? d->extra : json_object(), *op, *given, *told;
	int64_t now = loop_wall(l->c->loop), limit = life_limit_ms(l, d->to);
	char id[33];

	given = json_object_get(status, "operation");
	op = json_pack("{s:n, s:n, s:n, s:n, s:n, s:I}", "handle", "waitingFor", "nextAttempt",
		       "lastError", "progress", "fence", (json_int_t)life_fence(l));
	/* If an act has not ended, keep it in the journal, so that the next leader waits for the
	 * end of the act (life/takeover.h). */
	for (size_t i = 0; !l->act.in_progress && i < sizeof(act) / sizeof(*act); i++)
		json_object_set_new(op, act[i], json_null());
	life_set_time(op, "deadline", limit ? now + limit : 0);
	if (d->to == MACHINE_CLAIMED || d->to == MACHINE_STOPPING) {
		life_operation_id(l, id);
		json_object_set_new(op, "id", json_string(id));
		json_object_set_new(op, "bootNumber", json_null());
	}
	if (d->to == MACHINE_QUARANTINED && json_object_get(status, "quarantine")) {
		told = life_quarantine_reason(json_object_get(status, "quarantine"));
		json_object_update(op, told);
		json_decref(told);
	}
	if (given)
		json_object_update(op, given);
	json_object_set_new(status, "operation", op);
	if (l->m->status.warm_for && d->to != MACHINE_CLAIMED &&
	    !json_object_get(status, "warmFor"))
		json_object_set_new(status, "warmFor", json_null());
	json_object_set_new(status, "state", json_string(machine_state_info[d->to].name));
	life_set_time(status, "stateSince", now);
	life_bmc_trip(l, d->to, status);
	if (l->state == MACHINE_SERVING || l->state == MACHINE_DRAINING)
		note_interruption(l, d->to, status);
	if (d->reason) {
		json_object_set_new(status, "failures", failures_with(l, d->reason, d->message));
		ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", reason_name(d->reason),
			  d->message);
	}
	log_info("machine state", LOG_S("machine", l->name),
		 LOG_S("from", machine_state_info[l->state].name),
		 LOG_S("to", machine_state_info[d->to].name),
		 LOG_S("reason", str_or(reason_name(d->reason), "")),
		 LOG_S("message", str_or(d->message, "")),
		 LOG_I("ms", l->m->status.state_since ? now - l->m->status.state_since : 0));
	life_act_over(l);
	life_observation_over(l);
	life_port_over(l);
	life_ask_forget(l);
	life_drop_work(l);
	l->unwiped_told = false;
	l->work.progress = 0;
	l->work.knocked_at = 0;
	l->work.join = (struct join_seen){0};
	life_write(l, status, NULL);
}

/* Writes a start from the beginning: state known, a tenancy higher than any known one, and not
 * clean. What runs on the machine may belong to a tenant, so the machine is not isolated here. */
static void begin(struct life *l, const char *why)
{
	int64_t tenancy = life_tenancy_known(l) + 1;
	/* A backend remembers the highest fence of each Machine, even if the Machine's object was
	 * lost. Without a fence in status, start with Unix seconds: this is higher than any earlier
	 * fence, because a leader only adds 1 to the fence of the previous one. */
	int64_t fence = l->m->status.operation ? life_fence(l) : loop_wall(l->c->loop) / 1000;
	json_t *s = json_pack("{s:s, s:I, s:b, s:{s:I}, s:{s:n, s:n}, "
			      "s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n}",
			      "state", "known", "tenancy", (json_int_t)tenancy, "clean", 0,
			      "operation", "fence", (json_int_t)fence, "power", "httpBoot",
			      "agentBoot", "claimRef", "tenant", "pool", "warmFor", "agent",
			      "quarantine", "leave", "hold", "wipeAttempt");
	json_t *trust = life_bmc_first_trust(l);

	if (trust)
		json_object_set_new(s, "trustedBMC", trust);
	l->state = MACHINE_KNOWN;
	life_set_time(s, "stateSince", loop_wall(l->c->loop));
	if (l->m->spec.elastic) {
		/* Begin in claimed: if the instance was launched already, this state finds it by
		 * its tag. */
		l->state = MACHINE_CLAIMED;
		json_object_set_new(s, "state", json_string("claimed"));
		json_object_set_new(s, "claimRef",
				    json_pack("{s:s, s:s*}", "name", l->m->spec.elastic->claim.name,
					      "uid", l->m->spec.elastic->claim.uid));
		life_set_time(json_object_get(s, "operation"), "deadline",
			      loop_wall(l->c->loop) + life_limit_ms(l, MACHINE_CLAIMED));
	}
	log_info(why, LOG_S("machine", l->name), LOG_I("tenancy", tenancy));
	life_write(l, s, NULL);
}

void decision_enact(struct life *l, enum life_decision d)
{
	struct life_decided *made = l->journal.decided;

	assert((d == LIFE_CHANGE) == (made != NULL));
	if (!made)
		return;
	l->journal.decided = NULL;
	if (made->begins)
		begin(l, made->message);
	else
		enter(l, made);
	free(made);
}
