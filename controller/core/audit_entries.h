#ifndef CONTROLLER_CORE_AUDIT_ENTRIES_H
#define CONTROLLER_CORE_AUDIT_ENTRIES_H

#include "api/kinds.h"

/*
 * audit_entries: which changes of an object become entries of the audit log (api/auditlog.h). Pure.
 *
 *   all kinds               created, deletion requested, deleted
 *   Machine                 status.state, annotations of drover.dev, spec, each new entry of
 *                           spec.waivers
 *   NodeClaim               status.phase, once it is Failed
 *   Drain                   status.phase, spec
 *   NodePool, Provider,
 *   VirtualCluster,
 *   BurstPolicy             annotations of drover.dev, spec
 *   BurstLedger             spec
 *
 * A change of spec is recorded with both generations and the names of the changed fields, never
 * with values; without names if no field that drover knows has changed. Entries about creation and
 * about a request for deletion have the generations too. A change of status was made by drover. The
 * user who made another change is known if the change also set the annotation AUDIT_REQUESTED_BY.
 * The program that made it is known from metadata.managedFields (object_meta.writer).
 */

/* Passes each entry about the change from `old` to `new_` to add(); the entry is valid during the
 * call. old NULL: the object was created; new_ NULL: it was deleted. now: wall ms. Entries have no
 * seq, previous and digest. */
void audit_entries_of(enum object_kind_id kind, const void *old, const void *new_, int64_t now,
		      void (*add)(const struct audit_entry *e, void *arg), void *arg);

/* Returns the value that StateChanged entries record of an object: the state of a Machine, or the
 * phase of a Drain or of a failed NodeClaim; NULL: none. field, unless NULL: gets its path. */
const char *audit_entries_state(enum object_kind_id kind, const void *object, const char **field);
/* True if SpecChanged entries are made for objects of this kind. */
bool audit_entries_has_spec(enum object_kind_id kind);
/* Fills kind, name, uid, tenant, version, time and who (drover) of an entry about the object. */
struct audit_entry audit_entries_about(enum object_kind_id kind, const void *object, int64_t now);

#endif
