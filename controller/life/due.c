/* due: compares times with the clock, and starts the machine's timer. */
#include "controller/life/due.h"

#include "controller/core/clock_jumps.h"
#include "controller/rules/claim.h"

void life_due_in(struct life *l, int64_t ms)
{
	if (!loop_timer_active(&l->timer) || l->timer.at > loop_now(l->c->loop) + ms)
		loop_timer_start(&l->timer, ms);
}

bool life_is_due(struct life *l, int64_t since, int64_t after)
{
	int64_t left = since + after + clock_jumps_since(l->c, since) - loop_wall(l->c->loop);

	if (after < 0)
		return false;
	if (left > 0)
		life_due_in(l, left);
	return left <= 0;
}

int64_t life_began(const struct life *l, const struct node_claim *n)
{
	return n->meta.creation_timestamp + claim_waited_ms(n, loop_wall(l->c->loop));
}

bool life_is_due_seen(struct life *l, int64_t seen, int64_t after)
{
	int64_t left = seen + after - loop_now(l->c->loop);

	if (left > 0)
		life_due_in(l, left);
	return left <= 0;
}
