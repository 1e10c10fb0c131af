/*
 * queue_wait: sums up how long calls of the present state waited in the machine queue of their
 * Provider.
 * Tests: tests/world/test_queue_wait.c
 */
#include "controller/life/queue_wait.h"

#include "base/str.h"
#include "controller/life/journal.h"

/* Time in the queue after which the reason CallsPaced is written to status. It is long, because
 * many machines wait at the same time, and each costs a write. */
#define TELL_MS 120000

void life_queue_asked(struct life *l)
{
	if (l->queue.of != l->m->status.state_since) {
		l->queue.of = l->m->status.state_since;
		l->queue.waited_ms = 0;
	}
	if (!l->queue.since)
		l->queue.since = loop_now(l->c->loop);
}

bool life_queue_waits(const struct life *l)
{
	return l->queue.since && (l->observation.busy || l->act.in_progress);
}

void life_queue_left(struct life *l)
{
	l->queue.since = 0;
}

void life_queue_begun(int64_t waited_ms, void *arg)
{
	struct life *l = arg;

	l->queue.since = 0;
	l->queue.waited_ms += waited_ms;
}

/* Reports the wait with a text that does not change, so that status is written once and
 * lastError.time shows since when the machine waits. */
void life_queue_report(struct life *l)
{
	int64_t left = l->queue.since + TELL_MS - loop_now(l->c->loop);

	if (!life_queue_waits(l))
		return;
	if (left > 0)
		loop_timer_start(&l->timer, left < l->c->o.poll_ms ? left : l->c->o.poll_ms);
	else
		life_wait(l, WAITING_RATE, REASON_CallsPaced,
			  "waiting in the queue of BMC calls of provider %s",
			  str_or(l->m->spec.provider_ref.name, ""));
}

bool life_ensure_queue_settled(struct life *l)
{
	const struct machine_operation *op = l->m->status.operation;

	if (life_queue_waits(l) || reason_find(op->last_error.reason) != REASON_CallsPaced)
		return true;
	life_write(l, json_pack("{s:{s:n, s:n}}", "operation", "waitingFor", "lastError"), NULL);
	return false;
}

bool life_ensure_queue_counted(struct life *l)
{
	int64_t waited = l->queue.waited_ms;
	char t[STR_TIME_SIZE];

	if (l->queue.of != l->m->status.state_since || waited <= 0)
		return true;
	l->queue.waited_ms = 0;
	life_write(l,
		   json_pack("{s:{s:s}}", "operation", "deadline",
			     str_time(t, life_deadline(l) + waited)),
		   NULL);
	return false;
}
