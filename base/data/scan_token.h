#ifndef BASE_DATA_SCAN_TOKEN_H
#define BASE_DATA_SCAN_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include "base/data/json.h"

/*
 * scan_token: the tokens of JSON (RFC 8259) and UTF-8 (RFC 3629), for scan.c alone.
 */

/* The first byte of a string that ends it or is no plain ASCII; end: there is none. */
const char *scan_plain(const char *p, const char *end);

/*
 * The escape or the character of several bytes at p. Gives how many bytes it has, with what they
 * stand for in out (*n bytes), 0 when it does not end within len, and -1 with *what when it is
 * none.
 */
int scan_sequence(const char *p, size_t len, char out[static 4], size_t *n, const char **what);

/* The number that a text with a NUL behind it is; false with *what: none, or one that does not
 * fit. */
struct scan_number {
	bool real;
	json_int_t i;
	double d;
};
bool scan_number(const char *text, size_t len, struct scan_number *out, const char **what);

#endif
