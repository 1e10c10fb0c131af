/*
 * journal: writes the status of a Machine: changes of state, finalizer, why nothing moves.  Each write is a
 * merge patch with the resourceVersion.
 * Tests: tests/world/test_bmc.c, tests/world/test_crash.c
 */
#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/life/journal.h"
#include "api/annotations.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/core/finalizer.h"
#include "controller/life/conditions.h"
#include "controller/life/life.h"
#include "controller/rules/machine.h"

static void on_spec_written(json_t *o, const struct err *e, void *arg)
{
	struct life *l = arg;

	(void)o;
	loop_timer_start(&l->timer, e ? 1000 : 0);
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct life *l = arg;

	(void)o;
	if (!e) {
		l->took_over = true;
		life_kick(l);
		return;
	}
	/* Nothing of what the patch announced may be done. */
	l->journaled = false;
	if (e->kind == ERR_CONFLICT)
		l->took_over = false;
	loop_timer_start(&l->timer, e->kind == ERR_CONFLICT ? 100 : 1000);
}

void life_write(struct life *l, json_t *status, json_t *spec)
{
	json_t *conditions;

	if (!status &&
	    !spec) { /* jansson refused a text: what it was about is tried again with the next look */
		log_error("machine status could not be built", LOG_S("machine", l->name));
		return;
	}
	if (writer_busy(&l->write) || !l->c->leading) {
		json_decref(status);
		json_decref(spec);
		return;
	}
	if (spec) {
		writer_spec(&l->write, OBJECT_MACHINE, &l->m->meta, spec, on_spec_written);
	} else {
		conditions = life_conditions(l, status);
		if (conditions)
			json_object_set_new(status, "conditions", conditions);
		writer_status(&l->write, OBJECT_MACHINE, &l->m->meta, status, on_written);
	}
}

bool life_finalizer(struct life *l, bool on)
{
	if (writer_busy(&l->write) || !l->c->leading)
		return finalizer_is_on(&l->m->meta.finalizers, FINALIZER_MACHINE) != on;
	return writer_finalizer(&l->write, OBJECT_MACHINE, &l->m->meta, FINALIZER_MACHINE, on,
				on_spec_written);
}

#define FAILURES_KEPT 20

static json_t *failures_with(const struct life *l, enum reason reason, const char *message)
{
	json_t *list = json_array(), *f = json_object();
	size_t n = l->m->status.failures.n;
	const struct object_ref *r = l->m->status.claim_ref;
	const struct node_claim *n_claim = life_claim(l);

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
		json_object_set_new(f, "image", json_string(n_claim->spec.image.digest));
		json_object_set_new(f, "tenant",
				    json_string(n_claim->spec.virtual_cluster_ref.name));
	}
	json_array_append_new(list, f);
	return list;
}

static void enter(struct life *l, enum machine_state to, json_t *extra, enum reason reason,
		  const char *message)
{
	json_t *status = extra ? extra : json_object(), *op, *given;
	int64_t now = loop_wall(l->c->loop), limit = life_limit_ms(l, to);
	char id[33];

	assert(machine_state_info[l->state].next & 1u << to);
	/* Only what is elastic, and so has no network of ours, may leave without being cut off. */
	assert(l->state != MACHINE_STOPPING || to != MACHINE_LEAVING || !l->m->spec.bmc);
	given = json_object_get(status, "operation");
	op = json_pack("{s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:I}", "step", "class",
		       "attempt", "handle", "waitingFor", "nextAttempt", "lastError", "started",
		       "progress", "fence", (json_int_t)life_fence(l));
	life_set_time(op, "deadline", limit ? now + limit : 0);
	if (to == MACHINE_CLAIMED || to == MACHINE_STOPPING) {
		life_operation_id(l, id);
		json_object_set_new(op, "id", json_string(id));
		json_object_set_new(op, "bootNumber", json_null());
	}
	if (given)
		json_object_update(op, given);
	json_object_set_new(status, "operation", op);
	if (l->m->status.warm_for && to != MACHINE_CLAIMED && !json_object_get(status, "warmFor"))
		json_object_set_new(status, "warmFor", json_null());
	json_object_set_new(status, "state", json_string(machine_state_info[to].name));
	life_set_time(status, "stateSince", now);
	if (reason) {
		json_object_set_new(status, "failures", failures_with(l, reason, message));
		ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", reason_name(reason),
			  message);
	}
	log_info("machine state", LOG_S("machine", l->name),
		 LOG_S("from", machine_state_info[l->state].name),
		 LOG_S("to", machine_state_info[to].name),
		 LOG_S("reason", str_or(reason_name(reason), "")),
		 LOG_S("message", str_or(message, "")),
		 LOG_I("ms", l->m->status.state_since ? now - l->m->status.state_since : 0));
	l->act[0] = l->answer.about[0] = '\0';
	life_drop_work(l);
	l->progress = 0;
	l->act_after = l->knocked_at = 0;
	backoff_reset(&l->act_backoff);
	life_write(l, status, NULL);
}

/* Texts quote BMCs, agents and tenants: whole UTF-8, and no media token, which opens the boot block. */
static void tidy(char *text)
{
	char *at = strstr(text, "/boot/");

	str_clean(text);
	for (at = at ? at + strlen("/boot/") : NULL; at && isxdigit((unsigned char)*at); at++)
		*at = '*';
}

void life_goto(struct life *l, enum machine_state to, json_t *extra, enum reason reason,
	       const char *fmt, ...)
{
	char message[400] = "";
	va_list ap;

	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(message, sizeof(message), fmt, ap);
		va_end(ap);
		tidy(message);
	}
	enter(l, to, extra, reason, message);
}

void life_quarantine(struct life *l, enum machine_exit exit_, enum reason reason, const char *fmt,
		     ...)
{
	char message[400];
	json_t *q;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	tidy(message);
	q = json_pack("{s:s, s:s, s:s}", "reason", reason_name(reason), "message", message, "exit",
		      exit_ == EXIT_AUTO ? "auto" : "operator");
	life_set_time(q, "since", loop_wall(l->c->loop));
	life_set_time(q, "nextAttempt",
		      exit_ == EXIT_AUTO ? loop_wall(l->c->loop) + quarantine_wait(l->m) : 0);
	/* A machine that was free is not clean any more. */
	enter(l, MACHINE_QUARANTINED, json_pack("{s:o, s:b}", "quarantine", q, "clean", 0), reason,
	      message);
}

void life_wait(struct life *l, enum machine_waiting waiting_for, enum reason reason,
	       const char *fmt, ...)
{
	static const char *const names[] = {"Device", "Rate", "Budget", "Approval"};
	const struct machine_operation *op = l->m->status.operation;
	char message[400];
	json_t *err;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	tidy(message);
	if (op && str_eq(op->last_error.reason, reason_name(reason)) &&
	    str_eq(op->last_error.message, message) && op->waiting_for == (int)waiting_for)
		return;
	log_info("machine waits", LOG_S("machine", l->name),
		 LOG_S("state", machine_state_info[l->state].name),
		 LOG_S("reason", reason_name(reason)), LOG_S("message", message));
	if (!op || !str_eq(op->last_error.reason, reason_name(reason)))
		ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", reason_name(reason),
			  message);
	err = json_pack("{s:s, s:s}", "reason", reason_name(reason), "message", message);
	life_set_time(err, "time", loop_wall(l->c->loop));
	life_write(l,
		   json_pack("{s:{s:s, s:o}}", "operation", "waitingFor", names[waiting_for],
			     "lastError", err),
		   NULL);
}

/* --- the journal ------------------------------------------------------------------------------- */
