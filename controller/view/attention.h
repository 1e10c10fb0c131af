#ifndef CONTROLLER_VIEW_ATTENTION_H
#define CONTROLLER_VIEW_ATTENTION_H

#include "api/kinds.h"
#include "controller/explain/need.h"
#include "controller/view/page.h"
#include "controller/view/source.h"

/*
 * attention: the list of what needs attention, GET /v1/attention: objects of drover that need help
 * (controller/explain/need.h), as `drover why` without a name lists them, and pods that wait too
 * long. docs/view.md describes its members.
 *
 * Pods are combined into one row for each gang, and otherwise for each tenant and reason. They wait
 * too long once the time has passed by which nine of ten such pods are served; after
 * NEED_POD_CHANGE_MS for a reason that only a change by the tenant or an operator ends; otherwise
 * after NEED_POD_QUEUE_MS.
 *
 * Rows are computed when the list is read: those of changed objects, and once a minute those whose
 * need depends on the time (need.h). On the loop thread.
 * Tests: tests/unit/controller/view/test_attention.c
 */

struct attention;
/* source: must outlive the result. */
struct attention *attention_new(const struct view_source *source);
void attention_free(struct attention *t);
DEFINE_OWN(attention)

/* Records that the object of this kind and name changed. */
void attention_changed(struct attention *t, enum object_kind_id kind, const char *name);
/* Writes the version of the list to out and returns out. */
const char *attention_version(struct attention *t, char out[static VIEW_VERSION_SIZE]);
/* Returns all rows, the most urgent first. Valid until the next call of a function with this t. */
const json_t *attention_rows(struct attention *t);
/* Replies with the page *p of the list. Query parameter tenant restricts the list to the rows of
 * one tenant. */
void attention_reply(struct attention *t, struct page *p);
extern const char *const attention_parameters[];

#endif
