#ifndef CONTROLLER_CORE_RECORD_EXPORT_H
#define CONTROLLER_CORE_RECORD_EXPORT_H

#include "controller/core/context.h"

/*
 * record_export: exports WipeRecords to files and deletes old ones.
 *
 * With context_options.evidence_dir set to DIR, each record is written to DIR/MACHINE/RECORD.json,
 * and the public keys to DIR/keys.json. (The records of a Machine named keys.json are in
 * DIR/keys.json_.) drover then creates records with the finalizer FINALIZER_WIPE_RECORD and removes
 * the finalizer once the file is synced to disk. So nobody can delete a record that was not
 * exported. The newest RECORD_EXPORT_KEPT records of each machine stay in the cluster.
 *
 * Without an evidence_dir, a record is deleted once another record is more than
 * RECORD_EXPORT_AGE_MS younger. A record that still has the finalizer, from a time with an
 * evidence_dir, is deleted only by an operator; the finalizer is then removed. Only
 * creationTimestamp is compared, so that only the API server's clock counts.
 *
 * Never deleted: the newest record of each machine; a record that a Machine's status.lastWipe or
 * status.wipeAttempt.previous names; and, with an evidence_dir, any record whose file was not
 * verified since this process became leader.
 *
 * Only the leader acts. Files are written on a worker thread of the loop, one at a time.
 */
#define RECORD_EXPORT_KEPT 3
#define RECORD_EXPORT_AGE_MS (400ll * 24 * 3600 * 1000)

struct record_export;

struct record_export *record_export_new(struct context *c);
void record_export_free(struct record_export *r);
/* Schedules the processing of the new or changed record `name`; name NULL: of all records. */
void record_export_kick(struct record_export *r, const char *name);

/* Returns the text of the record's file, malloc'd. The text contains name, label and spec, which
 * never change. */
char *record_export_text(const struct wipe_record *w);

#endif
