#ifndef BASE_DATA_SCAN_TOKEN_H
#define BASE_DATA_SCAN_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include "base/data/json.h"

/*
 * scan_token: the tokens of JSON (RFC 8259) and UTF-8 (RFC 3629), for scan.c.
 */

/* Returns the first byte that ends a string or is not plain ASCII; end: no such byte. */
const char *scan_plain(const char *p, const char *end);

/*
 * Decodes the escape or multi-byte character at p into out (*n bytes). Returns its length; 0:
 * incomplete within len; -1: invalid, *what says why.
 */
int scan_sequence(const char *p, size_t len, char out[static 4], size_t *n, const char **what);

/* A decoded number. scan_number() reads a NUL-terminated text; false: not a number, or does not
 * fit; *what says why. */
struct scan_number {
	bool real;
	json_int_t i;
	double d;
};
bool scan_number(const char *text, size_t len, struct scan_number *out, const char **what);

#endif
