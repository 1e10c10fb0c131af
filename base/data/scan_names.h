#ifndef BASE_DATA_SCAN_NAMES_H
#define BASE_DATA_SCAN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * scan_names: does a name come twice in one object? For scan.c alone.
 *
 * Names are known by their hashes (base/hash.h), salted with the object's number: 64 bits under a
 * secret key, so that a million names collide by chance once in 40 million objects, which would be
 * refused. Those of open objects lie one after the other and are looked through; an object with
 * many has them in a set, which serves all objects.
 * Tests: tests/unit/base/data/test_scan.c
 */
struct scan_names {
	/* of open objects */
	uint64_t *few;
	size_t nfew, few_cap;
	/* 0 is no entry */
	uint64_t *many;
	size_t nmany, many_cap;
};

/* One object, zero but for its number, which no other has that the same scan_names serves. */
struct scan_object {
	uint64_t number;
	size_t few;
	bool many;
};

/* o is the innermost open object.  False: it has that name. */
bool scan_names_add(struct scan_names *t, struct scan_object *o, const char *name, size_t len);
/* o, the innermost, is closed */
void scan_names_leave(struct scan_names *t, const struct scan_object *o);
/* none is open; what many took is given back */
void scan_names_forget(struct scan_names *t);
void scan_names_done(struct scan_names *t);

#endif
