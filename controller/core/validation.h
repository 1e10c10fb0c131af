#ifndef CONTROLLER_CORE_VALIDATION_H
#define CONTROLLER_CORE_VALIDATION_H

#include "controller/core/context.h"

/*
 * validation: the condition Valid of objects that people wrote.
 *
 * An object that cannot be decoded or breaks a rule gets Valid=False, reason ValidationFailed, with
 * the field, the value and what is allowed, and one event for each generation; when it is good
 * again, Valid=True. An object that was always good gets nothing. A condition that stands there
 * already is not written again: our own patch comes back through the watch, and must not start the
 * next one. A WipeRecord has no status: it gets the event.
 *
 * Only the leader writes. What another replica sees is kept (4,096 objects) until
 * validation_lead().
 */
struct validation;
struct validation *validation_new(struct context *c);
void validation_free(struct validation *v);

/* The server's object, and why it cannot be used. */
void validation_bad(struct validation *v, enum object_kind_id kind, const json_t *object,
		    const struct err *e);
/* It was decoded and checked. */
void validation_good(struct validation *v, enum object_kind_id kind, const void *object);
/* This replica leads now. */
void validation_lead(struct validation *v);

/* The bad object with the spec of its last good projection: metadata but for generation, and
 * status, stay live, so that compare-and-swap goes on working. In the arena; NULL: not even that
 * can be used. */
void *validation_keep(enum object_kind_id kind, const void *last_good, const json_t *object,
		      struct arena *a);

#endif
