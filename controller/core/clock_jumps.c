/*
 * clock_jumps: compares the wall clock with the monotonic clock every 10 s and at each call of
 * clock_jumps_since(), and remembers the last KEPT jumps.
 */
#include "controller/core/clock_jumps.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/loop/loop.h"
#include "base/mem.h"

#define LOOK_MS 10000
/* Smaller differences are not jumps: NTP slews the clock, and a leap second is 1 s. */
#define JUMP_MS 5000
#define KEPT 16

struct jump {
	/* wall ms that the clock showed right after the jump */
	int64_t to;
	int64_t by;
};

struct clock_jumps {
	struct loop *loop;
	struct loop_timer timer;
	/* ms by which the wall clock was ahead of the monotonic clock at the last comparison */
	int64_t ahead;
	struct jump v[KEPT];
	size_t n;
};

static void remember(struct clock_jumps *j, int64_t to, int64_t by)
{
	if (j->n == KEPT) {
		/* The list is full: merge the two oldest jumps. As a result, drover may act on a
		 * deadline too late, but never too early. */
		j->v[1].by += j->v[0].by;
		for (size_t i = 1; i < KEPT; i++)
			j->v[i - 1] = j->v[i];
		j->n--;
	}
	j->v[j->n++] = (struct jump){to, by};
}

static void take_back(struct clock_jumps *j, int64_t by)
{
	while (by > 0 && j->n) {
		struct jump *last = &j->v[j->n - 1];
		int64_t part = by < last->by ? by : last->by;

		last->by -= part;
		by -= part;
		if (!last->by)
			j->n--;
	}
}

static void look(struct clock_jumps *j)
{
	int64_t wall = loop_wall(j->loop), ahead = wall - loop_clock(j->loop),
		by = ahead - j->ahead;

	j->ahead = ahead;
	if (by > -JUMP_MS && by < JUMP_MS)
		return;
	log_warn(by > 0 ? "wall clock jumped forward: deadlines keep the time that was left"
			: "wall clock was set back",
		 LOG_I("ms", by));
	if (by > 0)
		remember(j, wall, by);
	else
		take_back(j, -by);
}

static void on_timer(void *arg)
{
	struct clock_jumps *j = arg;

	look(j);
	loop_timer_start(&j->timer, LOOK_MS);
}

struct clock_jumps *clock_jumps_new(struct context *c)
{
	struct clock_jumps *j = mem_new(struct clock_jumps);

	j->loop = c->loop;
	j->ahead = loop_wall(c->loop) - loop_clock(c->loop);
	loop_timer_init(&j->timer, c->group, on_timer, j);
	loop_timer_start(&j->timer, LOOK_MS);
	return j;
}

void clock_jumps_free(struct clock_jumps *j)
{
	if (!j)
		return;
	loop_timer_stop(&j->timer);
	free(j);
}

int64_t clock_jumps_since(const struct context *c, int64_t stamp)
{
	int64_t sum = 0;

	if (!c->clock_jumps)
		return 0;
	/* Compare now: the timer may be late, and this caller may be the first to run after a
	 * jump. */
	look(c->clock_jumps);
	for (size_t i = 0; i < c->clock_jumps->n; i++) {
		const struct jump *j = &c->clock_jumps->v[i];

		/* A stamp is rounded down to whole seconds. With 1 s added, only a jump that
		 * certainly ended after the stamp counts. Another replica with a correct clock may
		 * have set the stamp while this clock was behind. Then less time lies between stamp
		 * and `to` than the clock jumped, and only the time in between is subtracted. */
		if (stamp + 1000 <= j->to)
			sum += j->by < j->to - stamp ? j->by : j->to - stamp;
	}
	return sum;
}
