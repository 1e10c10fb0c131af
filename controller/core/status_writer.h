#ifndef CONTROLLER_CORE_STATUS_WRITER_H
#define CONTROLLER_CORE_STATUS_WRITER_H

#include "controller/core/context.h"

/*
 * status_writer: the only way to create, change or delete an object of the host cluster. A change
 * is a patch with the resourceVersion that the caller saw; a deletion is conditional on the
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
 *   any other kind  logged here, once until the outcome changes, and at most once a second for
 *                   all writers together; transient errors are worth a retry
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
	/* called with the result of the write in flight; NULL: no write is in flight */
	kube_done *done;
	enum object_kind_id kind;
	bool deletes;
	/* kind of the last write's error; ERR_NONE: the write succeeded */
	enum err_kind failed;
	/* Points to a local variable of on_answer() while the cache learns the reply, else NULL. If
	 * the writer is stopped meanwhile, writer_stop() sets *gone to true, and on_answer() no
	 * longer touches the writer, which may have been freed. */
	bool *gone;
	/* name of the object that was written last; NULL: none */
	char *name;
};

/* Initializes *w. c is borrowed; arg is passed to each done(). */
void writer_init(struct status_writer *w, struct context *c, void *arg);
/* Drops the write in flight without calling done(); the write may still take effect. The owner
 * calls writer_stop() before it is freed. A zeroed writer is allowed. */
void writer_stop(struct status_writer *w);
bool writer_busy(const struct status_writer *w);

/* The functions below start a write. m: name and resourceVersion (for writer_delete(): name and
 * UID) of the object as the caller saw it; read only during the call. No write may be in flight. */

/* Changes the given members of the object's status; takes ownership of `status`. */
void writer_status(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		   json_t *status, kube_done *done);
/* Changes the given members of the object's spec; takes ownership of `spec`. */
void writer_spec(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		 json_t *spec, kube_done *done);
/* Appends the elements of the array `values` to the object's list at `path`, a JSON pointer such as
 * "/spec/entries"; takes ownership of `values`. The stored elements are not sent, so they stay as
 * they are. */
void writer_append(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		   const char *path, json_t *values, kube_done *done);
/* Sets an annotation; value NULL removes it. */
void writer_annotation(struct status_writer *w, enum object_kind_id kind,
		       const struct object_meta *m, const char *key, const char *value,
		       kube_done *done);
/* Adds the finalizer (on true) or removes it (on false). Returns false if the object already is as
 * wanted; then no write is started and done() is not called. */
bool writer_finalizer(struct status_writer *w, enum object_kind_id kind,
		      const struct object_meta *m, const char *finalizer, bool on, kube_done *done);
void writer_delete(struct status_writer *w, enum object_kind_id kind, const struct object_meta *m,
		   kube_done *done);
/* Creates the object o, which has no status; takes ownership of o. done() gets ERR_CONFLICT if the
 * object exists. */
void writer_create(struct status_writer *w, enum object_kind_id kind, json_t *o, kube_done *done);

#endif
