/*
 * batch: stores the arrival times of the pods that no plan has covered yet.
 */
#include "controller/claims/batch.h"

void batch_came(struct batch *b, int64_t now)
{
	bool follows = b->last && now - b->last < b->idle_ms;

	if (!b->waits)
		b->first = now;
	b->last = now;
	b->waits = true;
	b->open = b->open || follows;
}

int64_t batch_left(const struct batch *b, int64_t now)
{
	int64_t idle = b->last + b->idle_ms, most = b->first + b->most_ms,
		until = idle < most ? idle : most;

	return b->open && until > now ? until - now : 0;
}

void batch_planned(struct batch *b)
{
	b->waits = b->open = false;
}
