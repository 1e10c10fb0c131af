#ifndef CONTROLLER_CORE_STATUS_WRITER_H
#define CONTROLLER_CORE_STATUS_WRITER_H

#include "controller/core/context.h"

/*
 * status_writer: the only way to create, change or delete an object of the host cluster. A change
 * is a merge patch with the resourceVersion that the caller saw; a deletion is conditional on the
 * UID. The cache learns the server's reply.
 *
 * A status_writer is embedded in the struct that decides on the writes; it has one write in flight
 * at a time and may write several kinds. It does not check whether this replica leads or whether a
 * write is needed: its owner does.
 *
 * done() is called once for each write, on the loop, never inside the function that started the
 * write:
 *
 *   e NULL          written, and the cache has the new object; object: the server's reply,
 *                   which contains at least name and version (for a deletion: the object or a
 *                   Status)
 *   ERR_CONFLICT    the object was changed first: the watch brings the change, decide again then
 *   ERR_NOT_FOUND   the object does not exist any more
 *   any other kind  logged here, once until the outcome changes; transient errors are worth a
 *                   retry
 *
 * The owner decides in done() when to retry. The writer is idle by then: done() may start the next
 * write, or stop or free the writer with its owner.
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
	/* error of the last write */
	enum err_kind failed;
	/* set while the cache learns the reply: *gone becomes true if the writer is stopped
	 * meanwhile */
	bool *gone;
	/* name of the object that was written last */
	char name[254];
};

/* Initializes w. c is borrowed; arg is passed to each done(). */
void writer_init(struct status_writer *w, struct context *c, void *arg);
/* Drops the write in flight without calling done(); the write may still take effect. Call it before
 * the owner is freed; a zeroed writer is allowed. */
void writer_stop(struct status_writer *w);
bool writer_busy(const struct status_writer *w);

/* Functions that start a write. m: name and resourceVersion (writer_delete(): UID) of the object as
 * the caller saw it; used only during the call. The writer must be idle. */

/* Writes these members of status; takes ownership of status. */
void writer_status(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		   json_t *status, kube_done *done);
/* Writes these members of spec; takes ownership of spec. */
void writer_spec(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		 json_t *spec, kube_done *done);
/* Sets an annotation; value NULL removes it. */
void writer_annotation(struct status_writer *w, enum object_kind_id kind,
		       const struct object_meta *m, const char *key, const char *value,
		       kube_done *done);
/* Adds or removes a finalizer. False: it already is as wanted, and no write was started. */
bool writer_finalizer(struct status_writer *w, enum object_kind_id kind,
		      const struct object_meta *m, const char *finalizer, bool on, kube_done *done);
void writer_delete(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		   kube_done *done);
/* Creates an object without status; takes ownership of o.  ERR_CONFLICT if the object exists. */
void writer_create(struct status_writer *w, enum object_kind_id kind, json_t *o, kube_done *done);

#endif
