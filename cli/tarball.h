#ifndef CLI_TARBALL_H
#define CLI_TARBALL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/own.h"

/*
 * tarball: files one after the other into an archive (POSIX.1-1988 ustar, compressed by zstd), as
 * they come: none is kept. Format:
 * https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06
 * Tests: tests/unit/cli/test_tarball.c
 */
struct tarball;

/* to: borrowed.  time: of each file, seconds since 1970. */
struct tarball *tarball_new(FILE *to, int64_t time);
void tarball_free(struct tarball *t);
DEFINE_OWN(tarball)

/* name: at most 99 bytes.  Errors come at the end. */
void tarball_add(struct tarball *t, const char *name, const void *data, size_t len);
/* Nothing is added after it.  -1: it is not whole: the disk is full, or a name was too long. */
int tarball_end(struct tarball *t, struct err *e) __attribute__((warn_unused_result));

#endif
