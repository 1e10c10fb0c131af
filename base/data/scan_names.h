#ifndef BASE_DATA_SCAN_NAMES_H
#define BASE_DATA_SCAN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * scan_names: detects duplicate names in an object, for scan.c.
 *
 * Names are compared by their hashes (base/hash.h), salted with the object's number: 64 bits under
 * a secret key. Once in 40 million objects of a million names, two hashes collide by chance and the
 * object is refused. The names of open objects are stored in one array that is searched linearly;
 * an object with many names uses a hash set, which serves all objects.
 * Tests: tests/unit/base/data/test_scan.c
 */
struct scan_names {
	/* Hashes of the names of open objects. */
	uint64_t *few;
	size_t nfew, few_cap;
	/* Hash set; 0 is an empty slot. */
	uint64_t *many;
	size_t nmany, many_cap;
};

/* The names of one object. Zero at first, except for its number, which is unique within one
 * scan_names. */
struct scan_object {
	uint64_t number;
	size_t few;
	bool many;
};

/* Adds a name to o, the innermost open object. False: o already has the name. */
bool scan_names_add(struct scan_names *t, struct scan_object *o, const char *name, size_t len);
/* Closes o, the innermost open object. */
void scan_names_leave(struct scan_names *t, const struct scan_object *o);
/* Forgets all names and frees the hash set; no object may be open. */
void scan_names_forget(struct scan_names *t);
void scan_names_done(struct scan_names *t);

#endif
