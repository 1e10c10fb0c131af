#ifndef BASE_DATA_SCAN_TOKEN_H
#define BASE_DATA_SCAN_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include "base/data/json.h"

/*
 * scan_token: reads the tokens of JSON (RFC 8259) and UTF-8 (RFC 3629), for scan.c.
 */

/* Returns the first byte from p on that ends a run of plain characters: a quote, backslash, control
 * character or non-ASCII byte; end: no such byte. */
const char *scan_plain(const char *p, const char *end);

/*
 * Decodes the escape or multi-byte character at p into out (*n bytes). Returns the number of bytes
 * read; 0: the sequence is incomplete within len; -1: invalid, with the reason in *what.
 */
int scan_sequence(const char *p, size_t len, char out[static 4], size_t *n, const char **what);

/* A decoded number; real: the value is in d, otherwise in i. scan_number() decodes text, which must
 * be NUL-terminated. False: not a number, or out of range, with the reason in *what. */
struct scan_number {
	bool real;
	json_int_t i;
	double d;
};
bool scan_number(const char *text, size_t len, struct scan_number *out, const char **what);

#endif
