#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/buf.h"
#include "base/err.h"

/*
 * file: reads, replaces and locks a file as a whole. Blocks on the disk: call it while a program
 * starts, not from a loop that serves requests.
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

/* Replaces the file at path, or creates it: writes data to the temporary file PATH.new and renames
 * that to path. After an error, or if the process is killed, path has its old contents; a leftover
 * PATH.new is overwritten by the next call. synced: the data is on the disk before path is
 * replaced, so that the same holds for a computer that crashes. mode: permissions of the new file,
 * before the umask. Only one writer at a time may write to path. Returns 0, or -1 with *e, which
 * names the path. */
int file_write(const char *path, const void *data, size_t len, mode_t mode, bool synced,
	       struct err *e) __attribute__((warn_unused_result));
/* Writes data to the open file fd, all of it or -1 with *e, which names `name`. */
int file_write_fd(int fd, const void *data, size_t len, const char *name, struct err *e)
	__attribute__((warn_unused_result));

/* Creates the file at path if it is missing, and locks it until its descriptor, which is returned,
 * is closed or the process ends. -1 with *e, which names the path; ERR_CONFLICT: another process
 * has locked the file. */
int file_lock(const char *path, struct err *e) __attribute__((warn_unused_result));

#endif
