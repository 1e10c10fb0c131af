#include "controller/view/attention.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/explain/answer.h"
#include "controller/explain/need.h"
#include "controller/explain/pod_remedy.h"

/* Number of changed objects beyond which all rows are computed again */
#define CHANGED_MAX 4096

const char *const attention_parameters[] = {"tenant", NULL};

struct attention {
	const struct view_source *source;
	/* Key: "TYPE/NAME" of an object; value: its row, json_t */
	struct map *rows;
	/* Rows of waiting pods; key: gang, or tenant and reason */
	struct map *pods;
	/* By kind: names of objects that changed since the last refresh(); no values */
	struct map *changed[OBJECT_KINDS];
	size_t nchanged;
	/* True: compute all rows again */
	bool all;
	/* Wall time in minutes, and number of the list of waiting pods, at the last refresh() */
	int64_t minute;
	uint64_t queue;
	/* All rows, the most urgent first, and their version number */
	json_t *list;
	uint64_t number;
};

static void row_free(void *p)
{
	json_decref(p);
}

/* --- one row ---------------------------------------------------------------------------------- */

/* Returns who has to act on a row with this need. */
static const char *owner_of(enum need need)
{
	return need == NEED_TENANT ? "tenant" : need == NEED_WAITS ? "drover" : "operator";
}

/* Returns a new row with the members that rows of objects and of pods have in common. `why`: object
 * with `reason` and `message`; may be NULL. */
static json_t *row_new(enum need need, const char *object, const json_t *why)
{
	json_t *o = json_object();

	answer_put(o, "need", need_name(need));
	answer_put(o, "owner", owner_of(need));
	answer_put(o, "object", object);
	answer_put(o, "reason", json_str_at(why, "reason"));
	answer_put(o, "text", json_str_at(why, "message"));
	return o;
}

/* Copies the texts that help from answer to row o. */
static void put_help(json_t *o, const json_t *answer)
{
	json_t *helps = json_object_get(answer, "helps");

	json_object_set_new(o, "help", helps ? json_copy(helps) : json_array());
	json_object_set_new(o, "commands", answer_commands(answer));
}

/* Returns the row of an object, owned by the caller; NULL: the object needs nothing. */
static json_t *row_of_object(enum object_kind_id kind, const char *key, const void *object,
			     int64_t now)
{
	static const char *const same[] = {"kind",  "name",	  "tenant", "state",
					   "since", "waitingFor", "nextTry"};
	const json_t *why;
	enum need need;
	OWN_JSON answer = need_explain(kind, object, now, &need, &why);
	json_t *o;

	if (!answer)
		return NULL;
	o = row_new(need, key, why);
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		answer_put(o, same[i], json_str_at(answer, same[i]));
	if (kind == OBJECT_VIRTUAL_CLUSTER)
		answer_put(o, "tenant", json_str_at(answer, "name"));
	put_help(o, answer);
	return o;
}

/* --- rows of pods ----------------------------------------------------------------------------- */

/* The pods of one row. */
struct pods {
	/* The first pod in the queue */
	const struct waiting_row *first;
	size_t n;
	/* The earliest time since when one of the pods waits, wall ms */
	int64_t since;
	enum need need;
};

/* Returns the pods that wait too long, by the key of their row. Values are struct pods in the
 * arena. */
static struct map *pods_of(const struct view_source *source, int64_t now, struct arena *a)
{
	struct map *all = map_new(NULL);
	size_t n;
	const struct waiting_row *rows = waiting_rows(source->waiting, &n);

	for (size_t i = 0; i < n; i++) {
		const struct waiting_row *r = &rows[i];
		const enum need need =
			need_of_pod(r->at.reason, r->at.claim, r->at.since, r->p90, now);
		struct pods *x;
		const char *key;

		if (need == NEED_NONE)
			continue;
		key = arena_printf(a, "%s %s %s", r->tenant, r->gang ? "gang" : "reason",
				   r->gang ? r->gang->name : str_or(r->at.reason, ""));
		x = map_get(all, key);
		if (!x) {
			x = arena_new_obj(a, struct pods);
			*x = (struct pods){.first = r, .since = r->at.since, .need = need};
			map_put(all, key, x);
		}
		x->n++;
		x->since = r->at.since < x->since ? r->at.since : x->since;
		x->need = need < x->need ? need : x->need;
	}
	return all;
}

static json_t *row_of_pods(const struct pods *x)
{
	OWN(arena) a = arena_new();
	const struct waiting_row *r = x->first;
	const char *slash = strchr(r->at.pod, '/'), *name = slash ? slash + 1 : r->at.pod,
		   *remedy = pod_operator_remedy(r->at.reason);
	OWN_JSON why = json_pack("{s:s, s:s}", "reason", str_or(r->at.reason, ""), "message",
				 str_or(r->at.message, ""));
	OWN_JSON answer = json_object();
	json_t *o = row_new(x->need, arena_printf(a, "pod/%s/%s", r->tenant, r->at.pod), why);

	answer_put(o, "kind", r->gang ? "Gang" : "Pod");
	answer_put(o, "name", name);
	answer_put(o, "namespace",
		   arena_strndup(a, r->at.pod, slash ? (size_t)(slash - r->at.pod) : 0));
	answer_put(o, "tenant", r->tenant);
	answer_put(o, "gang", r->gang ? r->gang->name : NULL);
	json_object_set_new(o, "pods", json_integer((json_int_t)x->n));
	answer_put(o, "state", "waiting");
	answer_time(o, "since", x->since);
	if (remedy)
		answer_help(answer, remedy, "");
	put_help(o, answer);
	return o;
}

/* --- keeping rows up to date ------------------------------------------------------------------ */

/* Sets the row of a key; row NULL: removes it. Takes ownership of row. */
static void put(struct attention *t, struct map *rows, const char *key, json_t *row)
{
	json_t *old = map_get(rows, key);

	if (old ? row && json_equal(old, row) : !row) {
		json_decref(row);
		return;
	}
	t->number++;
	if (row)
		map_put(rows, key, row);
	else
		map_del(rows, key);
}

/* The objects of one kind. */
struct walk {
	struct attention *t;
	enum object_kind_id kind;
	/* Keys of all objects seen; no values. NULL: only objects whose need depends on the time
	 * are computed */
	struct map *seen;
	int64_t now;
};

static void walk_key(struct walk *w, const char *key, const void *object)
{
	put(w->t, w->t->rows, key, object ? row_of_object(w->kind, key, object, w->now) : NULL);
}

static bool walk_entry(const struct kube_entry *en, void *arg)
{
	struct walk *w = arg;
	OWN(arena) a = arena_new();
	const char *key;

	if (!w->seen && !need_depends_on_time(w->kind, en->object))
		return true;
	key = arena_printf(a, "%s/%s", object_kinds[w->kind].singular, en->name);
	if (w->seen)
		map_put(w->seen, key, w);
	walk_key(w, key, en->object);
	return true;
}

/* Removes rows whose key is not in `seen`. */
static void sweep(struct attention *t, struct map *rows, const struct map *seen)
{
	struct map_iter it;

	map_for_each (it, rows)
		if (!map_has(seen, it.key))
			put(t, rows, it.key, NULL);
}

static void walk_all(struct attention *t, struct map *seen, int64_t now)
{
	const struct context *c = t->source->c;

	for (int kind = 0; kind < OBJECT_KINDS; kind++) {
		struct walk w = {
			.t = t, .kind = (enum object_kind_id)kind, .seen = seen, .now = now};

		if (c->cache[kind])
			kube_cache_each(c->cache[kind], walk_entry, &w);
	}
}

static void refresh_all(struct attention *t, int64_t now)
{
	OWN(map) seen = map_new(NULL);

	walk_all(t, seen, now);
	sweep(t, t->rows, seen);
}

static void refresh_changed(struct attention *t, enum object_kind_id kind, int64_t now)
{
	struct walk w = {.t = t, .kind = kind, .now = now};
	struct map_iter it;

	map_for_each (it, t->changed[kind]) {
		OWN(arena) a = arena_new();
		const struct kube_entry *en = kube_cache_get(t->source->c->cache[kind], "", it.key);

		walk_key(&w, arena_printf(a, "%s/%s", object_kinds[kind].singular, it.key),
			 en ? en->object : NULL);
	}
}

static void refresh_pods(struct attention *t, int64_t now)
{
	OWN(arena) a = arena_new();
	OWN(map) pods = pods_of(t->source, now, a);
	struct map_iter it;

	map_for_each (it, pods)
		put(t, t->pods, it.key, row_of_pods(it.value));
	sweep(t, t->pods, pods);
}

/* Orders rows by need, then by age, then by object. */
static int by_urgency(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	const int need =
		(int)need_find(json_str_at(x, "need")) - (int)need_find(json_str_at(y, "need"));
	const int since =
		strcmp(str_or(json_str_at(x, "since"), ""), str_or(json_str_at(y, "since"), ""));

	return need    ? need
	       : since ? since
		       : strcmp(json_str_at(x, "object"), json_str_at(y, "object"));
}

static void add_all(json_t *list, const struct map *rows)
{
	struct map_iter it;

	map_for_each (it, rows)
		json_array_append(list, it.value);
}

static void refresh(struct attention *t)
{
	const int64_t now = loop_wall(t->source->c->loop), minute = now / 60000;
	const uint64_t queue = waiting_number(t->source->waiting), before = t->number;
	const bool late = minute != t->minute;

	if (t->all)
		refresh_all(t, now);
	else if (late)
		walk_all(t, NULL, now);
	for (int kind = 0; kind < OBJECT_KINDS; kind++) {
		if (!t->all)
			refresh_changed(t, (enum object_kind_id)kind, now);
		map_clear(t->changed[kind]);
	}
	if (t->all || late || queue != t->queue)
		refresh_pods(t, now);
	t->nchanged = 0;
	t->all = false;
	t->minute = minute;
	t->queue = queue;
	if (t->list && t->number == before)
		return;
	json_decref(t->list);
	t->list = json_array();
	add_all(t->list, t->rows);
	add_all(t->list, t->pods);
	json_sort(&t->list, by_urgency);
}

void attention_changed(struct attention *t, enum object_kind_id kind, const char *name)
{
	if (t->all)
		return;
	t->nchanged++;
	map_put(t->changed[kind], name, t);
	/* A reader may come rarely or never. */
	t->all = t->nchanged > CHANGED_MAX;
}

/* --- the list --------------------------------------------------------------------------------- */

const char *attention_version(struct attention *t, char out[static VIEW_VERSION_SIZE])
{
	refresh(t);
	return view_source_version(t->source, t->number, out);
}

const json_t *attention_rows(struct attention *t)
{
	refresh(t);
	return t->list;
}

/* Returns "NEED/SINCE/OBJECT" of a row, the position of the next page. Rows are in the order of
 * these texts. */
static const char *position_of(const json_t *row, struct arena *a)
{
	return arena_printf(a, "%d/%s/%s", (int)need_find(json_str_at(row, "need")),
			    str_or(json_str_at(row, "since"), ""), json_str_at(row, "object"));
}

static void count_need(json_t *by_need, const json_t *row)
{
	const char *need = json_str_at(row, "need");

	json_object_set_new(by_need, need, json_integer(json_int_at(by_need, need) + 1));
}

void attention_reply(struct attention *t, struct page *p)
{
	OWN(arena) a = arena_new();
	const char *tenant = httpd_query(p->q, "tenant"), *last = NULL;
	json_t *rows = json_array(), *by_need = json_object(),
	       *list = json_pack("{s:o, s:o}", "byNeed", by_need, "rows", rows);
	const json_t *all = attention_rows(t);
	json_t *x;
	size_t i, total = 0;
	bool more = false;

	json_array_foreach (all, i, x) {
		if (tenant && !str_eq(json_str_at(x, "tenant"), tenant))
			continue;
		total++;
		count_need(by_need, x);
		if (strcmp(position_of(x, a), p->after) <= 0)
			continue;
		if (json_array_size(rows) == p->limit) {
			more = true;
			continue;
		}
		json_array_append(rows, x);
		last = position_of(x, a);
	}
	json_object_set_new(list, "total", json_integer((json_int_t)total));
	page_reply(p, list, more ? last : NULL);
}

struct attention *attention_new(const struct view_source *source)
{
	struct attention *t = mem_new(struct attention);

	t->source = source;
	t->rows = map_new(row_free);
	t->pods = map_new(row_free);
	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		t->changed[kind] = map_new(NULL);
	t->all = true;
	return t;
}

void attention_free(struct attention *t)
{
	if (!t)
		return;
	map_free(t->rows);
	map_free(t->pods);
	for (int kind = 0; kind < OBJECT_KINDS; kind++)
		map_free(t->changed[kind]);
	json_decref(t->list);
	free(t);
}
