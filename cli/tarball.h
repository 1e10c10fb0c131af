#ifndef CLI_TARBALL_H
#define CLI_TARBALL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/own.h"

/*
 * tarball: writes files into an archive (POSIX.1-1988 ustar, compressed with zstd) as they are
 * added, so that no file stays in memory. Format:
 * https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06
 * Tests: tests/unit/cli/test_tarball.c
 */
struct tarball;

/* Begins an archive that is written to the stream `to`, which is borrowed until tarball_free().
 * time: modification time of each file, in seconds since 1970. */
struct tarball *tarball_new(FILE *to, int64_t time);
void tarball_free(struct tarball *t);
DEFINE_OWN(tarball)

/* Adds a file with len bytes of data. name: at most 99 bytes. Errors are reported by
 * tarball_end(). */
void tarball_add(struct tarball *t, const char *name, const void *data, size_t len);
/* Ends the archive; no file may be added afterwards. Returns 0, or -1 with *e if the archive is
 * incomplete, because the disk is full or a name was too long. */
int tarball_end(struct tarball *t, struct err *e) __attribute__((warn_unused_result));

#endif
