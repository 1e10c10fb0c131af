/* test_moves: which work moves to an owned machine; the rule is checked by an oracle that counts
 * whole minutes. */
#include "tests/unit/testing.h"

#include <string.h>

#include "base/money.h"
#include "base/str.h"
#include "planner/burst/moves.h"

#define MIN INT64_C(60000)
#define HOUR (60 * MIN)

static const struct burst_home_policy at_checkpoint = {
	.home = BURST_HOME_AT_CHECKPOINT, .moves = 1, .hysteresis_ms = 15 * MIN};

/* Returns a launch for 20 an hour with three hours left. Everything allows its move. */
static struct burst_running running(const struct burst_home_policy *p)
{
	return (struct burst_running){.name = "a",
				      .policy = p,
				      .price = 20 * MONEY_UNIT,
				      .left_ms = 3 * HOUR,
				      .ran_ms = HOUR,
				      .boot_ms = 30 * MIN,
				      .free_ms = 15 * MIN,
				      .saves = true};
}

static enum burst_move_code code(const struct burst_running *r)
{
	return burst_move_of(r).code;
}

static void what_is_saved_is_the_price_of_what_is_left(void **state)
{
	struct burst_running r = running(&at_checkpoint);
	struct burst_home_policy now = at_checkpoint;
	struct burst_move m = burst_move_of(&r);

	(void)state;
	assert_int_equal(m.code, BURST_MOVES);
	assert_int_equal(m.saved, 50 * MONEY_UNIT);
	assert_int_equal(m.lost, 0);
	assert_int_equal(m.gain_ms, 150 * MIN);
	now.home = BURST_HOME_IMMEDIATE;
	r.policy = &now;
	m = burst_move_of(&r);
	assert_int_equal(m.code, BURST_MOVES);
	assert_int_equal(m.lost, 20 * MONEY_UNIT);
	assert_int_equal(m.gain, 30 * MONEY_UNIT);
	/* As much work is lost as is left to do. */
	r.ran_ms = 150 * MIN;
	assert_int_equal(code(&r), BURST_MOVE_NO_GAIN);
}

static void each_condition_prevents_a_move(void **state)
{
	struct burst_home_policy p = at_checkpoint;
	struct burst_running r = running(&p);

	(void)state;
	p.home = BURST_HOME_AT_COMPLETION;
	assert_int_equal(code(&r), BURST_MOVE_NOT_ASKED);
	p.home = BURST_HOME_NEVER;
	assert_int_equal(code(&r), BURST_MOVE_NOT_ASKED);
	p.home = BURST_HOME_AT_CHECKPOINT;
	r.saves = false;
	assert_int_equal(code(&r), BURST_MOVE_NOT_SAVED);
	p.home = BURST_HOME_IMMEDIATE;
	assert_int_equal(code(&r), BURST_MOVES);
	r.kept = "it belongs to a gang";
	assert_int_equal(code(&r), BURST_MOVE_KEPT);
	r.kept = NULL;
	r.moved = 1;
	assert_int_equal(code(&r), BURST_MOVE_TOO_OFTEN);
	p.moves = -1;
	assert_int_equal(code(&r), BURST_MOVES);
	r.free_ms = 15 * MIN - 1;
	assert_int_equal(code(&r), BURST_MOVE_TOO_SHORT);
	r.free_ms = -1;
	assert_int_equal(code(&r), BURST_MOVE_NO_MACHINE);
	r.free_ms = 15 * MIN;
	p.gain = 30 * MONEY_UNIT;
	assert_int_equal(code(&r), BURST_MOVE_NO_GAIN);
	p.gain--;
	assert_int_equal(code(&r), BURST_MOVES);
	p.gain_ms = 90 * MIN;
	assert_int_equal(code(&r), BURST_MOVE_NO_GAIN);
}

static void the_move_that_gains_most_is_first(void **state)
{
	struct burst_running v[3];
	OWN(arena) a = arena_new();
	struct burst_move m;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		v[i] = running(&at_checkpoint);
	v[0].name = "c";
	v[1].name = "b";
	v[2].name = "a";
	v[2].left_ms = 2 * HOUR;
	assert_int_equal(burst_move_best(v, 3), 1);
	v[2].price *= 3;
	assert_int_equal(burst_move_best(v, 3), 2);
	for (size_t i = 0; i < 3; i++)
		v[i].saves = false;
	assert_int_equal(burst_move_best(v, 3), 3);
	m = burst_move_of(&v[0]);
	assert_non_null(strstr(burst_move_text(&v[0], &m, "USD", a), "drover.dev/checkpoint"));
	v[0].saves = true;
	m = burst_move_of(&v[0]);
	assert_non_null(strstr(burst_move_text(&v[0], &m, "USD", a), "gains 50.00 USD"));
}

/* --- random launches, with an independent count ----------------------------------------------- */

static uint64_t seed = 1;

static int64_t roll(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)(seed >> 33) % n;
}

/* Counts minute by minute what is paid until the work has run its course: on the instance, and
 * with a move. Work that is lost is done again on the owned machine, at the instance's price. */
static int64_t counted_gain(const struct burst_running *r)
{
	const int64_t per_minute = r->price / 60;
	int64_t stays = 0, moves = 0;

	for (int64_t at = 0; at < r->left_ms; at += MIN) {
		stays += per_minute;
		moves += at < r->boot_ms ? per_minute : 0;
	}
	if (r->policy->home == BURST_HOME_IMMEDIATE)
		for (int64_t at = 0; at < r->ran_ms; at += MIN)
			moves += per_minute;
	return stays - moves;
}

static void it_agrees_with_a_count_of_minutes(void **state)
{
	unsigned moves = 0, stays = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		const struct burst_home_policy p = {.home = (enum burst_home)(2 + roll(2)),
						    .gain = roll(40) * MONEY_UNIT,
						    .moves = roll(3) - 1,
						    .hysteresis_ms = roll(20) * MIN};
		const struct burst_running r = {.name = "x",
						.policy = &p,
						.price = roll(60) * 60 * MONEY_UNIT / 60,
						.left_ms = roll(300) * MIN,
						.ran_ms = roll(300) * MIN,
						.boot_ms = roll(60) * MIN,
						.free_ms = (roll(30) - 1) * MIN,
						.moved = roll(3),
						.saves = roll(2)};
		const struct burst_move m = burst_move_of(&r);
		const int64_t gain = counted_gain(&r), most = 600;
		const bool may = (r.saves || p.home == BURST_HOME_IMMEDIATE) &&
				 (p.moves < 0 || r.moved < p.moves) && r.free_ms >= 0 &&
				 r.free_ms >= p.hysteresis_ms;

		/* The count rounds the price of each minute down. */
		assert_true(m.gain - gain <= most && gain - m.gain <= most);
		if (gain - p.gain <= most && p.gain - gain <= most)
			continue;
		assert_int_equal(m.code == BURST_MOVES, may && gain > p.gain && m.gain_ms > 0);
		moves += m.code == BURST_MOVES;
		stays += m.code != BURST_MOVES;
	}
	assert_true(moves > 500 && stays > 500);
}

static void no_amount_overflows(void **state)
{
	struct burst_running r = running(&at_checkpoint);

	(void)state;
	r.price = INT64_MAX;
	r.left_ms = INT64_MAX;
	assert_int_equal(burst_move_of(&r).saved, MONEY_TEXT_MAX);
	r.left_ms = INT64_MIN;
	assert_int_equal(burst_move_of(&r).saved, 0);
	assert_int_equal(code(&r), BURST_MOVE_NO_GAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_saved_is_the_price_of_what_is_left),
		cmocka_unit_test(each_condition_prevents_a_move),
		cmocka_unit_test(the_move_that_gains_most_is_first),
		cmocka_unit_test(it_agrees_with_a_count_of_minutes),
		cmocka_unit_test(no_amount_overflows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
