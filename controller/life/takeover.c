/*
 * takeover: the first acts of a leader on a machine that another one led.
 *
 * A BMC refuses no fence.  So the session that the journal names is deleted by the first look (its
 * login), and two looks come before the first act.  Where the BMC has no sessions nothing takes the
 * predecessor's request back: what the journal shows begun is waited out, counted from when this
 * process saw it there, so that no clocks are compared.
 * Tests: tests/world/test_fence.c
 */
#include "controller/life/takeover.h"
#include "base/str.h"
#include "controller/life/bmc.h"
#include "controller/life/life.h"

#define LOOKS 2
#define CALL_MS 15000 /* limit of a request to a BMC: redfish.h */

void life_follow_saw(struct life *l, const struct machine *m)
{
	const struct machine_operation *op = m->status.operation;
	char begun[sizeof(l->follow.begun)] = "";

	if (op && op->started)
		str_format(begun, sizeof(begun), "%s %s %lld %lld", str_or(op->id, ""),
			   str_or(op->step, ""), (long long)op->attempt, (long long)op->started);
	if (str_eq(begun, l->follow.begun))
		return;
	str_copy(l->follow.begun, sizeof(l->follow.begun), begun);
	l->follow.begun_at = loop_now(l->c->loop);
}

void life_follow_forget(struct life *l)
{
	l->follow.looks = 0;
	l->follow.over = false;
}

bool life_follow_may_act(struct life *l)
{
	int64_t rest;

	if (l->follow.over || !l->bmc)
		return true;
	if (l->follow.looks < LOOKS) {
		(void)life_seen(l, -1);
		return false;
	}
	rest = l->follow.begun_at + CALL_MS - loop_now(l->c->loop);
	if (l->follow.begun[0] && !l->session_uri[0] && rest > 0) {
		loop_timer_start(&l->timer, rest);
		return false;
	}
	l->follow.over = true;
	return true;
}
