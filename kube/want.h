#ifndef KUBE_WANT_H
#define KUBE_WANT_H

#include "base/data/scan.h"

/*
 * kube_want: tables (base/data/scan.h) of the members that drover reads from API servers.
 */

/* Everything of an object except metadata.managedFields, which is a third to a half of a Node or
 * Pod, unused, and cannot be excluded by the request. */
extern const struct scan_want kube_want_all[];

/* Rows that begin every table of an object's metadata: identity and version. In the lines of a
 * watch all but the uid are noted (struct scan_line). */
enum kube_note { KUBE_NOTE_TYPE = 1, KUBE_NOTE_NAME, KUBE_NOTE_NAMESPACE, KUBE_NOTE_RV };
#define KUBE_WANT_META                                                                             \
	SCAN_NOTED("name", KUBE_NOTE_NAME), SCAN_NOTED("namespace", KUBE_NOTE_NAMESPACE),          \
		SCAN_NOTED("resourceVersion", KUBE_NOTE_RV), SCAN_PLAIN("uid")

/* Identity and version of an object. */
extern const struct scan_want kube_want_identity[];

/* A row of metadata: which writers changed the object and when, for kube_written_at(). */
#define KUBE_WRITERS_WEIGHT 16384
#define KUBE_WANT_WRITTEN SCAN_SOME_OF("managedFields", kube_want_writer, KUBE_WRITERS_WEIGHT)
extern const struct scan_want kube_want_writer[];
/* Returns when the API server last wrote the object, by its own clock, in whole seconds (Unix ms);
 * 0: not reported, or more writers than are read.
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management */
int64_t kube_written_at(const json_t *object);

/* A Status. */
extern const struct scan_want kube_want_status[];

/* Returns the table for a line of a watch and for a list, where `object` is the table of each
 * object; the caller calls free(). */
struct scan_want *kube_want_line(const struct scan_want *object);
struct scan_want *kube_want_list(const struct scan_want *object);

#endif
