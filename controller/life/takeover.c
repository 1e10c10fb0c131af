/*
 * takeover: decides when a new leader may act on a machine that another replica led, so that no
 * late request of the previous leader takes effect after an act of the new leader.
 *
 * A BMC cannot check fences. Therefore the new leader's first read logs in and deletes the previous
 * leader's session, which the journal names. The new leader reads the BMC twice before its first
 * act, so that it sees the BMC as it is after the deletion. On a BMC without sessions, and on one
 * that a manager operates, nothing can cancel a request of the previous leader. There the new
 * leader also waits until the time limit of the act that the journal shows as begun has passed. It
 * counts this time from when this process first saw the act in the journal, so that clocks of two
 * hosts are never compared.
 *
 * A move of a port by the fabric cannot be cancelled either, so the new leader waits for the time
 * limit of the move in the same way. Only the act that the journal names can be in flight: a leader
 * has one act at a time, and the journal names it until it has ended, also across changes of state
 * (steps/enter.c). A move that the journal no longer names has therefore ended.
 * Tests: tests/world/test_fence.c
 */
#include "controller/life/takeover.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "controller/life/bmc.h"
#include "controller/life/life.h"

#define LOOKS 2
#define CALL_MS 15000	 /* time limit of a request to a BMC, from redfish.h */
#define MANAGER_MS 30000 /* time limit of a call to a manager, from providers/bcm/client.h */
/* time limit of place(), the call that moves a machine's port to a segment: the 60 s in
 * providers/fabric.h */
#define MOVE_MS 60000
/* longest part of a segment's name that the journal contains, from life/port.c */
#define MOVE_NAME 40
/* Sizes of the texts that are stored, with their final NUL */
#define BEGUN_SIZE 192
#define MOVE_SIZE 128

void life_follow_saw(struct life *l, const struct machine *m)
{
	const struct machine_operation *op = m->status.operation;
	char begun[BEGUN_SIZE] = "";

	if (op && op->started)
		str_format(begun, sizeof(begun), "%s %s %lld %lld", str_or(op->id, ""),
			   str_or(op->step, ""), (long long)op->attempt, (long long)op->started);
	if (str_eq(begun, str_or(l->follow.begun, "")))
		return;
	mem_save(&l->follow.begun, sizeof(begun), begun);
	l->follow.begun_at = loop_now(l->c->loop);
	/* do not record an act of this process itself, because it will learn how the act ends */
	if (l->c->leading && l->journal.took_over)
		return;
	mem_save(&l->follow.move, MOVE_SIZE, NULL);
	if (op && op->started && str_starts(str_or(op->step, ""), "place "))
		life_move_unheard(l, op->step + strlen("place "));
}

void life_move_unheard(struct life *l, const char *segment)
{
	mem_save(&l->follow.move, MOVE_SIZE, segment);
	l->follow.move_at = loop_now(l->c->loop);
}

bool life_ensure_moves_landed(struct life *l, const char *segment)
{
	const char *move = l->follow.move;
	int64_t rest = l->follow.move_at + MOVE_MS - loop_now(l->c->loop);

	if (!move || (str_eq(move, segment) && strlen(move) < MOVE_NAME))
		return true;
	/* mutant: move-not-awaited */
	if (rest > 0) {
		loop_timer_start(&l->timer, rest);
		return false;
	}
	mem_save(&l->follow.move, MOVE_SIZE, NULL);
	return true;
}

void life_follow_forget(struct life *l)
{
	l->follow.from = l->observation.answered;
	l->follow.over = false;
}

bool life_ensure_predecessor_done(struct life *l)
{
	/* a manager switches the power without a session at the BMC, so deleting the session does
	 * not cancel its calls: wait for them in any case */
	bool managed = life_is_managed(l);
	int64_t rest;

	/* mutant: predecessor-not-awaited */
	if (l->follow.over || !l->bmc)
		return true;
	/* mutant: predecessor-looks */
	if (l->observation.answered - l->follow.from < LOOKS) {
		(void)life_ensure_observed(l, -1);
		return false;
	}
	rest = l->follow.begun_at + (managed ? MANAGER_MS : CALL_MS) - loop_now(l->c->loop);
	if (l->follow.begun && (managed || !l->observation.session_uri) && rest > 0) {
		loop_timer_start(&l->timer, rest);
		return false;
	}
	l->follow.over = true;
	return true;
}
