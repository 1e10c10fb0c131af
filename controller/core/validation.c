/*
 * validation: remembers the verdict on each object (valid or not), and writes the verdict as the
 * condition Valid while this replica leads.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/core/validation.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/status_writer.h"

#define ENTRIES_MAX 4096
#define RETRY_MS 2000
#define TYPE "Valid"

struct validation {
	struct context *c;
	/* "Kind/name" -> struct validation_entry; only objects whose verdict is not written yet */
	struct map *entries;
};

struct wish {
	/* note: error text; NULL: the object is valid */
	char *uid, *rv, *note;
	/* the object's list of conditions, with the verdict; NULL: its kind has no status */
	json_t *conditions;
};

struct validation_entry {
	struct validation *owner;
	enum object_kind_id kind;
	char *name, *key;
	struct wish *next, *sent;
	struct status_writer write;
	struct loop_timer timer;
};

/* --- entries ---------------------------------------------------------------------------------- */

static void wish_free(struct wish *w)
{
	if (!w)
		return;
	free(w->uid);
	free(w->rv);
	free(w->note);
	json_decref(w->conditions);
	free(w);
}

static void entry_free(void *p)
{
	struct validation_entry *en = p;

	writer_stop(&en->write);
	loop_timer_stop(&en->timer);
	wish_free(en->next);
	wish_free(en->sent);
	free(en->name);
	free(en->key);
	free(en);
}

static void tell(const struct validation_entry *en, const struct wish *w)
{
	const struct object_meta about = {.name = en->name, .uid = w->uid};

	if (w->note)
		ctx_event(en->owner->c, en->kind, &about, "Warning", "ValidationFailed", w->note);
}

static void on_written(json_t *o, const struct err *e, void *arg)
{
	struct validation_entry *en = arg;
	bool again = e && e->kind != ERR_CONFLICT && err_is_transient(e);

	(void)o;
	if (again && !en->next)
		en->next = give(en->sent);
	/* After a conflict, send no event: the watch brings the newer object. After a permanent
	 * error, the condition cannot be written, so send at least the event. */
	else if (!again && (!e || (e->kind != ERR_CONFLICT && e->kind != ERR_NOT_FOUND)))
		tell(en, en->sent);
	wish_free(give(en->sent));
	if (en->next)
		loop_timer_start(&en->timer, again ? RETRY_MS : 0);
	else
		map_del(en->owner->entries, en->key);
}

static void send_next(void *arg)
{
	struct validation_entry *en = arg;
	struct context *c = en->owner->c;
	struct object_meta at;

	if (!c->leading || writer_busy(&en->write) || !en->next)
		return;
	if (!object_kinds[en->kind].has_status) { /* Kinds without a status get an event only. */
		tell(en, en->next);
		map_del(en->owner->entries, en->key);
		return;
	}
	en->sent = give(en->next);
	at = (struct object_meta){.name = en->name, .resource_version = en->sent->rv};
	writer_status(&en->write, en->kind, &at,
		      json_pack("{s:O}", "conditions", en->sent->conditions), on_written);
}

static void put(struct validation *v, enum object_kind_id kind, const char *name, struct wish *w)
{
	OWN(arena) a = arena_new();
	const char *key = arena_printf(a, "%s/%s", object_kinds[kind].kind, name);
	struct validation_entry *en = map_get(v->entries, key);

	if (!en && map_size(v->entries) >= ENTRIES_MAX) {
		wish_free(w);
		return;
	}
	if (!en) {
		en = mem_new(struct validation_entry);
		en->owner = v;
		en->kind = kind;
		en->name = mem_strdup(name);
		en->key = mem_strdup(key);
		writer_init(&en->write, v->c, en);
		loop_timer_init(&en->timer, v->c->group, send_next, en);
		map_put(v->entries, key, en);
	}
	wish_free(en->next);
	en->next = w;
	if (!loop_timer_active(&en->timer))
		loop_timer_start(&en->timer, 0);
}

static struct validation_entry *entry_of(struct validation *v, enum object_kind_id kind,
					 const char *name)
{
	OWN(arena) a = arena_new();

	return map_get(v->entries, arena_printf(a, "%s/%s", object_kinds[kind].kind, name));
}

/* Drops a verdict that was not sent yet, because the stored condition already is correct. */
static void settle(struct validation *v, enum object_kind_id kind, const char *name)
{
	struct validation_entry *en = entry_of(v, kind, name);

	if (!en)
		return;
	wish_free(give(en->next));
	if (!writer_busy(&en->write))
		map_del(v->entries, en->key);
}

/* --- conditions ------------------------------------------------------------------------------- */

static json_t *find(const json_t *conditions)
{
	json_t *x;
	size_t i;

	json_array_foreach (conditions, i, x)
		if (str_eq(json_str_at(x, "type"), TYPE))
			return x;
	return NULL;
}

/* Returns a new list: the conditions with Valid set to this verdict. The caller owns the list. */
static json_t *with_verdict(struct validation *v, const json_t *conditions, const char *status,
			    const char *reason, const char *message, int64_t generation)
{
	const json_t *old = find(conditions);
	const char *since = old && str_eq(json_str_at(old, "status"), status)
				    ? json_str_at(old, "lastTransitionTime")
				    : NULL;
	char now[STR_TIME_SIZE];
	json_t *list = json_array(), *x;
	size_t i;

	json_array_foreach (conditions, i, x)
		if (x != old)
			json_array_append(list, x);
	x = json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", TYPE, "status", status, "reason", reason,
		      "message", message, "lastTransitionTime",
		      since ? since : str_time(now, loop_wall(v->c->loop)));
	if (generation)
		json_object_set_new(x, "observedGeneration", json_integer(generation));
	json_array_append_new(list, x);
	return list;
}

void validation_bad(struct validation *v, enum object_kind_id kind, const json_t *object,
		    const struct err *e)
{
	const char *name = json_str_at(object, "metadata", "name"),
		   *uid = json_str_at(object, "metadata", "uid");
	const json_t *conditions = json_at(object, "status", "conditions"), *old = find(conditions);
	int64_t generation = json_int_at(object, "metadata", "generation");
	struct wish *w;

	if (!name || !uid)
		return;
	if (str_eq(json_str_at(old, "status"), "False") &&
	    str_eq(json_str_at(old, "message"), e->text) &&
	    json_int_at(old, "observedGeneration") == generation) {
		settle(v, kind, name);
		return;
	}
	log_warn("object refused", LOG_S("kind", object_kinds[kind].kind), LOG_S("name", name),
		 LOG_E(e));
	w = mem_new(struct wish);
	w->uid = mem_strdup(uid);
	w->rv = mem_strdup(str_or(json_str_at(object, "metadata", "resourceVersion"), ""));
	w->note = mem_strdup(e->text);
	if (object_kinds[kind].has_status)
		w->conditions = with_verdict(v, conditions, "False", "ValidationFailed", e->text,
					     generation);
	put(v, kind, name, w);
}

static const struct conditions *conditions_of(enum object_kind_id kind, const void *object)
{
	switch (kind) {
	case OBJECT_NODE_POOL:
		return &((const struct node_pool *)object)->status.conditions;
	case OBJECT_NODE_CLAIM:
		return &((const struct node_claim *)object)->status.conditions;
	case OBJECT_MACHINE:
		return &((const struct machine *)object)->status.conditions;
	case OBJECT_PROVIDER:
		return &((const struct provider_object *)object)->status.conditions;
	case OBJECT_VIRTUAL_CLUSTER:
		return &((const struct virtual_cluster *)object)->status.conditions;
	case OBJECT_DRAIN:
		return &((const struct drain *)object)->status.conditions;
	case OBJECT_BURST_POLICY:
		return &((const struct burst_policy *)object)->status.conditions;
	case OBJECT_BURST_LEDGER:
		return &((const struct burst_ledger *)object)->status.conditions;
	case OBJECT_WIPE_RECORD:
	case OBJECT_AUDIT_SEGMENT:
	case OBJECT_KINDS:
		break;
	}
	return NULL;
}

void validation_good(struct validation *v, enum object_kind_id kind, const void *object)
{
	const struct object_meta *m = object_meta_of(object);
	const struct conditions *cs = conditions_of(kind, object);
	const struct condition *old = cs ? condition_get(cs, TYPE) : NULL;
	struct validation_entry *en = entry_of(v, kind, m->name);
	struct wish *w;
	json_t *list;

	/* Drop the report if this version, or a later generation, was refused. The object is then a
	 * mixture from validation_keep(): its spec is the last good one, so it proves nothing about
	 * the refused spec. */
	if ((en && en->next && en->next->note && str_eq(en->next->rv, m->resource_version)) ||
	    (old && old->observed_generation > m->generation))
		return;
	if (!old || old->status == CONDITION_TRUE) {
		settle(v, kind, m->name);
		return;
	}
	list = json_array();
	for (size_t i = 0; i < cs->n; i++)
		json_array_append_new(list, fields_encode(condition_fields, &cs->v[i]));
	w = mem_new(struct wish);
	w->uid = mem_strdup(str_or(m->uid, ""));
	w->rv = mem_strdup(str_or(m->resource_version, ""));
	w->conditions = with_verdict(v, list, "True", "Accepted", "", m->generation);
	json_decref(list);
	log_info("object accepted", LOG_S("kind", object_kinds[kind].kind), LOG_S("name", m->name));
	put(v, kind, m->name, w);
}

void *validation_keep(enum object_kind_id kind, const void *last_good, const json_t *object,
		      struct arena *a)
{
	const struct object_kind *k = &object_kinds[kind];
	OWN_JSON good = fields_encode(k->fields, last_good);
	OWN_JSON mixed = json_copy((json_t *)object);
	OWN_JSON meta = json_copy(json_object_get(object, "metadata"));
	struct err e;
	void *out;

	if (!str_eq(object_meta_of(last_good)->uid, json_str_at(object, "metadata", "uid")))
		return NULL;
	json_object_set_new(meta, "generation",
			    json_integer(object_meta_of(last_good)->generation));
	json_object_set(mixed, "metadata", meta);
	json_object_set(mixed, "spec", json_object_get(good, "spec"));
	if (object_decode(k, mixed, a, &out, &e) < 0 || object_check(k, out, NULL, &e) < 0)
		return NULL;
	return out;
}

/* --- start ------------------------------------------------------------------------------------ */

void validation_lead(struct validation *v)
{
	struct map_iter it;

	map_for_each (it, v->entries)
		loop_timer_start(&((struct validation_entry *)it.value)->timer, 0);
}

struct validation *validation_new(struct context *c)
{
	struct validation *v = mem_new(struct validation);

	v->c = c;
	v->entries = map_new(entry_free);
	return v;
}

void validation_free(struct validation *v)
{
	if (!v)
		return;
	map_free(v->entries);
	free(v);
}
