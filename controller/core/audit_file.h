#ifndef CONTROLLER_CORE_AUDIT_FILE_H
#define CONTROLLER_CORE_AUDIT_FILE_H

#include "controller/core/context.h"

/*
 * audit_file: copies the entries of the AuditSegments to context_options.audit_log, one JSON line
 * each: a file, or "-" for standard output. Every replica writes its own copy.
 *
 * Entries are copied as the API server stores them, also those of a newer version with members that
 * this version does not know, so that their digests hold.
 *
 * A file continues after its last complete entry. A line that a crash or a full disk cut off stays
 * in the file; the entry is written again on a new line. Standard output begins with the
 * segments of the last ten minutes, at least with the newest one, because nothing tells what was
 * printed before. If the file has higher numbers than the log for a minute, the log was begun anew,
 * and all its entries are appended.
 *
 * A write that fails is logged, counted and tried again. The first failure also sends the event
 * AuditFileFails about the Lease, and the leader records it in the Lease (audit_file_error()). No
 * entry is lost meanwhile: audit_trail.h deletes no segment whose entries are not in the leader's
 * file, as long as there are at most AUDIT_FILE_SEGMENTS segments.
 *
 * On the loop thread; files are written on a worker thread.
 * Tests: tests/unit/controller/core/test_audit_file.c
 */
#define AUDIT_FILE_SEGMENTS 512

struct audit_file;
struct audit_file *audit_file_new(struct context *c);
void audit_file_free(struct audit_file *f);
/* Schedules a look at the segments, because one has changed. Accepts NULL. */
void audit_file_kick(struct audit_file *f);
/* Returns since when and why writes fail, as "TIME TEXT"; NULL: the last one did not fail, or f is
 * NULL. Valid until the next turn of the loop. */
const char *audit_file_error(const struct audit_file *f);
/* True if all entries up to seq are in the file, or if f is NULL: there is no file. */
bool audit_file_has(const struct audit_file *f, int64_t seq);

#endif
