#include "sim/cluster/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/mem.h"
#include "base/str.h"

#define PERIOD_MS 500
#define BODY_MAX (16u << 20)

struct sim_rounds {
	struct loop_group *group;
	struct http_peer *peer;
	struct secret *token;
	int64_t period_ms;
	struct loop_timer timer;
	struct list asks;
	void (*begin)(void *arg);
	void *arg;
};

struct round_call {
	struct list link;
	struct sim_rounds *r;
	struct http_req *req;
	/* Called with the items of a list. The pointer is NULL if the request is a write. */
	void (*then)(void *arg, json_t *items);
	void (*done)(void *arg, int status, const json_t *reply, const char *note);
	char *note;
};

static void ask_free(struct round_call *ask)
{
	list_remove(&ask->link);
	free(ask->note);
	free(ask);
}

static void on_answer(const struct http_reply *reply, const struct err *e, void *arg)
{
	struct round_call *ask = arg;
	struct sim_rounds *r = ask->r;
	int status = reply ? reply->status : 0;
	struct err bad;
	OWN_JSON o = NULL;

	(void)e; /* Ignores the error, because the next round tries again. */
	if (reply && (ask->then || ask->done))
		o = json_parse(reply->body, reply->body_len, &bad);
	if (ask->then && status == 200 && o)
		ask->then(r->arg, json_at(o, "items"));
	if (ask->done)
		ask->done(r->arg, status, o, ask->note);
	ask_free(ask);
	if (list_empty(&r->asks))
		loop_timer_start(&r->timer, r->period_ms);
}

static void send(struct sim_rounds *r, struct round_call *ask, const struct sim_write *w)
{
	char *text = w->body ? json_text(w->body) : NULL;
	struct http_call call = {
		.method = w->method,
		.path = w->path,
		.bearer = r->token,
		.body = text,
		.body_len = text ? strlen(text) : 0,
		.content_type = !str_eq(w->method, "PATCH") ? NULL
				: w->merge		    ? "application/merge-patch+json"
					   : "application/strategic-merge-patch+json",
		.max_body = BODY_MAX,
		.done = on_answer,
		.arg = ask,
	};

	ask->r = r;
	list_push_back(&r->asks, &ask->link);
	ask->req = http_start(r->peer, &call);
	free(text);
}

void sim_rounds_list(struct sim_rounds *r, const char *path, void (*then)(void *arg, json_t *items))
{
	struct round_call *ask = mem_new(struct round_call);

	ask->then = then;
	send(r, ask, &(struct sim_write){.method = "GET", .path = path});
}

void sim_rounds_write(struct sim_rounds *r, const struct sim_write *w)
{
	struct round_call *ask = mem_new(struct round_call);

	ask->done = w->done;
	ask->note = mem_strdup(w->note);
	send(r, ask, w);
}

int64_t sim_rounds_wall(const struct sim_rounds *r)
{
	return loop_wall(loop_of(r->group));
}

static void on_timer(void *arg)
{
	struct sim_rounds *r = arg;

	r->begin(r->arg);
}

struct sim_rounds *sim_rounds_new(struct loop_group *g, const struct sim_rounds_spec *s,
				  void (*begin)(void *arg), void *arg, struct err *e)
{
	struct sim_rounds *r = mem_new(struct sim_rounds);
	struct http_peer_spec peer = {.base_url = s->server, .ca_pem = s->ca_pem};

	r->group = g;
	r->period_ms = s->period_ms ? s->period_ms : PERIOD_MS;
	r->begin = begin;
	r->arg = arg;
	list_init(&r->asks);
	loop_timer_init(&r->timer, g, on_timer, r);
	r->token = secret_copy(s->token);
	r->peer = http_peer_new(s->http, &peer, e);
	if (!r->peer) {
		sim_rounds_free(r);
		return NULL;
	}
	loop_timer_start(&r->timer, 0);
	return r;
}

void sim_rounds_free(struct sim_rounds *r)
{
	if (!r)
		return;
	loop_timer_stop(&r->timer);
	list_for_each (ask, &r->asks, struct round_call, link) {
		http_cancel(ask->req);
		ask_free(ask);
	}
	http_peer_free(r->peer);
	secret_free(r->token);
	free(r);
}
