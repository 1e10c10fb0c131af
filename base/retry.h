#ifndef BASE_RETRY_H
#define BASE_RETRY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * retry: back-off with jitter, and token buckets. The functions use only the times in ms that the
 * caller passes: no clock, no timer.
 */
struct backoff {
	int64_t base_ms, cap_ms;
	unsigned failures;
};
/* Returns the next delay, uniform in [d/2, d] with d = min(cap, base * 2^failures), and counts one
 * failure. random: any 64 random bits (loop_random()). */
int64_t backoff_next(struct backoff *b, uint64_t random);
void backoff_reset(struct backoff *b);

struct bucket {
	double per_s, burst, tokens;
	int64_t at_ms;
};
void bucket_init(struct bucket *b, double per_s, double burst, int64_t now_ms);
/* Takes one token and returns 0, or returns the ms until a token is available and takes none. */
int64_t bucket_take(struct bucket *b, int64_t now_ms);

#endif
