/*
 * power_turn: asks the Provider's queue for a turn, writes a longer wait to status, and moves the
 * state's deadline by the time waited.
 */
#include "controller/life/power_turn.h"

#include "base/str.h"
#include "controller/core/clock_jumps.h"
#include "controller/hardware/power_pacing.h"
#include "controller/life/consent.h"
#include "controller/life/journal.h"

#define TELL_MS 5000

static bool asked_for(const struct life *l, int64_t patience_ms)
{
	return str_eq(l->act.step, "power-on") &&
	       (l->act.journaled || l->act.in_progress ||
		(l->act.began_at && loop_now(l->c->loop) - l->act.began_at < patience_ms));
}

/* Writes the wait to status with a text that does not change, so that status is written once and
 * lastError.time shows since when the machine waits. */
static void say(struct life *l)
{
	const struct provider_object *p = life_provider(l);
	const struct provider_object_limits *li = &p->spec.limits;
	char domain[400] = "";

	if (li->per_domain.key)
		str_format(domain, sizeof(domain), ", and %lld at a time per %s",
			   (long long)li->per_domain.concurrent, li->per_domain.key);
	life_wait(l, WAITING_RATE, REASON_PowerOnPaced,
		  "waiting for power-on: provider %s allows %lld per minute%s", p->meta.name,
		  (long long)li->power_on_per_minute, domain);
}

static bool told(const struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;

	return op && op->waiting_for == WAITING_RATE &&
	       reason_find(op->last_error.reason) == REASON_PowerOnPaced;
}

bool life_ensure_wait_settled(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;
	struct power_pacing_wait w;
	char t[STR_TIME_SIZE];
	int64_t since, waited;
	json_t *j;

	if (!told(l) || power_pacing_place(l->parts->power_pacing, l->m, &w) != POWER_PLACE_NONE)
		return true;
	since = op->last_error.time;
	waited = loop_wall(l->c->loop) - clock_jumps_since(l->c, since) - since;
	j = json_pack("{s:n, s:n}", "waitingFor", "lastError");
	if (op->deadline && waited > 0)
		json_object_set_new(j, "deadline", json_string(str_time(t, op->deadline + waited)));
	life_write(l, json_pack("{s:o}", "operation", j), NULL);
	return false;
}

static void tell(struct life *l, const struct power_pacing_wait *w)
{
	if (w->domain || w->at_least >= TELL_MS)
		say(l);
}

bool life_waits_for_power(struct life *l)
{
	struct power_pacing_wait w;

	if (power_pacing_place(l->parts->power_pacing, l->m, &w) != POWER_PLACE_QUEUED)
		return false;
	tell(l, &w);
	/* poll rarely: the queue starts a turn of the machine when its time comes */
	loop_timer_start(&l->timer, l->c->o.idle_poll_ms);
	return true;
}

bool life_ensure_power_turn(struct life *l, int64_t patience_ms)
{
	struct power_pacing_wait w;

	if (asked_for(l, patience_ms))
		return true;
	if (l->act.in_progress || writer_busy(&l->journal.write) ||
	    loop_now(l->c->loop) < l->act.after || !life_ensure_unpaused(l))
		return false;
	if (!power_pacing_power_on(l->parts->power_pacing, l->m, &w)) {
		tell(l, &w);
		return false;
	}
	return life_ensure_wait_settled(l);
}
