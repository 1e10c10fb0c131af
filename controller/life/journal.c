/*
 * journal: writes the status of a Machine, and records what a turn decided. Each write is a merge
 * patch with the resourceVersion.
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
#include "base/mem.h"
#include "base/redact.h"
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
		l->journal.took_over = true;
		life_kick(l);
		return;
	}
	/* Do not send the act that the failed patch announced. */
	l->act.journaled = false;
	if (e->kind == ERR_CONFLICT)
		l->journal.took_over = false;
	loop_timer_start(&l->timer, e->kind == ERR_CONFLICT ? 100 : 1000);
}

/* Adds this leader's fence to the patch `status`, until one write of this leader has succeeded. The
 * first successful write takes over the machine. */
static void raise_fence(const struct life *l, json_t *status)
{
	json_t *op = json_object_get(status, "operation");
	int64_t fence = life_fence(l);

	if (l->journal.took_over || json_int_at(op, "fence") >= fence)
		return;
	if (op)
		json_object_set_new(op, "fence", json_integer(fence));
	else
		json_object_set_new(status, "operation",
				    json_pack("{s:I}", "fence", (json_int_t)fence));
}

void life_write(struct life *l, json_t *status, json_t *spec)
{
	json_t *conditions;

	if (!status && !spec) {
		/* jansson refused a text, so there is no patch. The next observation makes drover
		 * try again. */
		log_error("machine status could not be built", LOG_S("machine", l->name));
		return;
	}
	if (writer_busy(&l->journal.write) || !l->c->leading) {
		json_decref(status);
		json_decref(spec);
		return;
	}
	if (spec) {
		writer_spec(&l->journal.write, OBJECT_MACHINE, &l->m->meta, spec, on_spec_written);
	} else {
		/* mutant: conflict-unfenced */
		raise_fence(l, status);
		conditions = life_conditions(l, status);
		if (conditions) {
			json_object_set_new(status, "conditions", conditions);
			json_object_set_new(status, "observedGeneration",
					    json_integer(l->m->meta.generation));
		}
		writer_status(&l->journal.write, OBJECT_MACHINE, &l->m->meta, status, on_written);
	}
}

bool life_ensure_finalizer(struct life *l, bool on)
{
	if (writer_busy(&l->journal.write) || !l->c->leading)
		return finalizer_is_on(&l->m->meta.finalizers, FINALIZER_MACHINE) == on;
	return !writer_finalizer(&l->journal.write, OBJECT_MACHINE, &l->m->meta, FINALIZER_MACHINE,
				 on, on_spec_written);
}

void life_delete(struct life *l)
{
	if (!writer_busy(&l->journal.write) && l->c->leading)
		writer_delete(&l->journal.write, OBJECT_MACHINE, &l->m->meta, on_spec_written);
}

void life_annotate(struct life *l, const char *key, const char *value)
{
	if (writer_busy(&l->journal.write) || !l->c->leading)
		return;
	writer_annotation(&l->journal.write, OBJECT_MACHINE, &l->m->meta, key, value,
			  on_spec_written);
}

/* --- decisions -------------------------------------------------------------------------------- */

/* Cleans a text that quotes BMCs, agents or tenants: makes it valid UTF-8 and removes secrets. */
static void tidy(char *text)
{
	str_clean(text);
	redact(text);
}

static enum life_decision decide(struct life *l, const struct life_decided *d)
{
	assert(!l->journal.decided);
	assert(d->begins || machine_state_info[l->state].next & 1u << d->to);
	/* A machine with a BMC must not skip the state isolating. Only an elastic (cloud) instance
	 * may, because it has no switch port that drover could move. */
	assert(l->state != MACHINE_STOPPING || d->to != MACHINE_LEAVING || !l->m->spec.bmc);
	l->journal.decided = mem_new(struct life_decided);
	*l->journal.decided = *d;
	return LIFE_CHANGE;
}

enum life_decision life_goto(struct life *l, enum machine_state to, json_t *extra,
			     enum reason reason, const char *fmt, ...)
{
	struct life_decided d = {.to = to, .extra = extra, .reason = reason};
	va_list ap;

	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(d.message, sizeof(d.message), fmt, ap);
		va_end(ap);
		tidy(d.message);
	}
	return decide(l, &d);
}

enum life_decision life_quarantine(struct life *l, enum machine_exit exit_, enum reason reason,
				   const char *fmt, ...)
{
	struct life_decided d = {.to = MACHINE_QUARANTINED, .reason = reason};
	json_t *q;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d.message, sizeof(d.message), fmt, ap);
	va_end(ap);
	tidy(d.message);
	q = json_pack("{s:s, s:s, s:s}", "reason", reason_name(reason), "message", d.message,
		      "exit", exit_ == EXIT_AUTO ? "auto" : "operator");
	life_set_time(q, "since", loop_wall(l->c->loop));
	life_set_time(q, "nextAttempt",
		      exit_ == EXIT_AUTO ? loop_wall(l->c->loop) + quarantine_wait(l->m) : 0);
	/* Clear `clean`: a machine that was free no longer counts as clean. */
	d.extra = json_pack("{s:o, s:b}", "quarantine", q, "clean", 0);
	return decide(l, &d);
}

enum life_decision life_begin(struct life *l, const char *why)
{
	struct life_decided d = {.begins = true, .to = MACHINE_KNOWN};

	(void)str_copy(d.message, sizeof(d.message), why);
	return decide(l, &d);
}

enum life_decision life_begin_again(struct life *l)
{
	ctx_event(l->c, OBJECT_MACHINE, &l->m->meta, "Warning", "StatusOutdated",
		  "status is older than the WipeRecords or NodeClaims (a restored backup?); the "
		  "machine starts again in state known and is not clean");
	return life_begin(l, "machine status is older than its records or claims");
}

/* True for a reason for which every machine waits in normal operation. The event for such a reason
 * is of type Normal. If the wait takes too long, the state fails, and the event for the failure is
 * a Warning. */
static bool is_ordinary(enum reason r)
{
	return r == REASON_NodeNotReady || r == REASON_StartupTaintsExist ||
	       r == REASON_ResourceNotRegistered || r == REASON_PowerOnPaced ||
	       r == REASON_CallsPaced || r == REASON_CheckpointPending ||
	       r == REASON_VolumesAttached;
}

/* Returns the members of status.operation that show the reason for waiting. Also logs the reason,
 * and sends an event if it is new. message: cleaned by tidy(). */
static json_t *waiting(const struct life *l, enum machine_waiting waiting_for, enum reason reason,
		       const char *message)
{
	static const char *const names[] = {"Device", "Rate", "Budget", "Approval"};
	const struct machine_operation *op = l->m->status.operation;
	json_t *err;

	log_info("machine waits", LOG_S("machine", l->name),
		 LOG_S("state", machine_state_info[l->state].name),
		 LOG_S("reason", reason_name(reason)), LOG_S("message", message));
	if (!op || !str_eq(op->last_error.reason, reason_name(reason)))
		ctx_event(l->c, OBJECT_MACHINE, &l->m->meta,
			  is_ordinary(reason) ? "Normal" : "Warning", reason_name(reason), message);
	err = json_pack("{s:s, s:s}", "reason", reason_name(reason), "message", message);
	life_set_time(err, "time", loop_wall(l->c->loop));
	return json_pack("{s:s, s:o}", "waitingFor", names[waiting_for], "lastError", err);
}

__attribute__((format(printf, 5, 0))) static void wait_for(struct life *l,
							   enum machine_waiting waiting_for,
							   enum reason reason, int64_t next,
							   const char *fmt, va_list ap)
{
	const struct machine_operation *op = l->m->status.operation;
	char message[400];
	json_t *j;

	vsnprintf(message, sizeof(message), fmt, ap);
	tidy(message);
	l->journal.said_at = loop_now(l->c->loop);
	if (op && str_eq(op->last_error.reason, reason_name(reason)) &&
	    str_eq(op->last_error.message, message) && op->waiting_for == (int)waiting_for &&
	    (!next || op->next_attempt > loop_wall(l->c->loop)))
		return;
	j = waiting(l, waiting_for, reason, message);
	if (next)
		life_set_time(j, "nextAttempt", next);
	life_write(l, json_pack("{s:o}", "operation", j), NULL);
}

enum life_decision life_wait(struct life *l, enum machine_waiting waiting_for, enum reason reason,
			     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	wait_for(l, waiting_for, reason, 0, fmt, ap);
	va_end(ap);
	return LIFE_STAY;
}

enum life_decision life_wait_until(struct life *l, int64_t next, enum machine_waiting waiting_for,
				   enum reason reason, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	wait_for(l, waiting_for, reason, next, fmt, ap);
	va_end(ap);
	return LIFE_STAY;
}

void life_unclean(struct life *l, const char *fmt, ...)
{
	char message[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	tidy(message);
	life_write(l,
		   json_pack("{s:b, s:o}", "clean", 0, "operation",
			     waiting(l, WAITING_APPROVAL, REASON_PowerStateUnexpected, message)),
		   NULL);
}
