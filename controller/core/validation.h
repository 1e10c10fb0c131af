#ifndef CONTROLLER_CORE_VALIDATION_H
#define CONTROLLER_CORE_VALIDATION_H

#include "controller/core/context.h"

/*
 * validation: the condition Valid of objects that users wrote.
 *
 * An object that cannot be decoded or breaks a rule gets Valid=False, reason ValidationFailed, with
 * the field, the value and what is allowed, and one event per generation. Once it is good again it
 * gets Valid=True. An object that was always good gets no condition. A condition that is already
 * there is not written again, because drover's own patch comes back through the watch and must not
 * cause another patch. A WipeRecord has no status: it gets only the event.
 *
 * Only the leader writes. Another replica remembers what it saw (up to 4,096 objects) until
 * validation_lead().
 */
struct validation;
struct validation *validation_new(struct context *c);
void validation_free(struct validation *v);

/* Reports an object (as the server sent it) that cannot be used, and why. */
void validation_bad(struct validation *v, enum object_kind_id kind, const json_t *object,
		    const struct err *e);
/* Reports an object that was decoded and passed all checks. */
void validation_good(struct validation *v, enum object_kind_id kind, const void *object);
/* Writes the remembered conditions; call when this replica becomes leader. */
void validation_lead(struct validation *v);

/* Returns the bad object with the spec and generation of its last good version; the rest of
 * metadata, and status, are current, so that writes with its resourceVersion still work. In the
 * arena; NULL: even that cannot be used. */
void *validation_keep(enum object_kind_id kind, const void *last_good, const json_t *object,
		      struct arena *a);

#endif
