#ifndef PLANNER_BURST_MOVES_H
#define PLANNER_BURST_MOVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

/*
 * moves: decides which running work moves from a cloud instance to an owned machine
 * (spec.scaleBack of a BurstPolicy).
 *
 *   now          boot_ms         the work runs again         the work would end
 *    |---------------|----------------------|------------------------|
 *      paid for both ways     redo_ms: lost      saved by the move
 *
 * Until the owned machine is ready, the instance is paid for with or without the move. Work that
 * has to be done again counts as lost at the price of the instance. So the gain is the price of
 * the instance for left_ms - boot_ms - redo_ms.
 *
 * Pure: no clock, no I/O. All times are durations in ms, all amounts millionths of the policy's
 * currency.
 * Tests: tests/unit/planner/burst/test_moves.c
 */

/* Value of spec.scaleBack.toOnPrem, in the order of its names. */
enum burst_home {
	BURST_HOME_NEVER,
	BURST_HOME_AT_COMPLETION,
	BURST_HOME_AT_CHECKPOINT,
	BURST_HOME_IMMEDIATE
};
struct burst_home_policy {
	enum burst_home home;
	/* A move must gain more than this amount, and more than this time */
	int64_t gain, gain_ms;
	/* Number of moves after which a workload is not moved again; -1: no limit */
	int64_t moves;
	/* Time for which an owned machine must have been free without interruption */
	int64_t hysteresis_ms;
};
/* A running launch of a policy. */
struct burst_running {
	/* Name by which ties are broken */
	const char *name;
	const struct burst_home_policy *policy;
	/* Price of the instance for one hour */
	int64_t price;
	/* left_ms: time until which the instance would still be paid for. ran_ms: run time that is
	 * lost if the pods are evicted without a checkpoint. boot_ms: time until an owned machine
	 * serves; 0: it serves already. */
	int64_t left_ms, ran_ms, boot_ms;
	/* Time for which an owned machine has been free for the pods; -1: none is free */
	int64_t free_ms;
	/* Number of earlier moves of the workload */
	int64_t moved;
	/* True if all pods save their work on request */
	bool saves;
	/* Why the pods cannot be moved at all, as text; NULL: they can be */
	const char *kept;
};
enum burst_move_code {
	BURST_MOVES,
	/* The policy does not move running work */
	BURST_MOVE_NOT_ASKED,
	BURST_MOVE_KEPT,
	BURST_MOVE_NOT_SAVED,
	BURST_MOVE_TOO_OFTEN,
	BURST_MOVE_NO_GAIN,
	BURST_MOVE_NO_MACHINE,
	BURST_MOVE_TOO_SHORT
};
struct burst_move {
	enum burst_move_code code;
	/* Amount that the move saves, and amount that the lost work costs; gain: the difference;
	 * gain_ms: the same as time */
	int64_t saved, lost, gain, gain_ms;
};
struct burst_move burst_move_of(const struct burst_running *r);
/* Returns the index of the launch whose move gains most among those with code BURST_MOVES; of
 * equal gains, that with the lower name. n: none. */
size_t burst_move_best(const struct burst_running *v, size_t n);
/* Returns one sentence, with numbers, that explains the move or why there is none. */
const char *burst_move_text(const struct burst_running *r, const struct burst_move *m,
			    const char *currency, struct arena *a);

#endif
