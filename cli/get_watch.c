#include "cli/get_watch.h"

#include <stdlib.h>
#include <string.h>

#include "api/resources.h"
#include "base/arena.h"
#include "base/data/age.h"
#include "base/data/json_path.h"
#include "base/loop/loop.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/grid.h"
#include "kube/cache.h"

enum { COLUMNS = 32 };

struct get_watch {
	struct cli_client *c;
	const struct cli_get_options *opts;
	enum object_kind_id kind;
	struct kube_cache *cache;
	const struct object_column *columns[COLUMNS];
	size_t n;
	struct grid *grid;
	/* error with which the watch could not start; kind ERR_NONE: the watch runs */
	struct err failed;
	bool unhealthy;
};

/* Texts of the columns of one object. A date is stored as the time itself, not as an age, so that
 * an age does not count as changed when it grows. */
struct look_of {
	const char *cells[COLUMNS];
};

static void *project(const json_t *o, struct arena *a, void *arg, struct err *e)
{
	const struct get_watch *w = arg;
	struct look_of *l = arena_new_obj(a, struct look_of);

	(void)e;
	for (size_t i = 0; i < w->n; i++) {
		const json_t *v = json_path(o, w->columns[i]->path);
		char *text = NULL;

		if (v && !json_is_null(v) && !json_is_string(v))
			text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
		l->cells[i] = arena_strdup(a, text ? text : json_string_value(v));
		free(text);
	}
	return l;
}

static bool is_alike(const struct get_watch *w, const struct look_of *a, const struct look_of *b)
{
	for (size_t i = 0; i < w->n; i++)
		if (!str_eq(a->cells[i], b->cells[i]))
			return false;
	return true;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void add_row(struct get_watch *w, const char *name, const struct look_of *l)
{
	int64_t now = loop_wall(w->c->loop);

	grid_cell(w->grid, name);
	for (size_t i = 0; i < w->n; i++) {
		const char *text = l ? l->cells[i] : i ? NULL : "deleted";
		OWN_JSON age = NULL;

		if (l && text && str_eq(w->columns[i]->type, "date"))
			text = json_string_value(age = age_json(text, now));
		grid_cell(w->grid, text);
	}
}

static void print(struct get_watch *w)
{
	grid_print(w->grid,
		   &(struct grid_style){.width = w->opts->form == CLI_WIDE ? 0 : w->opts->width,
					.colour = cli_colours(w->c),
					.headless = w->opts->headless},
		   w->c->out);
	fflush(w->c->out);
	grid_go_on(w->grid);
}

static void on_change(const struct kube_entry *old, const struct kube_entry *new_, void *arg)
{
	struct get_watch *w = arg;

	if (!kube_cache_synced(w->cache) || (old && new_ && is_alike(w, old->object, new_->object)))
		return;
	add_row(w, new_ ? new_->name : old->name, new_ ? new_->object : NULL);
	print(w);
}

/* --- the first table -------------------------------------------------------------------------- */

struct rows {
	const struct kube_entry **v;
	size_t n;
};

static bool on_each(const struct kube_entry *e, void *arg)
{
	struct rows *r = arg;

	r->v[r->n++] = e;
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct kube_entry *const *)a)->name,
		      (*(const struct kube_entry *const *)b)->name);
}

static void on_sync(void *arg)
{
	struct get_watch *w = arg;
	OWN(arena) a = arena_new();
	struct rows r = {.v = arena_calloc(a, kube_cache_size(w->cache) + 1, sizeof(*r.v))};

	kube_cache_each(w->cache, on_each, &r);
	qsort(r.v, r.n, sizeof(*r.v), by_name);
	for (size_t i = 0; i < r.n; i++)
		add_row(w, r.v[i]->name, r.v[i]->object);
	print(w);
}

/* --- health of the watch ---------------------------------------------------------------------- */

static void on_health(const struct err *e, void *arg)
{
	struct get_watch *w = arg;

	if (e && !kube_cache_synced(w->cache) &&
	    (e->kind == ERR_DENIED || e->kind == ERR_NOT_FOUND || e->kind == ERR_INVALID)) {
		w->failed = *e;
		loop_stop(w->c->loop);
	} else if (e && !w->unhealthy) {
		(void)cli_failed(w->c, "%s; retrying", e->text);
	}
	w->unhealthy = e != NULL;
}

struct get_watch *get_watch_new(struct cli_client *c, const struct cli_get_options *opts,
				enum object_kind_id kind, const char *name)
{
	static const struct object_column born = {"Age", "date", ".metadata.creationTimestamp", 0};
	struct get_watch *w = mem_new(struct get_watch);
	OWN(arena) a = arena_new();
	const struct kube_cache_spec s = {
		.client = c->host,
		.resource = &object_resources[kind],
		.label_selector = opts->selector,
		.field_selector = name ? arena_printf(a, "metadata.name=%s", name) : NULL,
		.project = project,
		.on_change = on_change,
		.on_sync = on_sync,
		.on_health = on_health,
		.arg = w,
	};

	*w = (struct get_watch){.c = c, .opts = opts, .kind = kind, .grid = grid_new()};
	for (const struct object_column *o = object_kinds[kind].columns;
	     o->name && w->n < COLUMNS - 1; o++)
		if (!o->priority || opts->form == CLI_WIDE)
			w->columns[w->n++] = o;
	w->columns[w->n++] = &born;
	grid_head(w->grid, "Name");
	for (size_t i = 0; i < w->n; i++)
		grid_head(w->grid, w->columns[i]->name);
	w->cache = kube_cache_new(c->group, &s);
	return w;
}

void get_watch_free(struct get_watch *w)
{
	if (!w)
		return;
	kube_cache_free(w->cache);
	grid_free(w->grid);
	free(w);
}

const struct err *get_watch_failed(const struct get_watch *w)
{
	return w->failed.kind == ERR_NONE ? NULL : &w->failed;
}
