#ifndef CONTROLLER_VIEW_BURST_H
#define CONTROLLER_VIEW_BURST_H

#include "base/httpd/httpd.h"
#include "controller/burst/bursts.h"
#include "controller/view/source.h"

/*
 * view_burst: what the BurstPolicies decide on now, GET /v1/burst: the waiting work, and a
 * BurstState (controller/burst/state.h) with the rest of the input. `drover burst plan` decides
 * with them. docs/view.md describes the members.
 * Tests: tests/unit/controller/view/test_burst.c, tests/world/test_burst_plan.c
 */

/* Returns one page of the waiting work, sorted by "TENANT/NAME", owned by the caller: at most
 * `limit` rows after the key `after`. Only the page after "" has the other members. *last: key of
 * the last row if more rows follow, in the arena; else NULL. */
json_t *view_burst_page(const struct bursts_now *x, const char *after, size_t limit,
			const char **last, struct arena *a);
/* Replies to q with such a page. */
void view_burst_reply(struct bursts *b, const struct view_source *s, struct httpd_req *q);

#endif
