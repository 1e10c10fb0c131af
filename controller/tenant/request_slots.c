#include "controller/tenant/request_slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "controller/tenant/tenant.h"

#define HOSTNAME "kubernetes.io/hostname"

struct request_user {
	size_t seat;
	bool bound;
};

struct request_slots *request_slots_new(const char *ns, const char *name,
					const struct request_object *o)
{
	struct request_slots *s = mem_new(struct request_slots);

	s->ns = mem_strdup(ns);
	s->name = mem_strdup(name);
	s->uid = mem_strdup(o->uid);
	for (size_t i = 0; i < o->nsets; i++) {
		s->set[i].first = s->n;
		s->set[i].n = (size_t)o->sets[i].count;
		s->set[i].template_ = mem_strdup(o->sets[i].template_);
		s->n += s->set[i].n;
	}
	s->nsets = o->nsets;
	s->taken = mem_calloc(s->n + 1, sizeof(*s->taken));
	s->put = mem_calloc(s->n + 1, sizeof(*s->put));
	s->users = map_new(free);
	return s;
}

void request_slots_free(struct request_slots *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nsets; i++)
		free(s->set[i].template_);
	map_free(s->users);
	free(s->taken);
	free(s->put);
	free(s->ns);
	free(s->name);
	free(s->uid);
	free(s);
}

bool request_slots_are_of(const struct request_slots *s, const struct request_object *o)
{
	if (!str_eq(s->uid, o->uid) || s->nsets != o->nsets)
		return false;
	for (size_t i = 0; i < s->nsets; i++)
		if (s->set[i].n != (size_t)o->sets[i].count ||
		    !str_eq(s->set[i].template_, o->sets[i].template_))
			return false;
	return true;
}

size_t request_slots_set(const struct request_slots *s, size_t seat)
{
	size_t i = 0;

	while (i + 1 < s->nsets && seat >= s->set[i + 1].first)
		i++;
	return i;
}

const char *request_slots_pod_name(const struct request_slots *s, size_t seat, struct arena *a)
{
	const size_t set = request_slots_set(s, seat);

	return request_pod_name(a, s->name, set, seat - s->set[set].first);
}

size_t request_slots_find(const struct request_slots *s, const char *pod)
{
	const char *at = strchr(pod, ':');
	int64_t set, number;
	char text[24];

	str_format(text, sizeof(text), "%.*s", at ? (int)strcspn(at + 1, ":") : 0,
		   at ? at + 1 : "");
	at = at ? strchr(at + 1, ':') : NULL;
	if (!at || !str_to_i64(text, 0, (int64_t)s->nsets - 1, &set) ||
	    !str_to_i64(at + 1, 0, (int64_t)s->set[set].n - 1, &number))
		return SIZE_MAX;
	return s->set[set].first + (size_t)number;
}

/* --- slots and pods --------------------------------------------------------------------------- */

static size_t free_seat(const struct request_slots *s, size_t set)
{
	for (size_t i = s->set[set].first; i < s->set[set].first + s->set[set].n; i++)
		if (!s->taken[i])
			return i;
	return SIZE_MAX;
}

static size_t find_seat(const struct request_slots *s, const struct tenant_pod *p,
			const struct world_pod *const *like)
{
	size_t seat = SIZE_MAX;

	for (size_t i = 0; i < s->nsets && seat == SIZE_MAX; i++)
		if (like && like[i] && resources_equal(&like[i]->requests, &p->world.requests))
			seat = free_seat(s, i);
	for (size_t i = 0; i < s->nsets && seat == SIZE_MAX; i++)
		seat = free_seat(s, i);
	return seat;
}

size_t request_slots_take(struct request_slots *s, const struct tenant_pod *p,
			  const struct world_pod *const *like)
{
	struct request_user *u = map_get(s->users, p->world.uid);
	size_t seat;

	if (u) {
		u->bound |= p->world.node != NULL;
		return SIZE_MAX;
	}
	seat = find_seat(s, p, like);
	if (seat == SIZE_MAX)
		return SIZE_MAX;
	u = mem_new(struct request_user);
	*u = (struct request_user){seat, p->world.node != NULL};
	map_put(s->users, p->world.uid, u);
	s->taken[seat] = true;
	s->ntaken++;
	return seat;
}

size_t request_slots_leave(struct request_slots *s, const struct tenant_pod *p)
{
	const struct request_user *u = map_get(s->users, p->world.uid);
	size_t seat;

	if (!u || u->bound)
		return SIZE_MAX;
	seat = u->seat;
	map_del(s->users, p->world.uid);
	s->taken[seat] = false;
	s->ntaken--;
	return seat;
}

/* --- the planner's view ----------------------------------------------------------------------- */

/* Returns the requirements `also` plus one that only existing Nodes satisfy: a machine without a
 * Node does not have the host name label yet. */
static struct selector on_nodes_alone(const struct selector *also, struct arena *a)
{
	struct selector s = {.v = arena_calloc(a, also->n + 1, sizeof(*s.v))};

	for (; s.n < also->n; s.n++)
		s.v[s.n] = also->v[s.n];
	s.v[s.n++] = (struct requirement){.key = HOSTNAME, .op = SELECTOR_EXISTS};
	return s;
}

struct world_pod request_slots_pod(const struct request_slots *s, const struct request_object *o,
				   enum request_phase phase, size_t seat,
				   const struct world_pod *like, struct arena *a)
{
	struct world_pod p = *like;

	p.ns = s->ns;
	p.name = request_slots_pod_name(s, seat, a);
	p.uid = arena_printf(a, "%s%s", s->uid, strchr(p.name, ':'));
	p.unschedulable = true;
	p.since = o->created;
	p.check = o->class_ == REQUEST_CHECK;
	p.gang.key = arena_printf(a, "%s/" REQUEST_PLURAL "/%s", s->ns, s->name);
	/* After booking, each slot is reserved on its own, so that the loss of one slot does not
	 * affect the others. */
	p.gang.min = phase == REQUEST_WAITS ? (int64_t)(s->n - s->ntaken) : 1;
	if (o->class_ == REQUEST_CHECK ? !o->machines : phase == REQUEST_BOOKED)
		p.also = on_nodes_alone(&like->also, a);
	return p;
}
