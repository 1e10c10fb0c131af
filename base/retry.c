#include "base/retry.h"

#include <limits.h>

int64_t backoff_next(struct backoff *b, uint64_t random)
{
	int64_t d = b->base_ms > 0 ? b->base_ms : 1, half;

	for (unsigned i = 0; i < b->failures && d < b->cap_ms; i++)
		d = d > INT64_MAX / 2 ? INT64_MAX : d * 2;
	if (d > b->cap_ms)
		d = b->cap_ms > 0 ? b->cap_ms : 0;
	if (b->failures < UINT_MAX)
		b->failures++;
	half = d / 2;
	return half + (int64_t)(random % ((uint64_t)(d - half) + 1));
}

void backoff_reset(struct backoff *b)
{
	b->failures = 0;
}

/* Initialises the bucket. A burst below one token is raised to one, because the bucket would
 * otherwise never contain a whole token. */
void bucket_init(struct bucket *b, double per_s, double burst, int64_t now_ms)
{
	b->per_s = per_s > 0 ? per_s : 0;
	b->burst = burst > 1 ? burst : 1;
	b->tokens = b->burst;
	b->at_ms = now_ms;
}

int64_t bucket_take(struct bucket *b, int64_t now_ms)
{
	/* Tolerance for rounding errors, in tokens and in ms. Without it a caller could wait 1 ms
	 * too long. */
	const double slack = 1e-6;
	double wait;

	if (now_ms > b->at_ms) {
		b->tokens += (double)(now_ms - b->at_ms) * b->per_s / 1000;
		if (b->tokens > b->burst)
			b->tokens = b->burst;
	}
	b->at_ms = now_ms;
	if (b->tokens >= 1 - slack) {
		b->tokens = b->tokens > 1 ? b->tokens - 1 : 0;
		return 0;
	}
	if (b->per_s <= 0)
		return INT64_MAX;
	wait = (1 - b->tokens) * 1000 / b->per_s - slack;
	if (wait >= (double)INT64_MAX)
		return INT64_MAX;
	return wait <= 1 ? 1 : (int64_t)wait + ((double)(int64_t)wait < wait);
}
