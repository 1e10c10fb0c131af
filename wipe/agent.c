#include "wipe/agent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "base/mem.h"
#include "base/retry.h"
#include "base/str.h"
#include "wipe/inventory.h"
#include "wipe/orders.h"

#define POLL_MS 45000 /* Time limit of one poll in ms; drover answers a poll within 30 s. */
#define PROGRESS_MS 1000
#define DENIED_MS (10 * 60 * 1000)
#define LAST_WORD_MS 3000 /* Longest wait for delivery of the poweroff report. */
#define SILENT_MS (60 * 1000)
#define SILENT_MAX_MS (60 * 60 * 1000)
#define SOON_MS 1000 /* Shortest time from a poll that brought nothing new to the next. */

/* Result of an order, retained in case the order is repeated. */
struct result {
	struct list link, outbox;
	char *id, *text;
};

struct agent {
	struct agent_config c;
	char *boot_id;
	/* "MACHINE/BOOTID". */
	char *identity;
	struct crypto_key *key;
	struct http_peer *peer;
	struct orders *orders;
	struct arena *arena;
	struct proto_dmi dmi;

	/* session_req: the hello or poll request in progress. report_req: the report request in
	 * progress. NULL: no such request. */
	struct http_req *session_req, *report_req;
	struct loop_timer session_timer, report_timer, progress_timer, last_word;
	struct backoff session_backoff, report_backoff;
	bool welcome, ending;
	/* Monotonic ms of the first 401 or 403 since the last success; -1: none. */
	int64_t denied_since;
	/* Monotonic ms. asked_at: start of the last hello or poll. heard_at: last reply from
	 * drover, or last restart of the network. The network is restarted once silent_ms have
	 * passed since heard_at. */
	int64_t asked_at, heard_at, silent_ms;

	int64_t after, fence;
	struct arena *order_arena, *next_arena;
	/* order: the order in progress. next: the order that starts when `order` ends. NULL: no
	 * order. */
	struct proto_order *order, *next;
	struct list results, outbox;
	/* The result that report_req carries, removed from outbox; NULL: report_req carries
	 * progress. */
	struct result *sending;
};

static void session(void *arg);
static void send_report(void *arg);

static void say(struct agent *a, const char *what, const char *detail, const struct err *e)
{
	if (a->c.say)
		a->c.say(what, detail, e, a->c.arg);
}

static void power_off(void *arg)
{
	struct agent *a = arg;

	say(a, "power off", NULL, NULL);
	a->ending = true;
	loop_timer_stop(&a->session_timer);
	loop_timer_stop(&a->report_timer);
	loop_timer_stop(&a->progress_timer);
	loop_timer_stop(&a->last_word);
	a->c.power_off(a->c.arg);
}

/* --- requests -------------------------------------------------------------------------------- */

static struct http_req *request(struct agent *a, const char *method, const char *path,
				const char *body, uint32_t timeout_ms,
				void (*done)(const struct http_reply *r, const struct err *e,
					     void *arg))
{
	size_t len = body ? strlen(body) : 0;
	char *signature = proto_sign(a->key, method, path, body, len);
	struct http_header h[] = {{PROTO_HEADER_AGENT, a->identity},
				  {PROTO_HEADER_SIGNATURE, signature}};
	struct http_call c = {
		.method = method,
		.path = path,
		.headers = h,
		.nheaders = 2,
		.body = body,
		.body_len = len,
		.timeout_ms = timeout_ms,
		.max_body = PROTO_MAX_MESSAGE,
		.done = done,
		.arg = a,
	};
	struct http_req *q = http_start(a->peer, &c);

	free(signature);
	return q;
}

static void heard(struct agent *a)
{
	a->heard_at = loop_now(loop_of(a->c.group));
	a->silent_ms = SILENT_MS;
}

static void heard_nothing(struct agent *a)
{
	if (loop_now(loop_of(a->c.group)) - a->heard_at < a->silent_ms)
		return;
	say(a, "no answer from drover, restarting the network", NULL, NULL);
	a->c.renew_network(a->c.arg);
	a->heard_at = loop_now(loop_of(a->c.group));
	a->silent_ms = a->silent_ms * 2 < SILENT_MAX_MS ? a->silent_ms * 2 : SILENT_MAX_MS;
}

/* Updates the session from a reply, and logs a failure. Returns true if the reply is a success. */
static bool judge(struct agent *a, const struct http_reply *r, const struct err *e,
		  const char *what)
{
	int64_t now = loop_now(loop_of(a->c.group));
	struct err why;

	if (e)
		heard_nothing(a);
	else
		heard(a);
	if (!e && r->status < 300) {
		a->denied_since = -1;
		return true;
	}
	if (e)
		why = *e;
	else
		(void)!http_err(r, &why);
	say(a, "request failed", what, &why);
	/* Ends the session only at a 401 or 403: a lost connection or a server error does not show
	 * whether drover still accepts this agent. */
	if (e || (r->status != 401 && r->status != 403))
		return false;
	a->welcome = false;
	if (a->denied_since < 0)
		a->denied_since = now;
	else if (now - a->denied_since >= DENIED_MS)
		power_off(a);
	return false;
}

static void again(struct agent *a, struct backoff *b, struct loop_timer *t)
{
	if (!a->ending)
		loop_timer_start(t, backoff_next(b, loop_random(loop_of(a->c.group))));
}

/* --- results --------------------------------------------------------------------------------- */

static struct result *find_result(struct agent *a, const char *id)
{
	list_for_each (r, &a->results, struct result, link)
		if (!strcmp(r->id, id))
			return r;
	return NULL;
}

static void post(struct agent *a, struct result *r)
{
	list_remove(&r->outbox);
	list_push_back(&a->outbox, &r->outbox);
	if (!a->report_req && !loop_timer_active(&a->report_timer))
		loop_timer_start(&a->report_timer, 0);
}

static void add_result(struct agent *a, const struct proto_report *report)
{
	struct result *r = mem_new(struct result);

	r->id = mem_strdup(report->id);
	r->text = proto_encode(proto_report_fields, report);
	list_init(&r->outbox);
	list_push_back(&a->results, &r->link);
	post(a, r);
}

/* Sends a result again, with the seq and fence of the repeated order o. */
static void repeat_result(struct agent *a, struct result *r, const struct proto_order *o)
{
	struct err e;
	OWN_JSON j = json_parse(r->text, strlen(r->text), &e);

	if (j) {
		json_object_set_new(j, "seq", json_integer(o->seq));
		json_object_set_new(j, "fence", json_integer(o->fence));
		free(r->text);
		r->text = json_text(j);
	}
	post(a, r);
}

static void on_reported(const struct http_reply *r, const struct err *e, void *arg)
{
	struct agent *a = arg;
	struct result *sent = a->sending;

	a->report_req = NULL;
	a->sending = NULL;
	if (judge(a, r, e, PROTO_REPORT_PATH)) {
		backoff_reset(&a->report_backoff);
	} else if (sent && (e || r->status >= 500 || r->status == 401 || r->status == 403 ||
			    r->status == 429)) {
		list_remove(&sent->outbox);
		list_push_front(&a->outbox, &sent->outbox);
		again(a, &a->report_backoff, &a->report_timer);
		return;
	}
	/* Continues with the next report, because this result was delivered, or refused in a way
	 * that a retry would not change. If drover repeated the order meanwhile, the result is in
	 * the outbox again. */
	if (a->ending)
		return;
	if (loop_timer_active(&a->last_word) && list_empty(&a->outbox))
		power_off(a);
	else if (!list_empty(&a->outbox))
		send_report(a);
}

static void send_report(void *arg)
{
	struct agent *a = arg;

	if (a->report_req || list_empty(&a->outbox))
		return;
	if (!a->welcome) {
		again(a, &a->report_backoff, &a->report_timer);
		return;
	}
	a->sending = list_entry(a->outbox.next, struct result, outbox);
	list_remove(&a->sending->outbox);
	a->report_req = request(a, "POST", PROTO_REPORT_PATH, a->sending->text, 0, on_reported);
}

static void send_progress(void *arg)
{
	struct agent *a = arg;
	struct proto_report r;

	if (!a->order)
		return;
	loop_timer_start(&a->progress_timer, PROGRESS_MS);
	if (a->report_req || !a->welcome || !list_empty(&a->outbox) ||
	    !orders_progress(a->orders, &r))
		return;
	char *text = proto_encode(proto_report_fields, &r);

	a->report_req = request(a, "POST", PROTO_REPORT_PATH, text, 0, on_reported);
	free(text);
}

/* --- orders ---------------------------------------------------------------------------------- */

static void run_next(struct agent *a);

static void on_order_done(const struct proto_report *r, void *arg)
{
	struct agent *a = arg;
	struct arena *old = a->order_arena;

	say(a, proto_report_state_names[r->state], r->reason ? r->reason : r->id, NULL);
	add_result(a, r);
	a->order = NULL;
	a->order_arena = NULL;
	loop_timer_stop(&a->progress_timer);
	run_next(a);
	arena_free(old);
}

static void run_next(struct agent *a)
{
	if (!a->next)
		return;
	a->order = a->next;
	a->order_arena = a->next_arena;
	a->next = NULL;
	a->next_arena = NULL;
	say(a, "order", a->order->id, NULL);
	loop_timer_start(&a->progress_timer, PROGRESS_MS);
	orders_start(a->orders, a->order, on_order_done, a);
}

static void refuse_stale(struct agent *a, const struct proto_order *o)
{
	char text[100];
	struct proto_report r = {.seq = o->seq,
				 .id = o->id,
				 .fence = o->fence,
				 .state = PROTO_FAILED,
				 .reason = "StaleFence",
				 .message = text};
	struct result *refusal;

	snprintf(text, sizeof(text), "fence %" PRId64 " is lower than %" PRId64, o->fence,
		 a->fence);
	/* Retains the refusal without its id, so that find_result() does not return it for a later
	 * order: a leader with a valid fence may still send an order with this id. */
	add_result(a, &r);
	refusal = list_entry(a->results.prev, struct result, link);
	refusal->id[0] = '\0';
}

/* Starts, queues or answers an order. If the order is started or queued, takes ownership of *arena
 * and sets *arena to NULL. Returns true if the order is new. */
static bool take_order(struct agent *a, struct proto_order *o, struct arena **arena)
{
	struct result *known;

	if (o->seq > a->after)
		a->after = o->seq;
	if (o->fence < a->fence) {
		refuse_stale(a, o);
		return false;
	}
	a->fence = o->fence;
	known = find_result(a, o->id);
	if (known) {
		repeat_result(a, known, o);
		return false;
	}
	if (o->kind == PROTO_POWEROFF) {
		struct proto_report r = {
			.seq = o->seq, .id = o->id, .fence = o->fence, .state = PROTO_DONE};

		loop_timer_start(&a->last_word, LAST_WORD_MS);
		add_result(a, &r);
		return true;
	}
	if (a->order && str_eq(a->order->id, o->id))
		return false;
	arena_free(a->next_arena);
	a->next = o;
	a->next_arena = *arena;
	*arena = NULL;
	if (!a->order)
		run_next(a);
	return true;
}

static bool read_order(struct agent *a, const struct http_reply *r)
{
	struct arena *arena = arena_new();
	struct proto_order *o = arena_new_obj(arena, struct proto_order);
	struct err e;
	bool fresh = false;

	if (proto_decode(proto_order_fields, r->body, r->body_len, o, arena, &e) < 0)
		say(a, "cannot decode order", NULL, &e);
	else
		fresh = take_order(a, o, &arena);
	arena_free(arena);
	return fresh;
}

/* --- session --------------------------------------------------------------------------------- */

static void on_polled(const struct http_reply *r, const struct err *e, void *arg)
{
	struct agent *a = arg;
	int64_t took = loop_now(loop_of(a->c.group)) - a->asked_at;
	bool fresh = false;

	a->session_req = NULL;
	if (!judge(a, r, e, PROTO_ORDER_PATH)) {
		again(a, &a->session_backoff, &a->session_timer);
		return;
	}
	backoff_reset(&a->session_backoff);
	if (r->status == 200)
		fresh = read_order(a, r);
	if (!a->ending)
		loop_timer_start(&a->session_timer, fresh || took >= SOON_MS ? 0 : SOON_MS - took);
}

static void on_welcome(const struct http_reply *r, const struct err *e, void *arg)
{
	struct agent *a = arg;
	struct proto_welcome w = {0};
	struct err why;
	OWN(arena) arena = arena_new();

	a->session_req = NULL;
	if (!judge(a, r, e, PROTO_HELLO_PATH)) {
		again(a, &a->session_backoff, &a->session_timer);
		return;
	}
	if (proto_decode(proto_welcome_fields, r->body, r->body_len, &w, arena, &why) < 0) {
		say(a, "cannot decode welcome", NULL, &why);
		again(a, &a->session_backoff, &a->session_timer);
		return;
	}
	say(a, "welcome", NULL, NULL);
	backoff_reset(&a->session_backoff);
	a->welcome = true;
	if (w.wall_time && a->c.set_clock)
		a->c.set_clock(w.wall_time, a->c.arg);
	loop_timer_start(&a->session_timer, 0);
	send_report(a);
}

static void hello(struct agent *a)
{
	char public[CRYPTO_PUBLIC_TEXT];
	struct proto_hello h = {
		.machine = a->c.boot->machine,
		.operation = a->c.boot->operation,
		.boot = a->c.boot->boot,
		.secret = a->c.boot->secret,
		.boot_id = a->boot_id,
		.public_key = crypto_key_public(a->key, public),
		.version = a->c.version,
		.protocol = PROTO_VERSION,
		.dmi = a->dmi,
		.trust = a->c.trust,
		.probes = true,
	};
	char *text = proto_encode(proto_hello_fields, &h);

	a->session_req = request(a, "POST", PROTO_HELLO_PATH, text, 0, on_welcome);
	secret_wipe(text, strlen(text));
	free(text);
}

static void session(void *arg)
{
	struct agent *a = arg;
	char path[64];

	if (a->session_req || a->ending)
		return;
	a->asked_at = loop_now(loop_of(a->c.group));
	if (!a->welcome) {
		hello(a);
		return;
	}
	snprintf(path, sizeof(path), PROTO_ORDER_PATH "?after=%" PRId64, a->after);
	a->session_req = request(a, "GET", path, NULL, POLL_MS, on_polled);
}

/* --- creation and destruction ----------------------------------------------------------------- */

struct agent *agent_new(const struct agent_config *c, struct err *e)
{
	struct agent *a = mem_new(struct agent);
	struct http_peer_spec peer = {
		.base_url = c->boot->endpoint,
		.ca_pem = c->boot->ca_pem,
		.user_agent = "drover-agent",
	};

	a->c = *c;
	a->boot_id = mem_strdup(c->boot_id);
	a->c.version = mem_strdup(c->version);
	a->identity = mem_printf("%s/%s", c->boot->machine, c->boot_id);
	a->arena = arena_new();
	a->key = crypto_key_new();
	a->denied_since = -1;
	a->session_backoff = (struct backoff){.base_ms = 250, .cap_ms = 10000};
	a->report_backoff = (struct backoff){.base_ms = 250, .cap_ms = 10000};
	list_init(&a->results);
	list_init(&a->outbox);
	loop_timer_init(&a->session_timer, c->group, session, a);
	loop_timer_init(&a->report_timer, c->group, send_report, a);
	loop_timer_init(&a->progress_timer, c->group, send_progress, a);
	loop_timer_init(&a->last_word, c->group, power_off, a);
	a->orders = orders_new(c->group, c->http, c->host, a->key, c->trust);
	inventory_dmi(c->host, a->arena, &a->dmi);
	a->peer = http_peer_new(c->http, &peer, e);
	if (!a->peer) {
		agent_free(a);
		return NULL;
	}
	return a;
}

void agent_start(struct agent *a)
{
	heard(a);
	session(a);
}

void agent_free(struct agent *a)
{
	if (!a)
		return;
	loop_timer_stop(&a->session_timer);
	loop_timer_stop(&a->report_timer);
	loop_timer_stop(&a->progress_timer);
	loop_timer_stop(&a->last_word);
	http_cancel(a->session_req);
	http_cancel(a->report_req);
	orders_free(a->orders);
	http_peer_free(a->peer);
	list_for_each (r, &a->results, struct result, link) {
		free(r->id);
		free(r->text);
		free(r);
	}
	arena_free(a->order_arena);
	arena_free(a->next_arena);
	arena_free(a->arena);
	crypto_key_free(a->key);
	free((char *)a->c.version);
	free(a->identity);
	free(a->boot_id);
	free(a);
}
