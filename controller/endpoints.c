/*
 * endpoints: /healthz, /readyz, /leadz and /metrics.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/core/keys.h"
#include "controller/core/spans.h"
#include "controller/endpoints.h"

#define METRICS_MAX (16u << 20)
#define TEXT_TYPE "text/plain; version=0.0.4"
#define OPEN_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define TOO_LARGE                                                                                  \
	"the metrics exceed 16 MiB: restart this replica to drop the series of old names\n"

static void on_healthz(struct httpd_req *q, void *arg)
{
	(void)arg;
	httpd_reply(q, 200, "text/plain", "ok\n", 3);
}

static void on_readyz(struct httpd_req *q, void *arg)
{
	const struct endpoints *ep = arg;

	if (ep->c->ready)
		httpd_reply(q, 200, "text/plain", "ok\n", 3);
	else
		httpd_reply(q, 503, "text/plain",
			    "not ready: caches or keys are not "
			    "loaded yet\n",
			    45);
}

/* Returns how much the client prefers this media type (0: not accepted), by RFC 9110, section
 * 12.5.1, without wildcards. version: the only one that counts, unless the client names none. */
static double preference(const char *accept, const char *type, const char *version)
{
	double best = 0;

	for (const char *p = str_or(accept, ""), *end; *p; p = *end ? end + 1 : end) {
		char range[128];
		const char *q, *v;
		double x;

		end = p + strcspn(p, ",");
		str_format(range, sizeof(range), "%.*s", (int)(end - p), p + strspn(p, " "));
		range[strcspn(range, ",")] = '\0';
		q = strstr(range, "q=");
		v = strstr(range, "version=");
		x = q ? strtod(q + 2, NULL) : 1;
		if (str_starts(range, type) && strchr("; ", range[strlen(type)]) && x > best &&
		    (!v || str_starts(v + strlen("version="), version)))
			best = x;
	}
	return best;
}

/* A request for /metrics that waits until the gauges are computed */
struct scrape {
	const struct endpoints *ep;
	struct httpd_req *q;
	struct gauges_wait wait;
};

static void on_gone(void *arg)
{
	struct scrape *s = arg;

	gauges_cancel(&s->wait);
	free(s);
}

static void reply_metrics(const struct endpoints *ep, struct httpd_req *q)
{
	const char *accept = httpd_header(q, "Accept");
	const double open = preference(accept, "application/openmetrics-text", "1.0.0");
	const char *type;
	struct buf b;

	spans_count(ep->c->spans);
	buf_init(&b, METRICS_MAX);
	type = open > 0 && open >= preference(accept, "text/plain", "0.0.4") ? OPEN_TYPE
									     : TEXT_TYPE;
	if (str_eq(type, OPEN_TYPE))
		metrics_write_open(ep->c->metrics, &b);
	else
		metrics_write(ep->c->metrics, &b);
	if (b.over) /* A page that ends early would be read as if the rest did not exist. */
		httpd_reply(q, 500, "text/plain", TOO_LARGE, strlen(TOO_LARGE));
	else
		httpd_reply(q, 200, type, b.data, b.len);
	buf_done(&b);
}

static void on_computed(void *arg)
{
	struct scrape *s = arg;

	httpd_on_gone(s->q, NULL, NULL);
	reply_metrics(s->ep, s->q);
	free(s);
}

static void on_metrics(struct httpd_req *q, void *arg)
{
	const struct endpoints *ep = arg;
	struct scrape *s = mem_new(struct scrape);

	*s = (struct scrape){.ep = ep, .q = q, .wait = {.done = on_computed, .arg = s}};
	httpd_on_gone(q, on_gone, s);
	gauges_refresh(ep->gauges, &s->wait);
}

/* Answers 503 with the name of the leader, as far as this replica knows. The Lease may still name
 * this replica itself, if it failed to renew the Lease in time. */
static void not_leading(struct httpd_req *q, const struct context *c)
{
	const char *holder = c->ready ? kube_lease_holder(c->lease) : NULL;
	char text[400];

	if (!c->ready)
		str_copy(text, sizeof(text), "not ready: caches or keys are not loaded yet\n");
	else if (str_empty(holder))
		str_copy(text, sizeof(text), "no replica leads: the lease is free\n");
	else if (/* mutant: leader-starved */ str_eq(holder, c->o.identity))
		str_copy(text, sizeof(text),
			 "this replica did not renew its lease in time: it gets too little "
			 "CPU time, "
			 "or the API server is slow; it tries to get the lease again\n");
	else
		str_format(text, sizeof(text), "replica %.253s leads\n", holder);
	str_clean(text);
	httpd_reply(q, 503, "text/plain", text, strlen(text));
}

static void on_remote_metrics(struct httpd_req *q, void *arg)
{
	const struct endpoints *ep = arg;
	const struct secret *token = keys_metrics_token(ep->c->keys);
	OWN(secret) shown = httpd_bearer(q);

	if (token && shown && secret_equal(token, shown)) {
		on_metrics(q, arg);
		return;
	}
	httpd_reply_header(q, "WWW-Authenticate", "Bearer");
	httpd_reply(q, 401, "text/plain", "a bearer token is required\n", 27);
}

/* Answers 200 on the leader, 503 elsewhere. Meant for the health check of a virtual address or a
 * Service that must send agents and BMCs to the leader only. */
static void on_leadz(struct httpd_req *q, void *arg)
{
	const struct context *c = ((const struct endpoints *)arg)->c;

	if (c->ready && c->leading && kube_lease_held(c->lease))
		httpd_reply(q, 200, "text/plain", "ok\n", 3);
	else
		not_leading(q, c);
}

void endpoints_remote_routes(struct endpoints *ep, struct httpd *d)
{
	httpd_route(d, "GET", "/healthz", 0, on_healthz, ep);
	httpd_route(d, "GET", "/readyz", 0, on_readyz, ep);
	httpd_route(d, "GET", "/leadz", 0, on_leadz, ep);
	httpd_route(d, "GET", "/metrics", 0, on_remote_metrics, ep);
}

void endpoints_routes(struct endpoints *ep, struct httpd *d)
{
	httpd_route(d, "GET", "/healthz", 0, on_healthz, ep);
	httpd_route(d, "GET", "/readyz", 0, on_readyz, ep);
	httpd_route(d, "GET", "/leadz", 0, on_leadz, ep);
	httpd_route(d, "GET", "/metrics", 0, on_metrics, ep);
}
