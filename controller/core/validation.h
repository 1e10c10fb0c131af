#ifndef CONTROLLER_CORE_VALIDATION_H
#define CONTROLLER_CORE_VALIDATION_H

#include "controller/core/context.h"

/*
 * validation: the condition Valid of objects that users wrote.
 *
 * An object that cannot be decoded or breaks a rule gets Valid=False with reason ValidationFailed,
 * and one event per generation. Both contain the field, its value and what is allowed. Once the
 * object is correct again it gets Valid=True. An object that was always correct gets no condition.
 * A condition that is already stored is not written again: drover's own patch comes back through
 * the watch and must not cause another patch. A WipeRecord has no status; it gets only the event.
 *
 * Only the leader writes. Another replica remembers its verdicts (on up to 4,096 objects) until
 * validation_lead().
 */
struct validation;
struct validation *validation_new(struct context *c);
void validation_free(struct validation *v);

/* Reports an object that cannot be used. object: as the server sent it; e: why it cannot be
 * used. */
void validation_bad(struct validation *v, enum object_kind_id kind, const json_t *object,
		    const struct err *e);
/* Reports an object that was decoded and passed all checks. */
void validation_good(struct validation *v, enum object_kind_id kind, const void *object);
/* Writes the verdicts that were remembered; called when this replica becomes leader. */
void validation_lead(struct validation *v);

/* Returns a mixture for use while a new version of an object is invalid: spec and generation of the
 * last good version, all else (status, other metadata) as in the new `object`, so that writes with
 * its resourceVersion still work. Allocated in the arena. NULL: the mixture is invalid too, or the
 * two have different UIDs. */
void *validation_keep(enum object_kind_id kind, const void *last_good, const json_t *object,
		      struct arena *a);

#endif
