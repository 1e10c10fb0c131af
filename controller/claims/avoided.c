/* avoided: the list of machines that are not offered to the planner for a while. A module of its
 * own, because claims.c adds machines and world_sync.c queries the list. */
#include "controller/claims/avoided.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"

#define BACKOFF_MS (10 * 60 * 1000)
#define DOUBLINGS 4

struct avoided {
	struct context *c;
	/* Key: name of a Machine; value: struct avoided_machine */
	struct map *machines;
	struct loop_timer again;
};

struct avoided_machine {
	unsigned n;
	/* Wall ms at which the machine may be offered again */
	int64_t until;
};

bool avoided_is(const struct avoided *a, const char *machine)
{
	const struct avoided_machine *s = map_get(a->machines, machine);

	return s && loop_wall(a->c->loop) < s->until;
}

void avoided_forget(struct avoided *a, const char *machine)
{
	map_del(a->machines, machine);
}

void avoided_add(struct avoided *a, const char *machine)
{
	struct avoided_machine *s = map_get(a->machines, machine);
	int64_t ms;

	if (!s) {
		s = mem_new(struct avoided_machine);
		map_put(a->machines, machine, s);
	}
	ms = (int64_t)BACKOFF_MS << (s->n < DOUBLINGS ? s->n : DOUBLINGS);
	s->n++;
	s->until = loop_wall(a->c->loop) + ms;
	log_warn("machine avoided: it did not accept its claim", LOG_S("machine", machine),
		 LOG_I("ms", ms));
	notify(a->c, NOTICE_OFFER, machine);
	loop_timer_start(&a->again, ms + 1000);
}

static void on_again(void *arg)
{
	struct avoided *a = arg;
	struct map_iter it;

	map_for_each (it, a->machines)
		notify(a->c, NOTICE_OFFER, it.key);
	if (map_size(a->machines))
		loop_timer_start(&a->again, BACKOFF_MS);
}

struct avoided *avoided_new(struct context *c)
{
	struct avoided *a = mem_new(struct avoided);

	a->c = c;
	a->machines = map_new(free);
	loop_timer_init(&a->again, c->group, on_again, a);
	return a;
}

void avoided_free(struct avoided *a)
{
	if (!a)
		return;
	loop_timer_stop(&a->again);
	map_free(a->machines);
	free(a);
}
