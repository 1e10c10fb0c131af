/* failing: counts claims that fail in a row, and answers whether the next claim is paused. */
#include "controller/claims/failing.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/claims/breaker.h"
#include "controller/rules/claim.h"

#define FAILURES_ALLOWED 3 /* Failures in a row before new claims are paused */
#define BACKOFF_MS (10 * 60 * 1000)
#define DOUBLINGS 4
#define ALONE (FAILURES_ALLOWED - 1)
/* The row of a pool ends when this time passes without a failure. */
#define WINDOW_MS (30 * 60 * 1000)

struct failing {
	struct context *c;
	/* Key: "POOL|TENANT"; value: struct failing_row */
	struct map *rows;
	/* Key: "POOL|REASON"; value: struct failing_row */
	struct map *pools;
	/* Key: name of a NodeClaim; value: struct noted */
	struct map *noted;
};

/* Results of a claim that were already counted. */
struct noted {
	bool failed, ready;
};

static void row_free(void *p)
{
	struct failing_row *row = p;

	free(row->tenant);
	free(row);
}

/* --- counting --------------------------------------------------------------------------------- */

static const struct condition *ready_of(const struct node_claim *n)
{
	return condition_get(&n->status.conditions, "Ready");
}

static void note_cause(struct failing_row *row, const struct node_claim *n)
{
	const struct condition *c = ready_of(n);

	str_format(row->why, sizeof(row->why), "%s%s%s", c ? str_or(c->reason, "") : "not known",
		   c && !str_empty(c->message) ? ": " : "",
		   c && !str_empty(c->message) ? c->message : "");
}

static struct failing_row *row_of(struct map *m, const char *key, const char *tenant)
{
	struct failing_row *row = map_get(m, key);

	if (!row) {
		row = mem_new(struct failing_row);
		row->tenant = mem_strdup(tenant);
		map_put(m, key, row);
	}
	return row;
}

static void log_row(const struct failing_row *row, const struct node_claim *n, int64_t now)
{
	log_warn("claims fail: backing off", LOG_S("tenant", row->several ? "" : row->tenant),
		 LOG_S("pool", n->spec.node_pool_ref.name), LOG_I("failures", row->n),
		 LOG_I("ms", row->until - now), LOG_S("why", row->why));
}

static void count(struct failing_row *row, const struct node_claim *n, int64_t now)
{
	unsigned doublings;

	row->n++;
	row->last = now;
	note_cause(row, n);
	if (row->n < FAILURES_ALLOWED)
		return;
	doublings = row->n - FAILURES_ALLOWED;
	row->until = now + ((int64_t)BACKOFF_MS << (doublings < DOUBLINGS ? doublings : DOUBLINGS));
	log_row(row, n, now);
}

/* Counts the failure of claim n in the row of its pool and reason. The row ends WINDOW_MS after its
 * last failure. Of several failures in a row of the same tenant only the first ALONE count, so that
 * no tenant by itself pauses the pool for others. */
static void count_pool(struct failing *f, const struct node_claim *n, int64_t now, struct arena *a)
{
	const struct condition *c = ready_of(n);
	const char *tenant = n->spec.virtual_cluster_ref.name,
		   *reason = c ? str_or(c->reason, "") : "",
		   *key = arena_printf(a, "%s|%s", n->spec.node_pool_ref.name, reason);
	struct failing_row *row = map_get(f->pools, key);

	/* Failures of own machines are judged by the circuit breaker (breaker.h), so count only
	 * those of cloud instances. */
	if (!n->spec.provider_ref || breaker_is_tenants(reason))
		return;
	if (row && now - row->last > WINDOW_MS && now >= row->until)
		map_del(f->pools, key);
	row = row_of(f->pools, key, tenant);
	if (!str_eq(row->tenant, tenant)) {
		row->several = true;
		row->alone = 0;
		free(row->tenant);
		row->tenant = mem_strdup(tenant);
	}
	if (row->alone == ALONE)
		return;
	row->alone++;
	count(row, n, now);
}

static void forgive_all(struct map *rows, const char *pool)
{
	OWN(arena) a = arena_new();
	const char *start = arena_printf(a, "%s|", pool);
	struct map_iter it;

	map_for_each (it, rows)
		if (str_starts(it.key, start))
			map_del(rows, it.key);
}

void failing_claim(struct failing *f, const struct node_claim *n)
{
	const bool failed = str_eq(n->status.phase, "Failed"), ready = !failed && claim_is_ready(n);
	OWN(arena) a = arena_new();
	const char *pool = n->spec.node_pool_ref.name, *tenant = n->spec.virtual_cluster_ref.name,
		   *key = arena_printf(a, "%s|%s", pool, tenant);
	struct noted *was = map_get(f->noted, n->meta.name);
	int64_t now = loop_wall(f->c->loop);

	if (!was) {
		was = mem_new(struct noted);
		map_put(f->noted, n->meta.name, was);
	}
	if (ready && !was->ready) {
		map_del(f->rows, key);
		forgive_all(f->pools, pool);
	}
	was->ready |= ready;
	if (!failed || was->failed)
		return;
	was->failed = true;
	count(row_of(f->rows, key, tenant), n, now);
	count_pool(f, n, now, a);
}

void failing_forgive(struct failing *f, const char *pool)
{
	forgive_all(f->rows, pool);
	forgive_all(f->pools, pool);
}

void failing_forget_claim(struct failing *f, const char *claim)
{
	map_del(f->noted, claim);
}

/* --- queries ---------------------------------------------------------------------------------- */

static const char *pool_of(const char *key, struct arena *a)
{
	return arena_strndup(a, key, strcspn(key, "|"));
}

void failing_each(const struct failing *f,
		  void (*fn)(const char *tenant, const char *pool, const struct failing_row *row,
			     void *arg),
		  void *arg)
{
	OWN(arena) a = arena_new();
	struct map_iter it;

	map_for_each (it, f->rows)
		fn(((struct failing_row *)it.value)->tenant, pool_of(it.key, a), it.value, arg);
	map_for_each (it, f->pools)
		if (((struct failing_row *)it.value)->several)
			fn(NULL, pool_of(it.key, a), it.value, arg);
}

bool failing_row_holds(const struct failing_row *row, int64_t now, int64_t since)
{
	return now < row->until && row->last > since;
}

bool failing_holds(const struct failing *f, const char *tenant, const char *pool, int64_t now,
		   int64_t since)
{
	OWN(arena) a = arena_new();
	const struct failing_row *row = map_get(f->rows, arena_printf(a, "%s|%s", pool, tenant));
	const char *start = arena_printf(a, "%s|", pool);
	struct map_iter it;

	if (row && failing_row_holds(row, now, since))
		return true;
	map_for_each (it, f->pools) {
		row = it.value;
		if (row->several && str_starts(it.key, start) && failing_row_holds(row, now, since))
			return true;
	}
	return false;
}

struct failing *failing_new(struct context *c)
{
	struct failing *f = mem_new(struct failing);

	f->c = c;
	f->rows = map_new(row_free);
	f->pools = map_new(row_free);
	f->noted = map_new(free);
	return f;
}

void failing_free(struct failing *f)
{
	if (!f)
		return;
	map_free(f->rows);
	map_free(f->pools);
	map_free(f->noted);
	free(f);
}
