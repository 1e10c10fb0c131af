#ifndef CLI_UP_FILES_H
#define CLI_UP_FILES_H

#include <stddef.h>
#include "base/err.h"
#include "base/loop/loop.h"
#include "base/secret.h"

/*
 * files: what `drover up` keeps beside the stores of its servers. Made at the first start and found
 * again later. A file is written whole or not at all, readable by its owner alone.
 *
 * Blocks on the disk: for the start of a program, not for a loop that serves.
 */
/* and parents */
int up_folder(const char *path, struct err *e) __attribute__((warn_unused_result));
int up_write(const char *path, const void *data, size_t len, struct err *e)
	__attribute__((warn_unused_result));
/* ERR_NOT_FOUND when there is none; malloc'd, NUL-terminated. */
char *up_read(const char *path, size_t max, size_t *len, struct err *e);

/* 32 random bytes in hex that folder/name keeps. */
struct secret *up_token(struct loop *l, const char *folder, const char *name, struct err *e);

#endif
