#ifndef BASE_QUOTED_H
#define BASE_QUOTED_H

#include "base/err.h"
#include "base/secret.h"

/*
 * quoted: removes a connection's secrets from texts of the peer, because such a text may quote what
 * drover sent.
 *
 * redact.h removes secrets that are recognisable by their form alone.
 * Tests: tests/unit/base/test_quoted.c
 */

/*
 * Strikes out of a text a secret that drover sent to the peer whose text is quoted. Finds the
 * secret as plain text, in the encodings of redact.h, in base64 (also inside a longer encoded text
 * such as "user:password") and in hexadecimal digits; with quotes, backslashes or blanks between
 * its characters; and cut off at the end of the text. Ignores NULL and secrets shorter than
 * QUOTED_LEAST bytes, because any text may contain those.
 */
#define QUOTED_LEAST 4
void quoted_redact(char *text, const struct secret *s);

/* Strikes both secrets out of the text of an error. NULL: no secret. */
void quoted_redact_err(struct err *e, const struct secret *a, const struct secret *b);

#endif
