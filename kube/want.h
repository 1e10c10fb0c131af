#ifndef KUBE_WANT_H
#define KUBE_WANT_H

#include "base/data/scan.h"

/*
 * kube_want: tables (base/data/scan.h) of what is read of what an API server sends.
 */

/* Of an object: all but metadata.managedFields, a third to a half of a Node or Pod that nobody
 * reads and the API cannot be asked to leave out. */
extern const struct scan_want kube_want_all[];

/* Rows that every table for an object's metadata begins with: which object, and at what version. Of
 * a watch's lines all but the uid is noted (struct scan_line). */
enum kube_note { KUBE_NOTE_TYPE = 1, KUBE_NOTE_NAME, KUBE_NOTE_NAMESPACE, KUBE_NOTE_RV };
#define KUBE_WANT_META                                                                             \
	SCAN_NOTED("name", KUBE_NOTE_NAME), SCAN_NOTED("namespace", KUBE_NOTE_NAMESPACE),          \
		SCAN_NOTED("resourceVersion", KUBE_NOTE_RV), SCAN_PLAIN("uid")

/* Which object, and at what version. */
extern const struct scan_want kube_want_identity[];

/* A row of metadata: by whom and when it was written, for kube_written_at(). */
#define KUBE_WRITERS_WEIGHT 16384
#define KUBE_WANT_WRITTEN SCAN_SOME_OF("managedFields", kube_want_writer, KUBE_WRITERS_WEIGHT)
extern const struct scan_want kube_want_writer[];
/* When the API server wrote the object last, by its own clock, in whole seconds (Unix ms); 0: it
 * does not say, or has more writers than are read.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management */
int64_t kube_written_at(const json_t *object);

/* Of a Status. */
extern const struct scan_want kube_want_status[];

/* Of a watch's line and of a list, where `object` is wanted of each object; free() it. */
struct scan_want *kube_want_line(const struct scan_want *object);
struct scan_want *kube_want_list(const struct scan_want *object);

#endif
