#ifndef BASE_DATA_SCAN_NAMES_H
#define BASE_DATA_SCAN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * scan_names: detects duplicate names in an object, for scan.c.
 *
 * Only hashes of the names are compared (base/hash.h): 64 bits under a secret key, salted with the
 * object's number. Once in 40 million objects of a million names, two hashes are equal by chance
 * and the object is refused wrongly. The hashes of open objects are stored in one array that is
 * searched linearly; objects with many names store theirs in a hash set that all objects share.
 * Tests: tests/unit/base/data/test_scan.c
 */
struct scan_names {
	/* Hashes of the names of all open objects that have few names. */
	uint64_t *few;
	size_t nfew, few_cap;
	/* Hash set of the names of objects with many names; 0 is an empty slot. */
	uint64_t *many;
	size_t nmany, many_cap;
};

/* The names of one open object. Must be zeroed before use, except for its number, which must be
 * unique within one scan_names. */
struct scan_object {
	uint64_t number;
	size_t few;
	bool many;
};

/* Adds a name to o, the innermost open object. False: o already has the name. */
bool scan_names_add(struct scan_names *t, struct scan_object *o, const char *name, size_t len);
/* Closes o, the innermost open object. */
void scan_names_leave(struct scan_names *t, const struct scan_object *o);
/* Removes all names and frees the hash set. No object may be open. */
void scan_names_forget(struct scan_names *t);
void scan_names_done(struct scan_names *t);

#endif
