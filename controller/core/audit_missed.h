#ifndef CONTROLLER_CORE_AUDIT_MISSED_H
#define CONTROLLER_CORE_AUDIT_MISSED_H

#include "controller/core/context.h"

/*
 * audit_missed: finds changes that no entry of the audit log has, by comparing the objects in the
 * caches with the last entries about them. A new leader runs this once, because the previous leader
 * may have died before it wrote an entry, or no replica may have run for a while.
 *
 * It finds objects that were created or deleted, and differences in state and generation. It cannot
 * find a change that was undone, nor the steps between two states. An object whose entries are all
 * in deleted segments is not compared.
 * Tests: tests/unit/controller/core/test_audit_trail.c, tests/world/test_audit.c
 */
struct audit_missed;
struct audit_missed *audit_missed_new(void);
void audit_missed_free(struct audit_missed *m);
DEFINE_OWN(audit_missed)
/* Adds an entry; entries must be added in order. written: the entry is in the log. False: it is
 * queued. */
void audit_missed_know(struct audit_missed *m, const struct audit_entry *e, bool written);
/* If entry e, which is to be added, does not begin where the last entry about the object ended,
 * passes an entry for the changes in between to add(). now: wall ms. */
void audit_missed_gap(const struct audit_missed *m, const struct audit_entry *e, int64_t now,
		      void (*add)(const struct audit_entry *e, void *arg), void *arg);
/* Passes an entry to add() for each difference; each has late set. now: wall ms. */
void audit_missed_find(const struct audit_missed *m, const struct context *c, int64_t now,
		       void (*add)(const struct audit_entry *e, void *arg), void *arg);

#endif
