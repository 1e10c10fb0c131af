#include "controller/view/one_machine.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "controller/core/record_index.h"
#include "controller/explain/answer.h"
#include "controller/view/fleet.h"

static json_t *failures_json(const struct machine *m)
{
	json_t *list = json_array(), *o;

	for (size_t i = 0; i < m->status.failures.n; i++) {
		const struct machine_failure *f = &m->status.failures.v[i];

		o = json_object();
		answer_time(o, "time", f->time);
		answer_put(o, "step", f->step);
		answer_put(o, "reason", f->reason);
		answer_put(o, "message", f->message);
		json_array_append_new(list, o);
	}
	return list;
}

/* --- wipe records ----------------------------------------------------------------------------- */

struct wipes {
	const struct wipe_record *v[ONE_MACHINE_WIPES];
	size_t n;
};

/* Orders records by end, then by name, the newest first. */
static int newest_first(const void *a, const void *b)
{
	const struct wipe_record *x = *(const struct wipe_record *const *)a,
				 *y = *(const struct wipe_record *const *)b;
	const int64_t s = x->spec.evidence.end_time, t = y->spec.evidence.end_time;

	return s != t ? (s < t ? 1 : -1) : strcmp(y->meta.name, x->meta.name);
}

static bool on_record(const struct wipe_record *r, void *arg)
{
	struct wipes *w = arg;

	if (w->n < ONE_MACHINE_WIPES)
		w->v[w->n++] = r;
	else if (newest_first(&r, &w->v[w->n - 1]) < 0)
		w->v[w->n - 1] = r;
	qsort(w->v, w->n, sizeof(w->v[0]), newest_first);
	return true;
}

static json_t *drives_json(const struct evidence *e)
{
	json_t *list = json_array(), *o;

	for (size_t i = 0; i < e->devices.n; i++) {
		const struct evidence_device *d = &e->devices.v[i];

		o = json_object();
		answer_put(o, "wwn", d->wwn);
		answer_put(o, "serial", d->serial);
		answer_put(o, "technique", d->technique);
		answer_put(o, "level", wipe_level_names[d->level]);
		answer_put(o, "reason", d->reason);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *wipes_json(const struct context *c, const char *machine)
{
	struct wipes w = {.n = 0};
	json_t *list = json_array(), *o;

	if (c->cache[OBJECT_WIPE_RECORD])
		record_index_each(c, RECORD_BY_MACHINE, machine, on_record, &w);
	for (size_t i = 0; i < w.n; i++) {
		const struct evidence *e = &w.v[i]->spec.evidence;

		o = json_object();
		answer_put(o, "record", w.v[i]->meta.name);
		answer_time(o, "start", e->start_time);
		answer_time(o, "end", e->end_time);
		answer_put(o, "tenant", e->virtual_cluster.name);
		answer_put(o, "level", wipe_level_names[e->verdict]);
		answer_put(o, "unfinished", e->unfinished);
		json_object_set_new(o, "drives", drives_json(e));
		json_array_append_new(list, o);
	}
	return list;
}

/* --- the reply -------------------------------------------------------------------------------- */

void view_one_machine_reply(const struct context *c, const struct life_log *log,
			    struct httpd_req *q)
{
	const char *name = httpd_segment(q, 0);
	const struct machine *m = CTX_GET(c, OBJECT_MACHINE, machine, name);
	struct err e;
	char *text;

	if (!m) {
		err_note(&e, ERR_NOT_FOUND, 404, "there is no machine %.253s", name);
		httpd_reply_err(q, &e);
		return;
	}

	OWN_JSON o = view_fleet_row(c, m, loop_wall(c->loop));

	json_object_set_new(o, "states", life_log_json(log, name));
	json_object_set_new(o, "failures", failures_json(m));
	json_object_set_new(o, "wipes", wipes_json(c, name));
	text = json_text(o);
	httpd_reply_header(q, "Cache-Control", "private, no-store");
	httpd_reply_json(q, 200, text);
	free(text);
}
