#ifndef CONTROLLER_CORE_RECORD_EXPORT_H
#define CONTROLLER_CORE_RECORD_EXPORT_H

#include "controller/core/context.h"

/*
 * record_export: exports WipeRecords to files and deletes old ones.
 *
 * With context_options.evidence_dir each record is written to DIR/MACHINE/RECORD.json, the public
 * keys to DIR/keys.json (so the records of a Machine with the name keys.json are in
 * DIR/keys.json_). Records are then created with the finalizer FINALIZER_WIPE_RECORD, which is
 * removed once the file is synced to disk: nobody can delete a record that was not exported. The
 * newest RECORD_EXPORT_KEPT records of each machine stay in the cluster. Without an evidence_dir, a
 * record stays until another one is RECORD_EXPORT_AGE_MS younger by creationTimestamp: only the API
 * server's clock counts.
 *
 * Never deleted: the newest record of each machine, the record that a Machine's status.lastWipe
 * names, and with an evidence_dir any record whose file was not verified since this process became
 * leader.
 *
 * Only the leader acts. Files are written on a worker thread of the loop, one at a time.
 */
#define RECORD_EXPORT_KEPT 3
#define RECORD_EXPORT_AGE_MS (400ll * 24 * 3600 * 1000)

struct record_export;

struct record_export *record_export_new(struct context *c);
void record_export_free(struct record_export *r);
/* Handles a new or changed record soon; name NULL: all records. */
void record_export_kick(struct record_export *r, const char *name);

/* Returns the text of the record's file, malloc'd: name, label and spec, which never change. */
char *record_export_text(const struct wipe_record *w);

#endif
