#ifndef CONTROLLER_VIEW_VIEW_H
#define CONTROLLER_VIEW_VIEW_H

#include "base/httpd/httpd.h"
#include "controller/claims/last_plan.h"
#include "controller/claims/waiting.h"
#include "controller/core/context.h"
#include "controller/tenant/tenant.h"

/*
 * view: the present state of machines, waiting pods and the plan, and the GPUs of the last 7 days,
 * as JSON over HTTP, for `drover`, dashboards and scripts. Only the leader serves the view, because
 * only the leader makes plans; another replica answers 503 with the leader's name. docs/view.md
 * describes paths and members.
 *
 *   GET /v1/fleet           machines, what each waits for and what helps
 *   GET /v1/queue           waiting pods of all tenants, in the order of the queue
 *   GET /v1/history         GPUs of the last 7 days by tenant and by state
 *   GET /v1/plan            what the newest plan decided
 *   GET /v1/burst           what BurstPolicies decide on now
 *   GET /v1/attention       what needs attention: objects that need help, pods that wait too long
 *   GET /v1/events          changes of fleet and queue, as server-sent events (events.h)
 *   GET /v1/machines/NAME   one machine with its past states, failures and wipes
 *   GET /v1/tenants/NAME/queue, /v1/tenants/NAME/history
 *                           the tenant's rows of the lists above, also for the users of its cluster
 *   GET /                   a page that shows all this (web_page.h); it contains no data itself
 *
 * The host cluster decides who may read (access.h). Lists are paged and have an ETag (page.h).
 * Tests: tests/unit/controller/view/test_view.c
 */
struct view;
struct bursts;
/* waiting, plan, bursts: the published list, the newest plan and the decisions of BurstPolicies,
 * owned by the provisioner. They and tenants must outlive the last request. */
struct view *view_new(struct context *c, const struct tenants *tenants,
		      const struct waiting *waiting, const struct last_plan *plan,
		      struct bursts *bursts);
/* Afterwards the httpd with the routes must receive no further request. */
void view_free(struct view *v);
DEFINE_OWN(view)
/* Adds the paths to a server that other hosts reach by TLS. */
void view_routes(struct view *v, struct httpd *d);
/* Records a changed Machine; call before view_changed(). was NULL: the Machine is new. is NULL: it
 * was deleted. */
void view_machine(struct view *v, const struct machine *was, const struct machine *is);
/* Records that the object of this kind and name changed. */
void view_changed(struct view *v, enum object_kind_id kind, const char *name);
/* Ends the reviews of callers by this tenant's API server. Call before the tenant's client is
 * freed. */
void view_hang_up(struct view *v, const char *tenant);
/* Starts the history of GPUs (gpu_sampler.h). Call when this replica begins to lead. */
void view_lead(struct view *v);
/* Stores the history, then calls done(arg) once, within 3 s, perhaps before this function returns.
 * Call before the Lease is released. */
void view_stop(struct view *v, void (*done)(void *arg), void *arg);

#endif
