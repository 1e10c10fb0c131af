#include "controller/claims/gang_holds.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"

#define USUAL_MS (30 * 60 * 1000)

struct gang_holds {
	int64_t ms;
	struct map *rows; /* "TENANT/KEY" -> struct row */
	uint64_t plan;
};

struct row {
	char *tenant, *key;
	unsigned n;	     /* holds that are over */
	int64_t ends, rests; /* 0: no hold, no rest */
	size_t free;	     /* machines, by the last plan */
	uint64_t seen;
};

static void row_free(void *p)
{
	struct row *r = p;

	free(r->tenant);
	free(r->key);
	free(r);
}

struct gang_holds *gang_holds_new(int64_t ms)
{
	struct gang_holds *h = mem_new(struct gang_holds);

	h->ms = ms;
	h->rows = map_new(row_free);
	return h;
}

void gang_holds_free(struct gang_holds *h)
{
	if (!h)
		return;
	map_free(h->rows);
	free(h);
}

int64_t gang_holds_ms(const struct context *c)
{
	return c->o.gang_hold_ms < 0 ? 0 : c->o.gang_hold_ms ? c->o.gang_hold_ms : USUAL_MS;
}

static int64_t lasts(const struct gang_holds *h, const struct row *r)
{
	return h->ms << (r->n < GANG_HOLDS_DOUBLINGS ? r->n : GANG_HOLDS_DOUBLINGS);
}

/* Of whom the last plan said nothing any more, when what ran would be over. */
static bool is_past(const struct gang_holds *h, const struct row *r, int64_t now)
{
	return r->seen != h->plan && now >= r->ends && now >= r->rests;
}

/* A hold of nothing is not over: the next machine starts it. */
static void run_out(const struct gang_holds *h, struct row *r, int64_t now)
{
	if (r->rests && r->rests <= now) {
		r->rests = 0;
		r->ends = now + lasts(h, r);
	}
	if (!r->ends || r->ends > now)
		return;
	r->ends = now + lasts(h, r);
	if (!r->free)
		return;
	r->n++;
	r->ends = 0;
	r->rests = now + h->ms;
	log_info("gang hold over", LOG_S("tenant", r->tenant), LOG_S("gang", r->key),
		 LOG_I("machines", (int64_t)r->free), LOG_I("holds", r->n));
}

void gang_holds_before(struct gang_holds *h, struct world *w, int64_t now)
{
	struct map_iter it;

	map_for_each (it, h->rows) {
		struct row *r = it.value;

		if (is_past(h, r, now)) {
			(void)world_put_gang_hold(w, r->tenant, r->key, 0, 0);
			map_del(h->rows, it.key);
			continue;
		}
		run_out(h, r, now);
		(void)world_put_gang_hold(w, r->tenant, r->key, r->rests, r->ends);
	}
}

static struct row *row_of(struct gang_holds *h, const struct plan_hold *x)
{
	char *key = mem_printf("%s/%s", x->tenant, x->gang);
	struct row *r = map_get(h->rows, key);

	if (!r && x->free) {
		r = mem_new(struct row);
		r->tenant = mem_strdup(x->tenant);
		r->key = mem_strdup(x->gang);
		map_put(h->rows, key, r);
	}
	free(key);
	return r;
}

int64_t gang_holds_after(struct gang_holds *h, const struct plan *p, int64_t now)
{
	struct map_iter it;
	int64_t first = 0;

	h->plan++;
	for (size_t i = 0; i < p->nholds; i++) {
		struct row *r = row_of(h, &p->holds[i]);

		if (!r)
			continue;
		r->seen = h->plan;
		r->free = p->holds[i].free;
		if (!r->ends && !r->rests)
			r->ends = now + lasts(h, r);
	}
	map_for_each (it, h->rows) {
		struct row *r = it.value;
		const int64_t due = r->rests ? r->rests : r->ends;

		if (r->seen != h->plan)
			r->free = 0;
		if (!first || due < first)
			first = due;
	}
	return first;
}
