#ifndef CONTROLLER_VERDICT_H
#define CONTROLLER_VERDICT_H

#include "controller/controller.h"

/*
 * verdict: the condition Valid of objects that people wrote.
 *
 * An object that cannot be decoded or breaks a rule gets Valid=False, reason
 * ValidationFailed, with the field, the value and what is allowed, and one
 * event for each generation; when it is good again, Valid=True.  An object that was
 * always good gets nothing.  What already stands there is not written again, so
 * that our own patch, which comes back through the watch, ends it.  A WipeRecord has no status: it gets the event.
 *
 * Only the leader writes.  What another replica sees is kept (4,096 objects)
 * until verdict_lead().
 */
struct verdict;
struct verdict *verdict_new(struct controller *c);
void verdict_free(struct verdict *v);

/* The server's object, and why it cannot be used. */
void verdict_bad(struct verdict *v, enum object_kind_id kind, const json_t *object,
		 const struct err *e);
/* It was decoded and checked. */
void verdict_good(struct verdict *v, enum object_kind_id kind, const void *object);
/* This replica leads now. */
void verdict_lead(struct verdict *v);

/* The bad object with the spec of its last good projection: metadata but for generation, and status, stay live, so
 * that compare-and-swap goes on working.  In the arena; NULL: not even that can be used. */
void *verdict_keep(enum object_kind_id kind, const void *last_good, const json_t *object,
		   struct arena *a);

#endif
