#ifndef CONTROLLER_VIEW_QUEUE_H
#define CONTROLLER_VIEW_QUEUE_H

#include "controller/claims/waiting.h"
#include "controller/view/page.h"

/*
 * view_queue: the list of waiting pods, GET /v1/queue. The pods of a gang are one row, at the place
 * of the first of them. docs/view.md describes its members.
 * Tests: tests/unit/controller/view/test_view.c
 */

/* Returns the row of a waiting pod as JSON, owned by the caller, without its gang. */
json_t *view_queue_row(const struct waiting_row *r);
/* Replies with the page *p of the published list. tenant: only the pods of this tenant; NULL: all
 * pods. */
void view_queue_reply(const struct waiting *w, struct page *p, const char *tenant);
extern const char *const view_queue_parameters[];
/* Returns {"total", "rows", "first"}, owned by the caller: the number of waiting pods and of their
 * rows, and the first `most` rows. tenant: pods of this tenant only; NULL: all pods. */
json_t *view_queue_first(const struct waiting *w, const char *tenant, size_t most);

#endif
