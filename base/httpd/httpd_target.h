#ifndef BASE_HTTPD_HTTPD_TARGET_H
#define BASE_HTTPD_HTTPD_TARGET_H

#include "base/arena.h"
#include "base/err.h"

/*
 * httpd_target: parses and decodes a request's target (path?query) once.
 *
 * Decoded segments can be compared, logged and used in a file name without another check, because
 * these are refused: a target that is not in origin form, bad percent-encoding, encoded '/' and
 * NUL, control characters, invalid UTF-8, "." and "..", empty segments. One '/' at the end is
 * dropped ("/redfish/v1/"). In the query '+' is a space.
 * Tests: tests/unit/base/httpd/test_httpd.c
 */
#define HTTPD_SEGMENTS_MAX 32
#define HTTPD_PARAMS_MAX 64
#define HTTPD_TARGET_MAX 8192

struct httpd_target {
	char *path;
	char *segments[HTTPD_SEGMENTS_MAX];
	size_t nsegments;
	struct {
		char *name, *value;
	} * params;
	size_t nparams;
};

/* Parses target into *t; allocates everything in t from the arena. Returns -1 with *e, whose code
 * is the HTTP status. */
int httpd_target_parse(struct httpd_target *t, struct arena *a, const char *target, struct err *e);

#endif
