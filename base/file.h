#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/buf.h"
#include "base/err.h"

/*
 * file: reads a file as a whole. Blocks on the disk: call it while a program starts, not from
 * a loop that serves requests.
 * Tests: tests/unit/base/test_file.c
 */

/* Appends the contents of the file to *into; more than the buffer's maximum is ERR_PROTOCOL. A
 * file of at most 4096 bytes may contain a secret: no copy outside *into remains. A longer one may
 * leave copies in freed memory, because *into grows. Returns 0, or -1 with *e, which names
 * the path; ERR_NOT_FOUND: the file does not exist. */
int file_read(const char *path, struct buf *into, struct err *e)
	__attribute__((warn_unused_result));

/* Returns the contents of a file of at most max bytes, malloc'd and NUL-terminated, and sets *len,
 * which may be NULL. NULL with *e, as file_read(). */
char *file_text(const char *path, size_t max, size_t *len, struct err *e)
	__attribute__((warn_unused_result));

#endif
