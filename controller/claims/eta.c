/*
 * eta: for each instance type and state the last durations, and sums of their percentiles.
 */
#include "controller/claims/eta.h"

#include <stdlib.h>
#include <string.h>

#include "api/kinds.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define KEPT 50
#define ENOUGH 3

struct eta {
	struct map *types; /* instance type -> struct type */
};

struct ring {
	int64_t ms[KEPT];
	size_t n, next;
};
struct type {
	struct ring states[MACHINE_STATES];
};

struct eta *eta_new(void)
{
	struct eta *e = mem_new(struct eta);

	e->types = map_new(free);
	return e;
}

void eta_free(struct eta *e)
{
	if (!e)
		return;
	map_free(e->types);
	free(e);
}

void eta_saw(struct eta *e, const struct machine *was, const struct machine *is)
{
	enum machine_state from, to;
	struct type *t;
	struct ring *r;
	int64_t ms;

	if (!e || !was || !is || !is->spec.instance_type || !was->status.state_since)
		return;
	from = machine_state_find(str_or(was->status.state, ""));
	to = machine_state_find(str_or(is->status.state, ""));
	ms = is->status.state_since - was->status.state_since;
	/* On the way to serving, and further on it. */
	if (from < MACHINE_CLAIMED || from > MACHINE_GATING || to <= from || to > MACHINE_SERVING ||
	    ms < 0)
		return;
	t = map_get(e->types, is->spec.instance_type);
	if (!t) {
		t = mem_new(struct type);
		map_put(e->types, is->spec.instance_type, t);
	}
	r = &t->states[from];
	r->ms[r->next] = ms;
	r->next = (r->next + 1) % KEPT;
	r->n += r->n < KEPT;
}

static int by_size(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return a < b ? -1 : a > b;
}

static int64_t percentile(const struct ring *r, size_t percent)
{
	int64_t sorted[KEPT];

	memcpy(sorted, r->ms, r->n * sizeof(*sorted));
	qsort(sorted, r->n, sizeof(*sorted), by_size);
	return sorted[(r->n * percent + 99) / 100 - 1];
}

bool eta_from(const struct eta *e, const char *type, enum machine_state state, struct eta_span *out)
{
	const struct type *t = e && type ? map_get(e->types, type) : NULL;

	*out = (struct eta_span){0};
	if (!t || state < MACHINE_CLAIMED || state > MACHINE_GATING || !t->states[state].n)
		return false;
	for (int s = state; s <= (int)MACHINE_GATING; s++) {
		const struct ring *r = &t->states[s];

		if (!r->n) /* this type has no such state */
			continue;
		if (r->n < ENOUGH)
			return false;
		out->p50 += percentile(r, 50);
		out->p90 += percentile(r, 90);
	}
	return true;
}

const char *eta_text(int64_t ms, char *buf, size_t size)
{
	static const int steps[] = {1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 45};
	int64_t min = (ms + 59999) / 60000;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (min <= steps[i]) {
			str_format(buf, size, "about %d min", steps[i]);
			return buf;
		}
	str_format(buf, size, "about %lld h", (long long)((min + 59) / 60));
	return buf;
}
