#include "controller/rules/ledger.h"

#include <stdlib.h>
#include <string.h>
#include "base/money.h"
#include "base/str.h"

bool ledger_phase(enum machine_state s, int *phase)
{
	switch (s) {
	case MACHINE_CLAIMED:
	case MACHINE_IMAGING:
	case MACHINE_ATTACHING:
	case MACHINE_BOOTING:
	case MACHINE_JOINING:
	case MACHINE_GATING:
		*phase = PHASE_ALLOCATED;
		return true;
	case MACHINE_SERVING:
		*phase = PHASE_READY;
		return true;
	case MACHINE_DRAINING:
	case MACHINE_STOPPING:
	case MACHINE_ISOLATING:
	case MACHINE_LEAVING:
		*phase = PHASE_DRAINING;
		return true;
	case MACHINE_DIRTY:
	case MACHINE_INSPECTING:
	case MACHINE_WIPING:
	case MACHINE_VERIFYING:
		*phase = PHASE_WIPING;
		return true;
	case MACHINE_KNOWN:
	case MACHINE_FREE:
	case MACHINE_QUARANTINED:
	case MACHINE_RETIRED:
	case MACHINE_GONE:
	case MACHINE_STATES:
	case MACHINE_STATE_NONE:
		break;
	}
	return false;
}

/* --- months ----------------------------------------------------------------------------------- */

void ledger_month(int64_t unix_ms, char out[static LEDGER_MONTH_SIZE])
{
	char t[STR_TIME_SIZE];

	str_format(out, LEDGER_MONTH_SIZE, "%.7s", str_time(t, unix_ms));
}

bool ledger_month_times(const char *month, int64_t *begin, int64_t *end)
{
	char t[STR_TIME_SIZE], next[LEDGER_MONTH_SIZE];
	const int64_t day = INT64_C(24) * 3600 * 1000;

	str_format(t, sizeof(t), "%s-01T00:00:00Z", month);
	if (strlen(month) != 7 || !str_to_time(t, begin))
		return false;
	ledger_month(*begin + 31 * day, next);
	str_format(t, sizeof(t), "%s-01T00:00:00Z", next);
	return str_to_time(t, end);
}

/* Sets out to the oldest month that is kept at the time now. Counts months as numbers, because each
 * pass over the tenants asks for each of them. */
static void oldest_kept(int64_t now, char out[static LEDGER_MONTH_SIZE])
{
	int months;

	ledger_month(now, out);
	months = 12 * atoi(out) + atoi(out + strlen("YYYY-")) - LEDGER_MONTHS;
	str_format(out, LEDGER_MONTH_SIZE, "%04d-%02d", months / 12, months % 12 + 1);
}

/* --- sums ------------------------------------------------------------------------------------- */

static bool same_kind(const struct virtual_cluster_charge *a,
		      const struct virtual_cluster_charge *b)
{
	return a->phase == b->phase && a->gpus == b->gpus &&
	       str_eq(str_or(a->pool, ""), str_or(b->pool, "")) &&
	       str_eq(str_or(a->provider, ""), str_or(b->provider, "")) &&
	       str_eq(str_or(a->instance_type, ""), str_or(b->instance_type, "")) &&
	       a->price_per_hour == b->price_per_hour &&
	       str_eq(str_or(a->currency, ""), str_or(b->currency, ""));
}

static struct virtual_cluster_charge *find(const struct virtual_cluster_charges *list,
					   const char *month,
					   const struct virtual_cluster_charge *like)
{
	for (size_t i = 0; i < list->n; i++)
		if (same_kind(&list->v[i], like) && (!month || str_eq(list->v[i].month, month)))
			return &list->v[i];
	return NULL;
}

static struct virtual_cluster_charge *append(struct virtual_cluster_charges *list,
					     const struct virtual_cluster_charge *c,
					     struct arena *a)
{
	struct virtual_cluster_charge *v = arena_calloc(a, list->n + 1, sizeof(*v));

	if (list->n)
		memcpy(v, list->v, list->n * sizeof(*v));
	list->v = v;
	v[list->n] = *c;
	return &v[list->n++];
}

/* Adds `seconds` times the number of running machines to the sum c; the sum stops at INT64_MAX. */
static void add_time(struct virtual_cluster_charge *c, int64_t seconds)
{
	int64_t more;

	if (!money_times(c->machines, seconds, &more) || !money_add(&c->seconds, more))
		c->seconds = INT64_MAX;
}

/* Extends all running sums to the time `to`, but at most to the end of the month of c->time, and
 * sets c->time. At the end of a month each running sum ends, and a new sum for the next month takes
 * over its machines. */
static void go_on(struct virtual_cluster_cost *c, int64_t to, struct arena *a)
{
	char month[LEDGER_MONTH_SIZE], next[LEDGER_MONTH_SIZE];
	const size_t n = c->charges.n;
	int64_t begin, end;

	ledger_month(c->time, month);
	if (!ledger_month_times(month, &begin, &end) || end > to)
		end = to;
	ledger_month(end, next);
	for (size_t i = 0; i < n; i++) {
		struct virtual_cluster_charge moved = c->charges.v[i];

		if (!moved.machines)
			continue;
		add_time(&c->charges.v[i], (end - c->time) / 1000);
		if (str_eq(moved.month, next))
			continue;
		c->charges.v[i].machines = 0;
		moved.month = arena_strdup(a, next);
		moved.seconds = 0;
		append(&c->charges, &moved, a);
	}
	c->time = end;
}

static size_t drop_before(struct virtual_cluster_charges *list, const char *month)
{
	size_t kept = 0, n = list->n;

	for (size_t i = 0; i < n; i++)
		if (list->v[i].machines || strcmp(list->v[i].month, month) >= 0)
			list->v[kept++] = list->v[i];
	list->n = kept;
	return n - kept;
}

struct virtual_cluster_cost ledger_at(const struct virtual_cluster_cost *was, int64_t now,
				      struct arena *a)
{
	struct virtual_cluster_cost c = {.time = now -= now % 1000};
	char oldest[LEDGER_MONTH_SIZE];

	if (!was)
		return c;
	c.time = was->time;
	c.charges.v = arena_calloc(a, was->charges.n + 1, sizeof(*c.charges.v));
	c.charges.n = was->charges.n;
	if (c.charges.n)
		memcpy(c.charges.v, was->charges.v, c.charges.n * sizeof(*c.charges.v));
	while (c.time < now)
		go_on(&c, now, a);
	oldest_kept(c.time, oldest);
	drop_before(&c.charges, oldest);
	return c;
}

/* --- machines --------------------------------------------------------------------------------- */

void ledger_count(struct virtual_cluster_charges *held, const struct virtual_cluster_charge *like,
		  int64_t n, struct arena *a)
{
	struct virtual_cluster_charge *c = find(held, NULL, like);

	if (!c) {
		c = append(held, like, a);
		c->seconds = c->machines = 0;
	}
	c->machines += n;
}

bool ledger_holds(const struct virtual_cluster_cost *c, const struct virtual_cluster_charges *held)
{
	size_t n = 0;

	for (size_t i = 0; i < c->charges.n; i++) {
		const struct virtual_cluster_charge *x = &c->charges.v[i], *h;

		if (!x->machines)
			continue;
		n++;
		h = find(held, NULL, x);
		if (!h || h->machines != x->machines)
			return false;
	}
	return n == held->n;
}

static size_t drop_oldest(struct virtual_cluster_charges *list)
{
	char after[LEDGER_MONTH_SIZE];
	const char *oldest = list->v[0].month;
	int64_t begin, end;

	for (size_t i = 1; i < list->n; i++)
		if (strcmp(list->v[i].month, oldest) < 0)
			oldest = list->v[i].month;
	if (!ledger_month_times(oldest, &begin, &end))
		return 0;
	ledger_month(end, after);
	return drop_before(list, after);
}

size_t ledger_hold(struct virtual_cluster_cost *c, const struct virtual_cluster_charges *held,
		   struct arena *a)
{
	char month[LEDGER_MONTH_SIZE];
	size_t dropped = 0, d = 1;

	ledger_month(c->time, month);
	for (size_t i = 0; i < c->charges.n; i++)
		c->charges.v[i].machines = 0;
	for (size_t i = 0; i < held->n; i++) {
		struct virtual_cluster_charge *x = find(&c->charges, month, &held->v[i]);
		struct virtual_cluster_charge fresh = held->v[i];

		fresh.month = arena_strdup(a, month);
		fresh.seconds = 0;
		if (!x)
			x = append(&c->charges, &fresh, a);
		x->machines = held->v[i].machines;
	}
	for (; c->charges.n > LEDGER_CHARGES && d; dropped += d)
		d = drop_oldest(&c->charges);
	return dropped;
}

bool ledger_amount(const struct virtual_cluster_charge *c, int64_t *micro)
{
	return c->price_per_hour >= 0 && money_for_seconds(c->price_per_hour, c->seconds, micro);
}

bool ledger_gpu_seconds(const struct virtual_cluster_charge *c, int64_t *seconds)
{
	return money_times(c->seconds, c->gpus, seconds);
}
