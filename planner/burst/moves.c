/* moves: compares what a move saves with what it loses, and finds the move that gains most. */
#include "planner/burst/moves.h"

#include <string.h>

#include "base/money.h"
#include "base/str.h"

static int64_t positive(int64_t ms)
{
	return ms > 0 ? ms : 0;
}

/* Returns the price of the instance for ms, at most MONEY_TEXT_MAX. */
static int64_t amount(int64_t price, int64_t ms)
{
	int64_t micro;

	return money_for_ms(positive(price), positive(ms), &micro) && micro < MONEY_TEXT_MAX
		       ? micro
		       : MONEY_TEXT_MAX;
}

static enum burst_move_code code_of(const struct burst_running *r, const struct burst_move *m)
{
	const struct burst_home_policy *p = r->policy;

	if (p->home != BURST_HOME_AT_CHECKPOINT && p->home != BURST_HOME_IMMEDIATE)
		return BURST_MOVE_NOT_ASKED;
	if (r->kept)
		return BURST_MOVE_KEPT;
	if (p->home == BURST_HOME_AT_CHECKPOINT && !r->saves)
		return BURST_MOVE_NOT_SAVED;
	if (p->moves >= 0 && r->moved >= p->moves)
		return BURST_MOVE_TOO_OFTEN;
	if (m->gain <= positive(p->gain) || m->gain_ms <= positive(p->gain_ms))
		return BURST_MOVE_NO_GAIN;
	if (r->free_ms < 0)
		return BURST_MOVE_NO_MACHINE;
	return r->free_ms < p->hysteresis_ms ? BURST_MOVE_TOO_SHORT : BURST_MOVES;
}

struct burst_move burst_move_of(const struct burst_running *r)
{
	const int64_t redo = r->policy->home == BURST_HOME_AT_CHECKPOINT ? 0 : positive(r->ran_ms),
		      rest = positive(positive(r->left_ms) - positive(r->boot_ms));
	struct burst_move m = {.saved = amount(r->price, rest), .lost = amount(r->price, redo)};

	m.gain = m.saved - m.lost;
	m.gain_ms = rest - redo;
	m.code = code_of(r, &m);
	return m;
}

size_t burst_move_best(const struct burst_running *v, size_t n)
{
	struct burst_move most = {0};
	size_t best = n;

	for (size_t i = 0; i < n; i++) {
		const struct burst_move m = burst_move_of(&v[i]);

		if (m.code != BURST_MOVES ||
		    (best < n && (m.gain < most.gain ||
				  (m.gain == most.gain && strcmp(v[i].name, v[best].name) > 0))))
			continue;
		best = i;
		most = m;
	}
	return best;
}

static const char *minutes(int64_t ms, struct arena *a)
{
	return arena_printf(a, "%lld min", (long long)(ms / 60000));
}

const char *burst_move_text(const struct burst_running *r, const struct burst_move *m,
			    const char *currency, struct arena *a)
{
	char gain[MONEY_TEXT], want[MONEY_TEXT];

	switch (m->code) {
	case BURST_MOVES:
		return arena_printf(a, "moves to an owned machine, which gains %s %s",
				    money_format(m->gain, gain), currency);
	case BURST_MOVE_NOT_ASKED:
		return "its BurstPolicy does not move running work";
	case BURST_MOVE_KEPT:
		return r->kept;
	case BURST_MOVE_NOT_SAVED:
		return "not all of its pods save their work on request (annotation "
		       "drover.dev/checkpoint)";
	case BURST_MOVE_TOO_OFTEN:
		return arena_printf(a, "its workload was moved %lld times, the policy allows %lld",
				    (long long)r->moved, (long long)r->policy->moves);
	case BURST_MOVE_NO_GAIN:
		return arena_printf(
			a, "a move gains %s %s and %s, the policy requires more than %s %s and %s",
			money_format(m->gain, gain), currency, minutes(m->gain_ms, a),
			money_format(positive(r->policy->gain), want), currency,
			minutes(positive(r->policy->gain_ms), a));
	case BURST_MOVE_NO_MACHINE:
		return "no owned machine is free for its pods";
	case BURST_MOVE_TOO_SHORT:
		break;
	}
	return arena_printf(a, "an owned machine is free, but not yet for %s (hysteresis)",
			    minutes(r->policy->hysteresis_ms, a));
}
