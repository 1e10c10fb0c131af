#include "kube/call.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/str.h"
#include "base/quoted.h"
#include "kube/want.h"

#define MAX_REPLY ((size_t)4 << 20)
/* Largest weight (values) of a reply that is retained: a hostile server may send a million values,
 * and freeing them takes time too. */
#define MAX_REPLY_WEIGHT ((size_t)4 << 20)
#define TOKEN_EVERY_MS 60000
/* Shortest time in ms for which sending pauses when the token bucket is empty. Several tokens
 * accumulate meanwhile and calls are sent in bunches, because one turn of the loop per call would
 * cost more than the call. */
#define BUNCH_MS 50

static void on_call_timer(void *arg);
static void on_want(void *arg);

struct kube_call *kube_call_new(struct kube_client *c, const char *method, char *path,
				const struct err *why)
{
	struct kube_call *call = mem_new(struct kube_call);

	call->c = c;
	call->method = method;
	call->accept = "application/json";
	call->path = path;
	call->counted = true;
	call->timeout_ms = c->timeout_ms;
	if (!path)
		call->refused = *why;
	list_init(&call->link);
	buf_init(&call->text, MAX_REPLY);
	loop_timer_init(&call->timer, c->group, on_call_timer, call);
	loop_defer_init(&call->want, c->group, on_want, call);
	return call;
}

/* Frees the call. Does not use its client, which may already be freed. */
static void call_free(struct kube_call *call)
{
	loop_timer_stop(&call->timer);
	loop_defer_cancel(&call->want);
	list_remove(&call->link);
	if (call->dispose)
		call->dispose(call);
	if (call->watch.free)
		call->watch.free(call->watch.arg);
	scan_free(call->scan);
	json_decref(call->reply);
	buf_done(&call->text);
	if (call->body)
		secret_wipe(call->body, call->body_len);
	free(call->body);
	secret_free(call->secret_value);
	secret_free(call->bearer);
	free(call->path);
	free(call);
}

/* Frees the call's concurrency slot, and drops its reference to the peer, after an HTTP
 * exchange. */
static void release_place(struct kube_call *call)
{
	struct kube_peer *p = call->peer;

	call->http = NULL;
	call->peer = NULL;
	if (p)
		kube_peer_release(call->c, p);
	if (!call->holds_slot)
		return;
	call->holds_slot = false;
	call->c->in_flight--;
	loop_defer(&call->c->pump);
}

static void enter_line(struct kube_call *call)
{
	list_remove(&call->link);
	if (call->urgent)
		list_push_front(&call->c->queued, &call->link);
	else
		list_push_back(&call->c->queued, &call->link);
	call->in_line = true;
	call->c->in_line++;
	call->c->placeless += !call->counted;
}

static void leave_line(struct kube_call *call)
{
	list_remove(&call->link);
	call->c->in_line -= call->in_line;
	call->c->placeless -= call->in_line && !call->counted;
	call->in_line = false;
}

/* Ends the call in a later turn with the error call->refused, without sending it. */
static void refuse(struct kube_call *call)
{
	leave_line(call);
	list_push_back(&call->c->others, &call->link);
	loop_timer_start(&call->timer, 0);
}

void kube_call_start(struct kube_call *call)
{
	struct kube_client *c = call->c;
	int64_t limit =
		c->queue_ms && !call->prompt && !call->urgent ? c->queue_ms : call->timeout_ms;

	call->state = CALL_QUEUED;
	call->was_sent = false;
	call->deadline = call->timeout_ms ? loop_now(loop_of(c->group)) + limit : INT64_MAX;
	if (call->refused.kind == ERR_NONE && !call->urgent && c->in_line >= KUBE_QUEUE_MAX)
		err_note(&call->refused, ERR_UNAVAILABLE, 0,
			 "%s: not sent: %d calls are queued already", c->name, KUBE_QUEUE_MAX);
	if (call->refused.kind != ERR_NONE) {
		refuse(call);
		return;
	}
	enter_line(call);
	if (call->timeout_ms)
		loop_timer_start(&call->timer, limit);
	loop_defer(&c->pump);
}

void kube_client_drop_queued(struct kube_client *c)
{
	list_for_each (call, &c->queued, struct kube_call, link) {
		if (call->urgent)
			continue;
		err_note(&call->refused, ERR_UNAVAILABLE, 0,
			 "%s: dropped from the queue before it was sent", c->name);
		refuse(call);
	}
}

void kube_call_check(struct kube_call *call, int (*holds)(void *arg, struct err *e), void *arg)
{
	call->holds = holds;
	call->holds_arg = arg;
}

void kube_call_watch(struct kube_call *call, const struct kube_call_watch *w)
{
	call->watch = *w;
}

void kube_call_want(struct kube_call *call, const struct scan_want *want)
{
	call->wanted = want;
}

void kube_call_brief(struct kube_call *call, bool (*is_known)(const char *rv, void *arg), void *arg)
{
	call->knows = is_known;
	call->knows_arg = arg;
}

/* Checks, when a call leaves the queue, whether it may still be sent (spec.may_change() and
 * kube_call_check()). Returns 0 if it may, and always for a call that changes nothing; -1 with *e
 * if it may not. */
static int still_holds(struct kube_call *call, struct err *e)
{
	struct kube_client *c = call->c;

	if (str_eq(call->method, "GET") || call->urgent || call->tells)
		return 0;
	if (c->may_change && c->may_change(c->may_change_arg, e) < 0)
		return -1;
	return call->holds ? call->holds(call->holds_arg, e) : 0;
}

void kube_call_again(struct kube_call *call, char *path)
{
	free(call->path);
	call->path = path;
	kube_call_start(call);
}

void kube_call_cancel(struct kube_call *call)
{
	if (!call)
		return;
	if (call->ending || call->feeding) {
		call->cancelled = true;
		return;
	}
	http_cancel(call->http);
	release_place(call);
	leave_line(call);
	call_free(call);
}

/* Ends the call: removes it from every list, calls end(), then frees it. The owner may do anything
 * in end(). */
static void settle(struct kube_call *call, json_t *json, const struct err *e)
{
	release_place(call);
	loop_timer_stop(&call->timer);
	loop_defer_cancel(&call->want);
	leave_line(call);
	scan_free(call->scan);
	call->scan = NULL;
	call->state = CALL_DONE;
	call->ending = true;
	call->end(call, json, e);
	call->ending = false;
	if (call->cancelled || call->state == CALL_DONE)
		call_free(call);
}

/* --- sending ---------------------------------------------------------------------------------- */

const struct secret *kube_client_token(struct kube_client *c)
{
	int64_t now = loop_now(loop_of(c->group));
	struct secret *fresh;
	struct err e;

	if (!c->config->token_file || now - c->token_read_at < TOKEN_EVERY_MS)
		return c->config->token;
	c->token_read_at = now;
	fresh = kube_config_read_token(c->config->token_file, &e);
	/* The token file may be in the middle of a replacement: while it is not readable, keep
	 * using the old token. */
	if (fresh) {
		secret_free(c->config->token);
		c->config->token = fresh;
	}
	return c->config->token;
}

/* Frees a call that its owner cancelled in a callback while the HTTP client was delivering the
 * reply (call->feeding); kube_call_cancel() only marks such a call. Returns -1 for the HTTP
 * client. */
static int drop_cancelled(struct kube_call *call, struct err *e)
{
	http_cancel(call->http);
	release_place(call);
	call_free(call);
	return err_set(e, ERR_UNAVAILABLE, 0, "cancelled");
}

/* Parses the text of a Date header into c->date; returns false if the text is not a date. */
static bool is_date(struct kube_client *c, const char *text)
{
	int64_t ms;

	if (str_eq(text, c->date_text))
		return true;
	if (!http_date(text, &ms))
		return false;
	c->date = ms;
	(void)!str_copy(c->date_text, sizeof(c->date_text), text);
	return true;
}

static int on_http_head(const struct http_reply *r, void *arg, struct err *e)
{
	struct kube_call *call = arg;
	struct kube_client *c = call->c;
	const char *date = http_reply_header(r, "Date");

	c->last_contact = loop_wall(loop_of(c->group));
	if (date && is_date(c, date))
		c->date_at = loop_now(loop_of(c->group));
	if (call->on_open && r->status >= 200 && r->status <= 299) {
		call->feeding = true;
		call->on_open(call);
		call->feeding = false;
	}
	return call->cancelled ? drop_cancelled(call, e) : 0;
}

static int on_http_data(const char *data, size_t len, void *arg, struct err *e)
{
	struct kube_call *call = arg;
	int rc;

	call->c->last_contact =
		/* Record the contact at every piece of data, not only at the end of a reply,
		 * because a watch stays open for minutes. */
		loop_wall(loop_of(call->c->group));
	call->received += len;
	call->feeding = true;
	rc = call->plain ? 0 : scan_feed(call->scan, data, len, e);
	call->feeding = false;
	if (rc == 0 && (call->knows || call->plain))
		rc = buf_add(&call->text, data, len, e);
	if (call->cancelled)
		return drop_cancelled(call, e);
	/* Request the next piece in a later turn of the loop, so that other work gets its turn
	 * between two pieces. */
	if (rc == 0)
		loop_defer(&call->want);
	return rc;
}

static void on_want(void *arg)
{
	struct kube_call *call = arg;

	if (call->http)
		http_want(call->http);
}

static int on_item(json_t *item, void *arg, struct err *e)
{
	struct kube_call *call = arg;

	if (call->cancelled)
		return err_set(e, ERR_UNAVAILABLE, 0, "cancelled");
	return call->on_item(call, item, e);
}

static bool is_known(const struct scan_line *line, void *arg)
{
	struct kube_call *call = arg;

	return !call->cancelled && call->is_known(call, line);
}

/* Receives a parsed JSON value: one line of a watch, a list object without its items, or a whole
 * reply. */
static int on_value(json_t *value, void *arg, struct err *e)
{
	struct kube_call *call = arg;

	if (call->on_item && call->lines)
		return on_item(value, call, e);
	if (call->on_item)
		return call->cancelled ? 0 : call->on_meta(call, value, e);
	if (scan_left_out(call->scan))
		return err_set(e, ERR_PROTOCOL, 0, "%s: the reply has more data than drover reads",
			       call->path);
	json_decref(call->reply);
	call->reply = json_incref(value);
	return 0;
}

static void scan_begin(struct kube_call *call, bool brief)
{
	static const struct scan_ops ops = {.on_each = on_item, .on_value = on_value},
				     asked = {.is_known = is_known, .on_value = on_value};
	struct scan_spec s = {.want = call->wanted,
			      .lines = call->lines,
			      .max_bytes = call->max_item,
			      .digests = call->digests,
			      .ops = call->is_known ? &asked : &ops,
			      .arg = call};

	if (!call->on_item) {
		s.want = brief ? kube_want_identity : call->wanted ? call->wanted : kube_want_all;
		s.max_bytes = MAX_REPLY;
		s.most = MAX_REPLY_WEIGHT;
	}
	scan_free(call->scan);
	json_decref(call->reply);
	call->reply = NULL;
	call->scan = scan_new(&s);
}

static void on_http_done(const struct http_reply *r, const struct err *e, void *arg);

static void send_call(struct kube_call *call)
{
	const struct http_header accept[] = {{"Accept", call->accept}};
	struct kube_client *c = call->c;
	int64_t now = loop_now(loop_of(c->group)), left;
	struct http_call h = {
		.method = call->method,
		.path = call->path,
		.headers = accept,
		.nheaders = 1,
		.bearer = call->bearer ? call->bearer : kube_client_token(c),
		.secret_header = call->secret_header,
		.secret_value = call->secret_value,
		.body = call->body,
		.body_len = call->body_len,
		.content_type = call->content_type,
		.idle_ms = call->idle_ms,
		.connect_ms = call->connect_ms,
		.on_head = on_http_head,
		.on_data = on_http_data,
		.paced = true,
		.piece_bytes = call->piece_bytes,
		.done = on_http_done,
		.arg = call,
	};

	loop_timer_stop(&call->timer);
	leave_line(call);
	list_push_back(&c->others, &call->link);
	/* On a client with queue_ms, the time in the queue does not count against timeout_ms: start
	 * the deadline of the exchange now. */
	if (call->timeout_ms && !call->was_sent && !call->prompt && !call->urgent && c->queue_ms)
		call->deadline = now + call->timeout_ms;
	call->was_sent = true;
	call->sent_at = now;
	left = call->deadline - now;
	call->state = CALL_SENT;
	call->holds_slot = call->counted;
	c->in_flight += call->counted;
	if (call->timeout_ms)
		h.timeout_ms = left < 1 ? 1 : (uint32_t)left;
	else
		h.no_timeout = true;
	buf_clear(&call->text);
	scan_begin(call, call->knows);
	if (!call->bearer) {
		call->peer = c->peer;
		call->peer->calls++;
	}
	call->http = http_start(call->peer->http, &h);
}

/* Pauses sending for wait ms, until the bucket has a token again. Extends the pause to BUNCH_MS, or
 * to the time in which the bucket fills up if that is shorter, so that several calls can be sent at
 * once. */
static void hold(struct kube_client *c, int64_t now, int64_t wait)
{
	double full_ms = c->bucket.burst * 1000 / c->bucket.per_s;

	if (wait < BUNCH_MS)
		wait = full_ms < BUNCH_MS ? (int64_t)full_ms : BUNCH_MS;
	c->held_until = now + wait;
	loop_timer_start(&c->pump_timer, wait);
}

/* Sends queued calls in order. A call that only waits for a concurrency slot does not block later
 * calls that need no slot. */
void kube_client_pump(void *arg)
{
	struct kube_client *c = arg;
	int64_t now = loop_now(loop_of(c->group));

	list_for_each (call, &c->queued, struct kube_call, link) {
		struct err e;

		if (!call->urgent) {
			int64_t wait;

			if (now < c->held_until)
				return;
			if (call->counted && c->in_flight >= c->max_in_flight) {
				/* Stop here if all queued calls need a slot. Otherwise every reply
				 * would cause a walk past up to a thousand queued writes. */
				if (!c->placeless)
					return;
				continue;
			}
			if (still_holds(call, &e) < 0) {
				err_note(&call->refused, ERR_UNAVAILABLE, 0, "%s: not sent: %s",
					 c->name, e.text);
				refuse(call);
				continue;
			}
			wait = bucket_take(&c->bucket, now);
			if (wait) {
				hold(c, now, wait);
				return;
			}
		}
		send_call(call);
	}
}

static void on_call_timer(void *arg)
{
	struct kube_call *call = arg;
	struct err e;

	if (call->state == CALL_RESTING) {
		int64_t left = call->deadline - loop_now(loop_of(call->c->group));

		call->state = CALL_QUEUED;
		enter_line(call);
		if (call->timeout_ms)
			loop_timer_start(&call->timer, left > 0 ? left : 0);
		loop_defer(&call->c->pump);
		return;
	}
	if (call->refused.kind != ERR_NONE)
		e = call->refused;
	else
		err_note(&e, ERR_UNAVAILABLE, 0, "%s: not sent in time: %zu calls are queued",
			 call->c->name, call->c->in_line);
	settle(call, NULL, &e);
}

/* --- replies ---------------------------------------------------------------------------------- */

/* Sets *e to a text like "NotFound: pods \"x\" not found" if the body of the reply is a Status
 * object; otherwise to the HTTP error. */
static void status_err(const struct http_reply *r, struct err *e)
{
	struct err none;
	OWN_JSON j = r->body_len ? scan_parse(r->body, r->body_len, kube_want_status, &none) : NULL;
	const char *reason = json_str_at(j, "reason"), *message = json_str_at(j, "message");
	/* If an eviction was refused, only the member causes names the PodDisruptionBudget: quote
	 * its first entry. */
	const char *cause =
		r->status == 429
			? json_str_at(json_array_get(json_at(j, "details", "causes"), 0), "message")
			: NULL;

	(void)!http_err(r, e);
	if (str_eq(json_str_at(j, "kind"), "Status") && (reason || message)) {
		uint32_t retry = e->retry_after_ms;

		err_note(e, e->kind, r->status, "%s: %.*s%s%.130s", str_or(reason, "Unknown"),
			 cause ? 90 : 200, str_or(message, "no message"), cause ? " " : "",
			 str_or(cause, ""));
		e->retry_after_ms = retry;
	}
}

/* Schedules a retry of the call if the server asked for one (429 or 503 with Retry-After) and the
 * deadline allows it. False: the reply is final. */
static bool rest(struct kube_call *call, const struct http_reply *r)
{
	int64_t now = loop_now(loop_of(call->c->group));

	if ((r->status != 429 && r->status != 503) || !r->retry_after_ms || call->no_wait ||
	    call->deadline - now <= r->retry_after_ms)
		return false;
	release_place(call);
	call->state = CALL_RESTING;
	loop_timer_start(&call->timer, r->retry_after_ms);
	return true;
}

/* For a call of kube_call_brief(): call->reply has only the metadata. Unless knows() returns true
 * for its resourceVersion, parses the retained text again, completely. -1 with *e. */
static int read_whole(struct kube_call *call, struct err *e)
{
	const char *rv = json_str_at(call->reply, "metadata", "resourceVersion");

	if (!call->knows || (rv && call->knows(rv, call->knows_arg)))
		return 0;
	scan_begin(call, false);
	if (scan_feed(call->scan, call->text.data, call->text.len, e) < 0)
		return -1;
	return scan_end(call->scan, e);
}

/* Sets call->reply to the text of the reply, as a JSON string. Returns 0; -1 with *e if the text is
 * too long. */
static int read_plain(struct kube_call *call, struct err *e)
{
	buf_puts(&call->text, "");
	if (call->text.over)
		return err_set(e, ERR_CAPACITY, 0, "%s: more than %zu bytes", call->path,
			       MAX_REPLY);
	str_clean(call->text.data);
	call->reply = json_string(call->text.data);
	return 0;
}

/* Reports the end of a request to the observer. The path has no query, which may contain foreign
 * text of any length. */
static void tell_watch(const struct kube_call *call, const struct http_reply *r,
		       const struct err *e)
{
	char *path = mem_strndup(call->path, strcspn(call->path, "?"));
	const struct http_ended x = {.origin = http_peer_origin(call->peer->http),
				     .method = call->method,
				     .path = path,
				     .status = r ? r->status : 0,
				     .error = e,
				     .began = call->sent_at};

	call->watch.ended(&x, call->watch.arg);
	free(path);
}

static void on_http_done(const struct http_reply *r, const struct err *e, void *arg)
{
	struct kube_call *call = arg;
	struct err mine;

	if (call->c->counted)
		call->c->counted(
			call->method, r && !e ? r->status : 0,
			call->timeout_ms ? loop_now(loop_of(call->c->group)) - call->sent_at : -1,
			call->c->counted_arg);
	if (call->watch.ended)
		tell_watch(call, r, e);
	if (r && rest(call, r))
		return;
	if (r && r->status == 401)
		/* The server may have rotated the token early: make the next call read the token
		 * file again. */
		call->c->token_read_at = INT64_MIN / 2;
	if (r && (r->status < 200 || r->status > 299)) {
		status_err(r, &mine);
		e = &mine;
	} else if (r && call->plain) {
		if (read_plain(call, &mine) < 0)
			e = &mine;
	} else if (r && (scan_end(call->scan, &mine) < 0 || read_whole(call, &mine) < 0)) {
		e = &mine;
	} else if (r && !call->on_item && !json_is_object(call->reply)) {
		err_note(&mine, ERR_PROTOCOL, r->status, "%s: the reply is not an object",
			 call->path);
		e = &mine;
	}
	/* The error quotes the server's reply, which may in turn quote the request with its token:
	 * remove the token from the error. */
	if (e == &mine)
		quoted_redact_err(&mine, call->bearer ? call->bearer : call->c->config->token,
				  NULL);
	settle(call, e ? NULL : call->reply, e);
}

/* --- paths ------------------------------------------------------------------------------------ */

/* Appends a path segment. Refuses texts that are not allowed as names in the API, and "." and "..",
 * because a server would resolve them to a different path. */
static int add_segment(struct buf *b, const char *what, const char *s, struct err *e)
{
	if (str_empty(s) || !strcmp(s, ".") || !strcmp(s, "..") || strpbrk(s, "/%") ||
	    strlen(s) > 253)
		return err_set(e, ERR_INVALID, 0, "\"%s\" is not a %s", str_or(s, ""), what);
	buf_puts(b, "/");
	http_escape(b, s);
	return 0;
}

char *kube_path(const struct kube_resource *r, const char *ns, const char *name, const char *sub,
		struct err *e)
{
	struct buf b;

	buf_init(&b, 4096);
	if (str_empty(r->group))
		buf_printf(&b, "/api/%s", r->version);
	else
		buf_printf(&b, "/apis/%s/%s", r->group, r->version);
	if (ns && !r->namespaced) {
		err_note(e, ERR_INVALID, 0, "%s are cluster-scoped", r->plural);
		goto fail;
	}
	if (name && !ns && r->namespaced) {
		err_note(e, ERR_INVALID, 0, "%s \"%s\": no namespace given", r->plural, name);
		goto fail;
	}
	if (ns) {
		buf_puts(&b, "/namespaces");
		if (add_segment(&b, "namespace", ns, e) < 0)
			goto fail;
	}
	buf_printf(&b, "/%s", r->plural);
	if ((name && add_segment(&b, "name", name, e) < 0) ||
	    (sub && add_segment(&b, "subresource", sub, e) < 0))
		goto fail;
	return buf_steal(&b);
fail:
	buf_done(&b);
	return NULL;
}

void kube_query(struct buf *path, const char *name, const char *value)
{
	if (str_empty(value))
		return;
	buf_puts(path, strchr(path->data, '?') ? "&" : "?");
	buf_puts(path, name);
	buf_puts(path, "=");
	http_escape(path, value);
}
