#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "kube/call.h"
#include "kube/want.h"

/*
 * Reads a list in pages. The version of the list is that of the first page. The API server normally
 * serves all pages from the same version. If a later page is newer, a watch from the first page's
 * version still reports all changes in between.
 */
#define PAGE "500"
#define MAX_ITEM ((size_t)3 << 20)
#define MAX_ITEMS 2000000
#define MAX_RESTARTS 3
#define MAX_TOKEN 16384
#define MAX_PATH 131072

struct listing {
	/* Copy of the caller's spec. Its strings are not used after the start. */
	struct kube_list_spec spec;
	struct scan_want *want;
	/* Path of the list without the continue parameter. */
	char *path;
	/* rv: version of the list. more: continue token of the next page. */
	char *rv, *more;
	unsigned restarts;
	size_t items;
};

static void listing_free(struct kube_call *call)
{
	struct listing *l = call->arg;

	free(l->want);
	free(l->path);
	free(l->rv);
	free(l->more);
	free(l);
}

static int on_item(struct kube_call *call, json_t *item, struct err *e)
{
	struct listing *l = call->arg;

	if (!json_is_object(item))
		return err_set(e, ERR_PROTOCOL, 0, "item %zu of the list is not an object",
			       l->items);
	if (++l->items > MAX_ITEMS)
		return err_set(e, ERR_PROTOCOL, 0, "a list of more than %d items", MAX_ITEMS);
	l->spec.on_item(item, l->spec.arg);
	return 0;
}

static int on_meta(struct kube_call *call, json_t *list, struct err *e)
{
	struct listing *l = call->arg;
	const char *more = json_str_at(list, "metadata", "continue");
	const char *rv = json_str_at(list, "metadata", "resourceVersion");

	if (str_empty(rv))
		return err_set(e, ERR_PROTOCOL, 0, "a list without resourceVersion");
	if (more && strlen(more) > MAX_TOKEN)
		return err_set(e, ERR_PROTOCOL, 0, "a continue token of more than %d bytes",
			       MAX_TOKEN);
	if (!str_empty(more) && str_eq(more, l->more))
		return err_set(e, ERR_PROTOCOL, 0, "a list whose next page is the same page");
	if (!l->rv)
		l->rv = mem_strdup(rv);
	free(l->more);
	l->more = str_empty(more) ? NULL : mem_strdup(more);
	return 0;
}

static char *page_path(const struct listing *l)
{
	struct buf b;

	buf_init(&b, MAX_PATH);
	buf_puts(&b, l->path);
	kube_query(&b, "limit", PAGE);
	kube_query(&b, "continue", l->more);
	return buf_steal(&b);
}

static void on_end(struct kube_call *call, json_t *json, const struct err *e)
{
	struct listing *l = call->arg;

	(void)json;
	if (e && e->code == 410 && l->more && l->restarts < MAX_RESTARTS) {
		l->restarts++;
		l->items = 0;
		free(l->more);
		free(l->rv);
		l->more = l->rv = NULL;
		if (l->spec.on_restart)
			l->spec.on_restart(l->spec.arg);
	} else if (e || !l->more) {
		l->spec.done(e ? NULL : l->rv, e, l->spec.arg);
		return;
	}
	if (!call->cancelled)
		kube_call_again(call, page_path(l));
}

struct kube_call *kube_list_bounded(struct kube_client *c, const struct kube_list_spec *s,
				    size_t max_item)
{
	struct listing *l = mem_new(struct listing);
	struct kube_call *call;
	struct err e;
	struct buf b;

	l->spec = *s;
	/* Allow selectors only half of MAX_PATH, so that the escaped continue token fits behind
	 * them. */
	buf_init(&b, MAX_PATH / 2);
	l->path = kube_path(s->resource, s->ns, NULL, NULL, &e);
	if (l->path) {
		buf_puts(&b, l->path);
		kube_query(&b, "labelSelector", s->label_selector);
		kube_query(&b, "fieldSelector", s->field_selector);
		free(l->path);
		l->path = b.over ? NULL : buf_steal(&b);
		if (!l->path)
			err_note(&e, ERR_INVALID, 0, "selectors of more than %d bytes",
				 MAX_PATH / 2);
	}
	buf_done(&b);
	call = kube_call_new(c, "GET", l->path ? page_path(l) : NULL, &e);
	/* A page may have 7 MB: apply the normal limit to the time without data, and allow four
	 * times as long for the whole transfer. */
	call->idle_ms = call->timeout_ms;
	call->timeout_ms *= 4;
	l->want = kube_want_list(s->want ? s->want : kube_want_all);
	call->wanted = l->want;
	call->max_item = max_item ? max_item : MAX_ITEM;
	call->on_item = on_item;
	call->on_meta = on_meta;
	call->end = on_end;
	call->dispose = listing_free;
	call->arg = l;
	kube_call_start(call);
	return call;
}

struct kube_call *kube_list(struct kube_client *c, const struct kube_list_spec *s)
{
	return kube_list_bounded(c, s, 0);
}
