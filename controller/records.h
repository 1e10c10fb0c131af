#ifndef CONTROLLER_RECORDS_H
#define CONTROLLER_RECORDS_H

#include "controller/controller.h"

/*
 * records: what becomes of WipeRecords after they stand.
 *
 * With controller_options.evidence_dir each is written to DIR/MACHINE/RECORD.json, the public keys to
 * DIR/keys.json (so those of a Machine of that name are in DIR/keys.json_).  A record is created with the finalizer RECORDS_FINALIZER then, which goes when the
 * file is safe on disk; so what was not exported cannot be deleted by anybody.  Of each machine
 * the newest RECORDS_KEPT stay in the cluster.  Without it they stay RECORDS_AGE_MS, until a
 * record is so much younger: the API server's clock alone counts.
 *
 * Never deleted: the newest of each machine, the one that a Machine's status.lastWipe names, and with
 * an evidence_dir what was not seen in its file since this process began to lead.
 *
 * Only the leader acts.  Files are written on a thread of the loop's; one at a time.
 */
#define RECORDS_FINALIZER "drover.dev/export"
#define RECORDS_KEPT 3
#define RECORDS_AGE_MS (400ll * 24 * 3600 * 1000)

struct records;

struct records *records_new(struct controller *c);
void records_free(struct records *r);
/* A record came or changed (NULL: look at all). */
void records_kick(struct records *r, const char *name);

/* The file's text: name, label and spec, which never change; malloc'd. */
char *records_text(const struct wipe_record *w);

#endif
