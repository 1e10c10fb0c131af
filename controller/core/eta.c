/*
 * eta: keeps for each instance type of a Provider and each state the latest durations from that
 * state to the end of the transition. Keeps for each machine in transition the time at which it
 * entered each state.
 */
#include "controller/core/eta.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define LONGEST_S (400 * 86400)

const char *const eta_transition_names[] = {"serving", "free", NULL};
const char *const eta_by_names[] = {"", "p50", "p90", "later", NULL};

struct ring {
	int64_t s[ETA_RECENT];
	size_t n, next;
	/* Number of samples ever added, including those overwritten */
	int64_t seen;
};
struct class
{
	struct ring from[MACHINE_STATES];
	/* Expected duration that the Provider declares for each transition, ms; 0: not set */
	int64_t declared[ETA_TRANSITIONS];
};
/* A machine in transition to serving or to free. */
struct trip {
	enum eta_transition transition;
	/* Wall ms at which the machine first entered each state; 0: state not entered */
	int64_t at[MACHINE_STATES];
	int64_t began;
	/* Estimate made at the beginning of the transition; p90 0: no estimate */
	struct eta_span expected;
};

struct eta {
	/* Key: "PROVIDER/TYPE"; value: struct class */
	struct map *classes;
	/* Key: name of a Machine; value: struct trip */
	struct map *trips;
};

struct eta *eta_new(void)
{
	struct eta *e = mem_new(struct eta);

	e->classes = map_new(free);
	e->trips = map_new(free);
	return e;
}

void eta_free(struct eta *e)
{
	if (!e)
		return;
	map_free(e->classes);
	map_free(e->trips);
	free(e);
}

static struct class *class_of(const struct eta *e, const char *provider, const char *type,
			      bool make)
{
	char *key = mem_printf("%s/%s", str_or(provider, ""), str_or(type, ""));
	struct class *c = map_get(e->classes, key);

	if (!c && make) {
		c = mem_new(struct class);
		map_put(e->classes, key, c);
	}
	free(key);
	return c;
}

static void add(struct ring *r, int64_t s)
{
	r->s[r->next] = s < 0 ? 0 : s > LONGEST_S ? LONGEST_S : s;
	r->next = (r->next + 1) % ETA_RECENT;
	r->n += r->n < ETA_RECENT;
}

static bool transition_of(enum machine_state s, enum eta_transition *transition)
{
	if (s >= MACHINE_CLAIMED && s <= MACHINE_GATING)
		*transition = ETA_SERVING;
	else if (s >= MACHINE_DRAINING && s <= MACHINE_QUARANTINED)
		*transition = ETA_FREE;
	else
		return false;
	return true;
}

/* --- estimates -------------------------------------------------------------------------------- */

static int by_size(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return a < b ? -1 : a > b;
}

static int64_t percentile(const int64_t *sorted, size_t n, size_t percent)
{
	return sorted[(n * percent + 99) / 100 - 1] * 1000;
}

static bool of_ring(const struct ring *r, int64_t been_ms, struct eta_span *out)
{
	int64_t sorted[ETA_RECENT];
	size_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->s[i] * 1000 >= been_ms)
			sorted[n++] = r->s[i];
	if (!n)
		return false;
	qsort(sorted, n, sizeof(*sorted), by_size);
	*out = (struct eta_span){percentile(sorted, n, 50), percentile(sorted, n, 90)};
	return true;
}

bool eta_from(const struct eta *e, const char *provider, const char *type, enum machine_state state,
	      int64_t been_ms, struct eta_span *out)
{
	const struct class *c = e && provider && type ? class_of(e, provider, type, false) : NULL;
	enum eta_transition transition;

	*out = (struct eta_span){0};
	if (!c || !transition_of(state, &transition))
		return false;
	if (c->from[state].n >= ETA_ENOUGH)
		return of_ring(&c->from[state], been_ms, out);
	/* Declared times do not apply in quarantine: no Provider declares how long a machine stays
	 * there. */
	if (!c->declared[transition] || c->declared[transition] < been_ms ||
	    state == MACHINE_QUARANTINED)
		return false;
	*out = (struct eta_span){c->declared[transition], c->declared[transition]};
	return true;
}

/* --- measuring -------------------------------------------------------------------------------- */

static struct trip *begin(struct eta *e, const struct machine *m, enum eta_transition transition)
{
	struct trip *t = mem_new(struct trip);

	t->transition = transition;
	t->began = m->status.state_since;
	map_put(e->trips, str_or(m->meta.name, ""), t);
	return t;
}

static struct eta_end arrive(struct eta *e, const struct trip *t, const struct machine *m)
{
	struct class *c = class_of(e, m->spec.provider_ref.name, m->spec.instance_type, true);
	const int64_t end = m->status.state_since, took = end - t->began;

	for (int s = 0; s < MACHINE_STATES; s++)
		if (t->at[s] && end >= t->at[s]) {
			add(&c->from[s], (end - t->at[s] + 999) / 1000);
			c->from[s].seen += c->from[s].seen < INT64_MAX;
		}
	return (struct eta_end){t->transition, !t->expected.p90		 ? ETA_BY_NONE
					       : took <= t->expected.p50 ? ETA_BY_P50
					       : took <= t->expected.p90 ? ETA_BY_P90
									 : ETA_LATER};
}

static bool leaves_quarantine_by_itself(const struct machine *m)
{
	return m->status.quarantine && m->status.quarantine->exit == EXIT_AUTO;
}

/* Records that machine m is in state `to` of a transition. live: true if this process saw the
 * machine enter the state; false if the Machine was read for the first time. */
static void go_on(struct eta *e, const struct machine *m, enum machine_state to,
		  enum eta_transition transition, bool live)
{
	struct trip *t = map_get(e->trips, str_or(m->meta.name, ""));

	if (to == MACHINE_QUARANTINED && !leaves_quarantine_by_itself(m)) {
		map_del(e->trips, str_or(m->meta.name, ""));
		return;
	}
	if (!t || t->transition != transition || to == MACHINE_QUARANTINED) {
		t = begin(e, m, transition);
		if (live)
			(void)eta_from(e, m->spec.provider_ref.name, m->spec.instance_type, to, 0,
				       &t->expected);
	}
	if (!t->at[to])
		t->at[to] = m->status.state_since;
}

struct eta_end eta_saw(struct eta *e, const struct machine *was, const struct machine *is)
{
	const struct machine *m = is ? is : was;
	struct eta_end end = {0};
	enum machine_state from, to;
	struct trip *t;
	enum eta_transition transition;

	if (!e || !m)
		return end;
	from = machine_state_find(str_or(was ? was->status.state : NULL, ""));
	to = machine_state_find(str_or(is ? is->status.state : NULL, ""));
	if (from == to)
		return end;
	if (transition_of(to, &transition) && is->status.state_since && is->spec.instance_type) {
		go_on(e, is, to, transition, was);
		return end;
	}
	t = map_get(e->trips, str_or(m->meta.name, ""));
	if (t && ((t->transition == ETA_SERVING && to == MACHINE_SERVING) ||
		  (t->transition == ETA_FREE && to == MACHINE_FREE)))
		end = arrive(e, t, is);
	map_del(e->trips, str_or(m->meta.name, ""));
	return end;
}

/* --- samples in the API ----------------------------------------------------------------------- */

static void take_over(struct class *c, const struct provider_object_path *row)
{
	const enum machine_state s = machine_state_find(str_or(row->from, ""));
	enum eta_transition transition;
	struct ring *r;

	if (!transition_of(s, &transition) || row->seen <= c->from[s].seen)
		return;
	r = &c->from[s];
	*r = (struct ring){.seen = row->seen};
	for (size_t i = 0; i < row->recent.n; i++)
		add(r, row->recent.v[i]);
}

void eta_provider(struct eta *e, const struct provider_object *p)
{
	for (size_t i = 0; i < p->spec.instance_types.n; i++) {
		const struct provider_object_instance_type *t = &p->spec.instance_types.v[i];
		struct class *c = class_of(e, p->meta.name, t->name, true);

		c->declared[ETA_SERVING] = t->expected.serving;
		c->declared[ETA_FREE] = t->expected.free;
		for (size_t k = 0; k < p->status.paths.n; k++)
			if (str_eq(p->status.paths.v[k].instance_type, t->name))
				take_over(c, &p->status.paths.v[k]);
	}
}

static bool is_told(const struct class *c, enum machine_state s)
{
	return c->from[s].seen || (s == MACHINE_CLAIMED && c->declared[ETA_SERVING]) ||
	       (s == MACHINE_DRAINING && c->declared[ETA_FREE]);
}

static struct provider_object_path row_of(const struct eta *e, const char *provider,
					  const char *type, const struct class *c,
					  enum machine_state s, struct arena *a)
{
	const struct ring *r = &c->from[s];
	struct eta_span span;
	const bool known = eta_from(e, provider, type, s, 0, &span);
	struct provider_object_path row = {
		.instance_type = type,
		.from = machine_state_info[s].name,
		.source = r->n >= ETA_ENOUGH ? PATH_MEASURED
			  : known	     ? PATH_DECLARED
					     : PATH_TOO_FEW,
		.p50 = span.p50,
		.p90 = span.p90,
		.seen = r->seen,
		.recent = {arena_calloc(a, r->n + 1, sizeof(int64_t)), r->n},
	};

	for (size_t i = 0; i < r->n; i++)
		row.recent.v[i] = r->s[(r->next + ETA_RECENT - r->n + i) % ETA_RECENT];
	return row;
}

void eta_paths(const struct eta *e, const struct provider_object *p, struct arena *a,
	       struct provider_object_status *out)
{
	out->paths.v = arena_calloc(a, p->spec.instance_types.n * MACHINE_STATES + 1,
				    sizeof(*out->paths.v));
	out->paths.n = 0;
	for (size_t i = 0; i < p->spec.instance_types.n; i++) {
		const char *type = p->spec.instance_types.v[i].name;
		const struct class *c = class_of(e, p->meta.name, type, false);

		for (int s = 0; c && s < MACHINE_STATES; s++)
			if (is_told(c, (enum machine_state)s))
				out->paths.v[out->paths.n++] =
					row_of(e, p->meta.name, type, c, (enum machine_state)s, a);
	}
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

#define MINUTE_MS 60000
#define DAY_MS (24 * 60 * MINUTE_MS)

static const char *day_time(int64_t at, int64_t now, char buf[static STR_TIME_SIZE])
{
	char t[STR_TIME_SIZE];

	str_time(t, at); /* t is now of the form 2026-12-01T10:20:00Z. */
	if (at / DAY_MS == now / DAY_MS)
		str_format(buf, STR_TIME_SIZE, "%.5s", t + 11);
	else
		str_format(buf, STR_TIME_SIZE, "%.10s %.5s", t, t + 11);
	return buf;
}

const char *eta_between(const struct eta_span *at, int64_t now, char buf[static ETA_BETWEEN_SIZE])
{
	const int64_t left = at->p90 - now, step = left <= 30 * MINUTE_MS    ? MINUTE_MS
						   : left <= 180 * MINUTE_MS ? 5 * MINUTE_MS
						   : left <= DAY_MS / 2	     ? 15 * MINUTE_MS
									     : 60 * MINUTE_MS;
	char first[STR_TIME_SIZE], last[STR_TIME_SIZE];

	str_format(buf, ETA_BETWEEN_SIZE, "%s to %s UTC",
		   day_time(at->p50 / step * step, now, first),
		   day_time((at->p90 + step - 1) / step * step, now, last));
	return buf;
}
