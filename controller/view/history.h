#ifndef CONTROLLER_VIEW_HISTORY_H
#define CONTROLLER_VIEW_HISTORY_H

#include "base/httpd/httpd.h"
#include "controller/view/gpu_history.h"

/*
 * view_history: GPUs over time, GET /v1/history. docs/view.md describes its members.
 * Tests: tests/unit/controller/view/test_history.c
 */

/* Replies with one page of the history's columns, tenants sorted by name. Query parameters: from,
 * step, tenant, and those of page.h, where a row is a tenant. version: as for page_begin(). */
void view_history_reply(struct gpu_history *h, struct httpd_req *q, const char *version);
/* Replies with the column of this tenant only, without the columns of the fleet, for the tenant's
 * users. Query parameters: from, step, and those of page.h. */
void view_history_reply_tenant(struct gpu_history *h, struct httpd_req *q, const char *version,
			       const char *tenant);

#endif
