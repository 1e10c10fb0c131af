#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/own.h"

/*
 * secret: bytes that must reach no log, event, status, core file or argv.
 *
 * No log macro accepts the type, the free clears the memory, and the pages are
 * left out of core files (MADV_DONTDUMP).  secret_expose() is the one way to
 * the bytes; every call of it is a place to review.
 */
struct secret;

struct secret *secret_new(const void *data, size_t len);
struct secret *secret_from_str(const char *s);
/* NULL for NULL */
struct secret *secret_copy(const struct secret *s);
void secret_free(struct secret *s);
/* NUL-terminated */
DEFINE_OWN(secret)

const char *secret_expose(const struct secret *s);
size_t secret_len(const struct secret *s);
/* constant time */
bool secret_equal(const struct secret *a, const struct secret *b);
/* constant time */
bool secret_equal_bytes(const struct secret *a, const void *b, size_t len);
/* for temporaries; not optimised away */
void secret_wipe(void *p, size_t len);

/* For a program that takes a secret by the name of a file and nothing else: its bytes in a file
 * without a name, in memory, sealed (memfd_create(2), F_ADD_SEALS in fcntl(2)), which is gone with
 * its last descriptor. Close-on-exec; the caller closes it. -1 with e. */
int secret_file(const struct secret *s, struct err *e) __attribute__((warn_unused_result));

#endif
