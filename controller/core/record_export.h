#ifndef CONTROLLER_CORE_RECORD_EXPORT_H
#define CONTROLLER_CORE_RECORD_EXPORT_H

#include "controller/core/context.h"

/*
 * record_export: what becomes of WipeRecords after they stand.
 *
 * With context_options.evidence_dir each is written to DIR/MACHINE/RECORD.json, the public keys to
 * DIR/keys.json (so those of a Machine of that name are in DIR/keys.json_). A record is created
 * with the finalizer FINALIZER_WIPE_RECORD then, which goes when the file is safe on disk: nobody
 * can delete a record that was not exported. Of each machine the newest RECORD_EXPORT_KEPT stay in
 * the cluster. Without an evidence_dir a record stays until another one is RECORD_EXPORT_AGE_MS
 * younger, by their creationTimestamps: only the API server's clock counts.
 *
 * Never deleted: the newest of each machine, the one that a Machine's status.lastWipe names, and
 * with an evidence_dir what was not seen in its file since this process began to lead.
 *
 * Only the leader acts. Files are written on a thread of the loop's; one at a time.
 */
#define RECORD_EXPORT_KEPT 3
#define RECORD_EXPORT_AGE_MS (400ll * 24 * 3600 * 1000)

struct record_export;

struct record_export *record_export_new(struct context *c);
void record_export_free(struct record_export *r);
/* A record came or changed (NULL: look at all). */
void record_export_kick(struct record_export *r, const char *name);

/* The file's text: name, label and spec, which never change; malloc'd. */
char *record_export_text(const struct wipe_record *w);

#endif
