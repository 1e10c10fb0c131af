#ifndef CONTROLLER_CORE_AUDIT_KNOWN_H
#define CONTROLLER_CORE_AUDIT_KNOWN_H

#include "api/auditlog.h"

/*
 * audit_known: index of the newest entries of the audit log, to find out whether the log already
 * has the entry of a change. Pure.
 *
 * Two replicas may record one change differently: a replica that lists the objects anew sees
 * several changes as one. Creation and deletion are therefore identified by the object's UID, and a
 * change of spec by UID and generation. Another change is identified by UID, field and
 * resourceVersion, or covered by an entry with the same value and a version within the change.
 *
 * At most AUDIT_KNOWN_MAX keys are kept, the newest.
 * Tests: tests/unit/controller/core/test_audit_trail.c
 */
#define AUDIT_KNOWN_MAX 16384

struct audit_known;
struct audit_known *audit_known_new(void);
void audit_known_free(struct audit_known *k);
/* Adds an entry of the log; entries must be added in order. */
void audit_known_add(struct audit_known *k, const struct audit_entry *e);
/* True if the log has an entry of the change that e records. before: resourceVersion of the object
 * before the change; 0 means not known. */
bool audit_known_has(const struct audit_known *k, const struct audit_entry *e, uint64_t before);
/* Returns the text that identifies the change which e records, malloc'd. */
char *audit_known_key(const struct audit_entry *e);
/* Returns a resourceVersion as a number; 0: NULL, or no number. */
uint64_t audit_known_version(const char *version);

#endif
