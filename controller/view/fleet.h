#ifndef CONTROLLER_VIEW_FLEET_H
#define CONTROLLER_VIEW_FLEET_H

#include "controller/core/context.h"
#include "api/machine.h"
#include "controller/view/page.h"

/*
 * view_fleet: the list of machines, GET /v1/fleet. docs/view.md describes its members.
 * Tests: tests/unit/controller/view/test_view.c
 */

/* Replies with the page *p of all Machines, sorted by name. Query parameters state and tenant
 * restrict the list. brief: with the rows of view_fleet_brief(). */
void view_fleet_reply(const struct context *c, struct page *p, bool brief);
extern const char *const view_fleet_parameters[];
/* Returns the row of machine m in the list as of wall time now (ms), owned by the caller. */
json_t *view_fleet_row(const struct context *c, const struct machine *m, int64_t now);
/* Returns the brief form of a row, owned by the caller: the members that an overview of many
 * machines shows. It lacks the members that change while a machine is at rest. */
json_t *view_fleet_brief(const json_t *row);
/* Reads query parameter brief of q into *brief. False: it has another value than true or false, and
 * the function has replied. */
bool view_fleet_is_brief(struct httpd_req *q, bool *brief);

#endif
