#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"
#include "base/own.h"

/*
 * secret: bytes that must not reach a log, event, status, core file or command line.
 *
 * No log macro accepts the type. secret_free() clears the memory. The pages of secrets are left out
 * of core files (MADV_DONTDUMP). secret_expose() is the only access to the bytes, so review every
 * call of it.
 */
struct secret;

struct secret *secret_new(const void *data, size_t len);
struct secret *secret_from_str(const char *s);
/* Returns a copy; NULL if s is NULL. */
struct secret *secret_copy(const struct secret *s);
void secret_free(struct secret *s);
DEFINE_OWN(secret)

/* Returns the bytes, NUL-terminated. */
const char *secret_expose(const struct secret *s);
size_t secret_len(const struct secret *s);
/* Compares two secrets in constant time. */
bool secret_equal(const struct secret *a, const struct secret *b);
/* Compares a secret with len bytes in constant time. */
bool secret_equal_bytes(const struct secret *a, const void *b, size_t len);
/* Clears a temporary copy of a secret; the compiler does not optimise the call away. */
void secret_wipe(void *p, size_t len);

/* Returns a descriptor of a file that contains the secret, for a program that reads a secret only
 * from a file. The file is anonymous, sealed and in memory (memfd_create(2), F_ADD_SEALS in
 * fcntl(2)); it vanishes with its last descriptor. The descriptor is close-on-exec; the caller
 * closes it. -1 with *e on failure. */
int secret_file(const struct secret *s, struct err *e) __attribute__((warn_unused_result));

#endif
