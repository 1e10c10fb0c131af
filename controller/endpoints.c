/*
 * endpoints: /healthz, /readyz, /leadz and /metrics.
 */
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "controller/core/keys.h"
#include "controller/core/spans.h"
#include "controller/endpoints.h"

/* More than the most series of all families can have. */
#define METRICS_MAX (16u << 20)

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

static void on_metrics(struct httpd_req *q, void *arg)
{
	const struct endpoints *ep = arg;
	struct buf b;

	gauges_read(ep->gauges);
	spans_count(ep->c->spans);
	buf_init(&b, METRICS_MAX);
	metrics_write(ep->c->metrics, &b);
	httpd_reply(q, 200, "text/plain; version=0.0.4", b.data, b.len);
	buf_done(&b);
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
