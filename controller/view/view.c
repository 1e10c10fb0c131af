/*
 * view: the routes. serve() handles each request: it checks that this replica leads and that the
 * caller may read (access.h), then replies.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/view/view.h"
#include "base/mem.h"
#include "base/str.h"
#include "controller/view/access.h"
#include "controller/view/attention.h"
#include "controller/view/burst.h"
#include "controller/view/events.h"
#include "controller/view/fleet.h"
#include "controller/view/gpu_sampler.h"
#include "controller/view/history.h"
#include "controller/view/life_log.h"
#include "controller/view/one_machine.h"
#include "controller/view/page.h"
#include "controller/view/plan.h"
#include "controller/view/queue.h"
#include "controller/view/source.h"
#include "controller/view/web_page.h"

struct view {
	struct view_source source;
	const struct tenants *tenants;
	const struct last_plan *plan;
	struct bursts *bursts;
	struct view_access *access;
	struct gpu_sampler *gpus;
	struct view_events *events;
	struct attention *attention;
	struct life_log *log;
};

/* Replies with 503 unless this replica leads and its caches are loaded. */
static bool is_leader(const struct view *v, struct httpd_req *q)
{
	const struct context *c = v->source.c;
	const char *holder = c->ready ? kube_lease_holder(c->lease) : "";
	struct err e;

	if (view_source_leads(&v->source))
		return true;
	if (str_empty(holder) || str_eq(holder, c->o.identity))
		err_note(&e, ERR_UNAVAILABLE, 503, "no replica of drover leads now");
	else
		err_note(&e, ERR_UNAVAILABLE, 503, "replica %.253s leads: ask there", holder);
	httpd_reply_header(q, "Retry-After", "2");
	httpd_reply_err(q, &e);
	return false;
}

static void on_fleet(struct httpd_req *q, void *arg)
{
	struct view *v = arg;
	char version[VIEW_VERSION_SIZE];
	struct page p;
	bool brief;

	if (view_fleet_is_brief(q, &brief) &&
	    page_begin(&p, q, view_source_fleet(&v->source, version), view_fleet_parameters))
		view_fleet_reply(v->source.c, &p, brief);
}

static void on_queue(struct httpd_req *q, void *arg)
{
	struct view *v = arg;
	char version[VIEW_VERSION_SIZE];
	struct page p;

	if (page_begin(&p, q, view_source_queue(&v->source, version), view_queue_parameters))
		view_queue_reply(v->source.waiting, &p, httpd_query(q, "tenant"));
}

static void on_plan(struct httpd_req *q, void *arg)
{
	struct view *v = arg;
	const struct last_plan_view *plan = last_plan_get(v->plan);
	char version[VIEW_VERSION_SIZE];
	struct page p;

	view_source_version(&v->source, plan->number, version);
	if (page_is_known(q, view_plan_parameters) &&
	    page_begin(&p, q, version, view_plan_parameters))
		view_plan_reply(plan, &p);
}

static void on_burst(struct httpd_req *q, void *arg)
{
	struct view *v = arg;

	view_burst_reply(v->bursts, &v->source, q);
}

static void on_attention(struct httpd_req *q, void *arg)
{
	struct view *v = arg;
	char version[VIEW_VERSION_SIZE];
	struct page p;

	if (page_begin(&p, q, attention_version(v->attention, version), attention_parameters))
		attention_reply(v->attention, &p);
}

static void on_events(struct httpd_req *q, void *arg)
{
	struct view *v = arg;

	view_events_reply(v->events, q);
}

static void on_history(struct httpd_req *q, void *arg)
{
	struct view *v = arg;
	struct gpu_history *h = gpu_sampler_history(v->gpus);
	char version[VIEW_VERSION_SIZE];

	view_source_version(&v->source, gpu_history_version(h), version);
	view_history_reply(h, q, version);
}

static void on_machine(struct httpd_req *q, void *arg)
{
	struct view *v = arg;

	view_one_machine_reply(v->source.c, v->log, q);
}

/* --- one tenant ------------------------------------------------------------------------------- */

/* Returns the tenant in the path. NULL: it does not exist; then replies with 404. */
static const char *tenant_of(const struct view *v, struct httpd_req *q)
{
	const char *tenant = httpd_segment(q, 0);
	struct err e;

	if (tenant_get(v->tenants, tenant))
		return tenant;
	err_note(&e, ERR_NOT_FOUND, 404, "there is no tenant %.253s", tenant);
	httpd_reply_err(q, &e);
	return NULL;
}

static void on_tenant_queue(struct httpd_req *q, void *arg)
{
	static const char *const none[] = {NULL};
	struct view *v = arg;
	const char *tenant = tenant_of(v, q);
	char version[VIEW_VERSION_SIZE];
	struct page p;

	if (tenant && page_begin(&p, q, view_source_queue(&v->source, version), none))
		view_queue_reply(v->source.waiting, &p, tenant);
}

static void on_tenant_history(struct httpd_req *q, void *arg)
{
	struct view *v = arg;
	struct gpu_history *h = gpu_sampler_history(v->gpus);
	const char *tenant = tenant_of(v, q);
	char version[VIEW_VERSION_SIZE];

	if (!tenant)
		return;
	view_source_version(&v->source, gpu_history_version(h), version);
	view_history_reply_tenant(h, q, version, tenant);
}

static void serve_tenant(struct view *v, struct httpd_req *q,
			 void (*reply)(struct httpd_req *q, void *arg))
{
	if (is_leader(v, q))
		view_access_check_tenant(v->access, q, httpd_segment(q, 0), reply, v);
}

static void on_tenant_queue_request(struct httpd_req *q, void *arg)
{
	serve_tenant(arg, q, on_tenant_queue);
}

static void on_tenant_history_request(struct httpd_req *q, void *arg)
{
	serve_tenant(arg, q, on_tenant_history);
}

/* --- routes ----------------------------------------------------------------------------------- */

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

static void on_plan_request(struct httpd_req *q, void *arg)
{
	serve(arg, q, on_plan);
}

static void on_burst_request(struct httpd_req *q, void *arg)
{
	serve(arg, q, on_burst);
}

static void on_attention_request(struct httpd_req *q, void *arg)
{
	serve(arg, q, on_attention);
}

static void on_events_request(struct httpd_req *q, void *arg)
{
	serve(arg, q, on_events);
}

static void on_machine_request(struct httpd_req *q, void *arg)
{
	serve(arg, q, on_machine);
}

void view_routes(struct view *v, struct httpd *d)
{
	web_page_routes(d);
	httpd_route(d, "GET", "/v1/machines/{}", 0, on_machine_request, v);
	httpd_route(d, "GET", "/v1/fleet", 0, on_fleet_request, v);
	httpd_route(d, "GET", "/v1/queue", 0, on_queue_request, v);
	httpd_route(d, "GET", "/v1/history", 0, on_history_request, v);
	httpd_route(d, "GET", "/v1/plan", 0, on_plan_request, v);
	httpd_route(d, "GET", "/v1/burst", 0, on_burst_request, v);
	httpd_route(d, "GET", "/v1/attention", 0, on_attention_request, v);
	httpd_route(d, "GET", "/v1/events", 0, on_events_request, v);
	httpd_route(d, "GET", "/v1/tenants/{}/queue", 0, on_tenant_queue_request, v);
	httpd_route(d, "GET", "/v1/tenants/{}/history", 0, on_tenant_history_request, v);
}

void view_changed(struct view *v, enum object_kind_id kind, const char *name)
{
	if (kind == OBJECT_MACHINE || kind == OBJECT_NODE_CLAIM || kind == OBJECT_DRAIN)
		v->source.fleet++;
	attention_changed(v->attention, kind, name);
	view_events_changed(v->events, kind, name);
}

void view_hang_up(struct view *v, const char *tenant)
{
	view_access_hang_up(v->access, tenant);
}

void view_lead(struct view *v)
{
	gpu_sampler_lead(v->gpus);
}

void view_stop(struct view *v, void (*done)(void *arg), void *arg)
{
	gpu_sampler_stop(v->gpus, done, arg);
}

void view_machine(struct view *v, const struct machine *was, const struct machine *is)
{
	life_log_saw(v->log, was, is);
}

struct view *view_new(struct context *c, const struct tenants *tenants,
		      const struct waiting *waiting, const struct last_plan *plan,
		      struct bursts *bursts)
{
	struct view *v = mem_new(struct view);

	v->source =
		(struct view_source){.c = c, .waiting = waiting, .process = loop_random(c->loop)};
	v->tenants = tenants;
	v->plan = plan;
	v->bursts = bursts;
	v->access = view_access_new(c, tenants);
	v->gpus = gpu_sampler_new(c);
	v->attention = attention_new(&v->source);
	v->events = view_events_new(&v->source, v->attention, v->access, VIEW_EVENTS_BYTES);
	v->log = life_log_new();
	return v;
}

void view_free(struct view *v)
{
	if (!v)
		return;
	view_events_free(v->events);
	attention_free(v->attention);
	view_access_free(v->access);
	gpu_sampler_free(v->gpus);
	life_log_free(v->log);
	free(v);
}
