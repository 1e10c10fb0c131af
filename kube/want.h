#ifndef KUBE_WANT_H
#define KUBE_WANT_H

#include "base/data/scan.h"

/*
 * kube_want: tables (base/data/scan.h) of the members that drover reads from API servers. The
 * scanner skips all other members.
 */

/* Table of all members except metadata.managedFields. That member is a third to a half of a Node or
 * Pod, drover does not use it, and a request cannot exclude it. */
extern const struct scan_want kube_want_all[];

/* Table of all members, as kube_want_all, and of each entry of metadata.managedFields which program
 * wrote the object, when and through which subresource. */
extern const struct scan_want kube_want_with_writers[];

/* Numbers of the notes (texts that the scanner extracts from a watch line to struct scan_line).
 * KUBE_WANT_META has the rows with which every table of an object's metadata must begin: name,
 * namespace, resourceVersion, uid. In the lines of a watch all of them but the uid are noted. */
enum kube_note { KUBE_NOTE_TYPE = 1, KUBE_NOTE_NAME, KUBE_NOTE_NAMESPACE, KUBE_NOTE_RV };
#define KUBE_WANT_META                                                                             \
	SCAN_NOTED("name", KUBE_NOTE_NAME), SCAN_NOTED("namespace", KUBE_NOTE_NAMESPACE),          \
		SCAN_NOTED("resourceVersion", KUBE_NOTE_RV), SCAN_PLAIN("uid")

/* Weight of metadata.managedFields above which an object counts as having no readable writers. */
#define KUBE_WRITERS_WEIGHT 16384

/* Table of the identity and version of an object. */
extern const struct scan_want kube_want_identity[];

/* Row of a metadata table that reads managedFields: which writers changed the object and when, for
 * kube_written_at(). */
#define KUBE_WANT_WRITTEN SCAN_SOME_OF("managedFields", kube_want_writer, KUBE_WRITERS_WEIGHT)
extern const struct scan_want kube_want_writer[];
/* Returns when the API server last wrote the object, by the server's own clock, as Unix ms in whole
 * seconds; 0: the object does not report it, or has more writers than KUBE_WRITERS_WEIGHT allows to
 * read. https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management */
int64_t kube_written_at(const json_t *object);

/* Finds the program that wrote the object last, apart from subresources such as status, by the name
 * that the program gave to itself. The object was read with kube_want_with_writers. Returns when,
 * as Unix ms in whole seconds; 0: as for kube_written_at(). *manager: borrowed from the object;
 * NULL: not known, or two programs wrote in that second. */
int64_t kube_last_writer(const json_t *object, const char **manager);

/* Table of the members of a Status object that drover reads. */
extern const struct scan_want kube_want_status[];

/* kube_want_line() returns the table for a line of a watch, kube_want_list() the table for a list.
 * object: table of each object. The caller frees the result with free(). */
struct scan_want *kube_want_line(const struct scan_want *object);
struct scan_want *kube_want_list(const struct scan_want *object);

#endif
