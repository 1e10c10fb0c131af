#ifndef CONTROLLER_VIEW_PLAN_H
#define CONTROLLER_VIEW_PLAN_H

#include "controller/claims/last_plan.h"
#include "controller/view/page.h"

/*
 * view_plan: what the newest plan decided, GET /v1/plan. docs/view.md describes its members.
 * Tests: tests/unit/controller/view/test_view.c
 */

/* Replies with the plan. */
void view_plan_reply(const struct last_plan_view *v, struct page *p);
/* Query parameters: none */
extern const char *const view_plan_parameters[];

#endif
