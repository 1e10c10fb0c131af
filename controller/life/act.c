/*
 * act: sends an act (a request that changes hardware, network or a tenant) only after the journal
 * names it, and records its end.
 * Tests: tests/world/test_bmc.c, tests/world/test_crash.c
 */
#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/life/act.h"
#include "base/log.h"
#include "base/str.h"
#include "controller/core/counters.h"
#include "controller/core/host_clock.h"
#include "controller/core/spans.h"
#include "controller/life/bmc_reason.h"
#include "controller/life/consent.h"
#include "controller/life/journal.h"
#include "controller/life/life.h"

void life_act_init(struct life *l)
{
	l->act.backoff = (struct backoff){.base_ms = 2000, .cap_ms = 300000};
}

void life_act_retry(struct life *l)
{
	l->act.after = 0;
	backoff_reset(&l->act.backoff);
}

void life_act_over(struct life *l)
{
	l->act.step[0] = '\0';
	life_act_retry(l);
}

void life_act_forget(struct life *l)
{
	l->act.step[0] = '\0';
	l->act.journaled = false;
	l->act.began_at = 0;
}

void life_act_unanswered(struct life *l)
{
	l->act.in_progress = false;
}

void life_act_unsent(struct life *l)
{
	l->act.began_at = 0;
}

bool life_ensure_may_act(struct life *l, const char *act)
{
	bool old = !ctx_may_act(l->c);

	if (old && l->c->leading && !l->act.withheld)
		log_warn(host_clock_agrees(l->c)
				 ? "destructive request not sent: the lease was not renewed in time"
				 : "destructive request not sent: the clock differs from the API "
				   "server's",
			 LOG_S("machine", l->name), LOG_S("act", act),
			 LOG_I("renewed_ms_ago", kube_lease_renewed_age(l->c->lease)));
	l->act.withheld = old;
	return !old;
}

enum life_turn life_act(struct life *l, const char *step, enum life_class cls, int64_t patience_ms)
{
	static const char *const classes[] = {"idempotent", "probe-first", "once"};
	const struct machine_operation *op = l->m->status.operation;
	int64_t now = loop_now(l->c->loop), attempt;
	bool same = str_eq(l->act.step, step);
	json_t *j;

	if (l->act.in_progress || writer_busy(&l->journal.write) || now < l->act.after ||
	    !life_ensure_unpaused(l) || !life_ensure_may_act(l, step))
		return LIFE_HOLD;
	if (!life_ensure_single(l))
		return LIFE_HOLD;
	if (same && l->act.journaled && op && str_eq(op->step, step)) {
		l->act.journaled = false;
		l->act.in_progress = true;
		l->act.began_at = now;
		return LIFE_GO;
	}
	if (same && l->act.began_at && now - l->act.began_at < patience_ms)
		return LIFE_HOLD;
	attempt = op && str_eq(op->step, step) ? op->attempt + 1 : 1;
	str_copy(l->act.step, sizeof(l->act.step), step);
	l->act.began_at = 0;
	l->act.journaled = true;
	if (!same)
		backoff_reset(&l->act.backoff);
	j = json_pack("{s:s, s:s, s:I, s:I, s:n, s:s, s:n}", "step", step, "class", classes[cls],
		      "attempt", (json_int_t)attempt, "fence", (json_int_t)life_fence(l), "handle",
		      "waitingFor", "Device", "nextAttempt");
	if (attempt == 1) { /* a new act: clear the error and progress of the previous act */
		json_object_set_new(j, "lastError", json_null());
		json_object_set_new(j, "progress", json_null());
	}
	life_set_time(j, "started", loop_wall(l->c->loop));
	life_write(l, json_pack("{s:o}", "operation", j), NULL);
	/* mutant: act-unjournaled */
	return LIFE_HOLD;
}

void life_acted(struct life *l, const struct err *e)
{
	int64_t delay, now = loop_now(l->c->loop);
	enum reason reason;
	json_t *err, *op;

	l->act.in_progress = false;
	l->act.ended_at = now;
	spans_act(l->c->spans, l->m, l->act.step, l->act.began_at, e);
	if (e && l->m) {
		delay = backoff_next(&l->act.backoff, loop_random(l->c->loop));
		if (delay < (int64_t)e->retry_after_ms)
			delay = e->retry_after_ms;
		l->act.after = now + delay;
		l->act.began_at = 0;
		l->m = CTX_GET(l->c, OBJECT_MACHINE, machine, l->name);
		reason = str_starts(l->act.step, "place ") ? REASON_NetworkNotConfirmed
			 : l->m && l->m->spec.elastic	   ? REASON_CloudUnreachable
							   : life_act_reason(l->act.step, e);
		counters_act_failed(l->c->counters, l->act.step, reason_name(reason));
		log_warn("act failed", LOG_S("machine", l->name), LOG_S("act", l->act.step),
			 LOG_I("again_in_ms", delay), LOG_E(e));
		if (l->m) {
			err = json_pack("{s:s, s:s}", "reason", reason_name(reason), "message",
					e->text);
			life_set_time(err, "time", loop_wall(l->c->loop));
			op = json_pack("{s:o}", "lastError", err);
			/* ERR_CONFLICT: the fabric has seen a higher fence than this leader's.
			 * Either a newer leader exists, or the journal was lost. So write a fence
			 * that is one higher to the journal. If a newer leader exists, its write
			 * has changed the resourceVersion, so that this write fails. */
			if (e->kind == ERR_CONFLICT && str_starts(l->act.step, "place "))
				json_object_set_new(op, "fence", json_integer(life_fence(l) + 1));
			life_set_time(op, "nextAttempt", loop_wall(l->c->loop) + delay);
			life_write(l, json_pack("{s:o}", "operation", op), NULL);
		}
		loop_timer_start(&l->timer, delay);
	}
	life_kick(l);
}
