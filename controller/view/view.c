/*
 * view: routes, and the version of each list. A request goes through serve(): is this replica the
 * leader, may the caller read (access.h), then the reply.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/view/view.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/view/access.h"
#include "controller/view/fleet.h"
#include "controller/view/gpu_sampler.h"
#include "controller/view/history.h"
#include "controller/view/page.h"
#include "controller/view/queue.h"

#define VERSION_SIZE 64

struct view {
	struct context *c;
	const struct waiting *waiting;
	struct view_access *access;
	struct gpu_sampler *gpus;
	/* Random number of this process, part of each version: lists of different leaders never
	 * have the same version. */
	uint64_t process;
	/* Number of changed Machines and NodeClaims so far */
	uint64_t fleet;
};

/* Replies with 503 unless this replica leads and its caches are loaded. */
static bool is_leader(const struct view *v, struct httpd_req *q)
{
	const struct context *c = v->c;
	const char *holder = c->ready ? kube_lease_holder(c->lease) : "";
	struct err e;

	if (c->ready && c->leading && kube_lease_held(c->lease))
		return true;
	if (str_empty(holder) || str_eq(holder, c->o.identity))
		(void)!err_set(&e, ERR_UNAVAILABLE, 503, "no replica of drover leads now");
	else
		(void)!err_set(&e, ERR_UNAVAILABLE, 503, "replica %.253s leads: ask there", holder);
	httpd_reply_header(q, "Retry-After", "2");
	httpd_reply_err(q, &e);
	return false;
}

static void on_fleet(struct httpd_req *q, void *arg)
{
	struct view *v = arg;
	char version[VERSION_SIZE];
	struct page p;

	/* The minute is part of the version, because an explanation changes with the time too: a
	 * machine becomes slow, a deadline passes. */
	str_format(version, sizeof(version), "%016llx.%llu.%lld", (unsigned long long)v->process,
		   (unsigned long long)v->fleet, (long long)(loop_wall(v->c->loop) / 60000));
	if (page_begin(&p, q, version, view_fleet_parameters))
		view_fleet_reply(v->c, &p);
}

static void on_queue(struct httpd_req *q, void *arg)
{
	struct view *v = arg;
	char version[VERSION_SIZE];
	struct page p;

	str_format(version, sizeof(version), "%016llx.%llu", (unsigned long long)v->process,
		   (unsigned long long)waiting_number(v->waiting));
	if (page_begin(&p, q, version, view_queue_parameters))
		view_queue_reply(v->waiting, &p);
}

static void on_history(struct httpd_req *q, void *arg)
{
	struct view *v = arg;
	struct gpu_history *h = gpu_sampler_history(v->gpus);
	char version[VERSION_SIZE];

	str_format(version, sizeof(version), "%016llx.%llu", (unsigned long long)v->process,
		   (unsigned long long)gpu_history_version(h));
	view_history_reply(h, q, version);
}

static void serve(struct view *v, struct httpd_req *q,
		  void (*reply)(struct httpd_req *q, void *arg))
{
	if (is_leader(v, q))
		view_access_check(v->access, q, reply, v);
}

static void on_fleet_request(struct httpd_req *q, void *arg)
{
	serve(arg, q, on_fleet);
}

static void on_queue_request(struct httpd_req *q, void *arg)
{
	serve(arg, q, on_queue);
}

static void on_history_request(struct httpd_req *q, void *arg)
{
	serve(arg, q, on_history);
}

void view_routes(struct view *v, struct httpd *d)
{
	httpd_route(d, "GET", "/v1/fleet", 0, on_fleet_request, v);
	httpd_route(d, "GET", "/v1/queue", 0, on_queue_request, v);
	httpd_route(d, "GET", "/v1/history", 0, on_history_request, v);
}

void view_changed(struct view *v, enum object_kind_id kind)
{
	if (kind == OBJECT_MACHINE || kind == OBJECT_NODE_CLAIM)
		v->fleet++;
}

void view_lead(struct view *v)
{
	gpu_sampler_lead(v->gpus);
}

void view_stop(struct view *v, void (*done)(void *arg), void *arg)
{
	gpu_sampler_stop(v->gpus, done, arg);
}

struct view *view_new(struct context *c, const struct waiting *waiting)
{
	struct view *v = mem_new(struct view);

	v->c = c;
	v->waiting = waiting;
	v->access = view_access_new(c);
	v->gpus = gpu_sampler_new(c);
	v->process = loop_random(c->loop);
	return v;
}

void view_free(struct view *v)
{
	if (!v)
		return;
	view_access_free(v->access);
	gpu_sampler_free(v->gpus);
	free(v);
}
