#ifndef CONTROLLER_CORE_AUDIT_TRAIL_H
#define CONTROLLER_CORE_AUDIT_TRAIL_H

#include "controller/core/audit_file.h"
#include "controller/core/context.h"

/*
 * audit_trail: writes the audit log: the entries of audit_entries.h, in AuditSegments.
 *
 * Every replica queues the entries of the changes that it observes, and drops an entry from the
 * queue when it sees in a segment that the change is recorded (audit_known.h). Only the leader
 * writes segments. So a change is recorded once, also if a reply is lost, and a new leader that was
 * a replica before writes what the last leader did not.
 *
 * A segment is full at AUDIT_SEGMENT_ENTRIES or AUDIT_SEGMENT_BYTES. Entries are appended with the
 * resourceVersion that this replica saw. The next segment is begun only if the newest one is full,
 * or if the API server says that it is gone. Two replicas that both believe to lead therefore
 * cannot fork the chain: the API server accepts one of them.
 *
 * What is guaranteed: an entry is written within about a second after its change, as long as a
 * leader reaches the API server and the queue is short. If all replicas die before that, the next
 * leader finds the difference (audit_missed.h) and marks its entries `late`. The queue never delays
 * the controller. A full queue drops entries, and an EntriesLost entry has their number. A replica
 * that does not lead drops the oldest entries, and those that no segment has after ten minutes; if
 * it leads before a segment has them, it counts them as lost. An entry that the API server refuses
 * for good is replaced by an EntriesLost entry that names it.
 *
 * At most one segment is written per WRITE_MS. The newest AUDIT_SEGMENTS_KEPT segments are kept. If
 * another writer deletes a segment, the leader adds a LogDamaged entry; the chain continues where
 * it was. The leader records the newest segment in its Lease. So if the newest segments are deleted
 * while no replica runs, the next leader notices that, and does not use their numbers again.
 *
 * On the loop thread.
 * Tests: tests/unit/controller/core/test_audit_trail.c, tests/world/test_audit.c
 */
#define AUDIT_TRAIL_WRITE_MS 1000
/* Longest queue. */
#define AUDIT_TRAIL_QUEUE 16384

struct audit_trail;
/* file: copy of the log, which must outlive the trail; NULL: none. */
struct audit_trail *audit_trail_new(struct context *c, const struct audit_file *file);
void audit_trail_free(struct audit_trail *t);
/* Adds the entries of a changed object. old NULL: new in the cache; new_ NULL: deleted. Ignored
 * until c->ready. */
void audit_trail_change(struct audit_trail *t, enum object_kind_id kind, const void *old,
			const void *new_);
/* Notes a changed segment; arguments as for audit_trail_change(). */
void audit_trail_segment(struct audit_trail *t, const struct audit_segment *old,
			 const struct audit_segment *new_);
/* Returns the newest segment of the log. number is 0 until this leader has compared the log with
 * what the last leader recorded. */
struct audit_newest audit_trail_newest(const struct audit_trail *t);
/* Notes the newest segment that the last leader recorded (audit_newest_parse()). Call before
 * audit_trail_lead(). */
void audit_trail_recorded(struct audit_trail *t, const struct audit_newest *newest);
/* Call when this replica begins to lead. transitions: number of changes of the leader so far. */
void audit_trail_lead(struct audit_trail *t, int64_t transitions);
/* Call when this replica no longer leads. */
void audit_trail_follow(struct audit_trail *t);

#endif
