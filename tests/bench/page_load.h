#ifndef TESTS_BENCH_PAGE_LOAD_H
#define TESTS_BENCH_PAGE_LOAD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/data/json.h"
#include "tests/simulated/http_mem.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/controller.h"
#include "controller/view/history.h"

/*
 * page_load: counts the bytes of the page (controller/view/web/) before a running controller: all
 * replies of the first load, then the stream of events while nothing happens. Bytes are those of
 * bodies, without HTTP headers and TLS.
 *
 * The controller's own history has just begun, so the page's history is a full day in which each
 * tenant has GPUs.
 */
#define PAGE_LOAD_REST_MS 60000
/* Time in ms until the streams have their first lines */
#define PAGE_LOAD_SETTLE_MS 5000
#define PAGE_LOAD_ORIGIN "https://page.bench"

struct page_figures {
	/* Bytes of the first load; bytes per second of the stream at rest */
	double first, rest;
	/* The same with full rows of machines */
	double full_first, full_rest;
};

struct page_load {
	struct loop *l;
	struct http_peer *host, *view;
	struct secret *token;
	struct gpu_history *history;
	struct loop_timer timer;
	size_t next, fleet;
	struct page_figures out;
	bool resting;
	void (*done)(void *arg);
	void *arg;
};

static inline _Noreturn void page_load_die(const char *what)
{
	(void)fprintf(stderr, "page_load: %s\n", what);
	exit(1);
}

static inline void page_load_history(struct httpd_req *q, void *arg)
{
	view_history_reply(((struct page_load *)arg)->history, q, "1");
}

/* --- at rest ---------------------------------------------------------------------------------- */

static inline int page_load_brief(const char *data, size_t len, void *arg, struct err *e)
{
	(void)data;
	(void)e;
	((struct page_load *)arg)->out.rest += (double)len;
	return 0;
}

static inline int page_load_full(const char *data, size_t len, void *arg, struct err *e)
{
	(void)data;
	(void)e;
	((struct page_load *)arg)->out.full_rest += (double)len;
	return 0;
}

static inline void page_load_ended(const struct http_reply *r, const struct err *e, void *arg)
{
	(void)arg;
	page_load_die(e ? e->text : r->body);
}

static inline void page_load_stream(struct page_load *p, const char *path,
				    int (*on_data)(const char *, size_t, void *, struct err *))
{
	http_start(p->view, &(struct http_call){.path = path,
						.bearer = p->token,
						.no_timeout = true,
						.on_data = on_data,
						.done = page_load_ended,
						.arg = p});
}

static inline void page_load_on_timer(void *arg)
{
	struct page_load *p = arg;

	if (p->resting) {
		p->out.rest /= PAGE_LOAD_REST_MS / 1000.0;
		p->out.full_rest /= PAGE_LOAD_REST_MS / 1000.0;
		p->done(p->arg);
		return;
	}
	p->resting = true;
	p->out.first += p->out.rest; /* the first lines of the stream */
	p->out.rest = p->out.full_rest = 0;
	loop_timer_start(&p->timer, PAGE_LOAD_REST_MS);
}

/* --- first load ------------------------------------------------------------------------------- */

static inline void page_load_next(struct page_load *p);

static inline void page_load_got(const struct http_reply *r, const struct err *e, void *arg)
{
	struct page_load *p = arg;

	if (!r || r->status != 200)
		page_load_die(r ? r->body : e->text);
	if (getenv("BENCH_REQUESTS"))
		(void)fprintf(stderr, "%8zu bytes of reply %zu\n", r->body_len, p->next - 1);
	if (p->next - 1 == p->fleet)
		p->out.full_first = (double)r->body_len;
	else
		p->out.first += (double)r->body_len;
	page_load_next(p);
}

/* Sends the next request of the first load. The last one is the fleet with full rows. */
static inline void page_load_next(struct page_load *p)
{
	static const char *const paths[] = {"/",
					    "/page.css",
					    "/page.js",
					    "/icon.svg",
					    "/v1/attention?limit=1000",
					    "/v1/queue?limit=50",
					    "/history?step=1h",
					    "/v1/fleet?brief=true&limit=1000",
					    "/v1/fleet?limit=1000"};

	p->fleet = sizeof(paths) / sizeof(paths[0]) - 1;
	if (p->next > p->fleet) {
		page_load_stream(p, "/v1/events?brief=true", page_load_brief);
		page_load_stream(p, "/v1/events", page_load_full);
		loop_timer_start(&p->timer, PAGE_LOAD_SETTLE_MS);
		return;
	}
	http_start(p->view, &(struct http_call){.path = paths[p->next++],
						.bearer = p->token,
						.max_body = (size_t)16 << 20,
						.done = page_load_got,
						.arg = p});
}

/* --- a token ---------------------------------------------------------------------------------- */

static inline void page_load_post(struct page_load *p, const char *path, const char *body,
				  void (*done)(const struct http_reply *, const struct err *,
					       void *))
{
	http_start(p->host, &(struct http_call){.method = "POST",
						.path = path,
						.body = body,
						.body_len = strlen(body),
						.done = done,
						.arg = p});
}

static inline void page_load_has_token(const struct http_reply *r, const struct err *e, void *arg)
{
	struct page_load *p = arg;
	struct err bad;
	OWN_JSON o = r ? json_parse(r->body, r->body_len, &bad) : NULL;

	if (!json_str_at(o, "status", "token"))
		page_load_die(r ? r->body : e->text);
	p->token = secret_from_str(json_str_at(o, "status", "token"));
	page_load_next(p);
}

static inline void page_load_has_account(const struct http_reply *r, const struct err *e, void *arg)
{
	if (!r || r->status != 201)
		page_load_die(r ? r->body : e->text);
	page_load_post(arg, "/api/v1/namespaces/drover-system/serviceaccounts/reader/token",
		       "{\"spec\": {\"audiences\": [\"drover.dev/view\"]}}", page_load_has_token);
}

/* Begins the measurement. c: a controller that leads, and whose host cluster is at host_url; http:
 * its client. done(): called with arg once p->out is complete. */
static inline void page_load_begin(struct page_load *p, struct controller *c, struct http *http,
				   const char *host_url, unsigned tenants)
{
	struct loop_group *g = controller_context(c)->group;
	struct http_mem_net *net = http_mem_net_new(p->l);
	struct httpd *d = httpd_new(g);
	const int64_t last = loop_wall(p->l) / GPU_HISTORY_STEP_MS;
	struct err e;

	p->history = gpu_history_new();
	for (int64_t step = last - 287; step <= last; step++) {
		if (!gpu_history_open(p->history, step))
			page_load_die("the history refuses a sample");
		for (unsigned t = 0; t < tenants; t++) {
			char name[32];

			str_format(name, sizeof(name), "team-%u", t);
			gpu_column_add(gpu_history_tenant(p->history, name), step, 16);
		}
	}
	controller_view_routes(c, d);
	httpd_route(d, "GET", "/history", 0, page_load_history, p);
	http_mem_serve(net, PAGE_LOAD_ORIGIN, d);
	loop_timer_init(&p->timer, g, page_load_on_timer, p);
	p->view = http_peer_new(http_new(g, http_mem_transport(net, g, "10.0.0.1", NULL, NULL), 0),
				&(struct http_peer_spec){.base_url = PAGE_LOAD_ORIGIN}, &e);
	p->host = http_peer_new(
		http,
		&(struct http_peer_spec){.base_url = host_url, .plain_ok = true, .local_ok = true},
		&e);
	if (!p->view || !p->host)
		page_load_die(e.text);
	page_load_post(p, "/api/v1/namespaces/drover-system/serviceaccounts",
		       "{\"metadata\": {\"name\": \"reader\"}}", page_load_has_account);
}

#endif
