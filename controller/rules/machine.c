#include <string.h>
#include <stdlib.h>

#include "controller/rules/machine.h"
#include "api/kinds.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "planner/plan.h"

#define QUARANTINE_FIRST_MS (10 * 60 * 1000)
#define QUARANTINE_CAP_MS (6 * 3600 * 1000)

enum drain_then leave_then(const struct machine *m)
{
	return m->status.leave ? (enum drain_then)m->status.leave->then : DRAIN_RELEASE;
}

int64_t quarantine_wait(const struct machine *m)
{
	int64_t wait = QUARANTINE_FIRST_MS,
		attempts = m->status.quarantine ? m->status.quarantine->attempts : 0;

	for (int64_t i = 0; i < attempts && wait < QUARANTINE_CAP_MS; i++)
		wait *= 2;
	return wait < QUARANTINE_CAP_MS ? wait : QUARANTINE_CAP_MS;
}

int64_t quarantine_due(const struct machine *m)
{
	const struct machine_quarantine *q = m->status.quarantine;

	return q && q->exit == EXIT_AUTO ? m->status.state_since + quarantine_wait(m) : 0;
}

bool warm_is_ready(const struct machine *m)
{
	return str_eq(m->status.state, "free") && m->status.warm_for && m->status.agent &&
	       m->status.agent->boot_id && m->status.agent->public_key;
}

bool warm_is_ending(const struct machine *m)
{
	const struct machine_status *s = &m->status;

	return s->warm_for && ((s->agent && !s->agent->public_key) ||
			       (s->operation && s->operation->boot_number > WARM_POOL_BOOTS));
}
