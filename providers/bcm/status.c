#include "providers/bcm/status.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#define ARGS_MAX (4u << 20)

struct bcm_statuses {
	struct loop_group *group;
	struct bcm *bcm;
	struct bcm_request *request;
	/* by_rest: true if states are read from /rest/v1/status. told: true once the log has
	 * recorded which call works. */
	bool by_rest, told;
	int64_t began_at;
	struct loop_timer next;
	/* Lists of bcm_asker.link. waiting: callers whose list of states is not requested yet.
	 * asked: callers that wait for the list in progress. */
	struct list waiting, asked;
	/* Memory of the states of the last list */
	struct arena *a;
	/* States of the last list: UUID or hostname -> struct bcm_state */
	struct map *states;
	/* Error of the last list; kind ERR_NONE: none */
	struct err failed;
	struct loop_defer tell;
};

struct bcm_asker {
	struct list link;
	struct bcm_statuses *s;
	char *uuid, *hostname;
	void (*done)(const struct bcm_state *state, const struct err *e, void *arg);
	void *arg;
};

void bcm_status_cancel(struct bcm_asker *a)
{
	if (!a)
		return;
	list_remove(&a->link);
	free(a->uuid);
	free(a->hostname);
	free(a);
}

static void begin_soon(struct bcm_statuses *s)
{
	int64_t wait = s->began_at + STATUS_MS - loop_now(loop_of(s->group));

	if (!loop_timer_active(&s->next))
		loop_timer_start(&s->next, wait > 0 ? wait : 0);
}

/* Answers one caller in each loop turn, because done() may free s. */
static void on_tell(void *arg)
{
	struct bcm_statuses *s = arg;
	struct bcm_asker *a = list_first(&s->asked, struct bcm_asker, link);
	static const struct bcm_state none = {.phase = BCM_UNKNOWN, .name = "(no state)"};
	const struct bcm_state *st;
	struct err e = s->failed;

	if (!a) {
		if (!list_empty(&s->waiting))
			begin_soon(s);
		return;
	}
	loop_defer(&s->tell);
	st = e.kind != ERR_NONE ? NULL : map_get(s->states, a->uuid);
	if (!st && e.kind == ERR_NONE)
		st = map_get(s->states, a->hostname);
	if (!st && e.kind == ERR_NONE)
		st = &none;
	list_remove(&a->link);
	a->done(st, st ? NULL : &e, a->arg);
	bcm_status_cancel(a);
}

static void take(struct bcm_statuses *s, struct exact list)
{
	struct exact_iter it;

	map_clear(s->states);
	arena_free(s->a);
	s->a = arena_new();
	exact_for_each(it, list)
	{
		struct bcm_state *st = arena_new_obj(s->a, struct bcm_state);
		const char *of;

		if (!bcm_state_read(it.value, s->a, &of, st))
			continue;
		st->name = bcm_redacted(s->bcm, st->name, s->a);
		st->text = bcm_redacted(s->bcm, st->text, s->a);
		map_put(s->states, of, st);
	}
}

static void begin(void *arg);

static void on_list(struct exact list, const struct err *e, void *arg)
{
	struct bcm_statuses *s = arg;

	s->request = NULL;
	err_clear(&s->failed);
	if (e && !s->by_rest && (e->kind == ERR_UNSUPPORTED || e->kind == ERR_DENIED)) {
		log_info("BCM refuses cmstatus.getStatusForDevices: reading node states from "
			 "/rest/v1/status",
			 LOG_E(e));
		s->by_rest = s->told = true;
		begin(s);
		return;
	}
	if (e)
		s->failed = *e;
	else if (exact_kind(list) != EXACT_LIST)
		err_note(&s->failed, ERR_PROTOCOL, 0, "BCM's node states are not a list");
	else
		take(s, list);
	if (!e && !s->told) {
		s->told = true;
		log_info("BCM reports node states", LOG_S("by", "cmstatus.getStatusForDevices"));
	}
	loop_defer(&s->tell);
}

/* Requests one list for all waiting callers, unless a request is in progress. */
static void begin(void *arg)
{
	struct bcm_statuses *s = arg;
	struct bcm_call c = {
		.service = "cmstatus", .call = "getStatusForDevices", .done = on_list, .arg = s};
	OWN(arena) texts = arena_new();
	struct buf args;

	if (s->request)
		return;
	list_for_each (a, &s->waiting, struct bcm_asker, link) {
		list_remove(&a->link);
		list_push_back(&s->asked, &a->link);
	}
	if (list_empty(&s->asked))
		return;
	s->began_at = loop_now(loop_of(s->group));
	if (s->by_rest) {
		s->request = bcm_get(s->bcm, "status", on_list, s);
		return;
	}
	buf_init(&args, ARGS_MAX);
	list_for_each (a, &s->asked, struct bcm_asker, link)
		buf_printf(&args, "%s%s", args.len ? "," : "[[", exact_quote(a->uuid, texts));
	buf_puts(&args, "]]");
	c.args = args.data;
	s->request = bcm_call(s->bcm, &c);
	buf_done(&args);
}

struct bcm_asker *bcm_status_ask(struct bcm_statuses *s, const char *uuid, const char *hostname,
				 void (*done)(const struct bcm_state *state, const struct err *e,
					      void *arg),
				 void *arg)
{
	struct bcm_asker *a = mem_new(struct bcm_asker);

	a->s = s;
	a->uuid = mem_strdup(uuid);
	a->hostname = mem_strdup(hostname);
	a->done = done;
	a->arg = arg;
	list_push_back(&s->waiting, &a->link);
	if (!s->request && list_empty(&s->asked))
		begin_soon(s);
	return a;
}

struct bcm_statuses *bcm_statuses_new(struct loop_group *g, struct bcm *b)
{
	struct bcm_statuses *s = mem_new(struct bcm_statuses);

	s->group = g;
	s->bcm = b;
	s->began_at = INT64_MIN / 2;
	s->states = map_new(NULL);
	list_init(&s->waiting);
	list_init(&s->asked);
	loop_timer_init(&s->next, g, begin, s);
	loop_defer_init(&s->tell, g, on_tell, s);
	return s;
}

void bcm_statuses_free(struct bcm_statuses *s)
{
	if (!s)
		return;
	bcm_cancel(s->request);
	loop_timer_stop(&s->next);
	loop_defer_cancel(&s->tell);
	list_for_each (a, &s->waiting, struct bcm_asker, link)
		bcm_status_cancel(a);
	list_for_each (b, &s->asked, struct bcm_asker, link)
		bcm_status_cancel(b);
	map_free(s->states);
	arena_free(s->a);
	free(s);
}
