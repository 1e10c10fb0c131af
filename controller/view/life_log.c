#include "controller/view/life_log.h"

#include <stdlib.h>
#include <string.h>

#include "api/machine_states.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

struct life_entry {
	enum machine_state state;
	/* wall ms */
	int64_t since;
	char *tenant;
};

/* States of one machine: a ring whose oldest entry is v[first]. It has room for `cap` entries,
 * because the majority of machines have few. Until it has LIFE_LOG_MAX entries, first is 0. */
struct states {
	struct life_entry *v;
	size_t first, n, cap;
};

struct life_log {
	/* Key: name of a machine; value: struct states */
	struct map *machines;
};

static void states_free(void *p)
{
	struct states *s = p;

	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].tenant);
	free(s->v);
	free(s);
}

struct life_log *life_log_new(void)
{
	struct life_log *l = mem_new(struct life_log);

	l->machines = map_new(states_free);
	return l;
}

void life_log_free(struct life_log *l)
{
	if (!l)
		return;
	map_free(l->machines);
	free(l);
}

/* Returns the entry for the next state: a new one, or else the oldest. */
static struct life_entry *next(struct states *s)
{
	struct life_entry *e;

	if (s->n == LIFE_LOG_MAX) {
		e = &s->v[s->first];
		s->first = (s->first + 1) % LIFE_LOG_MAX;
		free(e->tenant);
		return e;
	}
	if (s->n == s->cap) {
		s->cap = 2 * s->cap + 1 < LIFE_LOG_MAX ? 2 * s->cap + 1 : LIFE_LOG_MAX;
		s->v = mem_realloc_array(s->v, s->cap, sizeof(*s->v));
	}
	return &s->v[s->n++];
}

static void add(struct states *s, const struct machine *m, enum machine_state state)
{
	struct life_entry *e = next(s);

	*e = (struct life_entry){.state = state, .since = m->status.state_since};
	if (!str_empty(m->status.tenant.name))
		e->tenant = mem_strdup(m->status.tenant.name);
}

void life_log_saw(struct life_log *l, const struct machine *was, const struct machine *is)
{
	enum machine_state state;
	struct states *s;

	if (!is) {
		if (was)
			map_del(l->machines, was->meta.name);
		return;
	}
	state = machine_state_find(str_or(is->status.state, "known"));
	if (state == MACHINE_STATE_NONE || (was && str_eq(was->status.state, is->status.state) &&
					    was->status.state_since == is->status.state_since))
		return;
	s = map_get(l->machines, is->meta.name);
	if (!s) {
		s = mem_new(struct states);
		map_put(l->machines, is->meta.name, s);
	}
	add(s, is, state);
}

json_t *life_log_json(const struct life_log *l, const char *machine)
{
	const struct states *s = map_get(l->machines, machine);
	json_t *list = json_array(), *o;
	char time[STR_TIME_SIZE];

	for (size_t i = 0; s && i < s->n; i++) {
		const struct life_entry *e = &s->v[(s->first + i) % LIFE_LOG_MAX];

		o = json_pack("{s:s}", "state", machine_state_info[e->state].name);
		if (e->since)
			json_object_set_new(o, "since", json_string(str_time(time, e->since)));
		if (e->tenant)
			json_object_set_new(o, "tenant", json_string(e->tenant));
		json_array_append_new(list, o);
	}
	return list;
}
