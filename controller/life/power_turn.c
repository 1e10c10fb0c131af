/*
 * power_turn: asks the queue of the Provider for a turn, writes a longer wait into the journal, and
 * moves the state's deadline by it.
 */
#include "controller/life/power_turn.h"

#include "base/str.h"
#include "controller/hardware/power_pacing.h"
#include "controller/life/consent.h"
#include "controller/life/journal.h"

#define TELL_MS 5000

static bool asked_for(const struct life *l, int64_t patience_ms)
{
	return str_eq(l->act, "power-on") &&
	       (l->journaled || l->acting ||
		(l->acted_at && loop_now(l->c->loop) - l->acted_at < patience_ms));
}

/* One text for the whole wait, for its time says since when. */
static void say(struct life *l)
{
	const struct provider_object *p = life_provider(l);
	const struct provider_object_limits *li = &p->spec.limits;
	char domain[400] = "";

	if (li->per_domain.key)
		str_format(domain, sizeof(domain), ", and %lld at once of one %s",
			   (long long)li->per_domain.concurrent, li->per_domain.key);
	life_wait(l, WAITING_RATE, REASON_PowerOnPaced,
		  "provider %s switches on %lld machines a minute%s", p->meta.name,
		  (long long)li->power_on_per_minute, domain);
}

bool life_paced(struct life *l, int64_t patience_ms)
{
	const struct machine_operation *op = l->m->status.operation;
	struct power_pacing_wait w;
	char t[STR_TIME_SIZE];
	int64_t waited;
	json_t *j;

	if (asked_for(l, patience_ms))
		return true;
	if (l->acting || writer_busy(&l->write) || loop_now(l->c->loop) < l->act_after ||
	    life_paused(l))
		return false;
	if (!power_pacing_power_on(l->parts->power_pacing, l->m, &w)) {
		if (w.domain || w.at_least >= TELL_MS)
			say(l);
		return false;
	}
	if (!op || op->waiting_for != WAITING_RATE)
		return true;
	waited = loop_wall(l->c->loop) - op->last_error.time;
	j = json_pack("{s:n, s:n}", "waitingFor", "lastError");
	if (op->deadline && waited > 0)
		json_object_set_new(j, "deadline", json_string(str_time(t, op->deadline + waited)));
	life_write(l, json_pack("{s:o}", "operation", j), NULL);
	return false;
}
