#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/crypto.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/apiserver/table.h"

/*
 * Serves get and list. A list is produced while the client reads it, a piece at a time, so that a
 * large list costs neither much memory nor a long turn of the loop. An object that changes
 * meanwhile may appear in its old or its new state. The list has the revision of its beginning, so
 * a watch from that revision reports every such change. The last piece, without which the list is
 * not complete, waits until everything in the list is durable.
 */
#define PIECE_BYTES ((size_t)64 << 10)
#define PIECE_SCAN_BYTES ((size_t)512 << 10)

/* --- get -------------------------------------------------------------------------------------- */

void do_get(struct request *rq)
{
	struct store_entry entry;
	struct filter f;
	char *text;
	struct err e;

	if (!store_get(rq->a->store, resource_key(rq->r, rq->arena, rq->ns, rq->name), &entry)) {
		fault_not_found(rq);
		return;
	}
	if (filter_init(&f, rq, &rq->fault) < 0) {
		reply_fault(rq);
		return;
	}
	if (!filter_parses(&f, rq->r)) {
		reply_text(rq, 200, "application/json", entry.value, entry.value_len, entry.rev);
	} else {
		OWN_JSON j = json_parse(entry.value, entry.value_len, &e);

		text = filter_text(&f, rq->r, j);
		reply_text(rq, 200, "application/json", text, strlen(text), entry.rev);
		free(text);
	}
	filter_done(&f);
}

/* --- list ------------------------------------------------------------------------------------- */

struct lister {
	struct apiserver *a;
	struct httpd_req *q;
	const struct resource *r;
	/* Copy of *r, because the definition of a custom kind may be deleted while the list is
	 * produced. */
	struct resource r_copy;
	struct arena *arena;
	const char *prefix;
	char *after;
	struct filter filter;
	int64_t limit;
	int64_t count;
	uint64_t rev;
	size_t scanned;
	bool more, whole, ended;
	/* True: the disk failed before all objects in the list were durable. The reply is then
	 * broken off without its last piece. */
	bool broken;
	/* Barrier that reports when the list is durable, before the last piece; NULL: not
	 * waiting. */
	struct barrier *barrier;
	struct buf buf;
	size_t sent;
	struct loop_defer wake;
};

static void add_item(struct lister *s, const struct store_entry *e)
{
	struct err err;
	char *text;

	if (!filter_parses(&s->filter, s->r)) {
		buf_puts(&s->buf, s->count++ ? "," : "");
		buf_put(&s->buf, e->value, e->value_len);
		return;
	}

	OWN_JSON j = json_parse(e->value, e->value_len, &err);

	if (!j || !filter_matches(&s->filter, j))
		return;
	text = s->filter.table ? table_row(s->filter.table, j) : filter_text(&s->filter, s->r, j);
	buf_printf(&s->buf, "%s%s", s->count++ ? "," : "", text);
	free(text);
}

static bool on_entry(const struct store_entry *e, void *arg)
{
	struct lister *s = arg;

	if (s->limit && s->count == s->limit) {
		s->more = true;
		return false;
	}
	if (s->buf.len >= PIECE_BYTES || s->scanned >= PIECE_SCAN_BYTES) {
		s->whole = false;
		return false;
	}
	s->scanned += e->value_len;
	free(s->after);
	s->after = mem_strdup(e->key);
	add_item(s, e);
	return true;
}

/* Returns the continue token: {"v":..., "rv":..., "start":...} in base64, as in kube-apiserver.
 * Clients must not interpret it. */
static char *continue_token(const struct lister *s)
{
	OWN_JSON j = json_pack("{s:s, s:I, s:s}", "v", "meta.k8s.io/v1", "rv", (json_int_t)s->rev,
			       "start", s->after);
	char *text = json_text(j), *token = crypto_base64(text, strlen(text));

	free(text);
	return token;
}

static void add_end(struct lister *s)
{
	char *token = s->more ? continue_token(s) : NULL;

	buf_printf(&s->buf, "],\"metadata\":{\"resourceVersion\":\"%llu\"",
		   (unsigned long long)s->rev);
	if (token)
		buf_printf(&s->buf, ",\"continue\":\"%s\"", token);
	buf_puts(&s->buf, "}}\n");
	free(token);
}

static void next_piece(struct lister *s)
{
	buf_clear(&s->buf);
	s->sent = s->scanned = 0;
	s->whole = true;
	store_list(s->a->store, s->prefix, s->after, 0, on_entry, s);
	if (s->whole) {
		s->ended = true;
		add_end(s);
	}
}

static void on_end_durable(const struct err *e, void *arg)
{
	struct lister *s = arg;

	s->barrier = NULL;
	s->broken = e != NULL;
	httpd_wake(s->q);
}

static int64_t list_read(char *out, size_t max, uint64_t pos, void *arg)
{
	struct lister *s = arg;
	size_t left = s->buf.len - s->sent;

	(void)pos;
	if (s->broken)
		return -2;
	if (!left && !s->barrier) {
		if (s->ended)
			return -1;
		next_piece(s);
		left = s->buf.len;
		s->barrier = s->ended ? barrier_new(s->a, on_end_durable, s) : NULL;
	}
	if (s->barrier)
		return 0;
	if (!left) {
		/* No object matched so far: return to the loop, so that other requests get a turn,
		 * and continue in a later turn. */
		loop_defer(&s->wake);
		return 0;
	}
	if (left > max)
		left = max;
	memcpy(out, s->buf.data + s->sent, left);
	s->sent += left;
	return (int64_t)left;
}

static void list_done(void *arg)
{
	struct lister *s = arg;

	loop_defer_cancel(&s->wake);
	barrier_cancel(s->barrier);
	filter_done(&s->filter);
	buf_done(&s->buf);
	arena_free(s->arena);
	free(s->after);
	free(s);
}

static void on_wake(void *arg)
{
	httpd_wake(((struct lister *)arg)->q);
}

static int parse_continue(struct lister *s, const char *token, struct fault *f)
{
	struct err e;
	size_t len = 0;
	char *text = crypto_base64_decode(token, strlen(token), &len, &e);
	OWN_JSON j = text ? json_parse(text, len, &e) : NULL;
	const char *start = json_str_at(j, "start");
	json_int_t rev = json_int_at(j, "rv");

	free(text);
	if (!start || !str_starts(start, s->prefix) || rev <= 0 ||
	    (uint64_t)rev > store_rev(s->a->store))
		return fault_set(f, FAULT_BAD_REQUEST, "continue key is not valid");
	if ((uint64_t)rev < store_oldest(s->a->store))
		return fault_set(f, FAULT_EXPIRED,
				 "The provided continue parameter is too old to display a "
				 "consistent list result.");
	s->after = mem_strdup(start);
	s->rev = (uint64_t)rev;
	return 0;
}

/* Checks resourceVersionMatch. For Exact only the present revision is accepted, because the store
 * does not retain older ones. */
static int check_match(struct request *rq, const char *rev, int64_t n)
{
	const char *match = httpd_query(rq->q, "resourceVersionMatch");
	bool exact = str_eq(match, "Exact");

	if (str_empty(match))
		return 0;
	if (str_empty(rev))
		return fault_set(&rq->fault, FAULT_INVALID,
				 "resourceVersionMatch: Forbidden: resourceVersionMatch is "
				 "forbidden unless resourceVersion is provided");
	if (!exact && !str_eq(match, "NotOlderThan"))
		return fault_set(&rq->fault, FAULT_INVALID,
				 "resourceVersionMatch: Unsupported value: \"%.40s\": supported "
				 "values: \"Exact\", \"NotOlderThan\"",
				 match);
	if (exact && n == 0)
		return fault_set(&rq->fault, FAULT_INVALID,
				 "resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" "
				 "is forbidden for resourceVersion \"0\"");
	if (exact && (uint64_t)n != store_rev(rq->a->store))
		return fault_set(&rq->fault, FAULT_EXPIRED,
				 "The resourceVersion for the provided list is too old.");
	return 0;
}

static int lister_init(struct lister *s, struct request *rq)
{
	const char *limit = httpd_query(rq->q, "limit"), *token = httpd_query(rq->q, "continue");
	const char *rev = httpd_query(rq->q, "resourceVersion");
	struct fault *f = &rq->fault;
	int64_t n = 0;

	if (limit && *limit && !str_to_i64(limit, 0, INT64_MAX, &s->limit))
		return fault_set(f, FAULT_BAD_REQUEST, "limit: want a number, got %s", limit);
	if (!str_empty(rev) && !str_to_i64(rev, 0, INT64_MAX, &n))
		return fault_set(f, FAULT_BAD_REQUEST, "resourceVersion: Invalid value: \"%s\"",
				 rev);
	if (!str_empty(token) && n > 0)
		return fault_set(f, FAULT_BAD_REQUEST,
				 "specifying resource version is not allowed when using continue");
	if ((uint64_t)n > store_rev(rq->a->store))
		return fault_set(f, FAULT_TIMEOUT, "Too large resource version: %s, current: %llu",
				 rev, (unsigned long long)store_rev(rq->a->store));
	if (check_match(rq, rev, n) < 0 || filter_init(&s->filter, rq, f) < 0)
		return -1;
	s->prefix = filter_prefix(&s->filter, rq, s->arena);
	return str_empty(token) ? 0 : parse_continue(s, token, f);
}

void do_list(struct request *rq)
{
	struct lister *s = mem_new(struct lister);
	struct httpd_reader reader = {.read = list_read, .done = list_done, .arg = s, .size = -1};

	s->a = rq->a;
	s->q = rq->q;
	s->r_copy = *rq->r;
	s->r = &s->r_copy;
	s->arena = arena_new();
	s->rev = store_rev(rq->a->store);
	buf_init(&s->buf, SIZE_MAX);
	loop_defer_init(&s->wake, rq->a->group, on_wake, s);
	if (lister_init(s, rq) < 0) {
		reply_fault(rq);
		list_done(s);
		return;
	}
	if (s->filter.table)
		table_begin(s->filter.table, &s->buf);
	else
		buf_printf(&s->buf, "{\"kind\":\"%sList\",\"apiVersion\":\"%s\",\"items\":[",
			   s->filter.partial ? "PartialObjectMetadata" : rq->r->kind,
			   s->filter.partial ? "meta.k8s.io/v1"
					     : resource_api_version(rq->r, rq->arena));
	httpd_reply_stream(rq->q, 200, "application/json", &reader);
}
