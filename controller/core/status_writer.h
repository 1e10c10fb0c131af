#ifndef CONTROLLER_CORE_STATUS_WRITER_H
#define CONTROLLER_CORE_STATUS_WRITER_H

#include "controller/core/context.h"

/*
 * status_writer: the one way in which an object of the host cluster is made, changed or deleted: a
 * merge patch with the resourceVersion that its writer saw (a deletion: the UID), and an answer
 * that the cache learns.
 *
 * A writer is embedded in what decides on the writes; it has one in flight at a time and may write
 * several kinds. It does not judge: whether this replica leads, and whether anything is to be
 * written, its owner knows.
 *
 * done() comes once for each write, on the loop, never inside the function that started it:
 *   e NULL		  written, and the cache has it as it stands now; object: its metadata, of that at least what
 *   		  says which it is and at what version (a deletion: it or a Status)
 *   ERR_CONFLICT	  someone changed it first: the watch brings that, look again
 *   ERR_NOT_FOUND	  it is gone
 *   any other kind	  logged here, once until the outcome changes; transient ones are worth another try
 * When to try again is up to done(): its owner's timer. The writer is idle by then and may be used,
 * stopped or freed with its owner from inside it.
 *
 * On the loop thread.
 * Tests: tests/unit/controller/core/test_status_writer.c
 */
struct status_writer {
	struct context *c;
	void *arg;
	struct kube_call *call;
	/* NULL: idle */
	kube_done *done;
	enum object_kind_id kind;
	bool deletes;
	/* of the last write */
	enum err_kind failed;
	/* while the cache learns: told when the owner goes meanwhile */
	bool *gone;
	/* of the object that was written last */
	char name[254];
};

/* c is borrowed.  arg goes to each done(). */
void writer_init(struct status_writer *w, struct context *c, void *arg);
/* What is in flight is given up: done() is not called, the write may have happened. Before the
 * owner is freed; also fine on one that is zeroed. */
void writer_stop(struct status_writer *w);
bool writer_busy(const struct status_writer *w);

/* The writes. m: name and resourceVersion (writer_delete(): UID) of the object as its owner saw it;
 * used during the call alone. The writer must be idle. */

/* These members of status; taken. */
void writer_status(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		   json_t *status, kube_done *done);
/* These members of spec; taken. */
void writer_spec(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		 json_t *spec, kube_done *done);
/* An annotation; value NULL: takes it away. */
void writer_annotation(struct status_writer *w, enum object_kind_id kind,
		       const struct object_meta *m, const char *key, const char *value,
		       kube_done *done);
/* Put a finalizer on, or take it off.  False: it is as wanted, and nothing was started. */
bool writer_finalizer(struct status_writer *w, enum object_kind_id kind,
		      const struct object_meta *m, const char *finalizer, bool on, kube_done *done);
void writer_delete(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		   kube_done *done);
/* Creates an object without status; takes ownership of o.  ERR_CONFLICT if the object exists. */
void writer_create(struct status_writer *w, enum object_kind_id kind, json_t *o, kube_done *done);

#endif
