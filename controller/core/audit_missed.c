/* audit_missed: has one record for each object that an entry names. */
#include "controller/core/audit_missed.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/audit_entries.h"

/* An object may be this much older than the last entry and still be new to the log: the clocks of
 * the API server and of the last leader may differ. */
#define SKEW_MS 60000

struct known_object {
	enum object_kind_id kind;
	/* deleting: deletion was requested */
	bool deleting, deleted;
	/* True if the log has an entry about the object, or the queue has its Created entry */
	bool logged;
	/* generation: `to` of the last entry that has one; "": not known. state: `to` of the last
	 * StateChanged entry. */
	char generation[24], state[32], name[254], version[64];
};

struct audit_missed {
	/* UID of an object -> struct known_object */
	struct map *objects;
	/* wall ms of the last written entry; 0: no entry */
	int64_t last;
};

struct audit_missed *audit_missed_new(void)
{
	struct audit_missed *m = mem_new(struct audit_missed);

	m->objects = map_new(free);
	return m;
}

void audit_missed_free(struct audit_missed *m)
{
	if (!m)
		return;
	map_free(m->objects);
	free(m);
}

static bool has_generation(const struct audit_entry *e)
{
	return !str_empty(e->to) &&
	       (str_eq(e->event, AUDIT_SPEC) || str_eq(e->event, AUDIT_CREATED) ||
		str_eq(e->event, AUDIT_DELETING));
}

void audit_missed_know(struct audit_missed *m, const struct audit_entry *e, bool written)
{
	const struct object_kind *kind = object_kind_find(str_or(e->kind, ""));
	struct known_object *k = map_get(m->objects, str_or(e->uid, ""));

	if (written && e->time > m->last)
		m->last = e->time;
	if (!kind || str_empty(e->uid))
		return;
	if (!k) {
		k = mem_new(struct known_object);
		k->kind = (enum object_kind_id)(kind - object_kinds);
		str_copy(k->name, sizeof(k->name), str_or(e->name, ""));
		map_put(m->objects, e->uid, k);
	}
	str_copy(k->version, sizeof(k->version), str_or(e->version, ""));
	k->logged |= written || str_eq(e->event, AUDIT_CREATED);
	k->deleted |= str_eq(e->event, AUDIT_DELETED);
	if (str_eq(e->event, AUDIT_STATE))
		str_copy(k->state, sizeof(k->state), str_or(e->to, ""));
	k->deleting |= str_eq(e->event, AUDIT_DELETING);
	if (has_generation(e))
		str_copy(k->generation, sizeof(k->generation), e->to);
}

void audit_missed_gap(const struct audit_missed *m, const struct audit_entry *e, int64_t now,
		      void (*add)(const struct audit_entry *e, void *arg), void *arg)
{
	const struct known_object *k = map_get(m->objects, str_or(e->uid, ""));
	const bool state = str_eq(e->event, AUDIT_STATE), spec = str_eq(e->event, AUDIT_SPEC);
	const char *ended = k && state ? k->state : k && spec ? k->generation : "";
	struct audit_entry late = {.time = now,
				   .who = state ? "drover" : "unknown",
				   .event = e->event,
				   .kind = e->kind,
				   .name = e->name,
				   .uid = e->uid,
				   .tenant = e->tenant,
				   .field = state ? e->field : NULL,
				   .from = ended,
				   .to = e->from,
				   .late = true};

	if (ended[0] && !str_empty(e->from) && !str_eq(e->from, ended))
		add(&late, arg);
}

struct missed_search {
	const struct audit_missed *m;
	enum object_kind_id kind;
	int64_t now;
	/* UID of each object in the cache -> "" */
	struct map *present;
	void (*add)(const struct audit_entry *e, void *arg);
	void *arg;
};

static struct audit_entry late(const struct missed_search *f, const void *object, const char *event)
{
	struct audit_entry e = audit_entries_about(f->kind, object, f->now);

	e.event = event;
	e.who = "unknown";
	e.late = true;
	return e;
}

static void compare_state(const struct missed_search *f, const struct known_object *k,
			  const void *object)
{
	struct audit_entry e = late(f, object, AUDIT_STATE);

	e.to = audit_entries_state(f->kind, object, &e.field);
	if (str_empty(e.to) || str_eq(e.to, k->state))
		return;
	e.who = "drover";
	e.from = k->state;
	f->add(&e, f->arg);
}

static void compare_spec(const struct missed_search *f, const struct known_object *k,
			 const void *object)
{
	const struct object_meta *m = object_meta_of(object);
	struct audit_entry e = late(f, object, AUDIT_DELETING);
	const bool has = audit_entries_has_spec(f->kind), goes = m->deletion_timestamp > 0;
	const long long was = has ? atoll(k->generation) : 0;
	char to[24];

	str_format(to, sizeof(to), "%lld", (long long)m->generation);
	e.from = was ? k->generation : NULL;
	e.to = has ? to : NULL;
	if (goes && !k->deleting) {
		f->add(&e, f->arg);
		/* the request increased the generation */
		if (m->generation == was + 1)
			return;
	}
	e.event = AUDIT_SPEC;
	if (was && m->generation != was)
		f->add(&e, f->arg);
}

static bool compare(const struct kube_entry *en, void *arg)
{
	const struct missed_search *f = arg;
	const struct object_meta *meta = object_meta_of(en->object);
	const struct known_object *k = map_get(f->m->objects, str_or(meta->uid, ""));
	struct audit_entry e;
	char to[24];

	map_put(f->present, str_or(meta->uid, ""), (void *)"");
	if (!(k && k->logged) && f->m->last && meta->creation_timestamp >= f->m->last - SKEW_MS) {
		e = late(f, en->object, AUDIT_CREATED);
		str_format(to, sizeof(to), "%lld", (long long)meta->generation);
		e.to = audit_entries_has_spec(f->kind) ? to : NULL;
		f->add(&e, f->arg);
	}
	if (k) {
		compare_state(f, k, en->object);
		compare_spec(f, k, en->object);
	}
	return true;
}

void audit_missed_find(const struct audit_missed *m, const struct context *c, int64_t now,
		       void (*add)(const struct audit_entry *e, void *arg), void *arg)
{
	OWN(map) present = map_new(NULL);
	struct missed_search f = {.m = m, .now = now, .present = present, .add = add, .arg = arg};
	struct map_iter it;

	for (int kind = 0; kind < OBJECT_KINDS; kind++) {
		f.kind = (enum object_kind_id)kind;
		if (c->cache[kind] && kind != OBJECT_AUDIT_SEGMENT)
			kube_cache_each(c->cache[kind], compare, &f);
	}
	map_for_each (it, m->objects) {
		const struct known_object *k = it.value;
		const struct audit_entry e = {.time = now,
					      .who = "unknown",
					      .event = AUDIT_DELETED,
					      .kind = object_kinds[k->kind].kind,
					      .name = k->name,
					      .uid = it.key,
					      .version = k->version,
					      .late = true};

		if (!k->deleted && c->cache[k->kind] && !map_has(present, it.key))
			add(&e, arg);
	}
}
