/* failing: demand whose claims fail in a row; the provisioner holds its next claim back. */
#include "controller/claims/failing.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define FAILURES_ALLOWED 3 /* claims for one demand, then it backs off */
#define BACKOFF_MS (10 * 60 * 1000)

struct failing {
	struct context *c;
	struct map *rows;  /* "tenant|pool" -> struct failing_row */
	struct map *noted; /* claim -> struct noted */
};

/* What was already counted of a claim, which is told again with each change. */
struct noted {
	bool failed, ready;
};

static void note_cause(struct failing_row *row, const struct node_claim *n)
{
	const struct condition *c = condition_get(&n->status.conditions, "Ready");

	str_format(row->why, sizeof(row->why), "%s%s%s", c ? str_or(c->reason, "") : "not known",
		   c && !str_empty(c->message) ? ": " : "",
		   c && !str_empty(c->message) ? c->message : "");
}

void failing_claim(struct failing *f, const struct node_claim *n, bool failed, bool ready)
{
	OWN(arena) a = arena_new();
	const char *key = arena_printf(a, "%s|%s", n->spec.virtual_cluster_ref.name,
				       n->spec.node_pool_ref.name);
	struct failing_row *row = map_get(f->rows, key);
	struct noted *was = map_get(f->noted, n->meta.name);
	int64_t now = loop_wall(f->c->loop);

	if (!was) {
		was = mem_new(struct noted);
		map_put(f->noted, n->meta.name, was);
	}
	if (ready && !was->ready)
		map_del(f->rows, key);
	was->ready |= ready;
	if (!failed || was->failed)
		return;
	was->failed = true;
	if (!row) {
		row = mem_new(struct failing_row);
		map_put(f->rows, key, row);
	}
	row->n++;
	row->last = now;
	note_cause(row, n);
	if (row->n < FAILURES_ALLOWED)
		return;
	row->until = now +
		     (int64_t)BACKOFF_MS *
			     (1 << (row->n - FAILURES_ALLOWED < 4 ? row->n - FAILURES_ALLOWED : 4));
	log_warn("claims fail: backing off", LOG_S("tenant", n->spec.virtual_cluster_ref.name),
		 LOG_S("pool", n->spec.node_pool_ref.name), LOG_I("failures", row->n),
		 LOG_I("ms", row->until - now));
}

void failing_forgive(struct failing *f, const char *pool)
{
	OWN(arena) a = arena_new();
	const char *end = arena_printf(a, "|%s", pool);
	struct map_iter it;

	map_for_each (it, f->rows)
		if (str_ends(it.key, end))
			map_del(f->rows, it.key);
}

void failing_forget_claim(struct failing *f, const char *claim)
{
	map_del(f->noted, claim);
}

const struct failing_row *failing_of(const struct failing *f, const char *tenant, const char *pool)
{
	OWN(arena) a = arena_new();

	return map_get(f->rows, arena_printf(a, "%s|%s", tenant, pool));
}

void failing_each(const struct failing *f,
		  void (*fn)(const char *tenant, const char *pool, const struct failing_row *row,
			     void *arg),
		  void *arg)
{
	OWN(arena) a = arena_new();
	struct map_iter it;

	map_for_each (it, f->rows) {
		char *tenant = arena_strdup(a, it.key), *pool = strchr(tenant, '|');

		*pool++ = '\0';
		fn(tenant, pool, it.value, arg);
	}
}

struct failing *failing_new(struct context *c)
{
	struct failing *f = mem_new(struct failing);

	f->c = c;
	f->rows = map_new(free);
	f->noted = map_new(free);
	return f;
}

void failing_free(struct failing *f)
{
	if (!f)
		return;
	map_free(f->rows);
	map_free(f->noted);
	free(f);
}
