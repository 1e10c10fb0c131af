#ifndef BASE_QUOTED_H
#define BASE_QUOTED_H

#include "base/err.h"
#include "base/secret.h"

/*
 * quoted: removes the secrets of a connection from texts that the peer sent, because a peer may
 * quote what drover sent to it.
 *
 * In contrast, redact.h removes secrets that are recognisable by their form alone.
 * Tests: tests/unit/base/test_quoted.c
 */

/*
 * Replaces every occurrence of a secret in text by '*', in place. For texts that quote a peer to
 * which drover sent the secret.
 *
 * Finds the secret as plain text, in the encodings of redact.h, in base64 (also inside a longer
 * encoded text such as "user:password") and in hexadecimal digits. Finds it also with quotes,
 * backslashes or blanks between its characters, and truncated at the end of the text. Ignores NULL
 * and secrets shorter than QUOTED_LEAST bytes, because any text may contain those by chance.
 */
#define QUOTED_LEAST 4
void quoted_redact(char *text, const struct secret *s);

/* Replaces the secrets a and b in the text of an error as quoted_redact() does. a or b may be
 * NULL. */
void quoted_redact_err(struct err *e, const struct secret *a, const struct secret *b);

#endif
