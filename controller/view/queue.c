#include <stdlib.h>
#include <string.h>

#include "controller/view/queue.h"
#include "base/arena.h"
#include "base/str.h"
#include "controller/explain/answer.h"

const char *const view_queue_parameters[] = {"tenant", NULL};

json_t *view_queue_row(const struct waiting_row *r)
{
	json_t *o =
		json_pack("{s:s, s:s, s:s, s:s}", "tenant", r->tenant, "pod", r->at.pod, "reason",
			  str_or(r->at.reason, ""), "message", str_or(r->at.message, ""));

	if (r->at.place)
		json_object_set_new(o, "place", json_integer(r->at.place));
	if (r->at.claim)
		json_object_set_new(o, "claim", json_string(r->at.claim));
	answer_time(o, "since", r->at.since);
	answer_time(o, "expectedP50", r->p50);
	answer_time(o, "expectedP90", r->p90);
	return o;
}

/* True if the list has a row for pod i: it belongs to no gang, or it is the first of its gang. */
static bool is_shown(const struct waiting_row *rows, size_t i, const char *tenant)
{
	return (!tenant || str_eq(rows[i].tenant, tenant)) &&
	       (!rows[i].gang || rows[i].gang->first == i);
}

/* Returns the row of a pod, or of its gang, as JSON, owned by the caller. */
static json_t *shown_row(const struct waiting_row *r)
{
	const struct waiting_gang *g = r->gang;
	json_t *o, *gang;

	if (!g)
		return view_queue_row(r);

	struct waiting_row whole = *r;

	whole.at.since = g->since;
	whole.p50 = g->p50;
	whole.p90 = g->p90;
	o = view_queue_row(&whole);
	gang = json_pack("{s:s, s:I, s:I}", "name", g->name, "bound", (json_int_t)g->begun,
			 "waiting", (json_int_t)g->waiting);
	if (g->size)
		json_object_set_new(gang, "size", json_integer((json_int_t)g->size));
	json_object_set_new(o, "gang", gang);
	return o;
}

/* Returns how many pods of the tenant (NULL: of all tenants) wait; *shown: the number of their rows
 * in the list. */
static size_t count(const struct waiting_row *rows, size_t n, const char *tenant, size_t *shown)
{
	size_t total = 0;

	*shown = 0;
	for (size_t i = 0; i < n; i++) {
		total += !tenant || str_eq(rows[i].tenant, tenant);
		*shown += is_shown(rows, i, tenant);
	}
	return total;
}

/* True if key is "TENANT/NAMESPACE/NAME" of the row's pod. */
static bool has_key(const struct waiting_row *r, const char *key)
{
	const size_t n = strlen(r->tenant);

	return !strncmp(key, r->tenant, n) && key[n] == '/' && str_eq(key + n + 1, r->at.pod);
}

/* Returns the index of the first row of a page. after: "INDEX/KEY" of the last row of the page
 * before. If no row has the key any more, because its pod no longer waits, the page begins with the
 * row that is now at INDEX. */
static size_t begin_after(const struct waiting_row *rows, size_t n, const char *after)
{
	const char *key = strchr(after, '/');
	size_t at = strtoul(after, NULL, 10);

	if (key && at < n && has_key(&rows[at], key + 1))
		return at + 1;
	for (size_t i = 0; key && i < n; i++)
		if (has_key(&rows[i], key + 1))
			return i + 1;
	return at < n ? at : n;
}

json_t *view_queue_first(const struct waiting *w, const char *tenant, size_t most)
{
	json_t *first = json_array();
	size_t n, total, shown;
	const struct waiting_row *rows = waiting_rows(w, &n);

	total = count(rows, n, tenant, &shown);
	for (size_t i = 0; i < n && json_array_size(first) < most; i++)
		if (is_shown(rows, i, tenant))
			json_array_append_new(first, shown_row(&rows[i]));
	return json_pack("{s:I, s:I, s:o}", "total", (json_int_t)total, "rows", (json_int_t)shown,
			 "first", first);
}

void view_queue_reply(const struct waiting *w, struct page *p, const char *tenant)
{
	OWN(arena) a = arena_new();
	json_t *pods = json_array(), *list;
	size_t n, total, shown, last = 0;
	const struct waiting_row *rows = waiting_rows(w, &n);

	total = count(rows, n, tenant, &shown);
	list = json_pack("{s:I, s:I, s:o}", "total", (json_int_t)total, "rows", (json_int_t)shown,
			 "pods", pods);
	for (size_t i = begin_after(rows, n, p->after); i < n; i++) {
		if (!is_shown(rows, i, tenant))
			continue;
		if (json_array_size(pods) == p->limit) {
			page_reply(p, list,
				   arena_printf(a, "%zu/%s/%s", last, rows[last].tenant,
						rows[last].at.pod));
			return;
		}
		json_array_append_new(pods, shown_row(&rows[i]));
		last = i;
	}
	page_reply(p, list, NULL);
}
