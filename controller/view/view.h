#ifndef CONTROLLER_VIEW_VIEW_H
#define CONTROLLER_VIEW_VIEW_H

#include "base/httpd/httpd.h"
#include "controller/claims/waiting.h"
#include "controller/core/context.h"

/*
 * view: what is so now, as JSON over HTTP, for `drover`, dashboards and scripts. Only the leader
 * serves it, because only the leader makes plans; another replica answers 503 with the leader's
 * name. docs/view.md describes paths and members.
 *
 *   GET /v1/fleet   machines, what each waits for and what helps
 *   GET /v1/queue   waiting pods of all tenants, in the order of the queue
 *
 * The host cluster decides who may read (access.h). Lists are paged and have an ETag (page.h).
 * Tests: tests/unit/controller/view/test_view.c
 */
struct view;
/* waiting: the provisioner's list; must outlive the view. */
struct view *view_new(struct context *c, const struct waiting *waiting);
/* Afterwards the httpd with the routes must receive no further request. */
void view_free(struct view *v);
DEFINE_OWN(view)
/* Adds the paths to a server that other hosts reach by TLS. */
void view_routes(struct view *v, struct httpd *d);
/* Records that an object of this kind changed. */
void view_changed(struct view *v, enum object_kind_id kind);

#endif
