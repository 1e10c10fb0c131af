#include "controller/core/recheck.h"

#include "base/arena.h"
#include "base/log.h"
#include "controller/core/counters.h"

/* Number of objects that are checked in one loop turn */
#define CHECKED_EACH_TURN 100

static bool check(const struct kube_entry *en, void *arg)
{
	struct recheck *r = arg;
	const char *kind = object_kinds[r->kind].kind;

	if (!r->again(en, r->arg))
		return true;
	log_error("an object was indexed wrongly; the index is corrected now (an error in drover)",
		  LOG_S("kind", kind), LOG_S("name", en->name));
	counters_corrected(r->c->counters, kind);
	r->corrected++;
	return true;
}

static void on_timer(void *arg)
{
	struct recheck *r = arg;

	if (!r->arena) {
		r->arena = arena_new();
		sweep_begin(&r->sweep, r->c->cache[r->kind], r->arena);
	}
	if (sweep_go_on(&r->sweep, CHECKED_EACH_TURN, check, r)) {
		loop_timer_start(&r->timer, 0);
		return;
	}
	arena_free(r->arena);
	r->arena = NULL;
	loop_timer_start(&r->timer, RECHECK_MS);
}

void recheck_init(struct recheck *r, struct context *c, enum object_kind_id kind,
		  bool (*again)(const struct kube_entry *en, void *arg), void *arg)
{
	*r = (struct recheck){.c = c, .kind = kind, .again = again, .arg = arg};
	loop_timer_init(&r->timer, c->group, on_timer, r);
	loop_timer_start(&r->timer, RECHECK_MS);
}

void recheck_stop(struct recheck *r)
{
	loop_timer_stop(&r->timer);
	arena_free(r->arena);
	r->arena = NULL;
}

size_t recheck_now(struct recheck *r)
{
	const size_t before = r->corrected;

	kube_cache_each(r->c->cache[r->kind], check, r);
	return r->corrected - before;
}
