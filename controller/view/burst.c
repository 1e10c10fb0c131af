#include "controller/view/burst.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/loop/loop.h"
#include "controller/burst/state.h"
#include "controller/view/page.h"

/* key: "TENANT/NAME" */
struct burst_row {
	const char *key;
	const struct burst_work *work;
};

static int by_key(const void *x, const void *y)
{
	return strcmp(((const struct burst_row *)x)->key, ((const struct burst_row *)y)->key);
}

/* Returns the work of the input, sorted by key; in the arena. */
static struct burst_row *sorted(const struct burst_input *in, struct arena *a)
{
	struct burst_row *v = arena_calloc(a, in->nwork + 1, sizeof(*v));

	for (size_t i = 0; i < in->nwork; i++)
		v[i] = (struct burst_row){
			arena_printf(a, "%s/%s", in->work[i].tenant, in->work[i].name),
			&in->work[i]};
	qsort(v, in->nwork, sizeof(*v), by_key);
	return v;
}

static json_t *aside_json(const struct bursts_now *x)
{
	json_t *list = json_array();

	for (size_t i = 0; i < x->naside; i++)
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:s}", "tenant", x->aside[i].work->tenant,
					"work", x->aside[i].work->name, "reason",
					x->aside[i].reason, "message", x->aside[i].message));
	return list;
}

json_t *view_burst_page(const struct bursts_now *x, const char *after, size_t limit,
			const char **last, struct arena *a)
{
	const struct burst_row *v = sorted(&x->in, a);
	json_t *work = json_array(), *list = json_pack("{s:o}", "work", work);
	size_t i = 0;

	if (!*after) {
		json_object_set_new(list, "state", burst_state_spec(&x->in));
		json_object_set_new(list, "aside", aside_json(x));
		json_object_set_new(list, "reading", json_boolean(x->reading));
	}
	while (i < x->in.nwork && strcmp(v[i].key, after) <= 0)
		i++;
	for (; i < x->in.nwork && json_array_size(work) < limit; i++)
		json_array_append_new(work, burst_state_work(v[i].work));
	*last = i < x->in.nwork ? v[i - 1].key : NULL;
	return list;
}

void view_burst_reply(struct bursts *b, const struct view_source *s, struct httpd_req *q)
{
	static const char *const none[] = {NULL};
	OWN(arena) a = arena_new();
	char version[VIEW_VERSION_SIZE];
	struct bursts_now x;
	const char *last;
	struct page p;
	json_t *list;

	/* The input depends on the time, so no two contents are equal. */
	view_source_version(s, (uint64_t)loop_wall(s->c->loop), version);
	if (!page_begin(&p, q, version, none))
		return;
	x = bursts_now(b, a);
	list = view_burst_page(&x, p.after, p.limit, &last, a);
	page_reply(&p, list, last);
}
