/*
 * times: finds times in status that no correct clock can have written.
 * Tests: tests/world/test_clock.c
 */
#include "controller/life/times.h"

#include "base/log.h"
#include "controller/life/journal.h"

/* Largest difference that is tolerated between the clocks of two leaders. */
#define SLACK_MS 60000
/* Longest time until nextAttempt. The longest waits are those between attempts to leave quarantine
 * (rules/machine.c). */
#define NEXT_MS (6 * 3600 * 1000)
/* Longest wait before the boot of a warm machine begins. The boot itself has the time limit of the
 * state claimed (steps/warm.c). */
#define WARM_WAIT_MS 60000

static int64_t longest(const struct life *l)
{
	int64_t limit = life_limit_ms(l, l->state);

	return limit ? limit : WARM_WAIT_MS + life_limit_ms(l, MACHINE_CLAIMED);
}

bool life_ensure_times_near(struct life *l)
{
	const struct machine_status *st = &l->m->status;
	const struct machine_operation *op = st->operation;
	int64_t now = loop_wall(l->c->loop), most = now + longest(l);
	json_t *s = json_object(), *j = json_object();

	if (st->state_since > now + SLACK_MS)
		life_set_time(s, "stateSince", now);
	if (op->started > now + SLACK_MS)
		life_set_time(j, "started", now);
	if (op->deadline > most + SLACK_MS)
		life_set_time(j, "deadline", most);
	if (op->next_attempt > now + NEXT_MS + SLACK_MS)
		life_set_time(j, "nextAttempt", now);
	if (json_object_size(j))
		json_object_set(s, "operation", j);
	json_decref(j);
	if (!json_object_size(s)) {
		json_decref(s);
		return true;
	}
	log_warn("times in status were in the future and are set back", LOG_S("machine", l->name));
	life_write(l, s, NULL);
	return false;
}
