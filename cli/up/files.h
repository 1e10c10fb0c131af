#ifndef CLI_UP_FILES_H
#define CLI_UP_FILES_H

#include <stddef.h>
#include "base/err.h"
#include "base/loop/loop.h"
#include "base/secret.h"

/*
 * files: folders and tokens that `drover up` stores beside the stores of its servers. A token is
 * created at the first start and read at later starts; only its owner may read it.
 *
 * The functions block on the disk: call them while a program starts, not from a loop that serves
 * requests.
 */
/* Creates the folder and its parents if they are missing. Returns 0, or -1 with *e, also if the
 * folder exists but is not writable. */
int up_folder(const char *path, struct err *e) __attribute__((warn_unused_result));

/* Returns the token in file folder/name, owned by the caller: 32 random bytes in hex. Creates the
 * file if it is missing. NULL with *e. */
struct secret *up_token(struct loop *l, const char *folder, const char *name, struct err *e);

#endif
